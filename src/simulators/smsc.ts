// SPDX-License-Identifier: Apache-2.0
// A message centre with handsets behind it, on a real port: it takes submit_sm, delivers after a while, sends receipts and
// messages from handsets. Numbers that end in 0000NN force an outcome, as the table says; the last words of a number choose,
// so that they work in every country.
import { randomBytes } from 'node:crypto'
import { type Concatenation, decodeMessage, encodeMessage, type Joining } from '../protocols/smpp/charset.ts'
import type { Address } from '../protocols/smpp/octets.ts'
import {
  addressTypes,
  type DeliverSm,
  newShortMessage,
  type QuerySmAnswer,
  type SubmitSm,
} from '../protocols/smpp/pdu.ts'
import { encodeReceipt, messageStates, type ReceiptState } from '../protocols/smpp/receipts.ts'
import { Smsc, type SmscSession, type SubmitAnswer } from '../protocols/smpp/session.ts'
import { commandStatus } from '../protocols/smpp/status.ts'
import { decodeWish, type Wish } from '../protocols/smpp/wish.ts'
import { type Book, Journal } from './journal.ts'

/** Messages whose receipt is still to come. */
const maxUnderWay = 100_000
/** Receipts of one system id that wait for a session which receives. */
const maxHeld = 10_000
/** Final states that query_sm can still be asked about. */
const maxRemembered = 100_000
/** Long messages of which a part is missing, messages that were throttled and not yet taken, handsets out of reach. */
const maxUnfinished = 1000
/** Offers of a receipt that the other side cannot take now. */
const maxOffers = 10

interface Outcome {
  /** Refused at submit. */
  status?: number
  /** Receipt; null: none ever comes. Left out: delivered. */
  receipt?: { state: ReceiptState; error: string | null } | null
  /** The receipt comes after so many delays instead of one. */
  delays?: number
  /** Refused so often before it is taken. */
  throttles?: number
  /** Refused on the primary's sessions only. */
  primaryDown?: boolean
  /** The receipt goes out twice, before the answer to the submit. */
  early?: boolean
  /** Reply of the handset, a delay after the receipt; null: none. */
  reply?: (text: string) => string | null
}

/** The last two digits of a number that ends in 0000NN. */
const outcomes: Readonly<Record<string, Outcome>> = {
  '01': {},
  '02': { receipt: { state: 'UNDELIV', error: null } },
  '03': { status: commandStatus.ESME_RSUBMITFAIL },
  // 1 is "unknown subscriber" among the errors of the mobile application part (3GPP TS 29.002).
  '04': { receipt: { state: 'UNDELIV', error: '001' } },
  '05': { receipt: null },
  '06': { receipt: { state: 'EXPIRED', error: null } },
  '07': { delays: 30 },
  '08': { throttles: 3 },
  '09': { early: true },
  '12': { primaryDown: true },
  // The confirmation of a STOP, which tells how to start again, is not answered with another STOP.
  '13': { reply: (text) => (/START|JIUNGE/.test(text) ? null : 'STOP') },
  '14': { reply: (text) => text },
}

const delivered = { state: 'DELIVRD', error: null } as const
const undelivered = { state: 'UNDELIV', error: null } as const
const expired = { state: 'EXPIRED', error: null } as const

export interface SmscSimulatorOptions {
  host?: string
  /** 0, or nothing, for any free port. */
  port?: number
  /** system_id -> password. */
  accounts: Readonly<Record<string, string>>
  /** Account whose sessions refuse numbers that end in 000012. */
  primary?: string
  /** Delay from the submit to the receipt; a second by default. */
  delayMs?: number
  /** Timeout for answers before a session is closed; ten seconds by default. */
  responseTimeoutMs?: number
  /** The time of day, for the dates in receipts; without it they are zeros. */
  now?(): number
  /** File of messages under way; in memory only without it. */
  journalFile?: string | null
  /** Called when they can no longer be written. */
  onProblem?(error: unknown): void
  /** A handset got a whole message. */
  onMessage?(message: HandsetMessage): void
}

export interface HandsetMessage {
  systemId: string
  from: string
  /** Recipient as submitted: without a plus sign. */
  to: string
  text: string
}

/** A message, or a part of one, until its receipt is acknowledged. */
interface UnderWay {
  messageId: string
  systemId: string
  source: Address
  destination: Address
  registeredDelivery: number
  text: string
  concatenation: Concatenation | null
  submitDate: string | null
  wish: Wish | null
  /** Time left for retries when its delay is over; without it: no limit. */
  triesMs?: number
  /** Whether its expiry is due next, not its delivery. */
  expires?: boolean
}

interface HeldReceipt {
  messageId: string
  pdu: DeliverSm
}

export class SmscSimulator {
  delayMs: number
  /** Command status that every message is refused with, when set. */
  refuseWith: number | null = null
  /** System id whose messages are accepted and never delivered. */
  lost: string | null = null
  /** Whether messages get no answer at all. */
  silent = false

  readonly #options: SmscSimulatorOptions
  readonly #idPrefix = randomBytes(6).toString('hex')
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #unanswered = new Set<(answer: SubmitAnswer) => void>()
  readonly #outOfCoverage = new Map<string, UnderWay[]>()
  readonly #held = new Map<string, HeldReceipt[]>()
  readonly #journal: Journal
  readonly #underWay: Book<UnderWay>
  /** The session on which a message came. */
  readonly #sessions = new WeakMap<UnderWay, SmscSession>()
  readonly #states = new Latest<ReceiptState>(maxRemembered)
  readonly #throttled = new Map<string, number>()
  readonly #unjoined = new Map<string, Map<number, string>>()
  #messages = 0
  #references = 0
  #stopped = false
  #smsc: Smsc | null = null

  private constructor(options: SmscSimulatorOptions) {
    this.#options = options
    this.delayMs = options.delayMs ?? 1000
    this.#journal = new Journal({
      file: options.journalFile ?? null,
      now: options.now ?? (() => performance.now()),
      timeScale: 1,
      ...(options.onProblem ? { onProblem: options.onProblem } : {}),
    })
    this.#underWay = this.#journal.book({
      name: 'messages',
      most: maxUnderWay,
      due: (underWay) => this.#deliver(underWay, outcomeOf(underWay)),
    })
  }

  static async start(options: SmscSimulatorOptions): Promise<SmscSimulator> {
    const simulator = new SmscSimulator(options)
    simulator.#smsc = await Smsc.listen({
      host: options.host ?? '127.0.0.1',
      port: options.port ?? 0,
      systemId: 'SIMULATOR',
      responseTimeoutMs: options.responseTimeoutMs ?? 10_000,
      authenticate: (systemId, password) => simulator.#authenticate(systemId, password),
      onSubmit: (session, message) => simulator.#submit(session, message),
      onQuery: async (_session, { messageId }) => simulator.#query(messageId),
      onSession: (session) => simulator.#offerHeld(session),
    })
    simulator.#resume()
    return simulator
  }

  /** Retries messages to unreachable handsets, and receipts without a receiver. */
  #resume(): void {
    for (const [messageId, underWay] of this.#underWay.entries()) {
      this.#states.set(messageId, 'ENROUTE')
      if (!this.#underWay.isDue(messageId)) this.#underWay.put(messageId, underWay, 0)
      else if (underWay.wish?.isOutOfCoverage) this.#wait(underWay)
    }
    this.#journal.begin()
  }

  get port(): number {
    return this.#smsc?.port ?? 0
  }

  get sessions(): ReadonlySet<SmscSession> {
    return this.#smsc?.sessions ?? new Set()
  }

  /** Messages that got no answer because it was told to be silent. */
  get unanswered(): number {
    return this.#unanswered.size
  }

  /**
   * A handset sends a text; long ones go in parts. Resolves with the command_status of the answers, the first that is not 0 if
   * one is not. Rejects when no session that receives is bound, or it is lost before it answers.
   */
  async inbound(from: string, to: string, text: string, systemId?: string, joining?: Joining): Promise<number> {
    const session = this.#receiver(systemId)
    if (session === undefined) throw new Error('no session that receives messages is bound')
    this.#references = (this.#references + 1) % 65_536
    const parts = encodeMessage(text, { reference: this.#references, ...(joining ? { joining } : {}) })
    const addresses = { source: addressOf(from), destination: addressOf(to) }
    const statuses = await Promise.all(
      parts.map((content) => session.deliver(newShortMessage({ ...addresses, ...content }))),
    )
    return statuses.find((status) => status !== 0) ?? 0
  }

  /** Whether a handset is in reach. What is sent to it meanwhile arrives when it is again. */
  coverage(number: string, inCoverage: boolean): void {
    const digits = digitsOf(number)
    const waiting = this.#outOfCoverage.get(digits)
    if (!inCoverage && !waiting) remember(this.#outOfCoverage, digits, [], maxUnfinished)
    if (!inCoverage || !waiting) return
    this.#outOfCoverage.delete(digits)
    for (const message of waiting) this.#reach(message)
  }

  /** Brings handsets that an account made unreachable back, except those that still are; `*` is every one. */
  recover(account: string, stillOut: readonly string[]): void {
    const out = new Set(stillOut.map((number) => (number === '*' ? number : digitsOf(number))))
    if (out.has('*')) return
    for (const [key, waiting] of [...this.#outOfCoverage]) {
      const [whose, number = ''] = key.split(' ')
      if (whose !== account || out.has(number)) continue
      this.#outOfCoverage.delete(key)
      for (const message of waiting) this.#reach(message)
    }
  }

  /** The clock of an account was moved: what its messages still wait for comes so much earlier. */
  moveClock(account: string, offsetMs: number): void {
    for (const [messageId, { wish }] of this.#waitingFor(account)) {
      const forwardMs = offsetMs - wish.clockOffsetMs
      // A message journalled by an older version has no clock time.
      if (!(forwardMs > 0)) continue
      wish.clockOffsetMs = offsetMs
      this.#underWay.hasten(messageId, forwardMs)
    }
  }

  /** Whether a message of an account waits for a moment by its clock. */
  waitsFor(account: string): boolean {
    return this.#waitingFor(account).length > 0
  }

  #waitingFor(account: string): [string, { wish: Wish }][] {
    return this.#underWay
      .entries()
      .flatMap(([messageId, { wish }]) =>
        wish?.account === account && this.#underWay.isDue(messageId) ? [[messageId, { wish }]] : [],
      )
  }

  /** Cuts every connection, as a failing network does. */
  dropSessions(): void {
    for (const session of [...this.sessions]) session.drop()
  }

  /** Leaves what is under way to the next start, if it is written down, unbinds everyone and closes the port. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#journal.stop()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    for (const answer of this.#unanswered) answer(refused(commandStatus.ESME_RSYSERR))
    await this.#smsc?.close()
  }

  #authenticate(systemId: string, password: string): number {
    const expected = Object.hasOwn(this.#options.accounts, systemId) ? this.#options.accounts[systemId] : undefined
    if (expected === undefined) return commandStatus.ESME_RINVSYSID
    return expected === password ? commandStatus.ESME_ROK : commandStatus.ESME_RINVPASWD
  }

  async #submit(session: SmscSession, message: SubmitSm): Promise<SubmitAnswer> {
    if (this.silent) return new Promise((resolve) => this.#unanswered.add(resolve))
    const { source, destination, registeredDelivery } = message
    const wish = wishOf(message)
    const outcome = outcomeOf({ destination, wish })
    const status = this.#refusal(session, message, outcome)
    if (status !== 0) return refused(status)
    this.#messages += 1
    const messageId = `${this.#idPrefix}${this.#messages.toString(16).padStart(8, '0')}`
    const { text, concatenation } = decodeMessage(message)
    const underWay: UnderWay = {
      ...{ messageId, systemId: session.systemId, source, destination, registeredDelivery },
      ...{ text, concatenation, submitDate: this.#date(), wish },
    }
    this.#sessions.set(underWay, session)
    this.#states.set(messageId, 'ENROUTE')
    if (outcome.early) {
      await Promise.all([this.#receipt(underWay, delivered), this.#receipt(underWay, delivered)])
      this.#arrive(underWay, outcome)
    } else this.#send(underWay, outcome, validityMs(message))
    return { status: 0, messageId }
  }

  /** Delivers a message, or lets it expire when its validity ends first. */
  #send(underWay: UnderWay, outcome: Outcome, forMs: number | null): void {
    const { messageId, wish } = underWay
    // At once, so that it is already waiting when the handset is back.
    const delayMs = wish?.isOutOfCoverage ? 0 : (outcome.delays ?? 1) * (wish?.delayMs ?? this.delayMs)
    if (forMs !== null) underWay.triesMs = Math.max(0, forMs - delayMs)
    if (wish?.isOutOfCoverage) return this.#underWay.put(messageId, underWay, this.#wait(underWay) ?? undefined)
    if (forMs !== null && forMs < delayMs) underWay.expires = true
    this.#underWay.put(messageId, underWay, Math.min(delayMs, forMs ?? delayMs))
  }

  #refusal(session: SmscSession, message: SubmitSm, outcome: Outcome): number {
    if (this.refuseWith !== null) return this.refuseWith
    if (!/^\d{3,15}$/.test(message.destination.address)) return commandStatus.ESME_RINVDSTADR
    if (outcome.status !== undefined) return outcome.status
    if (outcome.primaryDown && session.systemId === (this.#options.primary ?? 'sandbox-1'))
      return commandStatus.ESME_RSYSERR
    if (this.#underWay.size >= maxUnderWay) return commandStatus.ESME_RMSGQFUL
    return outcome.throttles && this.#isThrottled(message, outcome.throttles) ? commandStatus.ESME_RTHROTTLED : 0
  }

  /** Counted for each message, and each part of one, so that all of them meet the same number of refusals. */
  #isThrottled({ source, destination, shortMessage, tlvs }: SubmitSm, times: number): boolean {
    const octets = tlvs.messagePayload ?? shortMessage
    const key = `${source.address} ${destination.address} ${tlvs.sarSegmentSeqnum ?? ''} ${octets.toString('hex')}`
    const met = this.#throttled.get(key) ?? 0
    this.#throttled.delete(key)
    if (met < times) remember(this.#throttled, key, met + 1, maxUnfinished)
    return met < times
  }

  /** The moment at which the network knows what became of a message. Gives after how long there is more to know. */
  async #deliver(underWay: UnderWay, outcome: Outcome): Promise<number | undefined> {
    if (underWay.expires) {
      const others = this.#outOfCoverage.get(whereabouts(underWay))?.filter((other) => other !== underWay)
      if (others) this.#outOfCoverage.set(whereabouts(underWay), others)
      return void (await this.#receipt(underWay, expired))
    }
    const waitsMs = this.#wait(underWay)
    if (waitsMs !== null) return waitsMs
    const { receipt = underWay.systemId === this.lost ? undelivered : delivered } = outcome
    if (receipt === null) return void this.#underWay.delete(underWay.messageId)
    const told = this.#receipt(underWay, receipt)
    if (receipt === delivered) this.#arrive(underWay, outcome)
    await told
    return undefined
  }

  /** Keeps a message for a handset out of reach. Gives how long at most, if there is an end; null: it is in reach. */
  #wait(underWay: UnderWay): number | undefined | null {
    const key = whereabouts(underWay)
    if (underWay.wish?.isOutOfCoverage && !this.#outOfCoverage.has(key))
      remember(this.#outOfCoverage, key, [], maxUnfinished)
    const waiting = this.#outOfCoverage.get(key)
    if (!waiting) return null
    if (waiting.length < maxHeld) waiting.push(underWay)
    if (underWay.triesMs !== undefined) underWay.expires = true
    return underWay.triesMs
  }

  /** Continues when its handset is reachable again. */
  #reach(underWay: UnderWay): void {
    underWay.expires = false
    underWay.wish = null
    this.#underWay.put(underWay.messageId, underWay)
    void this.#deliver(underWay, {})
  }

  /** Resolves when the receipt is acknowledged, or waits to be offered again. */
  async #receipt(underWay: UnderWay, { state, error }: { state: ReceiptState; error: string | null }): Promise<void> {
    const { messageId, systemId, source, destination, registeredDelivery, text, submitDate } = underWay
    this.#states.set(messageId, state)
    const wanted = registeredDelivery & 0x03
    if (wanted === 0 || (wanted === 2 && state === 'DELIVRD')) return this.#underWay.delete(messageId)
    const content = encodeReceipt({ id: messageId, state, error, submitDate, doneDate: this.#date(), text })
    const pdu = newShortMessage({ source: destination, destination: source, ...content })
    await this.#offer(this.#sessions.get(underWay) ?? null, systemId, { messageId, pdu }, 1)
  }

  /** Receipts go to the session that submitted if it receives, else to another of the same system id, else they wait for one. */
  async #offer(preferred: SmscSession | null, systemId: string, receipt: HeldReceipt, offers: number): Promise<void> {
    const session = preferred?.receives && this.sessions.has(preferred) ? preferred : this.#receiver(systemId)
    const status = await session?.deliver(receipt.pdu).catch(() => undefined)
    if (this.#stopped) return
    if (status === undefined) this.#hold(systemId, receipt)
    else if (temporary.has(status) && offers < maxOffers)
      this.#later(() => void this.#offer(preferred, systemId, receipt, offers + 1))
    else this.#underWay.delete(receipt.messageId)
  }

  #hold(systemId: string, receipt: HeldReceipt): void {
    const held = this.#held.get(systemId) ?? []
    this.#held.set(systemId, held)
    if (held.length < maxHeld) held.push(receipt)
  }

  #offerHeld(session: SmscSession): void {
    if (!session.receives) return
    const held = this.#held.get(session.systemId) ?? []
    this.#held.delete(session.systemId)
    for (const receipt of held) void this.#offer(session, session.systemId, receipt, 1)
  }

  /** The handset has a message, or a part of one; it answers when it has all. */
  #arrive({ systemId, source, destination, concatenation, text: part }: UnderWay, { reply }: Outcome): void {
    const [from, to] = [source.address, destination.address]
    const text = concatenation ? this.#join(`${systemId} ${from} ${to}`, concatenation, part) : part
    if (text === null) return
    this.#options.onMessage?.({ systemId, from, to, text })
    const answer = reply?.(text) ?? null
    if (answer !== null) this.#later(() => void this.inbound(to, from, answer, systemId).catch(() => undefined))
  }

  #join(key: string, { reference, total, number }: Concatenation, text: string): string | null {
    const whole = `${key} ${reference} ${total}`
    const parts = this.#unjoined.get(whole) ?? new Map<number, string>()
    parts.set(number, text)
    this.#unjoined.delete(whole)
    if (parts.size < total) {
      remember(this.#unjoined, whole, parts, maxUnfinished)
      return null
    }
    return [...parts.keys()]
      .sort((a, b) => a - b)
      .map((at) => parts.get(at) ?? '')
      .join('')
  }

  #query(messageId: string): QuerySmAnswer | null {
    const state = this.#states.get(messageId)
    const number = Object.entries(messageStates).find(([, name]) => name === state)?.[0]
    return number === undefined ? null : { messageId, finalDate: '', messageState: Number(number), errorCode: 0 }
  }

  #receiver(systemId?: string): SmscSession | undefined {
    return [...this.sessions].find(
      (session) => session.receives && (systemId === undefined || session.systemId === systemId),
    )
  }

  #later(what: () => void): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      what()
    }, this.delayMs)
    this.#timers.add(timer)
  }

  /** YYMMDDhhmm. */
  #date(): string | null {
    const nowMs = this.#options.now?.()
    return nowMs === undefined ? null : new Date(nowMs).toISOString().replace(/\D/g, '').slice(2, 12)
  }
}

/** Answers to deliver_sm after which it is worth trying again. */
const temporary: ReadonlySet<number> = new Set([
  commandStatus.ESME_RX_T_APPN,
  commandStatus.ESME_RTHROTTLED,
  commandStatus.ESME_RMSGQFUL,
  commandStatus.ESME_RSYSERR,
])

/** Outcome by the last digits of the number. */
function forcedOutcome({ address }: Address): Outcome | undefined {
  return /0000(\d\d)$/.test(address) ? outcomes[address.slice(-2)] : undefined
}

/** A number that forces an outcome keeps it: of what its sender wishes only the clock counts. */
function wishOf({ destination, tlvs }: SubmitSm): Wish | null {
  const wish = decodeWish(tlvs)
  return wish && forcedOutcome(destination) ? { ...wish, delayMs: null, outcome: null, isOutOfCoverage: false } : wish
}

function outcomeOf({ destination, wish }: Pick<UnderWay, 'destination' | 'wish'>): Outcome {
  return forcedOutcome(destination) ?? outcomes[wish?.outcome ?? ''] ?? {}
}

/** Key of a message that waits for its handset, with the account that made it unreachable, if one did. */
function whereabouts({ destination, wish }: UnderWay): string {
  return wish?.isOutOfCoverage ? `${wish.account} ${destination.address}` : destination.address
}

/** Validity as a time from now; null without one. */
function validityMs({ validityPeriod }: SubmitSm): number | null {
  const [, days, hours, minutes, seconds] = /^0000(\d\d)(\d\d)(\d\d)(\d\d)\d{3}R$/.exec(validityPeriod) ?? []
  if (seconds === undefined) return null
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}

const refused = (status: number): SubmitAnswer => ({ status, messageId: '' })

const digitsOf = (number: string): string => number.replace(/\D/g, '')

/** Telephone numbers as international ones, short codes and names as they are. */
function addressOf(text: string): Address {
  if (/^\+?\d{7,15}$/.test(text)) return { ...addressTypes.international, address: digitsOf(text) }
  return { ...(/^\d+$/.test(text) ? addressTypes.network : addressTypes.alphanumeric), address: text }
}

/**
 * The latest of a great many things, between half of the bound and all of it. In two maps, of which the older goes at once:
 * to find the first of a map whose first ones were deleted, all of those are looked at, which had cost 100 µs a message.
 */
class Latest<V> {
  readonly #half: number
  #newer = new Map<string, V>()
  #older: ReadonlyMap<string, V> = new Map()

  constructor(most: number) {
    this.#half = Math.ceil(most / 2)
  }

  get(key: string): V | undefined {
    return this.#newer.get(key) ?? this.#older.get(key)
  }

  set(key: string, value: V): void {
    if (this.#newer.size >= this.#half && !this.#newer.has(key)) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(key, value)
  }
}

/** Sets it as the newest; the oldest is forgotten beyond the bound. */
function remember<V>(map: Map<string, V>, key: string, value: V, bound: number): void {
  map.set(key, value)
  if (map.size <= bound) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
