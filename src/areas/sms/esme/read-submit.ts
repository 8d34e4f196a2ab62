// SPDX-License-Identifier: Apache-2.0
// submit_sm of a customer in our words, or the command_status that refuses it.
import { hasLengthOfItsCountry, isE164 } from '../../../kernel/phone.ts'
import { isSender } from '../../../kernel/sender.ts'
import { dayMs, minuteMs } from '../../../kernel/time.ts'
import { type Concatenation, decodeText, octetsOf } from '../../../protocols/smpp/charset.ts'
import type { Address } from '../../../protocols/smpp/octets.ts'
import { addressTypes, dataCodings, esmClasses, type SubmitSm } from '../../../protocols/smpp/pdu.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import { momentOf } from '../../../protocols/smpp/times.ts'
import { maxDaysAhead, maxValiditySeconds } from '../schema.ts'

const leastValiditySeconds = 60
const takenCodings: ReadonlySet<number> = new Set([
  dataCodings.gsm,
  dataCodings.ia5,
  dataCodings.latin1,
  dataCodings.ucs2,
])
/** Default mode and store-and-forward, each with a header or without. */
const takenClasses: ReadonlySet<number> = new Set([0, 3, esmClasses.udh, esmClasses.udh | 3])
/** Types of numbers that are whole: unknown, international, and national, as Kannel calls one without a plus. */
const wholeTypes: ReadonlySet<number> = new Set([0, 1, 2])

/** What a submit_sm asks for. */
export interface Submitted {
  readonly from: string
  readonly to: string
  readonly octets: Buffer
  readonly coding: number
  readonly part: Concatenation | null
  /** Receipts: 0 none, 1 each, 2 of failures, 3 of success. */
  readonly wants: number
  readonly userReference: number | null
  readonly scheduledAt: Date | null
  readonly validity: number
}

/** Request that a submit_sm makes; a number is the command_status that refuses it. `nowMs` is the account's time. */
export function readSubmit(message: SubmitSm, nowMs: number): Submitted | number {
  if (!takenClasses.has(message.esmClass)) return commandStatus.ESME_RINVESMCLASS
  if (!takenCodings.has(message.dataCoding)) return commandStatus.ESME_RSUBMITFAIL
  const from = senderOf(message.source)
  if (!isSender(from)) return commandStatus.ESME_RINVSRCADR
  const to = recipientOf(message.destination)
  if (to === null) return commandStatus.ESME_RINVDSTADR
  const scheduledMs = momentOf(message.scheduleDeliveryTime, nowMs)
  if (scheduledMs === undefined || isOutside(scheduledMs, nowMs)) return commandStatus.ESME_RINVSCHED
  const scheduledAt = scheduledMs !== null && scheduledMs > nowMs ? new Date(scheduledMs) : null
  const untilMs = momentOf(message.validityPeriod, nowMs)
  const validity = validityOf(untilMs, scheduledAt?.getTime() ?? nowMs)
  if (validity === null) return commandStatus.ESME_RINVEXPIRY
  const { octets, concatenation } = octetsOf(message)
  // A header that names no part is for a program on the handset, not for a person.
  const hasHeader = (message.esmClass & esmClasses.udh) !== 0
  if (hasHeader && concatenation === null) return commandStatus.ESME_RSUBMITFAIL
  const part = concatenation && concatenation.total > 1 ? concatenation : null
  if (octets.length === 0) return commandStatus.ESME_RINVMSGLEN
  return {
    ...{ from, to, octets, coding: message.dataCoding, part, scheduledAt, validity },
    wants: message.registeredDelivery & 0x03,
    userReference: message.tlvs.userMessageReference ?? null,
  }
}

/** Text of octets, as PostgreSQL can keep it. A part may end inside a character. */
export function textOfParts(parts: readonly { readonly coding: number; readonly octets: Buffer }[]): string {
  const [first] = parts
  const isOne = first !== undefined && parts.every(({ coding }) => coding === first.coding)
  const text = isOne
    ? decoded(Buffer.concat(parts.map(({ octets }) => octets)), first.coding)
    : parts.map(({ octets, coding }) => decoded(octets, coding)).join('')
  return text.replaceAll('\u0000', '')
}

/** Some clients say ASCII and mean the GSM alphabet, which has letters where ASCII has control characters. */
function decoded(octets: Buffer, coding: number): string {
  const isGsm = coding === dataCodings.ia5 && octets.some((octet) => octet < 0x20 && octet !== 0x0a && octet !== 0x0d)
  return decodeText(octets, isGsm ? dataCodings.gsm : coding)
}

function senderOf({ ton, address }: Address): string {
  const isNumber = ton !== addressTypes.alphanumeric.ton && /^\+?[1-9]\d{6,14}$/.test(address)
  return isNumber ? `+${address.replace('+', '')}` : address
}

function recipientOf({ ton, address }: Address): string | null {
  const number = `+${address.replace(/^(\+|00)/, '')}`
  return wholeTypes.has(ton) && isE164(number) && hasLengthOfItsCountry(number) ? number : null
}

function isOutside(scheduledMs: number | null, nowMs: number): boolean {
  return scheduledMs !== null && (scheduledMs < nowMs - minuteMs || scheduledMs > nowMs + maxDaysAhead * dayMs)
}

/** Seconds of validity from when it is sent; null where they are over before. */
function validityOf(untilMs: number | null | undefined, sentMs: number): number | null {
  if (untilMs === null) return maxValiditySeconds
  if (untilMs === undefined || untilMs <= sentMs) return null
  const seconds = Math.ceil((untilMs - sentMs) / 1000)
  return Math.min(maxValiditySeconds, Math.max(leastValiditySeconds, seconds))
}
