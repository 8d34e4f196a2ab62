// SPDX-License-Identifier: Apache-2.0
// SMPP 3.4 protocol data units as typed values, and their bytes (Short Message Peer to Peer Protocol Specification v3.4,
// sections 3 to 5). Reading is strict about bounds: what does not fit inside its own PDU is a PduError, which carries the
// sequence number so that the session can answer it. Nothing here throws: encode and decode give the error as a value.
// Left out: submit_multi, replace_sm, and everything that version 5.0 added.
import { type Address, copyOf, type Header, headerBytes, maxPduBytes, Reader, Writer } from './octets.ts'
import { commandStatus, isAnswerId, PduError } from './status.ts'
import { readTlvs, type Tlvs, writeTlvs } from './tlvs.ts'

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
  /** Written also where the answer refuses; not read. */
  tlvs?: Tlvs
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

/** Usual types of addresses. */
export const addressTypes = {
  international: { ton: 1, npi: 1 },
  network: { ton: 3, npi: 0 },
  alphanumeric: { ton: 5, npi: 0 },
  unknown: { ton: 0, npi: 0 },
} as const satisfies Record<string, { ton: number; npi: number }>

export const dataCodings = { gsm: 0x00, ia5: 0x01, latin1: 0x03, binary: 0x04, ucs2: 0x08 } as const

/** Bits of esm_class (5.2.12) that we speak of. */
export const esmClasses = { receipt: 0x04, intermediate: 0x20, udh: 0x40 } as const

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
    systemId: reader.looseText(),
    tlvs: readTlvs(reader),
  }),
  write: (writer, body) => {
    writer.text(body.systemId, 16, commandStatus.ESME_RINVSYSID)
    writeTlvs(writer, body.tlvs)
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
    tlvs: readTlvs(reader),
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
    writeTlvs(writer, body.tlvs)
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
    tlvs: readTlvs(reader),
  }),
  write: (writer, body) => {
    writer.text(body.serviceType, 6, commandStatus.ESME_RINVSERTYP)
    writer.address(body.source, 65, commandStatus.ESME_RINVSRCADR)
    writer.address(body.destination, 65, commandStatus.ESME_RINVDSTADR)
    writer.u8(body.esmClass)
    writer.u8(body.registeredDelivery)
    writer.u8(body.dataCoding)
    writeTlvs(writer, body.tlvs)
  },
}

/** Answer with a message id. Parameters behind the id are ignored, so that bad ones do not lose it. */
const messageIdAnswer: BodyCodec<MessageIdAnswer> = {
  read: (reader) => ({ messageId: reader.looseText() }),
  write: (writer, body) => {
    writer.messageId(body.messageId)
    if (body.tlvs) writeTlvs(writer, body.tlvs)
  },
}

const dataSmAnswer: BodyCodec<DataSmAnswer> = {
  read: (reader) => ({ messageId: reader.ended ? '' : reader.messageId(), tlvs: readTlvs(reader) }),
  write: (writer, body) => {
    writer.messageId(body.messageId)
    writeTlvs(writer, body.tlvs)
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
    tlvs: readTlvs(reader),
  }),
  write: (writer, body) => {
    writer.address(body.source, 65, commandStatus.ESME_RINVSRCADR)
    writer.address(body.esme, 65, commandStatus.ESME_RINVDSTADR)
    writeTlvs(writer, body.tlvs)
  },
}

interface CommandCodec<C extends Command> {
  id: number
  read(header: Header, reader: Reader): PduOf<C>
  write(writer: Writer, body: Bodies[C]): void
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

/** Whether a refusal has optional parameters, which then need the body. */
function saysWhy(body: object): boolean {
  return 'tlvs' in body && typeof body.tlvs === 'object' && body.tlvs !== null && Object.keys(body.tlvs).length > 0
}

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
    if (pdu.status === 0 || !bareRefusals.has(pdu.command) || saysWhy(pdu.body)) write(writer, pdu.body)
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
