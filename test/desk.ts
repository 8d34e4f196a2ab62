// SPDX-License-Identifier: Apache-2.0
// An agent's browser without a browser: the websocket of a desk, and WebRTC that sends a tone and counts what it hears.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters } from 'werift'
import { WebSocket } from 'ws'
import type { RunningNode } from '../src/node/server.ts'
import { decode, encode } from '../src/protocols/audio/g711.ts'
import { tone } from '../src/protocols/audio/tones.ts'
import { headerBytes, writeRtpHeader } from '../src/protocols/rtp/packet.ts'
import { eventually } from './eventually.ts'
import { hearsNow } from './hearing.ts'

const frame = 160

// biome-ignore lint/suspicious/noExplicitAny: a test reads messages whose shape it asserts
type Message = any

export class TestDesk {
  readonly #line: WebSocket
  readonly messages: Message[] = []
  closed: { code: number; reason: string } | null = null
  /** The last second that it heard, frame by frame. */
  #frames: Int16Array[] = []
  #peer: RTCPeerConnection | null = null
  #sending: NodeJS.Timeout | null = null
  #lastId = 0

  readonly #hertz: number

  private constructor(line: WebSocket, isAudible: boolean, hertz: number) {
    this.#line = line
    this.#hertz = hertz
    line.on('message', (data) => {
      const message = JSON.parse(String(data))
      this.messages.push(message)
      if (message.type === 'webrtc.offer' && isAudible) void this.#answer(message.sdp)
    })
    line.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
      this.#hush()
    })
    line.on('error', () => undefined)
  }

  /** Connects. One that is not audible brings no audio, as a browser without a microphone. */
  static async open(
    { url, caFile }: Pick<RunningNode, 'url' | 'caFile'>,
    token: string,
    { isAudible = true, hertz = 440 } = {},
  ): Promise<TestDesk> {
    const address = `${url.replace(/^http/, 'ws')}/v1/voice/desk?token=${encodeURIComponent(token)}`
    const line = new WebSocket(address, caFile ? { ca: readFileSync(caFile) } : {})
    const desk = new TestDesk(line, isAudible, hertz)
    await once(line, 'open')
    if (isAudible) await desk.isConnected()
    return desk
  }

  async #answer(sdp: string): Promise<void> {
    const codec = new RTCRtpCodecParameters({ mimeType: 'audio/PCMU', clockRate: 8_000, channels: 1, payloadType: 0 })
    const peer = new RTCPeerConnection({
      codecs: { audio: [codec], video: [] },
      headerExtensions: { audio: [], video: [] },
      iceServers: [],
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: ['127.0.0.1'],
      iceInterfaceAddresses: { udp4: '127.0.0.1' },
    })
    this.#peer = peer
    peer.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe(({ payload }) => {
        const samples = new Int16Array(frame)
        decode('PCMU', payload, samples)
        this.#frames.push(samples)
        if (this.#frames.length > 50) this.#frames.shift()
      })
    })
    await peer.setRemoteDescription({ type: 'offer', sdp })
    const track = new MediaStreamTrack({ kind: 'audio' })
    for (const one of peer.getTransceivers()) {
      await one.sender.replaceTrack(track)
      one.setDirection('sendrecv')
    }
    await peer.setLocalDescription(await peer.createAnswer())
    this.send({ type: 'webrtc.answer', sdp: peer.localDescription?.sdp })
    this.#speak(track)
  }

  #speak(track: MediaStreamTrack): void {
    const second = Buffer.alloc(50 * frame)
    encode('PCMU', tone([this.#hertz], 1_000, 12_000), second)
    let count = 0
    this.#sending = setInterval(() => {
      count++
      const packet = Buffer.alloc(headerBytes + frame)
      writeRtpHeader(packet, {
        payloadType: 0,
        marker: false,
        sequence: count & 0xffff,
        timestamp: count * frame,
        source: 7,
      })
      second.copy(packet, headerBytes, (count % 50) * frame, ((count % 50) + 1) * frame)
      track.writeRtp(packet)
    }, 20)
  }

  send(message: object): void {
    this.#line.send(JSON.stringify(message))
  }

  /** Asks for something, and gives what came of it. */
  async ask(message: object): Promise<Message> {
    const id = `m${++this.#lastId}`
    this.send({ id, ...message })
    return eventually(async () => this.messages.find((one) => one.id === id), `an answer to ${JSON.stringify(message)}`)
  }

  /** Asks for something that must work. */
  async done(message: object): Promise<Message> {
    const answer = await this.ask(message)
    assert.equal(answer.type, 'done', JSON.stringify(answer))
    return answer.result
  }

  /** Waits until the last message of a type is as wanted. */
  says(type: string, is: (message: Message) => boolean = () => true): Promise<Message> {
    return eventually(async () => {
      const last = this.messages.findLast((message) => message.type === type)
      return last && is(last) ? last : null
    }, `a message ${type}`)
  }

  isConnected(): Promise<unknown> {
    return this.says('desk.ready')
  }

  isClosed(): Promise<{ code: number; reason: string }> {
    return eventually(async () => this.closed, 'the desk to be closed')
  }

  /** Waits until it hears a tone, or hears it no more. */
  async hears(hertz: number, isHeard = true): Promise<void> {
    await eventually(
      async () => {
        const all = Int16Array.from(this.#frames.flatMap((samples) => [...samples]))
        return hearsNow(all, hertz) === isHeard
      },
      `the desk ${isHeard ? 'to hear' : 'not to hear'} ${hertz} Hz`,
    )
  }

  /** Sends something that is no message. */
  raw(data: string | Buffer): void {
    this.#line.send(data)
  }

  /** Dies as a browser does: no word of farewell, no more audio. */
  async die(): Promise<void> {
    this.#hush()
    this.#line.terminate()
    await this.isClosed()
  }

  #hush(): void {
    if (this.#sending) clearInterval(this.#sending)
    this.#peer?.close().catch(() => undefined)
    this.#peer = null
  }
}
