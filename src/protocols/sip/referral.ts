// SPDX-License-Identifier: Apache-2.0
// Transfers of a call by REFER (RFC 3515): the one that the other side is asked for, and notices of the one that it asks for.
import type { Dialog } from './dialog.ts'
import { parseAddress, type SipUri } from './header-values.ts'
import type { SipRequest } from './message.ts'
import type { Switchboard } from './switchboard.ts'

export class Referral {
  readonly #endpoint: Pick<Switchboard<never>, 'contact' | 'transmit'>
  readonly #dialog: Dialog
  /** Request of ours that the other side calls somebody else. */
  #asked: { isAccepted: boolean; done(status: number): void } | null = null

  constructor(endpoint: Pick<Switchboard<never>, 'contact' | 'transmit'>, dialog: Dialog) {
    this.#endpoint = endpoint
    this.#dialog = dialog
  }

  /** Whether a transfer is under way. */
  get isAsked(): boolean {
    return this.#asked !== null
  }

  /** Asks the other side to call another target. `answered` hears its answer, `done` once how the transfer went. */
  ask(target: string, done: (status: number) => void, answered: (status: number) => void): void {
    const request = this.#dialog.request('REFER', this.#contact())
    request.headers.add('refer-to', `<${target}>`).add('referred-by', this.#dialog.state.localAddress)
    this.#asked = { isAccepted: false, done }
    this.#endpoint.transmit(request, this.#dialog.state.peer, {
      final: ({ status }) => {
        if (status >= 300) this.end(status)
        else if (this.#asked) this.#asked.isAccepted = true
        answered(status)
      },
      failed: () => this.end(408),
    })
  }

  /** How a transfer that was asked for goes. */
  takeNotice({ headers, body }: SipRequest): void {
    if (!/^refer\b/i.test(headers.get('event') ?? '')) return
    const status = Number(/^SIP\/2\.0 (\d{3})/.exec(body.toString('latin1', 0, 100))?.[1] ?? 0)
    if (status >= 200) return this.end(status)
    if (/^terminated/i.test(headers.get('subscription-state') ?? '')) this.end(408)
  }

  /** Whether the other side does what it was asked for. */
  get isAccepted(): boolean {
    return this.#asked?.isAccepted ?? false
  }

  end(status: number): void {
    this.takeAsked()?.done(status)
  }

  /** The transfer that was asked for, which is told nothing more by itself. */
  takeAsked(): { done(status: number): void } | null {
    const asked = this.#asked
    this.#asked = null
    return asked
  }

  /** Notice of how the transfer goes that the other side asked for by the request with this number (RFC 3515 §2.4.4). */
  notice(status: number, seq: number): SipRequest {
    const body = Buffer.from(`SIP/2.0 ${status} ${status < 200 ? 'Trying' : status < 300 ? 'OK' : 'Failed'}\r\n`)
    const notify = this.#dialog.request('NOTIFY', this.#contact(), { body, type: 'message/sipfrag;version=2.0' })
    notify.headers.add('event', `refer;id=${seq}`)
    notify.headers.add('subscription-state', status < 200 ? 'active;expires=180' : 'terminated;reason=noresource')
    return notify
  }

  #contact(): string {
    return this.#endpoint.contact(this.#dialog.state.peer)
  }
}

/** Where a REFER leads; null when it does not say so in a way that is understood. */
export function referredTo({ headers }: SipRequest): SipUri | null {
  const [target, ...others] = headers.all('refer-to')
  if (target === undefined || others.length > 0) return null
  try {
    return parseAddress(target).uri
  } catch {
    return null
  }
}
