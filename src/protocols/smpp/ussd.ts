// SPDX-License-Identifier: Apache-2.0
// USSD as gateways carry it over SMPP 3.4: short messages of the service type USSD, whose optional parameters say what is done
// (ussd_service_op) and in which dialog (its_session_info: the dialog's number, then a sequence number and an end flag).
// Vendors differ in both, so operation codes and tags are data of a profile.
import { decodeMessage, encodeGsm7, encodeUcs2, isGsm } from './charset.ts'
import { addressTypes, dataCodings, newShortMessage, type ShortMessage } from './pdu.ts'
import type { Tlvs } from './tlvs.ts'

export const ussdOps = ['dialled', 'asks', 'tells', 'ends', 'answered', 'aborted', 'released'] as const
export type UssdOp = (typeof ussdOps)[number]

/** Dialect of a kind of gateway. */
export interface UssdProfile {
  readonly serviceType: string
  /** Operation -> the octet that stands for it. */
  readonly ops: Readonly<Record<UssdOp, number>>
  /** Tag of the parameter that holds the operation; 0x0501 is ussd_service_op. */
  readonly opTag: number
  /** Tag of the parameter that names the dialog; 0x1383 is its_session_info. */
  readonly sessionTag: number
  /** Octets of the parameter that are the dialog's number; the octet behind them holds the sequence number. */
  readonly dialogBytes: number
}

/** The numbers of SMPP 3.4 (5.3.2.44), and the most usual ones for a dialog that the subscriber or the network gave up. */
export const standardProfile: UssdProfile = {
  serviceType: 'USSD',
  ops: { dialled: 1, asks: 2, tells: 3, ends: 17, answered: 18, aborted: 129, released: 130 },
  opTag: 0x0501,
  sessionTag: 0x1383,
  dialogBytes: 1,
}

export interface UssdMessage {
  readonly op: UssdOp
  readonly dialog: number
  /** Grows with every message of the subscriber; a repeat has the same. Null where the gateway tells none. */
  readonly sequence: number | null
  /** E.164. */
  readonly phone: string
  /** Digits of the code. */
  readonly code: string
  readonly text: string
}

/** Dialogs that a gateway can tell apart. */
export function dialogsOf({ dialogBytes }: UssdProfile): number {
  return 2 ** (8 * dialogBytes)
}

/** A short message as USSD; null when it is none. `handset` says which of its addresses is the subscriber. */
export function ussdOf(
  pdu: ShortMessage,
  handset: 'source' | 'destination',
  profile: UssdProfile = standardProfile,
): UssdMessage | null {
  const code = octetsOf(pdu.tlvs, profile.opTag)?.[0]
  const op = ussdOps.find((name) => profile.ops[name] === code)
  if (op === undefined) return null
  const session = octetsOf(pdu.tlvs, profile.sessionTag) ?? Buffer.alloc(0)
  const { dialogBytes } = profile
  const dialog = session.length >= dialogBytes ? session.readUIntBE(0, dialogBytes) : 0
  const last = session[dialogBytes]
  const [subscriber, service] = handset === 'source' ? [pdu.source, pdu.destination] : [pdu.destination, pdu.source]
  return {
    op,
    dialog,
    sequence: last === undefined ? null : last >> 1,
    phone: `+${subscriber.address.replace(/\D/g, '')}`,
    code: service.address,
    text: decodeMessage(pdu).text,
  }
}

export function ussdPdu(
  message: UssdMessage,
  handset: 'source' | 'destination',
  profile: UssdProfile = standardProfile,
): ShortMessage {
  const { op, dialog, sequence, phone, code, text } = message
  const subscriber = { address: phone.replace('+', ''), ...addressTypes.international }
  const service = { address: code, ...addressTypes.unknown }
  const [source, destination] = handset === 'source' ? [subscriber, service] : [service, subscriber]
  const session = Buffer.alloc(profile.dialogBytes + 1)
  session.writeUIntBE(dialog, 0, profile.dialogBytes)
  const isOver = op === 'ends' || op === 'tells' || op === 'aborted' || op === 'released'
  session[profile.dialogBytes] = ((sequence ?? 0) << 1) | (isOver ? 1 : 0)
  return newShortMessage({
    serviceType: profile.serviceType,
    source,
    destination,
    ...contentOf(text),
    tlvs: tlvsOf([
      [profile.opTag, Buffer.from([profile.ops[op]])],
      [profile.sessionTag, session],
    ]),
  })
}

/** Content of a screen in one message: at most 182 septets, or 80 UCS-2 units. */
function contentOf(text: string): Pick<ShortMessage, 'dataCoding' | 'shortMessage'> {
  return isGsm(text)
    ? { dataCoding: dataCodings.gsm, shortMessage: encodeGsm7(text) }
    : { dataCoding: dataCodings.ucs2, shortMessage: encodeUcs2(text) }
}

function octetsOf(tlvs: Tlvs, tag: number): Buffer | undefined {
  if (tag === standardProfile.opTag) return tlvs.ussdServiceOp
  if (tag === standardProfile.sessionTag) return tlvs.itsSessionInfo
  return tlvs.unknown?.find((one) => one.tag === tag)?.value
}

function tlvsOf(values: readonly (readonly [number, Buffer])[]): Tlvs {
  const tlvs: Tlvs = {}
  for (const [tag, value] of values) {
    if (tag === standardProfile.opTag) tlvs.ussdServiceOp = value
    else if (tag === standardProfile.sessionTag) tlvs.itsSessionInfo = value
    else tlvs.unknown = [...(tlvs.unknown ?? []), { tag, value }]
  }
  return tlvs
}
