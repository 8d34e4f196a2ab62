// SPDX-License-Identifier: Apache-2.0
// RTP packets (RFC 3550 §5) and digits in them (RFC 4733): read without copying, written into a buffer of the caller's.
export interface RtpPacket {
  payloadType: number
  marker: boolean
  sequence: number
  timestamp: number
  source: number
  payload: Buffer
}

export const headerBytes = 12

/** Length of an RTP header with its sources and extension; null for anything else. */
export function headerLength(bytes: Buffer): number | null {
  const first = bytes[0] ?? 0
  if (bytes.length < headerBytes || first >> 6 !== 2) return null
  const start = headerBytes + 4 * (first & 0x0f)
  if (!(first & 0x10)) return start
  return bytes.length < start + 4 ? null : start + 4 + 4 * bytes.readUInt16BE(start + 2)
}

/** RTP packet of a datagram; null for anything else. */
export function parseRtp(bytes: Buffer): RtpPacket | null {
  const start = headerLength(bytes)
  const first = bytes[0] ?? 0
  const second = bytes[1] ?? 0
  const padding = first & 0x20 ? (bytes[bytes.length - 1] ?? 0) : 0
  const end = bytes.length - padding
  if (start === null || start > end) return null
  return {
    payloadType: second & 0x7f,
    marker: (second & 0x80) !== 0,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    source: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, end),
  }
}

export function writeRtpHeader(into: Buffer, packet: Omit<RtpPacket, 'payload'>): void {
  into[0] = 0x80
  into[1] = (packet.marker ? 0x80 : 0) | packet.payloadType
  into.writeUInt16BE(packet.sequence & 0xffff, 2)
  into.writeUInt32BE(packet.timestamp >>> 0, 4)
  into.writeUInt32BE(packet.source >>> 0, 8)
}

const keys = '0123456789*#ABCD'

export interface DigitEvent {
  digit: string
  isEnd: boolean
  /** Duration in samples. */
  duration: number
}

export function readDigit(payload: Buffer): DigitEvent | null {
  const digit = keys[payload[0] ?? 255]
  if (payload.length < 4 || digit === undefined) return null
  return { digit, isEnd: ((payload[1] ?? 0) & 0x80) !== 0, duration: payload.readUInt16BE(2) }
}

export function writeDigit({ digit, isEnd, duration }: DigitEvent): Buffer {
  const payload = Buffer.alloc(4)
  payload[0] = keys.indexOf(digit)
  payload[1] = (isEnd ? 0x80 : 0) | 10
  payload.writeUInt16BE(duration, 2)
  return payload
}
