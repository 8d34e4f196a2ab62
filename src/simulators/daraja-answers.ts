// SPDX-License-Identifier: Apache-2.0
// Answers that all parts of the Daraja simulator share: accepted and refused requests.
import { randomBytes } from 'node:crypto'

/** The provider's own id of a request that is answered later. */
export function conversation(): string {
  return `AG_${randomBytes(12).toString('hex')}`
}

export function accepted(conversationId: string, originator: string): object {
  return {
    ConversationID: conversationId,
    OriginatorConversationID: originator,
    ResponseCode: '0',
    ResponseDescription: 'Accept the service request successfully.',
  }
}

export function refusal(errorCode: string, errorMessage: string): object {
  return { requestId: randomBytes(8).toString('hex'), errorCode, errorMessage }
}
