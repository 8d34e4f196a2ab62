// SPDX-License-Identifier: Apache-2.0
// Reports between the two ends of an RTP stream (RFC 3550 §6): what was sent, what was lost, how it varied. Only sender and
// receiver reports are read; others of a compound packet are passed over.
export interface ReceptionReport {
  source: number
  /** Share of packets lost since the last report, 0 to 255 of 256. */
  fractionLost: number
  lost: number
  highestSequence: number
  /** Jitter in samples. */
  jitter: number
  lastSenderReport: number
  /** Delay in units of 1/65536 s. */
  delaySinceLast: number
}

export interface RtcpReport {
  source: number
  /** Middle 32 bits of the NTP time of a sender report; null in a receiver report. */
  sentAt: number | null
  reports: ReceptionReport[]
}

const senderReport = 200
const receiverReport = 201

export function parseRtcp(bytes: Buffer): RtcpReport[] {
  const found: RtcpReport[] = []
  for (let at = 0; at + 8 <= bytes.length; ) {
    const first = bytes[at] ?? 0
    const length = 4 * (bytes.readUInt16BE(at + 2) + 1)
    if (first >> 6 !== 2 || at + length > bytes.length) break
    const report = readReport(bytes.subarray(at, at + length), first & 0x1f)
    if (report) found.push(report)
    at += length
  }
  return found
}

function readReport(packet: Buffer, count: number): RtcpReport | null {
  const type = packet[1]
  const isSender = type === senderReport
  const start = isSender ? 28 : 8
  if ((!isSender && type !== receiverReport) || packet.length < start + 24 * count) return null
  const reports = Array.from({ length: count }, (_, i) => readBlock(packet, start + 24 * i))
  return { source: packet.readUInt32BE(4), sentAt: isSender ? packet.readUInt32BE(10) : null, reports }
}

function readBlock(packet: Buffer, at: number): ReceptionReport {
  return {
    source: packet.readUInt32BE(at),
    fractionLost: packet[at + 4] ?? 0,
    lost: packet.readIntBE(at + 5, 3),
    highestSequence: packet.readUInt32BE(at + 8),
    jitter: packet.readUInt32BE(at + 12),
    lastSenderReport: packet.readUInt32BE(at + 16),
    delaySinceLast: packet.readUInt32BE(at + 20),
  }
}

export interface SenderFigures {
  source: number
  nowMs: number
  timestamp: number
  packets: number
  octets: number
}

/** A sender report with at most one reception block, and the name that RFC 3550 §6.1 asks for. */
export function writeReport(own: SenderFigures, reception: ReceptionReport | null): Buffer {
  const report = Buffer.alloc(28 + (reception ? 24 : 0))
  report[0] = 0x80 | (reception ? 1 : 0)
  report[1] = senderReport
  report.writeUInt16BE(report.length / 4 - 1, 2)
  report.writeUInt32BE(own.source >>> 0, 4)
  report.writeUInt32BE((Math.floor(own.nowMs / 1_000) + 2_208_988_800) >>> 0, 8)
  report.writeUInt32BE(Math.floor(((own.nowMs % 1_000) / 1_000) * 2 ** 32) >>> 0, 12)
  report.writeUInt32BE(own.timestamp >>> 0, 16)
  report.writeUInt32BE(own.packets >>> 0, 20)
  report.writeUInt32BE(own.octets >>> 0, 24)
  if (reception) writeBlock(report, 28, reception)
  const name = Buffer.from('pamoja')
  const description = Buffer.alloc(8 + 4 * Math.ceil((2 + name.length + 1) / 4))
  description[0] = 0x81
  description[1] = 202
  description.writeUInt16BE(description.length / 4 - 1, 2)
  description.writeUInt32BE(own.source >>> 0, 4)
  description[8] = 1
  description[9] = name.length
  name.copy(description, 10)
  return Buffer.concat([report, description])
}

function writeBlock(packet: Buffer, at: number, block: ReceptionReport): void {
  packet.writeUInt32BE(block.source >>> 0, at)
  packet[at + 4] = block.fractionLost
  packet.writeIntBE(Math.max(-(2 ** 23), Math.min(2 ** 23 - 1, block.lost)), at + 5, 3)
  packet.writeUInt32BE(block.highestSequence >>> 0, at + 8)
  packet.writeUInt32BE(Math.max(0, Math.round(block.jitter)) >>> 0, at + 12)
  packet.writeUInt32BE(block.lastSenderReport >>> 0, at + 16)
  packet.writeUInt32BE(block.delaySinceLast >>> 0, at + 20)
}

/** The middle of an NTP time, as reports quote it. */
export function ntpMiddle(nowMs: number): number {
  const seconds = (Math.floor(nowMs / 1_000) + 2_208_988_800) & 0xffff
  return ((seconds << 16) | Math.floor(((nowMs % 1_000) / 1_000) * 65_536)) >>> 0
}
