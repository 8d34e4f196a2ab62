// SPDX-License-Identifier: Apache-2.0
// Conference: a room without a call of its own. Members are rung into it or join from their own calls. It lasts until
// closed or until its node stops.
import type { App } from '../../../platform/app.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import type { One } from '../../../platform/tenant.ts'
import type { CallRecord } from '../calls/call-record.ts'
import { conferenceSessions } from '../calls/call-sessions.ts'
import { currencyOf } from '../calls/currency.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import { LiveRoom } from './live-room.ts'
import { readCommand } from './session-command.ts'

const renewEveryMs = 2_000

export class ConferenceSession {
  /** A conference has no call row. */
  readonly record: CallRecord | null = null
  readonly one: One
  readonly #app: App
  readonly #network: TelephoneNetwork
  #clockOffsetMs: number
  #room: LiveRoom | null = null
  #renewing: NodeJS.Timeout | null = null
  #isOver = false

  constructor(network: TelephoneNetwork, one: One, clockOffsetMs: number) {
    this.#network = network
    this.#app = network.app
    this.one = one
    this.#clockOffsetMs = clockOffsetMs
  }

  /** Starts the room; false when no media worker has capacity. */
  async begin(): Promise<boolean> {
    const app = this.#app
    const network = this.#network
    const { one } = this
    const { bucket, account, environment } = one
    const nowMs = () => app.clock.nowMs() + this.#clockOffsetMs
    const isOver = () => this.#isOver
    this.#room = LiveRoom.open(
      network,
      {
        app,
        one,
        get nowMs() {
          return nowMs()
        },
        get isOver() {
          return isOver()
        },
        recordedAs: { call: null, conference: one.id },
        recordingBegan: () => undefined,
        record: null,
      },
      {
        tenant: { bucket, account, environment },
        conversation: one.id,
        parent: null,
        currency: await currencyOf(app, account),
        customData: '{}',
        clockOffsetMs: () => this.#clockOffsetMs,
      },
      { lost: () => void this.#close('network_error') },
      (leg, command) => this.#obey(leg, command),
    )
    if (!this.#room) return false
    this.#network.sessions.set(one.id, this)
    this.#renewing = setInterval(() => this.#room?.legs.renew(), renewEveryMs)
    this.#renewing.unref()
    await sessionsOf(app).begin(conferenceSessions, one, (command) => this.#obey(one.id, command))
    return true
  }

  async #obey(member: string, given: unknown): Promise<unknown> {
    const command = readCommand(given)
    if (!command || !this.#room) return null
    if (command.do === 'close_room') {
      await this.#close('normal')
      return true
    }
    const leg = this.#room.legs.get(member)
    if (leg && command.do === 'hangup') {
      leg.end('completed', leg.isAnswered ? 'normal' : 'cancelled', command.by ?? 'api')
      await leg.finishing
      return true
    }
    if (leg && command.do === 'mark') {
      const { do: _, ...change } = command
      leg.record.change(change)
      await leg.record.settled()
      return true
    }
    return (await this.#room.obey(member, command)) ?? null
  }

  clockMoved(offsetMs: number): void {
    this.#clockOffsetMs = offsetMs
    this.#room?.legs.clockMoved(offsetMs)
  }

  async #close(cause: string): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#renewing) clearInterval(this.#renewing)
    await this.#room?.close(cause)
    this.#network.sessions.delete(this.one.id)
    await sessionsOf(this.#app).end(this.one)
  }

  shutDown(): Promise<void> {
    return this.#close('network_error')
  }
}
