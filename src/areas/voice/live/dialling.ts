// SPDX-License-Identifier: Apache-2.0
// Action `connect`: ring all targets at once, bridge the first to answer and report the result to the flow.
import { ringback } from '../../../protocols/audio/tones.ts'
import type { CallRecord, EndOfCall } from '../calls/call-record.ts'
import type { CallTimers } from '../calls/call-timers.ts'
import type { ActionOf } from '../flow/action.ts'
import type { DialStatus, FlowInput } from '../flow/flow.ts'
import type { RungLeg } from '../legs/leg.ts'
import type { LegTarget } from '../legs/legs.ts'
import { fetchSound } from '../media/sounds.ts'
import { ownership } from '../numbers/store.ts'
import { untilTheEnd } from '../room/recordings.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import type { LiveRoom } from './live-room.ts'

/** `connect` action in progress. */
interface Dial {
  id: number
  action: ActionOf<'connect'>
  legs: RungLeg[]
  /** Leg that answered first. */
  bridged: RungLeg | null
  startedMs: number
  isRinging: boolean
  /** Leg whose network speaks before the answer, heard in place of the tone. */
  announcing: RungLeg | null
  lastEnding: EndOfCall | null
  /** Party that the bridged one asked to be replaced by, until it answers or does not. */
  replacing: Replacing | null
  replacements: number
}

interface Replacing {
  readonly by: RungLeg
  tell(status: number): void
}

/** Parties that one `connect` is handed on to, one after the other. */
const maxReplacements = 3
/** What a party that wanted to be replaced is told of a number that cannot be rung. */
const refusals: Readonly<Record<string, number>> = { not_allowed: 403, insufficient_funds: 402, no_route: 404 }

const ringbackPlayer = 'ringback'

export class Dialling {
  readonly #network: TelephoneNetwork
  readonly #record: CallRecord
  readonly #room: LiveRoom
  readonly #timers: CallTimers
  readonly #input: (input: FlowInput) => void
  #dial: Dial | null = null

  constructor(
    network: TelephoneNetwork,
    record: CallRecord,
    room: LiveRoom,
    timers: CallTimers,
    input: (input: FlowInput) => void,
  ) {
    this.#network = network
    this.#record = record
    this.#room = room
    this.#timers = timers
    this.#input = input
  }

  async begin(id: number, action: ActionOf<'connect'>): Promise<void> {
    const record = this.#record
    const startedMs = record.nowMs
    const dial: Dial = {
      id,
      action,
      legs: [],
      bridged: null,
      startedMs,
      isRinging: true,
      announcing: null,
      lastEnding: null,
      replacing: null,
      replacements: 0,
    }
    this.#dial = dial
    record.change({ phase: 'connected' })
    await this.#playRingback(action)
    this.#timers.set('dial', action.timeout * 1_000, () => this.#ended(dial, 'timeout', 'no_answer'))
    let refused = 'no_route'
    const isOwned = await this.#mayShow(action.from)
    if (!isOwned) refused = 'not_allowed'
    for (const endpoint of action.endpoint) {
      const to = targetOf(endpoint)
      const leg = isOwned && to && this.#dial === dial && !dial.bridged ? await this.#ring(dial, to) : null
      if (typeof leg === 'string') refused = leg
      if (leg === 'address_blocked') {
        refused = 'not_allowed'
        this.#report('INVALID_URL', 'endpoint: the address of the websocket is one that may not be called')
      }
      if (leg === 'not_allowed') this.#report('DESTINATION_NOT_ALLOWED', 'the number is one that nobody may call')
    }
    dial.isRinging = false
    if (dial.legs.length === 0) this.#ended(dial, 'failed', refused)
    else this.#endWhenAllEnded(dial)
  }

  /** Whether the account may show a caller id; flows follow the same rule as requests. */
  async #mayShow(from: string | undefined): Promise<boolean> {
    const { app } = this.#network
    if (from === undefined || (await ownership(app, this.#record.one, from)) === 'own') return true
    this.#report('NUMBER_NOT_OWNED', `from: ${from} is not a number of this account`)
    return false
  }

  #report(code: string, message: string): void {
    this.#record.tell({ error: { code, message, action_index: null } })
    this.#record.flush()
  }

  /** A websocket does not ring, so that nothing is heard until it is up, unless a tone was given. */
  async #playRingback({ ringbackTone, endpoint }: ActionOf<'connect'>): Promise<void> {
    if (ringbackTone === undefined && endpoint.every(({ type }) => type === 'websocket')) return
    const own = ringbackTone ? await fetchSound(this.#network.app, this.#record.one, ringbackTone) : null
    const samples = own === null || typeof own === 'string' ? ringback() : own
    this.#room.audio.play(ringbackPlayer, samples, { loop: 0, to: [this.#record.row.id] })
  }

  /** Rings one target; returns the reason when it cannot be rung. */
  async #ring(dial: Dial, to: LegTarget, replacing: Replacing | null = null): Promise<string | null> {
    const { row } = this.#record
    const from = dial.action.from ?? (row.direction === 'outbound' ? row.from_number : row.to_number)
    const rung = await this.#room.legs.ring(
      { to, from, timeoutSeconds: dial.action.timeout, tag: null },
      {
        answered: (leg) =>
          replacing && dial.replacing === replacing ? this.#replaced(dial, leg, replacing) : this.#answered(dial, leg),
        announces: (leg) => this.#announces(dial, leg),
        replaced: (leg, number, tell) => this.#replace(dial, { by: leg, tell }, number),
        ended: (leg, ending) => {
          dial.lastEnding = ending
          if (dial.announcing === leg) this.#ringAgain(dial)
          if (dial.replacing?.by === leg) this.#playAgain()
          else if (replacing) this.#notReplaced(dial, replacing, ending.sipCode ?? 480)
          this.#endWhenAllEnded(dial)
        },
      },
    )
    if (typeof rung === 'string') return rung
    dial.legs.push(rung.leg)
    const isWanted = replacing ? dial.replacing === replacing : !dial.bridged
    if (this.#dial !== dial || !isWanted) rung.leg.end('failed', 'cancelled')
    return null
  }

  /** The party that is bridged asks to be replaced: the number is rung under the rules of every other, beside the party. */
  #replace(dial: Dial, replacing: Replacing, number: string): boolean {
    const isTaken = this.#dial === dial && dial.bridged === replacing.by && !dial.replacing && !dial.isRinging
    if (!isTaken || dial.replacements >= maxReplacements) return false
    dial.replacements++
    dial.replacing = replacing
    dial.isRinging = true
    this.#record.trace('sip', { transfer: number })
    this.#ring(dial, { phone: number }, replacing)
      .catch((error) => {
        this.#network.app.log.warn(
          { error },
          'transfer not carried out: the call goes on as it was; check the database',
        )
        return 'network_error'
      })
      .then((refused) => {
        dial.isRinging = false
        if (refused === 'not_allowed') this.#report('DESTINATION_NOT_ALLOWED', 'the number is one that nobody may call')
        if (refused !== null) this.#notReplaced(dial, replacing, refusals[refused] ?? 503)
        if (this.#dial === dial) this.#endWhenAllEnded(dial)
      })
    return true
  }

  /** Whoever was called in place of the bridged party answers, and that party is free. */
  #replaced(dial: Dial, leg: RungLeg, { by, tell }: Replacing): void {
    if (this.#dial !== dial) return leg.end('completed', 'normal')
    dial.replacing = null
    dial.bridged = leg
    this.#room.audio.stop(ringbackPlayer)
    tell(200)
    by.end('completed', 'normal', 'callee')
    this.#input({
      ...{ type: 'dialled', id: dial.id, status: 'answered', to: leg.record.row.to_number },
      ...{ duration: this.#durationOf(dial), reason: null },
    })
  }

  /** Nobody came in place of the bridged party, who is told, and stays if it has not hung up. */
  #notReplaced(dial: Dial, replacing: Replacing, status: number): void {
    if (dial.replacing !== replacing) return
    dial.replacing = null
    this.#room.audio.stop(ringbackPlayer)
    replacing.tell(status)
  }

  #playAgain(): void {
    this.#room.audio.play(ringbackPlayer, ringback(), { loop: 0, to: [this.#record.row.id] })
  }

  /** Whether a network that speaks before the answer is heard: the first that does, where no tone of their own was wanted. */
  #announces(dial: Dial, leg: RungLeg): boolean {
    if (this.#dial !== dial || dial.bridged || dial.action.ringbackTone !== undefined) return false
    dial.announcing ??= leg
    if (dial.announcing !== leg) return false
    this.#room.audio.stop(ringbackPlayer)
    return true
  }

  /** The one that was heard before the answer is gone: while others ring, the tone is heard again. */
  #ringAgain(dial: Dial): void {
    dial.announcing = null
    const isRinging = this.#dial === dial && !dial.bridged && dial.legs.some(({ isOver }) => !isOver)
    if (isRinging) this.#playAgain()
  }

  /** Bridges the first leg to answer and hangs up the others. */
  #answered(dial: Dial, leg: RungLeg): void {
    if (this.#dial !== dial || dial.bridged) return leg.end('completed', 'normal')
    dial.bridged = leg
    dial.startedMs = this.#record.nowMs
    for (const other of dial.legs) if (other !== leg) other.end('failed', 'cancelled')
    this.#timers.clear('dial')
    this.#room.audio.stop(ringbackPlayer)
    const { id, action } = dial
    // The limit is that of all who speak in turn, those who are rung in place of another included.
    this.#timers.set('limit', action.limit * 1_000, () => {
      if (dial.replacing) this.#notReplaced(dial, dial.replacing, 487)
      for (const each of dial.legs) each.end('completed', 'max_duration')
    })
    if (action.record) this.#room.recordings.start(`connect ${id}`, 2, untilTheEnd)
    this.#input({ type: 'dialled', id, status: 'answered', to: leg.record.row.to_number, duration: 0, reason: null })
  }

  #endWhenAllEnded(dial: Dial): void {
    if (dial.isRinging || dial.legs.some(({ isOver }) => !isOver)) return
    const { bridged, lastEnding } = dial
    const to = (bridged ?? dial.legs.at(-1))?.record.row.to_number ?? null
    this.#ended(dial, bridged ? 'completed' : statusOf(lastEnding), lastEnding?.cause ?? 'no_answer', to)
  }

  #ended(dial: Dial, status: DialStatus, reason: string, to: string | null = null): void {
    if (this.#dial !== dial) return
    this.#dial = null
    this.#stop(dial, status === 'timeout' ? 'no_answer' : 'cancelled')
    const duration = status === 'completed' ? this.#durationOf(dial) : 0
    this.#record.change({ phase: 'flow' })
    this.#input({ type: 'dialled', id: dial.id, status, to, duration, reason })
  }

  #stop(dial: Dial, cause: string): void {
    this.#timers.clear('dial')
    this.#timers.clear('limit')
    this.#room.audio.stop(ringbackPlayer)
    for (const leg of dial.legs) leg.end(cause === 'no_answer' ? 'timeout' : 'failed', cause)
  }

  /** Cancels the dialling: the flow moved on. */
  cancel(id: number): void {
    const dial = this.#dial
    if (dial?.id !== id) return
    this.#dial = null
    this.#stop(dial, 'cancelled')
  }

  /** The call is over, and with it what was dialled; returns how that ended. */
  end(): { status: DialStatus; to: string | null; duration: number; reason: string } | null {
    const dial = this.#dial
    this.#dial = null
    if (!dial) return null
    const { bridged } = dial
    const to = (bridged ?? dial.legs.at(-1))?.record.row.to_number ?? null
    const reason = bridged ? 'normal' : 'cancelled'
    return { status: bridged ? 'completed' : 'failed', to, duration: this.#durationOf(dial), reason }
  }

  /** Seconds since the first leg answered; 0 when none did. */
  #durationOf({ bridged, startedMs }: Dial): number {
    return bridged ? Math.ceil((this.#record.nowMs - startedMs) / 1_000) : 0
  }
}

function targetOf(endpoint: ActionOf<'connect'>['endpoint'][number]): LegTarget | null {
  if (endpoint.type === 'phone') return { phone: endpoint.number }
  if (endpoint.type === 'websocket') return { websocket: endpoint }
  return endpoint.type === 'sip' ? { sip: endpoint.uri } : null
}

function statusOf(ending: EndOfCall | null): DialStatus {
  const known: readonly DialStatus[] = ['busy', 'timeout', 'rejected']
  return known.find((status) => status === ending?.status) ?? 'failed'
}
