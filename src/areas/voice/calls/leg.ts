// SPDX-License-Identifier: Apache-2.0
// Additional leg of a room: a call with its own row, price and status, rung over the telephone network, opened as a
// customer's websocket, or with audio supplied by another part of the program (media leg).
import { agreedAudio } from '../../../protocols/sdp/session-description.ts'
import type { SocketCall } from '../media/command.ts'
import type { CallStatus } from '../store.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'
import { endingOf, qualityOf } from './call.ts'
import { Invite } from './invite.ts'
import { type CallRecord, type EndOfCall, longestCallMs } from './record.ts'
import type { CallRoom, PlainAudio } from './room.ts'
import { CallTimers } from './timers.ts'

export interface LegHandlers {
  ringing?(leg: RungLeg): void
  answered(leg: RungLeg): void
  /** Called once, whether or not the leg was answered. */
  ended(leg: RungLeg, ending: EndOfCall): void
}

export class RungLeg {
  readonly record: CallRecord
  /** Label of the area that rang the leg, repeated in every change reported of it. */
  readonly tag: string | null
  readonly timers: CallTimers
  /** Ring timeout. */
  readonly timeoutMs: number
  private readonly network: TelephoneNetwork
  private readonly room: CallRoom
  private readonly handlers: LegHandlers
  private invite: Invite | null = null
  /** Local audio address of a media leg. */
  private place: PlainAudio | null = null
  /** Whether the audio is on a customer's websocket, which is told of keys. */
  isSocket = false
  private isEnding = false
  /** Resolves when the leg's end is stored. */
  finishing: Promise<void> = Promise.resolve()

  constructor(
    network: TelephoneNetwork,
    room: CallRoom,
    record: CallRecord,
    options: { tag: string | null; timeoutMs: number },
    handlers: LegHandlers,
  ) {
    this.network = network
    this.room = room
    this.record = record
    this.tag = options.tag
    this.timeoutMs = options.timeoutMs
    this.handlers = handlers
    this.timers = new CallTimers(() => record.nowMs)
    record.onUnpaid = (seconds) =>
      this.timers.set('unpaid', Math.max(0, seconds * 1_000), () => this.end('completed', 'insufficient_funds'))
  }

  get id(): string {
    return this.record.row.id
  }

  get isAnswered(): boolean {
    return this.record.row.status === 'answered'
  }

  get isOver(): boolean {
    return this.isEnding
  }

  /** Ring over the telephone network. */
  ring(ways: readonly Way[], port: number): void {
    // The room may have closed while the ways were looked up.
    if (this.isEnding) return
    this.record.to('started')
    this.giveUpLater()
    this.invite = new Invite(
      this.network,
      { from: this.record.row.from_number, call: this.record.id, port, ways },
      {
        progress: () => this.rings(),
        answered: (description) => this.answer(description),
        refused: (status) => {
          const { status: end, cause } = endingOf(status)
          this.end(end, cause, 'callee', status)
        },
        passedOver: (way, status) => this.record.trace('sip', { refused: status, way: way.name }),
        ended: (by) => this.end('completed', by === 'lost' ? 'network_error' : 'normal', 'callee'),
        digit: (digit) => this.room.pressed(this.id, digit),
      },
    )
  }

  /** Open a customer's websocket: up, it has answered; otherwise it is a callee that failed. */
  async open(call: SocketCall): Promise<void> {
    this.isSocket = true
    this.record.to('started')
    this.giveUpLater()
    const problem = await this.room.enterSocket(this.id, call)
    // The call may have ended meanwhile.
    if (this.isEnding) return void (await this.room.leave(this.id))
    if (problem === null) return this.begin()
    this.record.trace('websocket', { problem })
    this.end('failed', 'network_error', 'callee')
  }

  /** The other side closed the websocket, or it broke. */
  closed(isClean: boolean, code: number): void {
    this.record.trace('websocket', { closed: code })
    this.end('completed', isClean ? 'normal' : 'network_error', 'callee')
  }

  /** Wait for the other part to supply audio to this address. */
  await(place: PlainAudio): void {
    this.place = place
    this.record.to('started')
    this.giveUpLater()
    this.rings()
  }

  private giveUpLater(): void {
    this.timers.set('ring', this.timeoutMs, () => this.end('timeout', 'no_answer'))
  }

  private rings(): void {
    if (this.record.to('ringing')) this.handlers.ringing?.(this)
  }

  private answer(description: string): void {
    const remote = agreedAudio(description)
    if (remote === null) return this.end('failed', 'network_error', 'system', 488)
    this.room.connect(this.id, remote)
    this.begin()
  }

  /** A media leg was answered, or its audio moved. Returns the local audio address. */
  connectPlain(remote: PlainAudio): PlainAudio | null {
    if (this.isEnding || this.place === null) return null
    this.room.connectPlain(this.id, remote)
    if (!this.isAnswered) this.begin()
    return this.place
  }

  private begin(): void {
    this.timers.clear('ring')
    if (this.isEnding || !this.record.to('answered', { phase: 'connected' })) return
    this.timers.set('longest', longestCallMs, () => this.end('completed', 'max_duration'))
    this.handlers.answered(this)
  }

  end(status: CallStatus, cause: string, by: EndOfCall['by'] = 'system', sipCode: number | null = null): void {
    if (this.isEnding) return
    this.isEnding = true
    this.timers.clearAll()
    this.invite?.hangup()
    const { isAnswered } = this
    const final: CallStatus = isAnswered ? 'completed' : status === 'completed' ? 'failed' : status
    const ending = { status: final, cause, by, sipCode }
    this.finishing = this.finish(ending)
    this.handlers.ended(this, ending)
  }

  private async finish(ending: EndOfCall): Promise<void> {
    const atMs = this.record.nowMs
    const closed = await this.room.leave(this.id)
    await this.record.cover(atMs)
    this.record.end({ ...ending, quality: qualityOf(closed?.quality ?? null), atMs })
    await this.record.settled()
  }
}
