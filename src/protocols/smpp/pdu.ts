// SPDX-License-Identifier: Apache-2.0
// SMPP 3.4 protocol data units as typed values, and their bytes (Short Message Peer to Peer Protocol Specification v3.4,
// sections 3 to 5). Reading is strict about bounds: what does not fit inside its own PDU is a PduError, which carries the
// sequence number so that the session can answer it. Nothing here throws: encode and decode give the error as a value.
// Left out: submit_multi, replace_sm, and everything that version 5.0 added.

export const maxPduBytes = 64 * 1024
const headerBytes = 16
/** The most octets `shortMessage` holds; longer ones are cut into parts or go into the TLV messagePayload. */
const maxShortMessageBytes = 254

export interface Address {
  /** Type of number: 1 international, 5 alphanumeric; see addressTypes. */
  ton: number
  /** Numbering plan: 1 for telephone numbers (E.164), 0 for names. */
  npi: number
  /** Up to 20 characters; a telephone number without its plus sign. */
  address: string
}

interface Bind {
  systemId: string
  password: string
  systemType: string
  interfaceVersion: number
  addressRange: Address
}

interface BindAnswer {
  systemId: string
  tlvs: Tlvs
}

/** The body of submit_sm and of deliver_sm; newShortMessage() fills in what is seldom said. */
export interface ShortMessage {
  serviceType: string
  source: Address
  destination: Address
  esmClass: number
  protocolId: number
  priority: number
  scheduleDeliveryTime: string
  validityPeriod: string
  registeredDelivery: number
  replaceIfPresent: number
  dataCoding: number
  defaultMessageId: number
  shortMessage: Buffer
  tlvs: Tlvs
}

export type SubmitSm = ShortMessage
export type DeliverSm = ShortMessage

export interface DataSm {
  serviceType: string
  source: Address
  destination: Address
  esmClass: number
  registeredDelivery: number
  dataCoding: number
  tlvs: Tlvs
}

/** The id is empty where the answer came without one. */
interface MessageIdAnswer {
  messageId: string
}

interface DataSmAnswer extends MessageIdAnswer {
  tlvs: Tlvs
}

export interface QuerySm {
  messageId: string
  source: Address
}

export interface QuerySmAnswer {
  messageId: string
  finalDate: string
  messageState: number
  errorCode: number
}

export interface CancelSm {
  serviceType: string
  messageId: string
  source: Address
  destination: Address
}

interface Outbind {
  systemId: string
  password: string
}

interface AlertNotification {
  source: Address
  esme: Address
  tlvs: Tlvs
}

type Empty = Readonly<Record<never, never>>

/** Command -> what its body holds. */
export interface Bodies {
  generic_nack: Empty
  bind_receiver: Bind
  bind_receiver_resp: BindAnswer
  bind_transmitter: Bind
  bind_transmitter_resp: BindAnswer
  bind_transceiver: Bind
  bind_transceiver_resp: BindAnswer
  query_sm: QuerySm
  query_sm_resp: QuerySmAnswer
  submit_sm: SubmitSm
  submit_sm_resp: MessageIdAnswer
  deliver_sm: DeliverSm
  deliver_sm_resp: MessageIdAnswer
  unbind: Empty
  unbind_resp: Empty
  cancel_sm: CancelSm
  cancel_sm_resp: Empty
  outbind: Outbind
  enquire_link: Empty
  enquire_link_resp: Empty
  alert_notification: AlertNotification
  data_sm: DataSm
  data_sm_resp: DataSmAnswer
}

export type Command = keyof Bodies

export interface PduOf<C extends Command> {
  command: C
  /** command_status: 0 in requests; see commandStatus. */
  status: number
  sequence: number
  body: Bodies[C]
}

export type Pdu = { [C in Command]: PduOf<C> }[Command]

/** What is wrong with some bytes, or with a value that has no bytes; `status` is the command_status to answer with. */
export class PduError extends Error {
  readonly status: number
  readonly sequence: number
  readonly commandId: number

  constructor(message: string, status: number, header: { sequence: number; commandId: number }) {
    super(message)
    this.name = 'PduError'
    this.status = status
    this.sequence = header.sequence
    this.commandId = header.commandId
  }

  /** An answer is never answered, not even a broken one: two ends that both did so would never stop. */
  get isAnswer(): boolean {
    return isAnswerId(this.commandId)
  }
}

/** Section 5.1.3, by the specification's names. */
export const commandStatus = {
  ESME_ROK: 0x00,
  ESME_RINVMSGLEN: 0x01,
  ESME_RINVCMDLEN: 0x02,
  ESME_RINVCMDID: 0x03,
  ESME_RINVBNDSTS: 0x04,
  ESME_RALYBND: 0x05,
  ESME_RINVPRTFLG: 0x06,
  ESME_RINVREGDLVFLG: 0x07,
  ESME_RSYSERR: 0x08,
  ESME_RINVSRCADR: 0x0a,
  ESME_RINVDSTADR: 0x0b,
  ESME_RINVMSGID: 0x0c,
  ESME_RBINDFAIL: 0x0d,
  ESME_RINVPASWD: 0x0e,
  ESME_RINVSYSID: 0x0f,
  ESME_RCANCELFAIL: 0x11,
  ESME_RREPLACEFAIL: 0x13,
  ESME_RMSGQFUL: 0x14,
  ESME_RINVSERTYP: 0x15,
  ESME_RINVNUMDESTS: 0x33,
  ESME_RINVDLNAME: 0x34,
  ESME_RINVDESTFLAG: 0x40,
  ESME_RINVSUBREP: 0x42,
  ESME_RINVESMCLASS: 0x43,
  ESME_RCNTSUBDL: 0x44,
  ESME_RSUBMITFAIL: 0x45,
  ESME_RINVSRCTON: 0x48,
  ESME_RINVSRCNPI: 0x49,
  ESME_RINVDSTTON: 0x50,
  ESME_RINVDSTNPI: 0x51,
  ESME_RINVSYSTYP: 0x53,
  ESME_RINVREPFLAG: 0x54,
  ESME_RINVNUMMSGS: 0x55,
  ESME_RTHROTTLED: 0x58,
  ESME_RINVSCHED: 0x61,
  ESME_RINVEXPIRY: 0x62,
  ESME_RINVDFTMSGID: 0x63,
  ESME_RX_T_APPN: 0x64,
  ESME_RX_P_APPN: 0x65,
  ESME_RX_R_APPN: 0x66,
  ESME_RQUERYFAIL: 0x67,
  ESME_RINVOPTPARSTREAM: 0xc0,
  ESME_ROPTPARNOTALLWD: 0xc1,
  ESME_RINVPARLEN: 0xc2,
  ESME_RMISSINGOPTPARAM: 0xc3,
  ESME_RINVOPTPARAMVAL: 0xc4,
  ESME_RDELIVERYFAILURE: 0xfe,
  ESME_RUNKNOWNERR: 0xff,
} as const satisfies Record<string, number>

const statusNames = new Map<number, string>(Object.entries(commandStatus).map(([name, status]) => [status, name]))

/** The specification's name; an operator's own status, from 0x400 on, as a number. */
export function statusName(status: number): string {
  return statusNames.get(status) ?? `0x${status.toString(16).padStart(8, '0')}`
}

/** How addresses are usually typed. */
export const addressTypes = {
  international: { ton: 1, npi: 1 },
  network: { ton: 3, npi: 0 },
  alphanumeric: { ton: 5, npi: 0 },
  unknown: { ton: 0, npi: 0 },
} as const satisfies Record<string, { ton: number; npi: number }>

export const dataCodings = { gsm: 0x00, ia5: 0x01, latin1: 0x03, binary: 0x04, ucs2: 0x08 } as const

/** Bits of esm_class (5.2.12) that we speak of. */
export const esmClasses = { receipt: 0x04, typeMask: 0x3c, udh: 0x40 } as const

const noOctets = Buffer.alloc(0)

/** A submit_sm or deliver_sm with the usual silence in every field that is not given. */
export function newShortMessage(fields: Partial<ShortMessage>): ShortMessage {
  return {
    serviceType: '',
    source: { ton: 0, npi: 0, address: '' },
    destination: { ton: 0, npi: 0, address: '' },
    esmClass: 0,
    protocolId: 0,
    priority: 0,
    scheduleDeliveryTime: '',
    validityPeriod: '',
    registeredDelivery: 0,
    replaceIfPresent: 0,
    dataCoding: 0,
    defaultMessageId: 0,
    shortMessage: noOctets,
    tlvs: {},
    ...fields,
  }
}

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

/** Some centres leave the closing zero out; it is written, and not missed. */
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
interface Tlvs extends KnownTlvs {
  unknown?: RawTlv[]
}

const tlvCodecs: { [N in TlvName]: TlvCodec<TlvValue<N>> } = tlvTable
const isTlvName = (name: string): name is TlvName => Object.hasOwn(tlvTable, name)
const tlvNames = new Map<number, TlvName>(
  Object.keys(tlvTable)
    .filter(isTlvName)
    .map((name) => [tlvTable[name].tag, name]),
)

interface BodyCodec<B> {
  read(reader: Reader): B
  write(writer: Writer, body: B): void
}

const empty: BodyCodec<Empty> = { read: () => ({}), write: () => undefined }

const bind: BodyCodec<Bind> = {
  read: (reader) => ({
    systemId: reader.text(16, commandStatus.ESME_RINVSYSID),
    password: reader.text(9, commandStatus.ESME_RINVPASWD),
    systemType: reader.text(13, commandStatus.ESME_RINVSYSTYP),
    interfaceVersion: reader.u8(),
    addressRange: reader.address(41, commandStatus.ESME_RINVPARLEN),
  }),
  write: (writer, body) => {
    writer.text(body.systemId, 16, commandStatus.ESME_RINVSYSID)
    writer.text(body.password, 9, commandStatus.ESME_RINVPASWD)
    writer.text(body.systemType, 13, commandStatus.ESME_RINVSYSTYP)
    writer.u8(body.interfaceVersion)
    writer.address(body.addressRange, 41, commandStatus.ESME_RINVPARLEN)
  },
}

const bindAnswer: BodyCodec<BindAnswer> = {
  read: (reader) => ({
    systemId: reader.ended ? '' : reader.text(16, commandStatus.ESME_RINVSYSID),
    tlvs: reader.tlvs(),
  }),
  write: (writer, body) => {
    writer.text(body.systemId, 16, commandStatus.ESME_RINVSYSID)
    writer.tlvs(body.tlvs)
  },
}

const shortMessage: BodyCodec<ShortMessage> = {
  read: (reader) => ({
    serviceType: reader.text(6, commandStatus.ESME_RINVSERTYP),
    source: reader.address(21, commandStatus.ESME_RINVSRCADR),
    destination: reader.address(21, commandStatus.ESME_RINVDSTADR),
    esmClass: reader.u8(),
    protocolId: reader.u8(),
    priority: reader.u8(),
    scheduleDeliveryTime: reader.text(17, commandStatus.ESME_RINVSCHED),
    validityPeriod: reader.text(17, commandStatus.ESME_RINVEXPIRY),
    registeredDelivery: reader.u8(),
    replaceIfPresent: reader.u8(),
    dataCoding: reader.u8(),
    defaultMessageId: reader.u8(),
    shortMessage: reader.shortMessage(),
    tlvs: reader.tlvs(),
  }),
  write: (writer, body) => {
    writer.text(body.serviceType, 6, commandStatus.ESME_RINVSERTYP)
    writer.address(body.source, 21, commandStatus.ESME_RINVSRCADR)
    writer.address(body.destination, 21, commandStatus.ESME_RINVDSTADR)
    writer.u8(body.esmClass)
    writer.u8(body.protocolId)
    writer.u8(body.priority)
    writer.text(body.scheduleDeliveryTime, 17, commandStatus.ESME_RINVSCHED)
    writer.text(body.validityPeriod, 17, commandStatus.ESME_RINVEXPIRY)
    writer.u8(body.registeredDelivery)
    writer.u8(body.replaceIfPresent)
    writer.u8(body.dataCoding)
    writer.u8(body.defaultMessageId)
    writer.shortMessage(body.shortMessage)
    writer.tlvs(body.tlvs)
  },
}

const dataSm: BodyCodec<DataSm> = {
  read: (reader) => ({
    serviceType: reader.text(6, commandStatus.ESME_RINVSERTYP),
    source: reader.address(65, commandStatus.ESME_RINVSRCADR),
    destination: reader.address(65, commandStatus.ESME_RINVDSTADR),
    esmClass: reader.u8(),
    registeredDelivery: reader.u8(),
    dataCoding: reader.u8(),
    tlvs: reader.tlvs(),
  }),
  write: (writer, body) => {
    writer.text(body.serviceType, 6, commandStatus.ESME_RINVSERTYP)
    writer.address(body.source, 65, commandStatus.ESME_RINVSRCADR)
    writer.address(body.destination, 65, commandStatus.ESME_RINVDSTADR)
    writer.u8(body.esmClass)
    writer.u8(body.registeredDelivery)
    writer.u8(body.dataCoding)
    writer.tlvs(body.tlvs)
  },
}

/** What follows the id is not read: an id that was given is worth more than the parameters behind it. */
const messageIdAnswer: BodyCodec<MessageIdAnswer> = {
  read: (reader) => ({ messageId: reader.ended ? '' : reader.messageId() }),
  write: (writer, body) => writer.messageId(body.messageId),
}

const dataSmAnswer: BodyCodec<DataSmAnswer> = {
  read: (reader) => ({ messageId: reader.ended ? '' : reader.messageId(), tlvs: reader.tlvs() }),
  write: (writer, body) => {
    writer.messageId(body.messageId)
    writer.tlvs(body.tlvs)
  },
}

const querySm: BodyCodec<QuerySm> = {
  read: (reader) => ({
    messageId: reader.messageId(),
    source: reader.address(21, commandStatus.ESME_RINVSRCADR),
  }),
  write: (writer, body) => {
    writer.messageId(body.messageId)
    writer.address(body.source, 21, commandStatus.ESME_RINVSRCADR)
  },
}

const querySmAnswer: BodyCodec<QuerySmAnswer> = {
  read: (reader) =>
    reader.ended
      ? { messageId: '', finalDate: '', messageState: 0, errorCode: 0 }
      : {
          messageId: reader.messageId(),
          finalDate: reader.text(17, commandStatus.ESME_RINVPARLEN),
          messageState: reader.u8(),
          errorCode: reader.u8(),
        },
  write: (writer, body) => {
    writer.messageId(body.messageId)
    writer.text(body.finalDate, 17, commandStatus.ESME_RINVPARLEN)
    writer.u8(body.messageState)
    writer.u8(body.errorCode)
  },
}

const cancelSm: BodyCodec<CancelSm> = {
  read: (reader) => ({
    serviceType: reader.text(6, commandStatus.ESME_RINVSERTYP),
    messageId: reader.messageId(),
    source: reader.address(21, commandStatus.ESME_RINVSRCADR),
    destination: reader.address(21, commandStatus.ESME_RINVDSTADR),
  }),
  write: (writer, body) => {
    writer.text(body.serviceType, 6, commandStatus.ESME_RINVSERTYP)
    writer.messageId(body.messageId)
    writer.address(body.source, 21, commandStatus.ESME_RINVSRCADR)
    writer.address(body.destination, 21, commandStatus.ESME_RINVDSTADR)
  },
}

const outbind: BodyCodec<Outbind> = {
  read: (reader) => ({
    systemId: reader.text(16, commandStatus.ESME_RINVSYSID),
    password: reader.text(9, commandStatus.ESME_RINVPASWD),
  }),
  write: (writer, body) => {
    writer.text(body.systemId, 16, commandStatus.ESME_RINVSYSID)
    writer.text(body.password, 9, commandStatus.ESME_RINVPASWD)
  },
}

const alertNotification: BodyCodec<AlertNotification> = {
  read: (reader) => ({
    source: reader.address(65, commandStatus.ESME_RINVSRCADR),
    esme: reader.address(65, commandStatus.ESME_RINVDSTADR),
    tlvs: reader.tlvs(),
  }),
  write: (writer, body) => {
    writer.address(body.source, 65, commandStatus.ESME_RINVSRCADR)
    writer.address(body.esme, 65, commandStatus.ESME_RINVDSTADR)
    writer.tlvs(body.tlvs)
  },
}

interface CommandCodec<C extends Command> {
  id: number
  read(header: Header, reader: Reader): PduOf<C>
  write(writer: Writer, body: Bodies[C]): void
}

interface Header {
  commandId: number
  status: number
  sequence: number
}

function coded<C extends Command>(command: C, id: number, body: BodyCodec<Bodies[C]>): CommandCodec<C> {
  return {
    id,
    read: ({ status, sequence }, reader) => ({ command, status, sequence, body: body.read(reader) }),
    write: body.write,
  }
}

/** Section 5.1.2.1. */
const commands: { [C in Command]: CommandCodec<C> } = {
  generic_nack: coded('generic_nack', 0x80000000, empty),
  bind_receiver: coded('bind_receiver', 0x00000001, bind),
  bind_receiver_resp: coded('bind_receiver_resp', 0x80000001, bindAnswer),
  bind_transmitter: coded('bind_transmitter', 0x00000002, bind),
  bind_transmitter_resp: coded('bind_transmitter_resp', 0x80000002, bindAnswer),
  query_sm: coded('query_sm', 0x00000003, querySm),
  query_sm_resp: coded('query_sm_resp', 0x80000003, querySmAnswer),
  submit_sm: coded('submit_sm', 0x00000004, shortMessage),
  submit_sm_resp: coded('submit_sm_resp', 0x80000004, messageIdAnswer),
  deliver_sm: coded('deliver_sm', 0x00000005, shortMessage),
  deliver_sm_resp: coded('deliver_sm_resp', 0x80000005, messageIdAnswer),
  unbind: coded('unbind', 0x00000006, empty),
  unbind_resp: coded('unbind_resp', 0x80000006, empty),
  cancel_sm: coded('cancel_sm', 0x00000008, cancelSm),
  cancel_sm_resp: coded('cancel_sm_resp', 0x80000008, empty),
  bind_transceiver: coded('bind_transceiver', 0x00000009, bind),
  bind_transceiver_resp: coded('bind_transceiver_resp', 0x80000009, bindAnswer),
  outbind: coded('outbind', 0x0000000b, outbind),
  enquire_link: coded('enquire_link', 0x00000015, empty),
  enquire_link_resp: coded('enquire_link_resp', 0x80000015, empty),
  alert_notification: coded('alert_notification', 0x00000102, alertNotification),
  data_sm: coded('data_sm', 0x00000103, dataSm),
  data_sm_resp: coded('data_sm_resp', 0x80000103, dataSmAnswer),
}

const isCommand = (name: string): name is Command => Object.hasOwn(commands, name)
const commandNames = new Map<number, Command>(
  Object.keys(commands)
    .filter(isCommand)
    .map((name) => [commands[name].id, name]),
)
const isAnswerId = (commandId: number): boolean => commandId >= 0x80000000

export function isAnswer(command: Command): boolean {
  return isAnswerId(commands[command].id)
}

/** Sections 4.1 and 4.4.2: these have no body when they refuse. */
const bareRefusals: ReadonlySet<Command> = new Set([
  'bind_receiver_resp',
  'bind_transmitter_resp',
  'bind_transceiver_resp',
  'submit_sm_resp',
])

/** The others keep their fields, which are then zeros: an empty id; an empty id, an empty date, no state, no error. */
const refusalBytes: Partial<Record<Command, number>> = { deliver_sm: 1, data_sm: 1, query_sm: 4 }

/** Encoding is synchronous, so that one buffer serves all; what is handed out is a copy of its own length. */
const scratch = Buffer.allocUnsafe(maxPduBytes)

/** The bytes of a PDU, or what keeps it from having any: a text too long for its field, a number too large. */
export function encode<C extends Command>(pdu: PduOf<C>): Buffer | PduError {
  const { id, write } = commands[pdu.command]
  const writer = new Writer(scratch, { commandId: id, sequence: pdu.sequence })
  try {
    writer.integer(0, 4)
    writer.integer(id, 4)
    writer.integer(pdu.status, 4)
    writer.integer(pdu.sequence, 4)
    if (pdu.status === 0 || !bareRefusals.has(pdu.command)) write(writer, pdu.body)
  } catch (error) {
    if (error instanceof PduError) return error
    throw error
  }
  scratch.writeUInt32BE(writer.offset, 0)
  return copyOf(scratch, 0, writer.offset)
}

/** The answer to a request that is not granted; a generic_nack where the command has no answer of its own. */
export function encodeRefusal(request: Command, sequence: number, status: number): Buffer {
  const answerId = (commands[request].id | 0x80000000) >>> 0
  const frame = Buffer.alloc(headerBytes + (refusalBytes[request] ?? 0))
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(commandNames.has(answerId) ? answerId : commands.generic_nack.id, 4)
  frame.writeUInt32BE(status >>> 0, 8)
  frame.writeUInt32BE(sequence >>> 0, 12)
  return frame
}

/** Reads one whole frame, as the Framer cuts it. What it gives holds copies: the frame may be written over afterwards. */
export function decode(frame: Buffer): Pdu | PduError {
  const header = readHeader(frame)
  if (header instanceof PduError) return header
  const name = commandNames.get(header.commandId)
  if (name === undefined)
    return new PduError(
      `no command has the id 0x${header.commandId.toString(16)}`,
      commandStatus.ESME_RINVCMDID,
      header,
    )
  try {
    return commands[name].read(header, new Reader(frame, header))
  } catch (error) {
    if (error instanceof PduError) return error
    throw error
  }
}

function readHeader(frame: Buffer): Header | PduError {
  const whole = frame.length >= headerBytes
  const header = {
    commandId: whole ? frame.readUInt32BE(4) : 0,
    status: whole ? frame.readUInt32BE(8) : 0,
    sequence: whole ? frame.readUInt32BE(12) : 0,
  }
  if (whole && frame.length <= maxPduBytes && frame.readUInt32BE(0) === frame.length) return header
  return new PduError(`a frame of ${frame.length} octets says another length`, commandStatus.ESME_RINVCMDLEN, header)
}

/**
 * Cuts a stream of bytes into frames. It holds less than one PDU and what was last pushed. A frame given out is valid until
 * the next push. After an error the stream has no known place to go on from, so the session must end.
 */
export class Framer {
  #buffer = Buffer.allocUnsafe(4096)
  #start = 0
  #end = 0

  push(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(chunk.length)
    chunk.copy(this.#buffer, this.#end)
    this.#end += chunk.length
  }

  /** The next whole frame; null when more bytes are needed. */
  next(): Buffer | PduError | null {
    const available = this.#end - this.#start
    if (available < 4) return null
    const length = this.#buffer.readUInt32BE(this.#start)
    if (length < headerBytes || length > maxPduBytes) return this.#badLength(length, available)
    if (available < length) return null
    const frame = this.#buffer.subarray(this.#start, this.#start + length)
    this.#start += length
    return frame
  }

  #makeRoom(bytes: number): void {
    const held = this.#end - this.#start
    const target = held + bytes > this.#buffer.length ? Buffer.allocUnsafe(2 * (held + bytes)) : this.#buffer
    this.#buffer.copy(target, 0, this.#start, this.#end)
    this.#buffer = target
    this.#start = 0
    this.#end = held
  }

  #badLength(length: number, available: number): PduError {
    const whole = available >= headerBytes
    return new PduError(`command_length says ${length}`, commandStatus.ESME_RINVCMDLEN, {
      commandId: whole ? this.#buffer.readUInt32BE(this.#start + 4) : 0,
      sequence: whole ? this.#buffer.readUInt32BE(this.#start + 12) : 0,
    })
  }
}

/** Reads the body of one frame and never beyond it. Throws PduError, which decode() turns into a value. */
class Reader {
  readonly #frame: Buffer
  readonly #header: Header
  #offset = headerBytes

  constructor(frame: Buffer, header: Header) {
    this.#frame = frame
    this.#header = header
  }

  get ended(): boolean {
    return this.#offset >= this.#frame.length
  }

  u8(): number {
    const value = this.#frame[this.#offset]
    if (value === undefined) throw this.#error('the body ends too soon', commandStatus.ESME_RINVCMDLEN)
    this.#offset += 1
    return value
  }

  /** A C-octet string; `size` counts its closing zero. */
  text(size: number, status: number): string {
    const end = endOfText(this.#frame, this.#offset, this.#frame.length)
    if (end === this.#frame.length)
      throw this.#error('a text does not end within the body', commandStatus.ESME_RINVCMDLEN)
    if (end - this.#offset >= size) throw this.#error(`a text has more than ${size - 1} characters`, status)
    const value = end === this.#offset ? '' : this.#frame.toString('latin1', this.#offset, end)
    this.#offset = end + 1
    return value
  }

  messageId(): string {
    return this.text(65, commandStatus.ESME_RINVMSGID)
  }

  address(size: number, status: number): Address {
    return { ton: this.u8(), npi: this.u8(), address: this.text(size, status) }
  }

  shortMessage(): Buffer {
    const length = this.u8()
    const end = this.#offset + length
    if (length > maxShortMessageBytes || end > this.#frame.length)
      throw this.#error(`sm_length says ${length}`, commandStatus.ESME_RINVMSGLEN)
    const value = copyOf(this.#frame, this.#offset, end)
    this.#offset = end
    return value
  }

  tlvs(): Tlvs {
    const tlvs: Tlvs = {}
    while (!this.ended) {
      const start = this.#offset + 4
      const end = start > this.#frame.length ? start : start + this.#frame.readUInt16BE(this.#offset + 2)
      if (end > this.#frame.length)
        throw this.#error('an optional parameter does not end within the body', commandStatus.ESME_RINVOPTPARSTREAM)
      readTlv(tlvs, this.#frame.readUInt16BE(this.#offset), this.#frame, start, end)
      this.#offset = end
    }
    return tlvs
  }

  #error(message: string, status: number): PduError {
    return new PduError(message, status, this.#header)
  }
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

/** Where the zero stands that closes a text, or `end` when there is none. Texts are short: this is sooner done than asked. */
function endOfText(frame: Buffer, start: number, end: number): number {
  for (let i = start; i < end; i++) if (frame[i] === 0) return i
  return end
}

function copyOf(frame: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start)
  frame.copy(copy, 0, start, end)
  return copy
}

const largest = { 1: 0xff, 2: 0xffff, 4: 0xffffffff } as const

/** Writes one PDU from the start of the buffer. Throws PduError, which encode() turns into a value. */
class Writer {
  readonly #buffer: Buffer
  readonly #header: { commandId: number; sequence: number }
  offset = 0

  constructor(buffer: Buffer, header: { commandId: number; sequence: number }) {
    this.#buffer = buffer
    this.#header = header
  }

  u8(value: number): void {
    this.#check(value, 1)
    this.#buffer[this.offset] = value
    this.offset += 1
  }

  integer(value: number, bytes: 1 | 2 | 4): void {
    if (bytes === 1) return this.u8(value)
    this.#check(value, bytes)
    this.offset =
      bytes === 2 ? this.#buffer.writeUInt16BE(value, this.offset) : this.#buffer.writeUInt32BE(value, this.offset)
  }

  /** A C-octet string; a zero would end it early, and what is beyond Latin-1 has no octet. `size` counts its closing zero. */
  text(value: string, size: number, status: number): void {
    this.#need(value.length + 1)
    let sound = value.length < size
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      sound &&= unit !== 0 && unit <= 0xff
      this.#buffer[this.offset + i] = unit
    }
    if (!sound) throw this.#error(`${JSON.stringify(value)} is not a text of up to ${size - 1} octets`, status)
    this.#buffer[this.offset + value.length] = 0
    this.offset += value.length + 1
  }

  messageId(value: string): void {
    this.text(value, 65, commandStatus.ESME_RINVMSGID)
  }

  address({ ton, npi, address }: Address, size: number, status: number): void {
    this.u8(ton)
    this.u8(npi)
    this.text(address, size, status)
  }

  shortMessage(value: Buffer): void {
    if (value.length > maxShortMessageBytes)
      throw this.#error(`a short message of ${value.length} octets`, commandStatus.ESME_RINVMSGLEN)
    this.u8(value.length)
    this.octets(value)
  }

  octets(value: Buffer): void {
    this.#need(value.length)
    value.copy(this.#buffer, this.offset)
    this.offset += value.length
  }

  tlvs(tlvs: Tlvs): void {
    for (const name in tlvs) if (isTlvName(name)) this.#knownTlv(tlvs, name)
    for (const { tag, value } of tlvs.unknown ?? []) {
      const valueAt = this.#beginTlv(tag)
      this.octets(value)
      this.#endTlv(valueAt)
    }
  }

  #knownTlv<N extends TlvName>(tlvs: KnownTlvs, name: N): void {
    const value = tlvs[name]
    if (value === undefined) return
    const codec = tlvCodecs[name]
    const valueAt = this.#beginTlv(codec.tag)
    codec.write(this, value)
    this.#endTlv(valueAt)
  }

  /** Gives where the value starts: its length, which goes before it, is known once it is written. */
  #beginTlv(tag: number): number {
    this.integer(tag, 2)
    this.integer(0, 2)
    return this.offset
  }

  #endTlv(valueAt: number): void {
    this.#buffer.writeUInt16BE(this.offset - valueAt, valueAt - 2)
  }

  #check(value: number, bytes: 1 | 2 | 4): void {
    if (!Number.isInteger(value) || value < 0 || value > largest[bytes])
      throw this.#error(`${value} is not a number of ${bytes} octets`, commandStatus.ESME_RINVPARLEN)
    this.#need(bytes)
  }

  #need(bytes: number): void {
    if (this.offset + bytes > this.#buffer.length)
      throw this.#error(`the PDU would exceed ${maxPduBytes} octets`, commandStatus.ESME_RINVMSGLEN)
  }

  #error(message: string, status: number): PduError {
    return new PduError(message, status, this.#header)
  }
}
