// SPDX-License-Identifier: Apache-2.0
// Daraja where money goes out, both ends: payouts to a phone (B2C) and the question what became of one. The answer to either
// says only that it was taken; how it went comes later, as a `Result`, to an address that the request gave. A call to the
// other address says that the provider gave up waiting for itself, which tells nothing of the money.
import type { KeyObject } from 'node:crypto'
import { isBusy, isTokenError } from './daraja.ts'
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'
import { decryptWith, encryptFor } from './rsa.ts'

export interface Initiator {
  name: string
  /** The initiator's password, encrypted for the provider. */
  credential: string
}

export interface OutgoingRequest {
  /** Ours: the provider takes each once, and can be asked by it. */
  id: string
  initiator: Initiator
  shortcode: string
  resultUrl: string
  timeoutUrl: string
}

export interface B2cPayment extends OutgoingRequest {
  /** Amount in whole shillings. */
  amount: string
  /** E.164. */
  phone: string
  remarks: string
}

/** The initiator's password as the provider wants it. */
export function securityCredential(password: string, certificate: string): string {
  return encryptFor(certificate, password)
}

/** Decrypts a credential; null when it was made for another key. */
export function readSecurityCredential(credential: string, key: KeyObject): string | null {
  return decryptWith(key, credential)
}

export function b2cBody({ id, initiator, shortcode, amount, phone, remarks, resultUrl, timeoutUrl }: B2cPayment) {
  return {
    OriginatorConversationID: id,
    InitiatorName: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: 'BusinessPayment',
    Amount: amount,
    PartyA: shortcode,
    PartyB: phone.replace('+', ''),
    Remarks: plainRemarks(remarks) || 'Payout',
    QueueTimeOutURL: timeoutUrl,
    ResultURL: resultUrl,
    // The provider's own spelling.
    Occassion: '',
  }
}

export function statusQueryBody({ id, initiator, shortcode, resultUrl, timeoutUrl }: OutgoingRequest) {
  return {
    Initiator: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: 'TransactionStatusQuery',
    OriginalConversationID: id,
    PartyA: shortcode,
    IdentifierType: '4',
    ResultURL: resultUrl,
    QueueTimeOutURL: timeoutUrl,
    Remarks: 'Status',
    Occasion: '',
  }
}

export type OutgoingAnswer =
  | { kind: 'accepted'; conversationId: string }
  | { kind: 'refused'; code: string }
  /** The token is not (or no longer) good. */
  | { kind: 'token' }
  /** Nothing was taken. */
  | { kind: 'busy' }
  | { kind: 'strange' }

/** Immediate answer to a request for outgoing money. */
export function readOutgoingAnswer(status: number, body: unknown): OutgoingAnswer {
  const fields = membersOf(body)
  const conversationId = textOf(fields.ConversationID)
  if (status === 200 && textOf(fields.ResponseCode) === '0' && conversationId !== '')
    return { kind: 'accepted', conversationId }
  const code = textOf(fields.errorCode) || textOf(fields.ResponseCode)
  if (isTokenError(status, code)) return { kind: 'token' }
  if (isBusy(status, code)) return { kind: 'busy' }
  return code === '' || code === '0' ? { kind: 'strange' } : { kind: 'refused', code }
}

export interface OutgoingResult {
  resultCode: string
  originatorConversationId: string
  conversationId: string
  /** The provider's receipt. */
  transactionId: string | null
  /** Key -> value, as texts. */
  parameters: ReadonlyMap<string, string>
}

/** Result in a callback; null when the body is none. A single parameter comes without its list. */
export function readOutgoingResult(body: unknown): OutgoingResult | null {
  const result = membersOf(membersOf(body).Result)
  const resultCode = textOf(result.ResultCode)
  const originatorConversationId = textOf(result.OriginatorConversationID)
  if (resultCode === '' || originatorConversationId === '') return null
  const listed = membersOf(result.ResultParameters).ResultParameter
  const parameters = (Array.isArray(listed) ? listed : [listed]).map(membersOf)
  return {
    resultCode,
    originatorConversationId,
    conversationId: textOf(result.ConversationID),
    transactionId: textOf(result.TransactionID) || null,
    parameters: new Map(parameters.map(({ Key, Value }) => [textOf(Key), textOf(Value)])),
  }
}

export function outgoingResultBody(
  { resultCode, originatorConversationId, conversationId, transactionId, parameters }: OutgoingResult,
  description: string,
): object {
  const listed = [...parameters].map(([Key, Value]) => ({ Key, Value }))
  return {
    Result: {
      ResultType: 0,
      ResultCode: /^\d+$/.test(resultCode) ? Number(resultCode) : resultCode,
      ResultDesc: description,
      OriginatorConversationID: originatorConversationId,
      ConversationID: conversationId,
      TransactionID: transactionId ?? '',
      ...(listed.length > 0 ? { ResultParameters: { ResultParameter: listed } } : {}),
      ReferenceData: { ReferenceItem: { Key: 'Occasion' } },
    },
  }
}

/** Two to a hundred characters, or none. */
export function plainRemarks(text: string): string {
  const plain = plainText(text, 100)
  return plain.length < 2 ? '' : plain
}
