// SPDX-License-Identifier: Apache-2.0
// Encrypted audio (SRTP and SRTCP, RFC 3711) in AES counter mode with HMAC-SHA1, by keys that the session descriptions carry
// (SDES, RFC 4568). A stream is one direction with one key; packets that are forged or came before are not opened.
import { createCipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { headerLength } from './packet.ts'

export type SrtpSuite = 'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32'

/** Suites that are taken, the one that is offered first. */
export const srtpSuites: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32']

/** Key of one direction: 16 bytes of key and 14 of salt, as base64. */
export interface SrtpKey {
  suite: SrtpSuite
  key: string
}

const keyBytes = 16
const saltBytes = 14
const authBytes = 20
const replayWindow = 64
const maxSources = 8
const rtcpTag = 10
const rtcpHeader = 8

export function newSrtpKey(suite: SrtpSuite = 'AES_CM_128_HMAC_SHA1_80'): SrtpKey {
  return { suite, key: randomBytes(keyBytes + saltBytes).toString('base64') }
}

/** Whether a text is a key of the right length. */
export function isSrtpKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{40}$/.test(text)
}

interface SessionKeys {
  cipher: Buffer
  auth: Buffer
  salt: Buffer
}

/** Numbers of one source that have come: the highest, and which of the 64 below it. */
interface Received {
  highest: number
  seen: bigint
}

/** Stream in one direction: protects what is sent, or opens what is received. */
export class SrtpStream {
  readonly key: SrtpKey
  readonly #rtp: SessionKeys
  readonly #rtcp: SessionKeys
  readonly #tag: number
  /** Packets sent, by which the roll-over of sequence numbers is counted. */
  #cycles = 0
  #lastSequence: number | null = null
  #rtcpIndex = 0
  readonly #received = new Map<number, Received>()
  #rtcpReceived: Received = { highest: -1, seen: 0n }

  constructor(key: SrtpKey) {
    this.key = key
    const master = Buffer.from(key.key, 'base64')
    this.#rtp = derived(master, 0)
    this.#rtcp = derived(master, 3)
    this.#tag = key.suite === 'AES_CM_128_HMAC_SHA1_32' ? 4 : 10
  }

  /** Encrypted packet of an RTP packet. Packets are given in the order of their numbers. */
  protect(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2)
    if (this.#lastSequence !== null && sequence < this.#lastSequence) this.#cycles++
    this.#lastSequence = sequence
    const index = this.#cycles * 0x1_0000 + sequence
    const start = headerLength(packet) ?? packet.length
    const sealed = Buffer.concat([packet.subarray(0, start), this.#crypt(this.#rtp, packet, start, index)])
    return Buffer.concat([sealed, this.#rtpTag(sealed, this.#cycles)])
  }

  /** RTP packet of an encrypted one; null if it is forged, or came before. */
  open(packet: Buffer): Buffer | null {
    const end = packet.length - this.#tag
    const start = headerLength(packet)
    if (start === null || start > end) return null
    const source = packet.readUInt32BE(8)
    const received = this.#received.get(source) ?? { highest: -1, seen: 0n }
    const index = likeliestIndex(received.highest, packet.readUInt16BE(2))
    if (index < 0 || hasCome(received, index)) return null
    const sealed = packet.subarray(0, end)
    const tag = this.#rtpTag(sealed, Math.floor(index / 0x1_0000))
    if (!timingSafeEqual(tag, packet.subarray(end))) return null
    this.#note(source, noted(received, index))
    return Buffer.concat([packet.subarray(0, start), this.#crypt(this.#rtp, sealed, start, index)])
  }

  #note(source: number, received: Received): void {
    this.#received.set(source, received)
    const [oldest] = this.#received.size > maxSources ? this.#received.keys() : []
    if (oldest !== undefined) this.#received.delete(oldest)
  }

  protectRtcp(packet: Buffer): Buffer {
    const index = this.#rtcpIndex++
    const trailer = Buffer.alloc(4)
    trailer.writeUInt32BE(0x8000_0000 + index)
    const body = this.#crypt(this.#rtcp, packet, rtcpHeader, index, 4)
    const sealed = Buffer.concat([packet.subarray(0, rtcpHeader), body, trailer])
    return Buffer.concat([sealed, mac(this.#rtcp.auth, sealed).subarray(0, rtcpTag)])
  }

  openRtcp(packet: Buffer): Buffer | null {
    const end = packet.length - rtcpTag
    if (end < rtcpHeader + 4) return null
    const sealed = packet.subarray(0, end)
    const index = sealed.readUInt32BE(end - 4) & 0x7fff_ffff
    const isEncrypted = sealed.readUInt32BE(end - 4) >= 0x8000_0000
    if (!isEncrypted || hasCome(this.#rtcpReceived, index)) return null
    if (!timingSafeEqual(mac(this.#rtcp.auth, sealed).subarray(0, rtcpTag), packet.subarray(end))) return null
    this.#rtcpReceived = noted(this.#rtcpReceived, index)
    const body = this.#crypt(this.#rtcp, sealed.subarray(0, end - 4), rtcpHeader, index, 4)
    return Buffer.concat([packet.subarray(0, rtcpHeader), body])
  }

  #rtpTag(sealed: Buffer, cycles: number): Buffer {
    const rollOver = Buffer.alloc(4)
    rollOver.writeUInt32BE(cycles)
    return mac(this.#rtp.auth, sealed, rollOver).subarray(0, this.#tag)
  }

  /** Counter mode over a packet from a byte on: the same in both directions (§4.1.1). */
  #crypt(keys: SessionKeys, packet: Buffer, start: number, index: number, sourceAt = 8): Buffer {
    const counter = Buffer.alloc(16)
    keys.salt.copy(counter)
    for (let i = 0; i < 4; i++) counter[4 + i] = (counter[4 + i] ?? 0) ^ (packet[sourceAt + i] ?? 0)
    const number = Buffer.alloc(6)
    number.writeUIntBE(index, 0, 6)
    for (let i = 0; i < 6; i++) counter[8 + i] = (counter[8 + i] ?? 0) ^ (number[i] ?? 0)
    return createCipheriv('aes-128-ctr', keys.cipher, counter).update(packet.subarray(start))
  }
}

/** Keys of RTP (first label 0) or RTCP (3) from the master key and salt (§4.3). */
function derived(master: Buffer, firstLabel: number): SessionKeys {
  const [key, salt] = [master.subarray(0, keyBytes), master.subarray(keyBytes, keyBytes + saltBytes)]
  const derive = (label: number, length: number) => {
    const counter = Buffer.alloc(16)
    salt.copy(counter)
    counter[7] = (counter[7] ?? 0) ^ label
    return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(length))
  }
  return {
    cipher: derive(firstLabel, keyBytes),
    auth: derive(firstLabel + 1, authBytes),
    salt: derive(firstLabel + 2, saltBytes),
  }
}

function mac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  const hmac = createHmac('sha1', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Number without roll-over that is nearest to the highest that came (§3.3.1). */
function likeliestIndex(highest: number, sequence: number): number {
  if (highest < 0) return sequence
  const cycles = Math.floor(highest / 0x1_0000)
  const last = highest % 0x1_0000
  if (last < 0x8000) return (sequence - last > 0x8000 ? cycles - 1 : cycles) * 0x1_0000 + sequence
  return (last - 0x8000 > sequence ? cycles + 1 : cycles) * 0x1_0000 + sequence
}

function hasCome({ highest, seen }: Received, index: number): boolean {
  if (index > highest) return false
  return highest - index >= replayWindow || ((seen >> BigInt(highest - index)) & 1n) === 1n
}

function noted({ highest, seen }: Received, index: number): Received {
  if (index <= highest) return { highest, seen: seen | (1n << BigInt(highest - index)) }
  const shifted = highest < 0 || index - highest >= replayWindow ? 0n : seen << BigInt(index - highest)
  return { highest: index, seen: BigInt.asUintN(replayWindow, shifted | 1n) }
}
