// SPDX-License-Identifier: Apache-2.0
// Audio of one browser: WebRTC (DTLS-SRTP over ICE) towards the browser, plain RTP towards a room. One track lasts for the
// whole login, so that a call connects without a new handshake. Both sides use PCMU without transcoding.
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { MediaStreamTrack, RTCPeerConnection } from 'werift'
import { headerBytes, parseRtp, type RtpPacket, writeRtpHeader } from '../../../protocols/rtp/packet.ts'
import type { AudioPlace, PlainEnd } from './audio-command.ts'

const pcmu = 0
const samplesPerMs = 8
/** Payload limit: browsers send at most 60 ms per packet. */
const maxPayload = 480
const triesForPort = 50

export class WebRtcLeg {
  readonly port: number
  readonly #peer: RTCPeerConnection
  readonly #track: MediaStreamTrack
  readonly #socket: Socket
  readonly #nowMs: () => number
  readonly #source = randomInt(2 ** 32)
  #room: PlainEnd | null = null
  #toRoom = randomInt(2 ** 15)
  #toBrowser = { sequence: randomInt(2 ** 15), timestamp: randomInt(2 ** 31), atMs: 0 }
  /** RTP timestamp of a call's first packet from the room, and the one it was mapped to. */
  #anchor: { theirs: number; ours: number } | null = null

  private constructor(peer: RTCPeerConnection, track: MediaStreamTrack, socket: Socket, nowMs: () => number) {
    this.#peer = peer
    this.#track = track
    this.#socket = socket
    this.#nowMs = nowMs
    this.port = socket.address().port
    socket.on('message', (bytes, { address, port }) => {
      if (this.#room?.host === address && this.#room.port === port) this.#fromRoom(bytes)
    })
    socket.on('error', () => undefined)
  }

  /** Opens both sides; returns the SDP offer for the browser. */
  static async open(place: AudioPlace, nowMs: () => number, changed: (state: string) => void) {
    const { RTCPeerConnection, RTCRtpCodecParameters, MediaStreamTrack } = await loaded()
    const codec = new RTCRtpCodecParameters({
      mimeType: 'audio/PCMU',
      clockRate: 8_000,
      channels: 1,
      payloadType: pcmu,
    })
    const isOwn = place.browserHost === place.host
    const peer = new RTCPeerConnection({
      codecs: { audio: [codec], video: [] },
      headerExtensions: { audio: [], video: [] },
      iceServers: [],
      // Announce only the configured address, not the machine's other networks.
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: [place.browserHost],
      ...(isOwn ? { iceInterfaceAddresses: { udp4: place.host } } : {}),
      ...(place.ports ? { icePortRange: place.ports } : {}),
    })
    const track = new MediaStreamTrack({ kind: 'audio' })
    const leg = new WebRtcLeg(peer, track, await boundSocket(place), nowMs)
    peer.connectionStateChange.subscribe(changed)
    const { onTrack } = peer.addTransceiver(track, { direction: 'sendrecv' })
    onTrack.subscribe((theirs) => {
      theirs.onReceiveRtp.subscribe(({ header, payload }) => leg.#fromBrowser(header, payload))
    })
    await peer.setLocalDescription(await peer.createOffer())
    return { leg, sdp: peer.localDescription?.sdp ?? '' }
  }

  async answer(sdp: string): Promise<void> {
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: withoutNames(sdp) })
  }

  async candidate(candidate: string, sdpMid: string | null, sdpMLineIndex: number | null): Promise<void> {
    if (isName(candidate)) return
    const where = {
      ...(sdpMid === null ? {} : { sdpMid }),
      ...(sdpMLineIndex === null ? {} : { sdpMLineIndex }),
    }
    await this.#peer.addIceCandidate({ candidate, ...where })
  }

  /** Connects to a room's endpoint; null disconnects. */
  bridge(room: PlainEnd | null): void {
    this.#room = room
    this.#anchor = null
  }

  async close(): Promise<void> {
    this.#room = null
    this.#socket.close()
    await this.#peer.close()
  }

  #fromBrowser({ payloadType, timestamp }: { payloadType: number; timestamp: number }, payload: Buffer): void {
    const room = this.#room
    if (!room || payloadType !== pcmu || payload.length === 0 || payload.length > maxPayload) return
    const sequence = this.#toRoom++
    this.#socket.send(
      packetOf({ sequence, timestamp, source: this.#source, marker: false }, payload),
      room.port,
      room.host,
    )
  }

  #fromRoom(bytes: Buffer): void {
    const packet = parseRtp(bytes)
    if (packet?.payloadType !== pcmu || packet.payload.length > maxPayload) return
    const isFirst = this.#anchor === null
    this.#anchor ??= { theirs: packet.timestamp, ours: this.#resumedAt() }
    const timestamp = (this.#anchor.ours + ((packet.timestamp - this.#anchor.theirs) >>> 0)) >>> 0
    const sequence = (this.#toBrowser.sequence + 1) & 0xffff
    this.#toBrowser = { sequence, timestamp, atMs: this.#nowMs() }
    this.#track.writeRtp(packetOf({ sequence, timestamp, source: this.#source, marker: isFirst }, packet.payload))
  }

  /** One RTP stream for the whole login: the next call continues the timestamps, advanced by the time between. */
  #resumedAt(): number {
    const { timestamp, atMs } = this.#toBrowser
    const passedMs = atMs === 0 ? 0 : Math.max(20, Math.round(this.#nowMs() - atMs))
    return (timestamp + passedMs * samplesPerMs) >>> 0
  }
}

function packetOf(header: Omit<RtpPacket, 'payload' | 'payloadType'>, payload: Buffer): Buffer {
  const bytes = Buffer.alloc(headerBytes + payload.length)
  writeRtpHeader(bytes, { ...header, payloadType: pcmu })
  payload.copy(bytes, headerBytes)
  return bytes
}

/** mDNS candidates are skipped: browsers hide their addresses, but reach ours. */
function isName(candidate: string): boolean {
  return /\.local\b/i.test(candidate)
}

function withoutNames(sdp: string): string {
  return sdp
    .split(/\r?\n/)
    .filter((line) => !(line.startsWith('a=candidate:') && isName(line)))
    .join('\r\n')
}

async function boundSocket({ host, ports }: AudioPlace): Promise<Socket> {
  for (let tries = 0; tries < triesForPort; tries++) {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    const listening = once(socket, 'listening')
    socket.bind(ports ? randomInt(ports[0], ports[1] + 1) : 0, host)
    const failed = await listening.then(
      () => false,
      () => true,
    )
    if (!failed) return socket
    socket.close()
  }
  throw new Error('no free port for the audio of a browser')
}

function loaded() {
  return import('werift').catch((cause) => {
    throw new Error('The package werift is not installed. Run: npm install werift', { cause })
  })
}
