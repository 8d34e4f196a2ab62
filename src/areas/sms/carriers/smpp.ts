// SPDX-License-Identifier: Apache-2.0
// A carrier behind SMPP: one bind is several sessions to the same message centre that share one line of waiting parts and
// one pace. A session that is lost comes back by itself; what it had sent and not had answered is of unknown fate.
import { Type } from 'typebox'
import { backoffMs } from '../../../kernel/backoff.ts'
import { AppError } from '../../../kernel/errors.ts'
import { fitter } from '../../../platform/http/validate.ts'
import type { Logger } from '../../../platform/log.ts'
import { messageOf } from '../../../platform/log.ts'
import { Nullable, OneOf } from '../../../platform/schema.ts'
import { type Alphabet, alphabets, encodeMessage, type Joining, joinings } from '../../../protocols/smpp/charset.ts'
import { SessionError } from '../../../protocols/smpp/link.ts'
import { addressTypes, type DeliverSm, newShortMessage, type SubmitSm } from '../../../protocols/smpp/pdu.ts'
import { type IdForm, isReceipt, normaliseId, parseReceipt } from '../../../protocols/smpp/receipts.ts'
import { Esme, type SubmitAnswer } from '../../../protocols/smpp/session.ts'
import { commandStatus, statusName } from '../../../protocols/smpp/status.ts'
import { encodeWish } from '../../../protocols/smpp/wish.ts'
import type { Carrier, Intake, OutboundMessage, SubmitOutcome } from '../carrier.ts'
import type { Priority } from '../message.ts'
import { carrierKind } from '../network/bind.ts'
import { Line } from './line.ts'
import { incomingOf, receiptOf } from './smpp-deliver.ts'

interface SmppBind {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly sessions: number
  /** Parts without an answer, of one session. */
  readonly window: number
  /** Parts per second, of all sessions; null: as fast as the centre takes them. */
  readonly ratePerSecond: number | null
  readonly enquireLinkSeconds: number
  /** An answer that takes longer does not come. */
  readonly responseTimeoutSeconds: number
  /** How the centre writes ids in its answers, and in receipts. */
  readonly answerIds: IdForm
  readonly receiptIds: IdForm
  /** How the parts of a long message are joined. */
  readonly concatenation: Joining
  /** What text is written in whose data_coding is 0. */
  readonly alphabet: Alphabet
  /** How the centre wants short codes typed that texts are from. */
  readonly shortCodes: { readonly ton: number; readonly npi: number }
}

const IdSetting = (where: string) =>
  OneOf(['exact', 'text', 'hex', 'decimal'], {
    default: 'exact',
    description: `How the message centre writes ids in ${where}`,
  })

/** A host name, as the DNS or a container network has it, or an address of either version. */
const hostForm = '^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?\\.?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]+)?)$'

/** Texts as long as SMPP allows. */
const Settings = Type.Object({
  host: Type.String({ maxLength: 253, pattern: hostForm, rule: 'must be a host name or address' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, rule: 'must be 1 to 65535' }),
  system_id: Type.String({ minLength: 1, maxLength: 15, rule: 'must have 1 to 15 characters' }),
  password: Type.String({ maxLength: 8, rule: 'must have at most 8 characters', sensitive: true }),
  system_type: Type.String({ default: '', maxLength: 12, rule: 'must have at most 12 characters' }),
  sessions: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 32,
    rule: 'must be 1 to 32',
    description: 'Connections to the centre',
  }),
  enquire_link_seconds: Type.Integer({ default: 30, minimum: 1, maximum: 3_600, rule: 'must be 1 to 3600' }),
  centre: Nullable(Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' }), {
    default: null,
    rule: 'must be null, or have 1 to 40 small letters, digits or -, and begin with a letter',
    description:
      'A name for the message centre, the same for all binds that lead to it: it may bring receipts over any of them. ' +
      'Binds with the same host, port and system_id need none',
  }),
  answer_ids: IdSetting('answers'),
  receipt_ids: IdSetting('receipts'),
  concatenation: OneOf(joinings, {
    default: 'udh',
    description:
      'How a long message is handed over: in parts with a header of 8-bit (`udh`) or 16-bit (`udh16`) reference, in ' +
      'parts told by `sar` parameters, or whole in the parameter message_payload (`payload`)',
  }),
  alphabet: OneOf(alphabets, {
    default: 'gsm',
    description: 'What the message centre takes text for whose data_coding is 0, in both directions',
  }),
  short_code_ton: Type.Integer({
    default: addressTypes.network.ton,
    minimum: 0,
    maximum: 6,
    rule: 'must be 0 to 6',
    description: 'The type of number that the message centre wants of a short code which texts are from',
  }),
  short_code_npi: Type.Integer({
    default: addressTypes.network.npi,
    minimum: 0,
    maximum: 18,
    rule: 'must be 0 to 18',
    description: 'The same for its numbering plan',
  }),
})

const isPlaced = fitter(Type.Pick(Settings, ['host', 'port', 'system_id', 'centre']))

/** The port is part of it: at the end of tunnels operators have one host, and may know us by one system_id. */
function centreOf(shown: object): string | null {
  if (!isPlaced(shown)) return null
  return shown.centre ?? `${shown.host.toLowerCase()}:${shown.port} ${shown.system_id}`
}

export const smppKind = carrierKind({
  settings: Settings,
  centre: centreOf,
  open: ({ name, window, ratePerSecond, responseTimeoutSeconds }, settings, { intake, log }) =>
    new SmppCarrier(
      {
        name,
        host: settings.host,
        port: settings.port,
        systemId: settings.system_id,
        password: settings.password,
        systemType: settings.system_type,
        sessions: settings.sessions,
        window,
        ratePerSecond,
        enquireLinkSeconds: settings.enquire_link_seconds,
        responseTimeoutSeconds,
        answerIds: settings.answer_ids,
        receiptIds: settings.receipt_ids,
        concatenation: settings.concatenation,
        alphabet: settings.alphabet,
        shortCodes: { ton: settings.short_code_ton, npi: settings.short_code_npi },
      },
      intake,
      log,
    ),
})

/** Parts of one class that wait for a place in a window: those of all messages that its lane may have in memory. */
const maxWaiting = 50_000
/** Waits before a session is opened again; the last one goes on. */
const reconnectSeconds = [0.1, 0.5, 1, 2, 5, 10, 20]
const longestReconnectMs = 20_000
/** A session that is lost sooner than this was as good as refused: operators bar those who bind again and again at once. */
const soundMs = 5_000
const jitter = 0.2
/** As many as the numbers have that operators give out as short codes. */
const shortCodeDigits = 8

type Class =
  | { kind: 'rejected'; code: string }
  | { kind: 'reroute'; code: string }
  /** Too much at once: the same part again, later, and everything slower. */
  | { kind: 'throttled' }

const rejected = (code: string): Class => ({ kind: 'rejected', code })
const reroute: Class = { kind: 'reroute', code: 'CARRIER_ERROR' }
const throttled: Class = { kind: 'throttled' }

/** command_status -> what to do. What is not listed is a refusal of the message. */
const classes: ReadonlyMap<number, Class> = new Map([
  [commandStatus.ESME_RTHROTTLED, throttled],
  [commandStatus.ESME_RMSGQFUL, throttled],
  [commandStatus.ESME_RINVDSTADR, rejected('INVALID_NUMBER')],
  [commandStatus.ESME_RINVDSTTON, rejected('INVALID_NUMBER')],
  [commandStatus.ESME_RINVDSTNPI, rejected('INVALID_NUMBER')],
  [commandStatus.ESME_RINVSRCADR, rejected('INVALID_SENDER')],
  [commandStatus.ESME_RINVSRCTON, rejected('INVALID_SENDER')],
  [commandStatus.ESME_RINVSRCNPI, rejected('INVALID_SENDER')],
  [commandStatus.ESME_RINVEXPIRY, rejected('CARRIER_ERROR')],
  [commandStatus.ESME_RSYSERR, reroute],
  [commandStatus.ESME_RINVBNDSTS, reroute],
  [commandStatus.ESME_RINVSYSID, reroute],
  [commandStatus.ESME_RINVSYSTYP, reroute],
  [commandStatus.ESME_RINVCMDID, reroute],
  [commandStatus.ESME_RX_T_APPN, reroute],
  [commandStatus.ESME_RUNKNOWNERR, reroute],
])

type PartOutcome =
  | { kind: 'taken'; id: string }
  | { kind: 'rejected'; code: string; carrierCode: string }
  | { kind: 'reroute'; code: string; carrierCode: string | null }
  | { kind: 'throttled' }
  | { kind: 'withheld' }
  /** `late` is fulfilled with its id if the centre says after all that it took it. */
  | { kind: 'unknown'; reason: string; late: Promise<string> | null }

interface Part {
  readonly account: string
  readonly priority: Priority
  readonly weight: number
  readonly pdu: SubmitSm
  /** How often the centre had no room for it. */
  throttled: number
  /** Asked before it is written. */
  readonly permit: (() => Promise<boolean>) | null
  resolve(outcome: PartOutcome): void
  reject(error: unknown): void
}

class SmppCarrier implements Carrier {
  readonly #bind: SmppBind
  readonly #intake: Intake
  readonly #log: Logger
  readonly #line: Line<Part>
  readonly #sessions = new Set<Esme>()
  /** Places in the windows of sessions that are kept for parts whose permit was asked for. */
  readonly #kept = new Map<Esme, number>()
  readonly #reconnects = new Set<NodeJS.Timeout>()
  #stopped = false
  lastError: string | null = null

  constructor(bind: SmppBind, intake: Intake, log: Logger) {
    this.#bind = bind
    this.#intake = intake
    this.#log = log
    this.#line = new Line(maxWaiting, bind.ratePerSecond, {
      isConnected: () => this.#sessions.size > 0,
      unanswered: () => this.#unanswered(),
      pump: () => this.#pump(),
    })
  }

  get name(): string {
    return this.#bind.name
  }

  get isUp(): boolean {
    return this.#line.isUp
  }

  get sessions(): number {
    return this.#sessions.size
  }

  get pending(): number {
    return this.#line.pending
  }

  get ratePerSecond(): number | null {
    return this.#line.ratePerSecond
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#bind.sessions }, () => this.#connect(0)))
  }

  async submit(message: OutboundMessage): Promise<SubmitOutcome> {
    const { account, priority, weight } = message
    const permit = message.permit && once(message.permit)
    const pdus = pdusOf(message, this.#bind)
    const refusal = this.#line.refusal(message, pdus.length)
    if (refusal) return refusal
    const outcomes = pdus.map(
      (pdu) =>
        new Promise<PartOutcome>((resolve, reject) => {
          this.#line.add({ account, priority, weight, pdu, throttled: 0, permit, resolve, reject })
        }),
    )
    this.#pump()
    return whole(await Promise.all(outcomes))
  }

  /** Sends nothing more, waits for the answers that are due, and unbinds. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#reconnects) clearTimeout(timer)
    this.#line.stop()
    await Promise.all([...this.#sessions].map((session) => session.close()))
  }

  async #connect(failures: number): Promise<void> {
    const { host, port, systemId, password, systemType, window, enquireLinkSeconds, responseTimeoutSeconds, name } =
      this.#bind
    const holder: { session: Esme | null; isClosed: boolean } = { session: null, isClosed: false }
    let openedMs = performance.now()
    const lost = (session: Esme, reason: string): void =>
      this.#lost(session, reason, performance.now() < openedMs + soundMs ? failures : 0)
    try {
      const session = await Esme.connect({
        host,
        port,
        systemId,
        password,
        systemType,
        bindMode: 'transceiver',
        window,
        responseTimeoutMs: responseTimeoutSeconds * 1_000,
        enquireLinkMs: enquireLinkSeconds * 1_000,
        onDeliver: (pdu) => this.#deliver(pdu),
        onClosed: (reason) => {
          holder.isClosed = true
          if (holder.session) lost(holder.session, reason)
        },
      })
      if (this.#stopped) return void (await session.close())
      openedMs = performance.now()
      holder.session = session
      this.#sessions.add(session)
      if (holder.isClosed) return lost(session, 'it closed at once')
      this.lastError = null
      this.#pump()
    } catch (error) {
      this.lastError = messageOf(error)
      if (failures === 0) this.#log.warn({ error, bind: name }, 'a bind is not connected; trying again')
      this.#reconnect(failures + 1)
    }
  }

  /** `failures`: how many in a row came before this one. */
  #lost(session: Esme, reason: string, failures: number): void {
    this.#sessions.delete(session)
    if (this.#stopped) return
    this.lastError = reason
    this.#log.warn({ bind: this.name, reason }, 'a session was lost; binding again')
    if (this.#sessions.size === 0) this.#line.giveBack()
    this.#reconnect(failures + 1)
  }

  #reconnect(failures: number): void {
    if (this.#stopped) return
    const attempt = Math.min(failures, reconnectSeconds.length)
    const timer = setTimeout(
      () => {
        this.#reconnects.delete(timer)
        void this.#connect(failures)
      },
      backoffMs(reconnectSeconds, attempt, jitter, Math.random()) ?? longestReconnectMs,
    )
    timer.unref()
    this.#reconnects.add(timer)
  }

  #pump(): void {
    for (let session = this.#freest(); session !== null; session = this.#freest()) {
      const part = this.#line.next()
      if (!part) return
      void (part.permit ? this.#ask(session, part, part.permit) : this.#send(session, part))
    }
  }

  async #ask(session: Esme, part: Part, permit: () => Promise<boolean>): Promise<void> {
    this.#keep(session, 1)
    try {
      if (await permit()) void this.#send(session, part)
      else part.resolve({ kind: 'withheld' })
    } catch (error) {
      part.reject(error)
    } finally {
      this.#keep(session, -1)
      this.#pump()
    }
  }

  #keep(session: Esme, change: number): void {
    const kept = (this.#kept.get(session) ?? 0) + change
    if (kept > 0) this.#kept.set(session, kept)
    else this.#kept.delete(session)
  }

  #unanswered(): number {
    let unanswered = 0
    for (const session of this.#sessions) unanswered += session.pending
    return unanswered
  }

  #freest(): Esme | null {
    let freest: Esme | null = null
    let least = this.#bind.window
    for (const session of this.#sessions) {
      const pending = session.pending + (this.#kept.get(session) ?? 0)
      if (pending >= least) continue
      least = pending
      freest = session
    }
    return freest
  }

  async #send(session: Esme, part: Part): Promise<void> {
    let takenLate: (id: string) => void = () => undefined
    const late = new Promise<string>((resolve) => {
      takenLate = resolve
    })
    try {
      const answer = await session.submit(part.pdu, (slow) => {
        if (slow.status === commandStatus.ESME_ROK) takenLate(this.#idIn(slow))
      })
      this.#trust()
      this.#answered(part, answer)
    } catch (error) {
      const isTimeout = error instanceof SessionError && error.kind === 'timeout'
      if (isTimeout) this.#doubt(error.message)
      if (error instanceof SessionError && !error.sent) this.#line.again(part)
      else part.resolve({ kind: 'unknown', reason: messageOf(error), late: isTimeout ? late : null })
    }
    this.#pump()
  }

  #trust(): void {
    if (this.#line.isDoubted) this.lastError = null
    this.#line.trust()
  }

  #doubt(reason: string): void {
    this.lastError = reason
    if (this.#line.doubt()) this.#log.warn({ bind: this.name, reason }, 'a message centre does not answer')
  }

  #idIn({ messageId }: SubmitAnswer): string {
    return normaliseId(messageId, this.#bind.answerIds)
  }

  #answered(part: Part, answer: SubmitAnswer): void {
    const { status } = answer
    if (status === commandStatus.ESME_ROK) return part.resolve({ kind: 'taken', id: this.#idIn(answer) })
    const found = classes.get(status) ?? rejected('REJECTED')
    if (found.kind !== 'throttled') return part.resolve({ ...found, carrierCode: statusName(status) })
    const waitMs = this.#line.throttle(part)
    if (waitMs === null) part.resolve({ kind: 'throttled' })
    else this.#line.again(part, waitMs)
  }

  /** Answered only when it is stored: otherwise the centre keeps it, and tries again. */
  async #deliver(pdu: DeliverSm): Promise<number> {
    try {
      if (isReceipt(pdu)) await this.#report(pdu)
      else await this.#intake.incoming(incomingOf(this.name, this.#bind.alphabet, pdu))
      return commandStatus.ESME_ROK
    } catch (error) {
      if (error instanceof AppError && error.code === 'INVALID_REQUEST') {
        this.#log.warn({ error, bind: this.name }, 'what a carrier brought is refused for good')
        return commandStatus.ESME_RX_P_APPN
      }
      this.#log.warn({ error, bind: this.name }, 'what a carrier brought could not be stored; it will bring it again')
      return commandStatus.ESME_RX_T_APPN
    }
  }

  async #report(pdu: DeliverSm): Promise<void> {
    const parsed = parseReceipt(pdu)
    if (!parsed) this.#log.warn({ bind: this.name }, 'a receipt names no message, or no state that is known')
    const receipt = parsed && receiptOf(this.name, this.#bind.receiptIds, parsed)
    if (receipt) await this.#intake.receipt(receipt)
  }
}

/** Asks once, and gives everybody the same answer. */
function once(permit: () => Promise<boolean>): () => Promise<boolean> {
  let asked: Promise<boolean> | null = null
  return () => {
    asked ??= permit()
    return asked
  }
}

/** What became of a message, from what became of its parts: the worst that was said. */
function whole(parts: readonly PartOutcome[]): SubmitOutcome {
  const carrierIds: string[] = []
  for (const part of parts) if (part.kind === 'taken') carrierIds.push(part.id)
  if (carrierIds.length === parts.length) return { kind: 'sent', carrierIds }
  for (const part of parts) if (part.kind === 'rejected' || part.kind === 'withheld') return part
  for (const part of parts) if (part.kind === 'unknown') return unknown(part.reason, parts)
  // What is out in part is out: another carrier would send all of it.
  if (carrierIds.length > 0)
    return { kind: 'unknown', reason: `of ${parts.length} parts only ${carrierIds.length} were taken` }
  for (const part of parts) if (part.kind === 'reroute') return part
  return { kind: 'reroute', code: 'THROTTLED', carrierCode: statusName(commandStatus.ESME_RTHROTTLED) }
}

/** Its ids are known late when no part was refused and the last answer has come. */
function unknown(reason: string, parts: readonly PartOutcome[]): SubmitOutcome {
  const ids: (string | Promise<string>)[] = []
  for (const part of parts)
    if (part.kind === 'taken') ids.push(part.id)
    else if (part.kind === 'unknown' && part.late) ids.push(part.late)
  return ids.length < parts.length ? { kind: 'unknown', reason } : { kind: 'unknown', reason, late: Promise.all(ids) }
}

function pdusOf(
  { to, from, text, encoding, reference, validitySeconds, wish }: OutboundMessage,
  { concatenation: joining, alphabet, shortCodes }: SmppBind,
): SubmitSm[] {
  return encodeMessage(text, { encoding, reference, joining, alphabet }).map((content) =>
    newShortMessage({
      source: sourceOf(from, shortCodes),
      destination: { address: to.replace('+', ''), ...addressTypes.international },
      validityPeriod: validityPeriod(validitySeconds),
      registeredDelivery: 1,
      ...content,
      ...(wish ? { tlvs: { ...content.tlvs, ...encodeWish(wish) } } : {}),
    }),
  )
}

function sourceOf(from: string, shortCodes: SmppBind['shortCodes']): SubmitSm['source'] {
  if (!/^\+?\d+$/.test(from)) return { address: from, ...addressTypes.alphanumeric }
  if (!from.startsWith('+') && from.length <= shortCodeDigits) return { address: from, ...shortCodes }
  return { address: from.replace('+', ''), ...addressTypes.international }
}

/** How long the network may try, as SMPP writes it: days, hours, minutes and seconds from now. */
function validityPeriod(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `0000${two(seconds / 86_400)}${two((seconds / 3_600) % 24)}${two((seconds / 60) % 60)}${two(seconds % 60)}000R`
}
