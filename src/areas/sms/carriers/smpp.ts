// SPDX-License-Identifier: Apache-2.0
// A carrier behind SMPP: one bind is a pool of sessions to the same message centre that share one line of waiting parts and
// one pace. What a session that is lost had sent and not had answered is of unknown fate.
import { AppError } from '../../../kernel/errors.ts'
import type { Logger } from '../../../platform/telemetry/log.ts'
import { messageOf } from '../../../platform/telemetry/log.ts'
import { SessionError } from '../../../protocols/smpp/link.ts'
import type { DeliverSm, SubmitSm } from '../../../protocols/smpp/pdu.ts'
import { SmppPool, type SmppSession } from '../../../protocols/smpp/pool.ts'
import { isReceipt, normaliseId, parseReceipt } from '../../../protocols/smpp/receipts.ts'
import type { SubmitAnswer } from '../../../protocols/smpp/session.ts'
import { commandStatus, statusName } from '../../../protocols/smpp/status.ts'
import type { Carrier, Intake, OutboundMessage, SubmitOutcome } from '../carrier.ts'
import type { Priority } from '../message.ts'
import { carrierKind, type Surroundings } from './bind.ts'
import { Line } from './line.ts'
import { incomingOf, receiptOf } from './smpp-deliver.ts'
import { deliverFrame, submitFrame } from './smpp-frames.ts'
import { centreOf, checkSmpp, type SmppBind, SmppSettings, smppBindOf } from './smpp-settings.ts'
import { classOf, pdusOf } from './smpp-submit.ts'
import { testSmpp } from './smpp-test.ts'

export const smppKind = carrierKind({
  settings: SmppSettings,
  check: checkSmpp,
  centre: centreOf,
  open: (bind, settings, surroundings) => new SmppCarrier(smppBindOf(bind, settings), surroundings),
  test: (bind, settings, probe) => testSmpp(smppBindOf(bind, settings), probe),
})

/** Parts of one class that wait for a place in a window: those of all messages that its lane may have in memory. */
const maxWaiting = 50_000
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
  /** Number of refusals for lack of room. */
  throttled: number
  /** Asked before it is written. */
  readonly permit: (() => Promise<boolean>) | null
  readonly trace: OutboundMessage['trace']
  resolve(outcome: PartOutcome): void
  reject(error: unknown): void
}

class SmppCarrier implements Carrier {
  readonly #bind: SmppBind
  readonly #intake: Intake
  readonly #log: Logger
  readonly #line: Line<Part>
  readonly #pool: SmppPool
  /** Places in the windows of sessions that are kept for parts whose permit was asked for. */
  readonly #kept = new Map<SmppSession, number>()
  lastError: string | null = null

  constructor(bind: SmppBind, { intake, log, isOurs }: Surroundings) {
    this.#bind = bind
    this.#intake = intake
    this.#log = log
    this.#line = new Line(maxWaiting, bind.ratePerSecond, {
      isOurs,
      isConnected: () => this.sessions > 0,
      unanswered: () => this.#unanswered(),
      pump: () => this.#pump(),
    })
    this.#pool = new SmppPool({
      ...bind,
      responseTimeoutMs: bind.responseTimeoutSeconds * 1_000,
      enquireLinkMs: bind.enquireLinkSeconds * 1_000,
      onDeliver: (pdu, sequence) => this.#deliver(pdu, sequence),
      opened: () => this.#opened(),
      failed: (error, isFirst) => this.#failed(error, isFirst),
      lost: (reason) => this.#lost(reason),
    })
  }

  get name(): string {
    return this.#bind.name
  }

  get isUp(): boolean {
    return this.#line.isUp
  }

  get sessions(): number {
    return this.#pool.sessions.size
  }

  get pending(): number {
    return this.#line.pending
  }

  get ratePerSecond(): number | null {
    return this.#line.ratePerSecond
  }

  async start(): Promise<void> {
    await this.#pool.start()
  }

  async submit(message: OutboundMessage): Promise<SubmitOutcome> {
    const { account, priority, weight, trace } = message
    const permit = message.permit && once(message.permit)
    const pdus = pdusOf(message, this.#bind)
    const refusal = this.#line.refusal(message, pdus.length)
    if (refusal) return refusal
    const outcomes = pdus.map(
      (pdu) =>
        new Promise<PartOutcome>((resolve, reject) => {
          this.#line.add({ account, priority, weight, pdu, throttled: 0, permit, trace, resolve, reject })
        }),
    )
    this.#pump()
    return whole(await Promise.all(outcomes))
  }

  /** Sends nothing more, waits for the answers that are due, and unbinds. */
  async stop(): Promise<void> {
    this.#line.stop()
    await this.#pool.stop()
  }

  #opened(): void {
    this.lastError = null
    this.#pump()
  }

  #failed(error: unknown, isFirst: boolean): void {
    this.lastError = messageOf(error)
    if (isFirst)
      this.#log.warn(
        { error, bind: this.name },
        'bind not connected: retried with growing waits; check host, port, system_id and password if it stays so',
      )
  }

  #lost(reason: string): void {
    this.lastError = reason
    this.#log.warn(
      { bind: this.name, reason },
      'SMPP session lost: binding again; check the network and the carrier if this repeats',
    )
    if (this.sessions === 0) this.#line.giveBack()
  }

  #pump(): void {
    for (let session = this.#freest(); session !== null; session = this.#freest()) {
      const part = this.#line.next()
      if (!part) return
      void (part.permit ? this.#ask(session, part, part.permit) : this.#send(session, part))
    }
  }

  async #ask(session: SmppSession, part: Part, permit: () => Promise<boolean>): Promise<void> {
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

  #keep(session: SmppSession, change: number): void {
    const kept = (this.#kept.get(session) ?? 0) + change
    if (kept > 0) this.#kept.set(session, kept)
    else this.#kept.delete(session)
  }

  #unanswered(): number {
    let unanswered = 0
    for (const session of this.#pool.sessions) unanswered += session.pending
    return unanswered
  }

  #freest(): SmppSession | null {
    let freest: SmppSession | null = null
    let least = this.#bind.window
    for (const session of this.#pool.sessions) {
      const pending = session.pending + (this.#kept.get(session) ?? 0)
      if (pending >= least) continue
      least = pending
      freest = session
    }
    return freest
  }

  async #send(session: SmppSession, part: Part): Promise<void> {
    let takenLate: (id: string) => void = () => undefined
    const late = new Promise<string>((resolve) => {
      takenLate = resolve
    })
    const sentMs = performance.now()
    try {
      const answer = await session.submit(part.pdu, (slow) => {
        if (slow.status === commandStatus.ESME_ROK) takenLate(this.#idIn(slow))
      })
      this.#trust()
      this.#note(part, answer, sentMs)
      this.#answered(part, answer)
    } catch (error) {
      this.#note(part, { problem: messageOf(error) }, sentMs)
      const isTimeout = error instanceof SessionError && error.kind === 'timeout'
      if (isTimeout) this.#doubt(error.message)
      if (error instanceof SessionError && !error.sent) this.#line.again(part)
      else part.resolve({ kind: 'unknown', reason: messageOf(error), late: isTimeout ? late : null })
    }
    this.#pump()
  }

  #note({ trace, pdu }: Part, answer: SubmitAnswer | { problem: string }, sentMs: number): void {
    trace?.note(submitFrame(this.name, pdu, answer, performance.now() - sentMs, trace.masksText))
  }

  #trust(): void {
    if (this.#line.isDoubted) this.lastError = null
    this.#line.trust()
  }

  #doubt(reason: string): void {
    this.lastError = reason
    if (this.#line.doubt())
      this.#log.warn(
        { bind: this.name, reason },
        'message centre does not answer: messages wait or take another bind; check the carrier’s status',
      )
  }

  #idIn({ messageId }: SubmitAnswer): string {
    return normaliseId(messageId, this.#bind.answerIds)
  }

  #answered(part: Part, answer: SubmitAnswer): void {
    const { status } = answer
    if (status === commandStatus.ESME_ROK) return part.resolve({ kind: 'taken', id: this.#idIn(answer) })
    if (status === commandStatus.ESME_RINVEXPIRY && part.pdu.validityPeriod !== '') return this.#withoutValidity(part)
    const found = classOf(status)
    if (found.kind !== 'throttled') return part.resolve({ ...found, carrierCode: statusName(status) })
    const waitMs = this.#line.throttle(part)
    if (waitMs === null) part.resolve({ kind: 'throttled' })
    else this.#line.again(part, waitMs)
  }

  /** Sends again without a validity period: a late text is better than none. */
  #withoutValidity(part: Part): void {
    this.#log.info(
      { bind: this.name, validity: part.pdu.validityPeriod },
      'message centre refused a validity period: the text is sent again without one; nothing to do',
    )
    this.#line.again({ ...part, pdu: { ...part.pdu, validityPeriod: '' } })
  }

  /** Acknowledge a deliver_sm only once it is stored; otherwise the centre keeps it and sends it again. */
  async #deliver(pdu: DeliverSm, sequence: number): Promise<number> {
    try {
      if (isReceipt(pdu)) await this.#report(pdu, sequence)
      else await this.#bring(pdu, sequence)
      return commandStatus.ESME_ROK
    } catch (error) {
      if (error instanceof AppError && error.code === 'INVALID_REQUEST') {
        this.#log.warn(
          { error, bind: this.name },
          'deliver_sm refused permanently: it is malformed; report it to the carrier',
        )
        return commandStatus.ESME_RX_P_APPN
      }
      this.#log.warn(
        { error, bind: this.name },
        'deliver_sm not stored: the carrier is asked to send it again; check the database',
      )
      return commandStatus.ESME_RX_T_APPN
    }
  }

  #bring(pdu: DeliverSm, sequence: number): Promise<void> {
    const frame = (isMasked: boolean) => deliverFrame(this.name, pdu, sequence, null, null, isMasked)
    return this.#intake.incoming({ ...incomingOf(this.name, this.#bind.alphabet, pdu), frame })
  }

  async #report(pdu: DeliverSm, sequence: number): Promise<void> {
    const parsed = parseReceipt(pdu)
    if (!parsed)
      this.#log.warn(
        { bind: this.name },
        'receipt without a message id or a known state: it is ignored; check the bind’s receipt format with the carrier',
      )
    const receipt = parsed && receiptOf(this.name, this.#bind.receiptIds, parsed)
    if (!parsed || !receipt) return
    const isGood = receipt.status === 'delivered'
    const frame = (isMasked: boolean) => deliverFrame(this.name, pdu, sequence, parsed.state, isGood, isMasked)
    await this.#intake.receipt({ ...receipt, frame })
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

/** Outcome of a message from the outcomes of its parts: the worst of them. */
function whole(parts: readonly PartOutcome[]): SubmitOutcome {
  const carrierIds: string[] = []
  for (const part of parts) if (part.kind === 'taken') carrierIds.push(part.id)
  if (carrierIds.length === parts.length) return { kind: 'sent', carrierIds }
  for (const part of parts) if (part.kind === 'rejected' || part.kind === 'withheld') return part
  for (const part of parts) if (part.kind === 'unknown') return unknown(part.reason, parts)
  // A message that is sent in part counts as sent: another carrier would send all of it.
  if (carrierIds.length > 0)
    return { kind: 'unknown', reason: `of ${parts.length} parts only ${carrierIds.length} were taken` }
  for (const part of parts) if (part.kind === 'reroute') return part
  return { kind: 'reroute', code: 'THROTTLED', carrierCode: statusName(commandStatus.ESME_RTHROTTLED) }
}

/** Unknown outcome. The ids follow late, if no part is refused and the last answer comes. */
function unknown(reason: string, parts: readonly PartOutcome[]): SubmitOutcome {
  const ids: (string | Promise<string>)[] = []
  for (const part of parts)
    if (part.kind === 'taken') ids.push(part.id)
    else if (part.kind === 'unknown' && part.late) ids.push(part.late)
  return ids.length < parts.length ? { kind: 'unknown', reason } : { kind: 'unknown', reason, late: Promise.all(ids) }
}
