// SPDX-License-Identifier: Apache-2.0
// Daraja where a payment is taken back, both ends: the request, and the id that the provider gives it. As with everything
// that money goes out with, the answer says only that it was taken; how it went comes later, as a `Result`.
import { type Initiator, type OutgoingAnswer, plainRemarks, readOutgoingAnswer } from './daraja-outgoing.ts'
import { membersOf, textOf } from './json.ts'

export interface Reversal {
  initiator: Initiator
  /** Short code that was paid. */
  shortcode: string
  /** Receipt of the payment. */
  receipt: string
  /** Amount of the whole payment, in whole shillings. */
  amount: string
  remarks: string
  resultUrl: string
  timeoutUrl: string
}

export const reversalCodes = {
  done: '0',
  noMoney: '1',
  badAccount: '11',
  notAllowed: '21',
  badInitiator: '2001',
  /** Reversed before: the payer has the money. */
  doneBefore: 'R000001',
  unknownReceipt: 'R000002',
} as const

export function reversalBody({ initiator, shortcode, receipt, amount, remarks, resultUrl, timeoutUrl }: Reversal) {
  return {
    Initiator: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: 'TransactionReversal',
    TransactionID: receipt,
    Amount: amount,
    ReceiverParty: shortcode,
    // The provider's own spelling.
    RecieverIdentifierType: '11',
    ResultURL: resultUrl,
    QueueTimeOutURL: timeoutUrl,
    Remarks: plainRemarks(remarks) || 'Refund',
    Occasion: '',
  }
}

/** The provider gives the reversal an id of its own, which its result repeats. */
export function readReversalAnswer(status: number, body: unknown): OutgoingAnswer & { id: string | null } {
  return { ...readOutgoingAnswer(status, body), id: textOf(membersOf(body).OriginatorConversationID) || null }
}
