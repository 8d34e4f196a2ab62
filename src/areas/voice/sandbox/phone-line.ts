// SPDX-License-Identifier: Apache-2.0
// Line of a person to a simulated phone: a websocket, and WebRTC as agents have it. While it is open, calls to the number
// ring until the person answers; in a call the person speaks and listens in the phone's place.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/ids.ts'
import type { Connection, Conversation, Socket } from '../../../platform/api/socket.ts'
import type { App } from '../../../platform/app.ts'
import { answerMessage, type MessageOf, messageReader } from '../../../platform/http/socket-messages.ts'
import { Phone } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { BrowserAudio } from '../browser/audio-pool.ts'
import { iceServers, openBrowserAudio } from '../browser/browser-audio.ts'
import { callOf } from '../customer/command-call.ts'
import { type SimulatedCarrier, simulatedCarrier } from '../trunks/sandbox-carrier.ts'

const schemas = {
  ping: Type.Object({}),
  'webrtc.answer': Type.Object({ sdp: Type.String({ minLength: 1, maxLength: 32_768 }) }),
  'webrtc.candidate': Type.Object({
    candidate: Type.String({ maxLength: 1_024 }),
    sdp_mid: Type.Optional(Type.String({ maxLength: 16 })),
    sdp_m_line_index: Type.Optional(Type.Integer({ minimum: 0, maximum: 8 })),
  }),
  'phone.attend': Type.Object({ number: Phone({ description: 'Number of the phone' }) }),
  'phone.join': Type.Object({ call_id: Type.String({ maxLength: 40 }) }),
  'phone.leave': Type.Object({}),
} as const

const readMessage = messageReader(schemas)
const operation = 'sandbox.phone'
/** Timeout for a browser's audio to connect. */
const audioWithinMs = 20_000

class PhoneLine implements Conversation {
  readonly #app: App
  readonly #connection: Connection
  readonly #carrier: SimulatedCarrier
  readonly #tenant: Tenant
  #audio: BrowserAudio | null = null
  #isConnected = false
  #unattend: () => void = () => undefined

  constructor(app: App, connection: Connection, carrier: SimulatedCarrier, tenant: Tenant) {
    this.#app = app
    this.#connection = connection
    this.#carrier = carrier
    this.#tenant = tenant
  }

  async open(nowMs: number): Promise<this> {
    const audio = await openBrowserAudio(this.#app, newUuid(nowMs), (state) => this.#changed(state))
    this.#audio = audio
    this.#connection.send({ type: 'webrtc.offer', sdp: audio.sdp, ice_servers: iceServers(this.#app) })
    setTimeout(() => {
      if (!this.#isConnected) this.#connection.close(4_002, 'no audio came up')
    }, audioWithinMs).unref()
    return this
  }

  #changed(state: string): void {
    if (state === 'failed' || state === 'closed') return this.#connection.close(4_003, 'the audio was lost')
    if (state !== 'connected' || this.#isConnected) return
    this.#isConnected = true
    this.#connection.send({ type: 'phone.ready' })
  }

  heard(given: object): Promise<void> {
    const take = (message: MessageOf<typeof schemas>) => this.#take(message)
    return answerMessage(this.#app, this.#connection, operation, given, { read: readMessage, take })
  }

  closed(): void {
    this.#isConnected = true
    this.#unattend()
    this.#audio?.close()
  }

  async #take(message: MessageOf<typeof schemas>): Promise<unknown> {
    switch (message.type) {
      case 'ping':
        return undefined
      case 'webrtc.answer':
        return this.#withAudio((audio) => audio.answer(message.body.sdp))
      case 'webrtc.candidate': {
        const { candidate, sdp_mid, sdp_m_line_index } = message.body
        return this.#withAudio((audio) => audio.candidate(candidate, sdp_mid ?? null, sdp_m_line_index ?? null))
      }
      case 'phone.attend':
        this.#unattend()
        this.#unattend = this.#carrier.attend(message.body.number, (call) => this.#isOwn(call))
        return undefined
      case 'phone.join':
        return this.#join(message.body.call_id)
      case 'phone.leave':
        return this.#audio?.bridge(null)
    }
  }

  /** Numbers of phones are everybody's: a call of another account is not this person's. */
  async #isOwn(call: string): Promise<boolean> {
    return callOf(this.#app, this.#tenant, call).then(
      () => true,
      () => false,
    )
  }

  async #join(call: string): Promise<undefined> {
    await callOf(this.#app, this.#tenant, call)
    const place = this.#audio && (await this.#carrier.join(call, this.#audio.end))
    if (!place) throw new AppError('CALL_NOT_ACTIVE', 'the phone of this call has left it, or is on another node')
    await this.#audio?.bridge(place)
    return undefined
  }

  async #withAudio(work: (audio: BrowserAudio) => Promise<void>): Promise<undefined> {
    if (!this.#audio) throw new AppError('INVALID_REQUEST', 'no audio yet')
    await work(this.#audio).catch((error: Error) => {
      throw new AppError('INVALID_REQUEST', `the browser's audio cannot be used: ${error.message}`)
    })
    return undefined
  }
}

export const phoneSocket: Socket = {
  path: '/v1/sandbox/voice/phone',
  operation,
  scope: 'sandbox:write',
  maxMessageBytes: 65_536,
  messagesPerSecond: 50,
  perAccount: 12,
  open: async (app, connection, { tenant, receivedMs }) => {
    const carrier = simulatedCarrier.of(app)
    if (tenant.environment !== 'test') throw new AppError('FORBIDDEN', 'simulated phones require a test key')
    if (!carrier)
      throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox for calls', { retryAfterSeconds: 1 })
    return new PhoneLine(app, connection, carrier, tenant).open(receivedMs)
  },
}
