// SPDX-License-Identifier: Apache-2.0
// Additional leg of a room: a call with its own row, price and status, rung over the telephone network, opened as a
// customer's websocket, or with audio supplied by another part of the program (media leg).
import type { Peer } from '../../../protocols/sip/transport.ts'
import { endingOf, qualityOf } from '../calls/call.ts'
import { type CallRecord, type EndOfCall, longestCallMs } from '../calls/call-record.ts'
import { CallTimers } from '../calls/call-timers.ts'
import type { SocketCall } from '../media/command.ts'
import type { CallRoom, PlainAudio } from '../room/room-audio.ts'
import { SipAudio } from '../room/sip-audio.ts'
import type { CallStatus } from '../store.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'
import { Invite } from './invite.ts'

export interface LegHandlers {
  ringing?(leg: RungLeg): void
  /** The network speaks before the answer, such as that a phone is off; returns whether that is to be heard. */
  announces?(leg: RungLeg): boolean
  answered(leg: RungLeg): void
  /** The leg wants a number to be called in its place; returns whether that is done, of which it is told by `tell`. */
  replaced?(leg: RungLeg, number: string, tell: (status: number) => void): boolean
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
  readonly #network: TelephoneNetwork
  readonly #room: CallRoom
  readonly #handlers: LegHandlers
  #invite: Invite | null = null
  /** Local audio address of a media leg. */
  #place: PlainAudio | null = null
  /** Whether the audio is on a customer's websocket, which is told of keys. */
  isSocket = false
  #isEnding = false
  /** Resolves when the leg's end is stored. */
  finishing: Promise<void> = Promise.resolve()

  constructor(
    network: TelephoneNetwork,
    room: CallRoom,
    record: CallRecord,
    options: { tag: string | null; timeoutMs: number },
    handlers: LegHandlers,
  ) {
    this.#network = network
    this.#room = room
    this.record = record
    this.tag = options.tag
    this.timeoutMs = options.timeoutMs
    this.#handlers = handlers
    this.timers = new CallTimers(() => record.nowMs)
    record.endWhenUnpaid(this.timers, () => this.end('completed', 'insufficient_funds'))
  }

  get id(): string {
    return this.record.row.id
  }

  get isAnswered(): boolean {
    return this.record.row.status === 'answered'
  }

  get isOver(): boolean {
    return this.#isEnding
  }

  /** Rings over the telephone network. */
  ring(ways: readonly Way[], port: number): void {
    this.record.to('started')
    this.#giveUpLater()
    const audio = new SipAudio(this.#network, this.#room, this.id, this.record.row.environment, port)
    const { from_number: from, to_number: to } = this.record.row
    const { one: payer, price } = this.record
    this.#invite = new Invite(
      this.#network,
      { from, to, call: this.record.id, audio, ways, payer, price },
      {
        progress: (_status, description, from) => {
          this.#rings()
          if (description !== null) this.#announce(audio, description, from)
        },
        answered: (description, from) => this.#answer(audio, description, from),
        offered: (offer, from) => audio.answer(offer, from),
        isHeld: () => audio.isHeld,
        refused: (status) => {
          const { status: end, cause } = endingOf(status)
          this.end(end, cause, 'callee', status)
        },
        passedOver: (way, status) => this.record.trace('sip', { refused: status, way: way.name }),
        ended: (by) =>
          by === 'remote'
            ? this.end('completed', 'normal', 'callee')
            : this.end('completed', 'network_error', 'system'),
        digit: (digit) => this.#room.pressed(this.id, digit),
        replaced: (number, tell) => !this.#isEnding && (this.#handlers.replaced?.(this, number, tell) ?? false),
      },
    )
  }

  /** Opens a customer's websocket: up, it has answered; otherwise it is a callee that failed. */
  async open(call: SocketCall): Promise<void> {
    this.isSocket = true
    this.record.to('started')
    this.#giveUpLater()
    const problem = await this.#room.enterSocket(this.id, call)
    // The call may have ended meanwhile.
    if (this.#isEnding) return void (await this.#room.leave(this.id))
    if (problem === null) return this.#begin()
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
    this.#place = place
    this.record.to('started')
    this.#giveUpLater()
    this.#rings()
  }

  #giveUpLater(): void {
    this.timers.set('ring', this.timeoutMs, () => this.end('timeout', 'no_answer'))
  }

  #rings(): void {
    if (this.record.to('ringing')) this.#handlers.ringing?.(this)
  }

  /** Lets the room hear what comes before the answer, and nobody who announces hear the room. */
  #announce(audio: SipAudio, description: string, from: Peer): void {
    if (this.#isEnding || this.isAnswered || !this.#handlers.announces?.(this)) return
    this.#room.change(this.id, { isDeaf: true })
    audio.connect(description, from)
  }

  #answer(audio: SipAudio, description: string, from: Peer): void {
    if (!audio.connect(description, from)) return this.end('failed', 'network_error', 'system', 488)
    this.#room.change(this.id, { isDeaf: false })
    this.#begin()
  }

  /** A media leg was answered, or its audio moved. Returns the local audio address. */
  connectPlain(remote: PlainAudio): PlainAudio | null {
    if (this.#isEnding || this.#place === null) return null
    this.#room.connectPlain(this.id, remote)
    if (!this.isAnswered) this.#begin()
    return this.#place
  }

  #begin(): void {
    this.timers.clear('ring')
    if (this.#isEnding || !this.record.to('answered', { phase: 'connected' })) return
    this.record.keepDialog(this.#invite?.dialogState ?? null)
    this.timers.set('longest', longestCallMs, () => this.end('completed', 'max_duration'))
    this.#handlers.answered(this)
  }

  end(status: CallStatus, cause: string, by: EndOfCall['by'] = 'system', sipCode: number | null = null): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.timers.clearAll()
    this.#invite?.hangup()
    const { isAnswered } = this
    const final: CallStatus = isAnswered ? 'completed' : status === 'completed' ? 'failed' : status
    const ending = { status: final, cause, by, sipCode }
    this.finishing = this.#finish(ending)
    this.#handlers.ended(this, ending)
  }

  async #finish(ending: EndOfCall): Promise<void> {
    const atMs = this.record.nowMs
    const closed = await this.#room.leave(this.id)
    await this.record.cover(atMs)
    this.record.end({ ...ending, quality: qualityOf(closed?.quality ?? null), atMs })
    await this.record.settled()
  }
}
