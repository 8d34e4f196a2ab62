// SPDX-License-Identifier: Apache-2.0
// What breaks the rules of SIP, with the status that says so to the sender.
export class SipError extends Error {
  readonly status: number

  constructor(status: number, reason: string) {
    super(reason)
    this.status = status
  }
}
