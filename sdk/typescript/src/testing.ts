// SPDX-License-Identifier: Apache-2.0
// Testing helpers for any test runner: phones, mailboxes, payers, a place for webhooks and the clock of the sandbox. They work
// with a test key. What is waited for is asked for again until it is there, or the time is over.
import type { Pamoja } from './pamoja.ts'
import type { Call, CaughtEmailContent, HandsetText, SandboxHookRequest, SandboxPrompt } from './schemas.ts'

interface Wait {
  /** Milliseconds; 30,000 unless given. */
  readonly within?: number
}

const pauseMs = 200

export class Sandbox {
  readonly #pamoja: Pamoja
  readonly clock: Clock

  constructor(pamoja: Pamoja) {
    this.#pamoja = pamoja
    this.clock = new Clock(pamoja)
  }

  /** Phone of a person, by its number. */
  phone(number: string): Phone {
    return new Phone(this.#pamoja, number)
  }

  /** Mailbox of a person, by its address. */
  mailbox(address: string): Mailbox {
    return new Mailbox(this.#pamoja, address)
  }

  /** Address that keeps what it was sent, for `callback_url` and webhooks; the secret lets it check signatures. */
  async hook(secret?: string): Promise<Hook> {
    const { id, url } = await this.#pamoja.sandbox.createHook(secret === undefined ? {} : { secret })
    return new Hook(this.#pamoja, id, url)
  }
}

export class Clock {
  readonly #pamoja: Pamoja

  constructor(pamoja: Pamoja) {
    this.#pamoja = pamoja
  }

  async now(): Promise<Date> {
    return new Date((await this.#pamoja.sandbox.clock()).now)
  }

  /** Moves the time of the test account ahead; what is due then happens. */
  async advance(seconds: number): Promise<Date> {
    return new Date((await this.#pamoja.sandbox.advanceClock({ advance_seconds: seconds })).now)
  }
}

export class Phone {
  readonly #pamoja: Pamoja
  readonly number: string

  constructor(pamoja: Pamoja, number: string) {
    this.#pamoja = pamoja
    this.number = number
  }

  /** Texts on the phone, newest first. */
  texts(limit = 20): Promise<HandsetText[]> {
    return this.#pamoja.sandbox.handset({ phone: this.number }).toArray({ limit })
  }

  /** The newest text that arrived and fits. */
  waitForText(fits: RegExp | ((text: HandsetText) => boolean) = /./, wait?: Wait): Promise<HandsetText> {
    const isIt = fits instanceof RegExp ? ({ message }: HandsetText) => fits.test(message ?? '') : fits
    const look = async () => (await this.texts()).find((text) => text.direction === 'received' && isIt(text))
    return until(look, `a text to ${this.number}`, wait)
  }

  /** Digits of the newest code that arrived. */
  async waitForCode(wait?: Wait): Promise<string> {
    const { message } = await this.waitForText(/\d{4,10}/, wait)
    return /\d{4,10}/.exec(message ?? '')?.[0] ?? ''
  }

  /** Writes a text to one of your numbers. */
  async text(to: string, message: string): Promise<void> {
    await this.#pamoja.sandbox.smsInbound({ from: this.number, to, message })
  }

  /** Dials a USSD code. */
  async dial(shortcode: string): Promise<UssdScreen> {
    return new UssdScreen(this.#pamoja, await this.#pamoja.sandbox.ussdDial({ phone: this.number, shortcode }))
  }

  /** Makes the payer answer prompts only when `approve` or `refuse` says so, instead of by themselves. */
  async paysByHand(): Promise<void> {
    const { by_hand } = await this.#pamoja.sandbox.paymentBehaviour()
    await this.#pamoja.sandbox.changePaymentBehaviour({ by_hand: [...new Set([...by_hand, this.number])] })
  }

  /** Prompt for money that waits on the phone. */
  waitForPrompt(wait?: Wait): Promise<SandboxPrompt> {
    const look = async () =>
      (await this.#pamoja.sandbox.listPrompts({ phone: this.number }).page()).data.find(
        ({ status }) => status === 'waiting',
      )
    return until(look, `a prompt on ${this.number}`, wait)
  }

  /** Types the PIN into the prompt that waits. */
  async approve(pin = '1234', wait?: Wait): Promise<SandboxPrompt> {
    const prompt = await this.waitForPrompt(wait)
    await this.#pamoja.sandbox.answerPrompt(prompt.payment_id, { decision: 'approve', pin })
    return prompt
  }

  async refuse(wait?: Wait): Promise<SandboxPrompt> {
    const prompt = await this.waitForPrompt(wait)
    await this.#pamoja.sandbox.answerPrompt(prompt.payment_id, { decision: 'refuse' })
    return prompt
  }

  /** Calls one of your numbers. */
  async call(to: string): Promise<PhoneCall> {
    const { call_id } = await this.#pamoja.sandbox.voiceInbound({ from: this.number, to })
    return new PhoneCall(this.#pamoja, call_id)
  }

  /** The newest call to the phone that is not over. */
  async waitForCall(wait?: Wait): Promise<PhoneCall> {
    const over = new Set(['completed', 'failed', 'busy', 'rejected', 'timeout'])
    const look = async (): Promise<Call | undefined> =>
      (await this.#pamoja.sandbox.voiceCalls({ phone: this.number }).page()).data.find(
        ({ status }) => !over.has(status),
      )
    return new PhoneCall(this.#pamoja, (await until(look, `a call to ${this.number}`, wait)).call_id)
  }
}

/** Screen of a USSD session. */
export class UssdScreen {
  readonly #pamoja: Pamoja
  readonly #sessionId: string
  readonly message: string
  /** Whether the screen can be answered. */
  readonly isOpen: boolean

  constructor(
    pamoja: Pamoja,
    { session_id, message, action }: { session_id: string; message: string | null; action: string },
  ) {
    this.#pamoja = pamoja
    this.#sessionId = session_id
    this.message = message ?? ''
    this.isOpen = action === 'continue'
  }

  async answer(input: string): Promise<UssdScreen> {
    return new UssdScreen(this.#pamoja, await this.#pamoja.sandbox.ussdInput({ session_id: this.#sessionId, input }))
  }

  async hangUp(): Promise<void> {
    await this.#pamoja.sandbox.ussdCancel({ session_id: this.#sessionId })
  }
}

/** Call of a phone in the sandbox. */
export class PhoneCall {
  readonly #pamoja: Pamoja
  readonly id: string

  constructor(pamoja: Pamoja, id: string) {
    this.#pamoja = pamoja
    this.id = id
  }

  async answer(): Promise<void> {
    await this.#pamoja.sandbox.voiceAnswer(this.id)
  }

  async press(dtmf: string): Promise<void> {
    await this.#pamoja.sandbox.voiceInput(this.id, { dtmf })
  }

  async say(speech: string): Promise<void> {
    await this.#pamoja.sandbox.voiceInput(this.id, { speech })
  }

  async hangUp(): Promise<void> {
    await this.#pamoja.sandbox.voiceHangup(this.id)
  }

  /** What the phone heard, as WAV. */
  heard(): Promise<Response> {
    return this.#pamoja.sandbox.voiceHeard(this.id)
  }
}

export class Mailbox {
  readonly #pamoja: Pamoja
  readonly address: string

  constructor(pamoja: Pamoja, address: string) {
    this.#pamoja = pamoja
    this.address = address
  }

  /** The newest mail whose subject fits, with its text. */
  async waitForMail(subject: RegExp = /./, wait?: Wait): Promise<CaughtEmailContent> {
    const look = async () =>
      (await this.#pamoja.sandbox.listEmails({ to: this.address }).page()).data.find((mail) =>
        subject.test(mail.subject),
      )
    const { id } = await until(look, `a mail to ${this.address}`, wait)
    return this.#pamoja.sandbox.getEmail(id)
  }
}

/** Address of the sandbox that keeps what it was sent. */
export class Hook {
  readonly #pamoja: Pamoja
  readonly id: string
  readonly url: string

  constructor(pamoja: Pamoja, id: string, url: string) {
    this.#pamoja = pamoja
    this.id = id
    this.url = url
  }

  /** The newest request that told of an event, or any. */
  waitForRequest(event?: string, wait?: Wait): Promise<SandboxHookRequest> {
    const look = async () =>
      (await this.#pamoja.sandbox.listHookRequests(this.id).page()).data.find(
        ({ body }) => event === undefined || body.includes(JSON.stringify(event)),
      )
    return until(look, `a request to ${this.url}`, wait)
  }
}

async function until<T>(look: () => Promise<T | undefined>, what: string, { within = 30_000 }: Wait = {}): Promise<T> {
  const untilMs = performance.now() + within
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > untilMs) throw new Error(`waited ${within} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
