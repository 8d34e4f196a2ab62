// SPDX-License-Identifier: Apache-2.0
// Optional parameters by name (SMPP 3.4, section 5.3.2), and their octets.
import { copyOf, endOfText, maxPduBytes, type Reader, type Writer } from './octets.ts'
import { commandStatus } from './status.ts'

interface TlvCodec<V> {
  tag: number
  /** Whether octets of this length can be the parameter; what does not fit is kept as unknown. */
  fits(bytes: number): boolean
  read(frame: Buffer, start: number, end: number): V
  write(writer: Writer, value: V): void
}

const integer =
  (bytes: 1 | 2 | 4) =>
  (tag: number): TlvCodec<number> => ({
    tag,
    fits: (length) => length === bytes,
    read: (frame, start) => (bytes === 1 ? (frame[start] ?? 0) : frame.readUIntBE(start, bytes)),
    write: (writer, value) => writer.integer(value, bytes),
  })
const u8 = integer(1)
const u16 = integer(2)
const u32 = integer(4)

/** Text parameter. Some centres leave the closing zero out; it is written, and optional when read. */
const text = (tag: number): TlvCodec<string> => ({
  tag,
  fits: () => true,
  read: (frame, start, end) => frame.toString('latin1', start, endOfText(frame, start, end)),
  write: (writer, value) => writer.text(value, maxPduBytes, commandStatus.ESME_RINVOPTPARAMVAL),
})

const octets = (tag: number): TlvCodec<Buffer> => ({
  tag,
  fits: () => true,
  read: copyOf,
  write: (writer, value) => writer.octets(value),
})

const flag = (tag: number): TlvCodec<true> => ({
  tag,
  fits: (length) => length === 0,
  read: () => true,
  write: () => undefined,
})

/** Section 5.3.2: every optional parameter of version 3.4. */
const tlvTable = {
  destAddrSubunit: u8(0x0005),
  destNetworkType: u8(0x0006),
  destBearerType: u8(0x0007),
  destTelematicsId: u16(0x0008),
  sourceAddrSubunit: u8(0x000d),
  sourceNetworkType: u8(0x000e),
  sourceBearerType: u8(0x000f),
  sourceTelematicsId: u8(0x0010),
  qosTimeToLive: u32(0x0017),
  payloadType: u8(0x0019),
  additionalStatusInfoText: text(0x001d),
  receiptedMessageId: text(0x001e),
  msMsgWaitFacilities: u8(0x0030),
  privacyIndicator: u8(0x0201),
  sourceSubaddress: octets(0x0202),
  destSubaddress: octets(0x0203),
  userMessageReference: u16(0x0204),
  userResponseCode: u8(0x0205),
  sourcePort: u16(0x020a),
  destinationPort: u16(0x020b),
  sarMsgRefNum: u16(0x020c),
  languageIndicator: u8(0x020d),
  sarTotalSegments: u8(0x020e),
  sarSegmentSeqnum: u8(0x020f),
  scInterfaceVersion: u8(0x0210),
  callbackNumPresInd: u8(0x0302),
  callbackNumAtag: octets(0x0303),
  numberOfMessages: u8(0x0304),
  callbackNum: octets(0x0381),
  dpfResult: u8(0x0420),
  setDpf: u8(0x0421),
  msAvailabilityStatus: u8(0x0422),
  networkErrorCode: octets(0x0423),
  messagePayload: octets(0x0424),
  deliveryFailureReason: u8(0x0425),
  moreMessagesToSend: u8(0x0426),
  messageState: u8(0x0427),
  ussdServiceOp: octets(0x0501),
  displayTime: u8(0x1201),
  smsSignal: u16(0x1203),
  msValidity: u8(0x1204),
  alertOnMessageDelivery: flag(0x130c),
  itsReplyType: u8(0x1380),
  itsSessionInfo: octets(0x1383),
}

type TlvName = keyof typeof tlvTable

type TlvValue<N extends TlvName> = (typeof tlvTable)[N] extends TlvCodec<infer V> ? V : never

type KnownTlvs = { [N in TlvName]?: TlvValue<N> }

interface RawTlv {
  tag: number
  value: Buffer
}

/** Optional parameters by name; `unknown` keeps those that are not in the table, or do not have their form, as they came. */
export interface Tlvs extends KnownTlvs {
  unknown?: RawTlv[]
}

const tlvCodecs: { [N in TlvName]: TlvCodec<TlvValue<N>> } = tlvTable

const isTlvName = (name: string): name is TlvName => Object.hasOwn(tlvTable, name)

const tlvNames = new Map<number, TlvName>(
  Object.keys(tlvTable)
    .filter(isTlvName)
    .map((name) => [tlvTable[name].tag, name]),
)

/** The name of an optional parameter as the specification writes it; null when it has none. */
export function tlvNameOf(tag: number): string | null {
  const name = tlvNames.get(tag)
  return name === undefined ? null : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function readTlv(tlvs: Tlvs, tag: number, frame: Buffer, start: number, end: number): void {
  const name = tlvNames.get(tag)
  if (name !== undefined && readKnownTlv(tlvs, name, frame, start, end)) return
  tlvs.unknown ??= []
  tlvs.unknown.push({ tag, value: copyOf(frame, start, end) })
}

function readKnownTlv<N extends TlvName>(
  tlvs: { [K in N]?: TlvValue<K> },
  name: N,
  frame: Buffer,
  start: number,
  end: number,
): boolean {
  const codec = tlvCodecs[name]
  if (!codec.fits(end - start)) return false
  tlvs[name] = codec.read(frame, start, end)
  return true
}

export function readTlvs(reader: Reader): Tlvs {
  const tlvs: Tlvs = {}
  reader.eachTlv((tag, frame, start, end) => readTlv(tlvs, tag, frame, start, end))
  return tlvs
}

export function writeTlvs(writer: Writer, tlvs: Tlvs): void {
  for (const name in tlvs) if (isTlvName(name)) writeKnownTlv(writer, tlvs, name)
  for (const { tag, value } of tlvs.unknown ?? []) {
    const valueAt = writer.beginTlv(tag)
    writer.octets(value)
    writer.endTlv(valueAt)
  }
}

function writeKnownTlv<N extends TlvName>(writer: Writer, tlvs: KnownTlvs, name: N): void {
  const value = tlvs[name]
  if (value === undefined) return
  const codec = tlvCodecs[name]
  const valueAt = writer.beginTlv(codec.tag)
  codec.write(writer, value)
  writer.endTlv(valueAt)
}
