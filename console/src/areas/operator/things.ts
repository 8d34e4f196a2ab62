// SPDX-License-Identifier: Apache-2.0
// Records of any account that an operator opens: how each is read, and where its timeline is.
import {
  operatorGetCall,
  operatorGetCallTimeline,
  operatorGetChatMessage,
  operatorGetDelivery,
  operatorGetEmail,
  operatorGetInvoice,
  operatorGetMessage,
  operatorGetMessageTimeline,
  operatorGetPayment,
  operatorGetPaymentTimeline,
  operatorGetPayout,
  operatorGetPayoutTimeline,
  operatorGetRefund,
  operatorGetRequest,
  operatorGetSubscription,
  operatorGetUssdSession,
  operatorGetUssdTimeline,
} from '#sdk/operations.ts'
import { api, type Environment } from '../../api.ts'

export interface Thing {
  read(query: { environment: Environment }): Promise<unknown>
  /** Path of its timeline, where it has one. */
  readonly timeline?: string
}

type Finder = (account_id: string, id: string, inner?: string) => Thing

/** By the list that leads to it. */
export const things = {
  messages: (account_id, id) => ({
    read: (query) => operatorGetMessage(api, { account_id, id, query }),
    timeline: operatorGetMessageTimeline.at({ account_id, id }),
  }),
  payments: (account_id, payment_id) => ({
    read: (query) => operatorGetPayment(api, { account_id, payment_id, query }),
    timeline: operatorGetPaymentTimeline.at({ account_id, payment_id }),
  }),
  payouts: (account_id, payout_id) => ({
    read: (query) => operatorGetPayout(api, { account_id, payout_id, query }),
    timeline: operatorGetPayoutTimeline.at({ account_id, payout_id }),
  }),
  refunds: (account_id, refund_id) => ({ read: (query) => operatorGetRefund(api, { account_id, refund_id, query }) }),
  chats: (account_id, id) => ({ read: (query) => operatorGetChatMessage(api, { account_id, id, query }) }),
  emails: (account_id, message_id) => ({ read: (query) => operatorGetEmail(api, { account_id, message_id, query }) }),
  calls: (account_id, call_id) => ({
    read: (query) => operatorGetCall(api, { account_id, call_id, query }),
    timeline: operatorGetCallTimeline.at({ account_id, call_id }),
  }),
  ussd: (account_id, session_id) => ({
    read: (query) => operatorGetUssdSession(api, { account_id, session_id, query }),
    timeline: operatorGetUssdTimeline.at({ account_id, session_id }),
  }),
  invoices: (account_id, invoice_id) => ({
    read: (query) => operatorGetInvoice(api, { account_id, invoice_id, query }),
  }),
  subscriptions: (account_id, subscription_id) => ({
    read: (query) => operatorGetSubscription(api, { account_id, subscription_id, query }),
  }),
  requests: (account_id, request_id) => ({
    read: (query) => operatorGetRequest(api, { account_id, request_id, query }),
  }),
  deliveries: (account_id, id, delivery_id = '') => ({
    read: (query) => operatorGetDelivery(api, { account_id, id, delivery_id, query }),
  }),
} satisfies Readonly<Record<string, Finder>>

export function thingIn(list: string): Finder | undefined {
  return Object.entries(things).find(([name]) => name === list)?.[1]
}
