// SPDX-License-Identifier: Apache-2.0
// Violations of SIP, with the status for the sender.
export class SipError extends Error {
  readonly status: number

  constructor(status: number, reason: string) {
    super(reason)
    this.status = status
  }
}
