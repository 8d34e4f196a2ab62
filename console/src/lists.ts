// SPDX-License-Identifier: Apache-2.0
// Pages that are lists of the account's records, by the first part of their address. What each shows and how it is filtered
// stands here; kit/list-page.tsx draws them all.
import {
  auditLogList,
  billingListInvoices,
  billingListSubscriptions,
  disputesList,
  emailList,
  eventsList,
  fraudChangeRule,
  fraudListRules,
  identityListVerifications,
  messengerList,
  payoutsList,
  refundsList,
  smsListSenderIds,
  ussdListSessions,
  walletTransactions,
} from '#sdk/operations.ts'
import { api } from './api.ts'
import { type ListOf, textOf } from './kit/list-page.tsx'

const created = { name: 'Time', field: 'created_at', as: 'time' } as const
const state = { name: 'State', field: 'status', as: 'state' } as const
const amount = { name: 'Amount', field: 'amount', as: 'money' } as const
const reference = { name: 'Reference', field: 'reference' } as const

export const lists: Readonly<Record<string, ListOf>> = {
  refunds: {
    title: 'Refunds',
    path: refundsList.at(),
    keyField: 'refund_id',
    live: 'refund',
    columns: [
      created,
      state,
      amount,
      { name: 'Payment', field: 'payment_id', as: 'mono', to: '/payments/' },
      { name: 'Reason', field: 'reason', as: 'words' },
      { name: 'What went wrong', field: 'failure_message' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['pending', 'processing', 'completed', 'failed'] }],
  },
  payouts: {
    title: 'Payouts',
    path: payoutsList.at(),
    keyField: 'payout_id',
    live: 'payout.',
    columns: [
      created,
      { name: 'Payout', field: 'payout_id', as: 'mono', to: '/payouts/' },
      state,
      amount,
      { name: 'Fee', field: 'fee', as: 'money' },
      { name: 'To', field: 'recipient.phone', as: 'mono' },
      { name: 'By', field: 'provider' },
      reference,
      { name: 'What went wrong', field: 'failure_message' },
    ],
    filters: [
      {
        name: 'status',
        label: 'State',
        among: ['pending', 'processing', 'completed', 'failed', 'cancelled', 'reversed'],
      },
      { name: 'reference', label: 'Reference' },
    ],
  },
  disputes: {
    title: 'Disputes',
    path: disputesList.at(),
    keyField: 'dispute_id',
    live: 'payment.dispute',
    columns: [
      created,
      state,
      amount,
      { name: 'Set aside', field: 'amount_held', as: 'money' },
      { name: 'Reason', field: 'reason', as: 'words' },
      { name: 'Payment', field: 'payment_id', as: 'mono', to: '/payments/' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['open', 'won', 'lost'] }],
  },
  wallet: {
    title: 'Wallet and ledger',
    path: walletTransactions.at(),
    keyField: 'transaction_id',
    live: '',
    columns: [
      created,
      { name: 'What', field: 'type', as: 'words' },
      { name: 'Direction', field: 'direction', as: 'words' },
      amount,
      { name: 'Balance after', field: 'balance_after', as: 'money' },
      { name: 'Description', field: 'description' },
      { name: 'About', field: 'source.id', as: 'mono' },
    ],
    filters: [
      {
        name: 'type',
        label: 'What',
        among: ['usage_sms', 'payment', 'payment_fee', 'payout', 'payout_fee', 'refund', 'topup', 'adjustment', 'hold'],
      },
    ],
  },
  invoices: {
    title: 'Invoices',
    path: billingListInvoices.at(),
    keyField: 'invoice_id',
    live: 'invoice.',
    columns: [
      created,
      { name: 'Number', field: 'number', as: 'mono' },
      state,
      { name: 'Customer', field: 'customer.name' },
      { name: 'Total', field: 'total', as: 'money' },
      { name: 'Due', field: 'amount_due', as: 'money' },
      { name: 'Due on', field: 'due_date' },
    ],
    filters: [
      { name: 'status', label: 'State', among: ['draft', 'open', 'paid', 'void', 'uncollectible'] },
      { name: 'number', label: 'Number' },
    ],
  },
  subscriptions: {
    title: 'Subscriptions',
    path: billingListSubscriptions.at(),
    keyField: 'subscription_id',
    live: 'subscription.',
    columns: [
      created,
      state,
      { name: 'Customer', field: 'customer.name' },
      amount,
      { name: 'Next bill', field: 'next_billing_at', as: 'time' },
      { name: 'Until', field: 'current_period_end', as: 'time' },
    ],
    filters: [
      {
        name: 'status',
        label: 'State',
        among: ['trialing', 'incomplete', 'active', 'past_due', 'paused', 'cancelled'],
      },
    ],
  },
  rules: {
    title: 'Fraud rules',
    note: 'in the order in which they are asked',
    path: fraudListRules.at(),
    keyField: 'rule_id',
    columns: [
      { name: 'Name', field: 'name', to: '/rules/' },
      { name: 'Does', field: 'action', as: 'words' },
      { name: 'When', field: 'conditions', as: 'json' },
      { name: 'Only noted', field: 'dry_run', as: 'flag' },
      { name: 'In force', field: 'enabled', as: 'flag' },
      { name: 'Hits, 24 hours', field: 'hits_24h', as: 'count' },
    ],
    actions: [
      {
        name: 'Put in force',
        scope: 'fraud:write',
        shows: ({ enabled }) => enabled === false,
        run: ({ rule_id }) => fraudChangeRule(api, { rule_id: textOf(rule_id), body: { enabled: true } }),
      },
      {
        name: 'Suspend',
        scope: 'fraud:write',
        shows: ({ enabled }) => enabled === true,
        run: ({ rule_id }) => fraudChangeRule(api, { rule_id: textOf(rule_id), body: { enabled: false } }),
      },
    ],
  },
  events: {
    title: 'Events',
    path: eventsList.at(),
    keyField: 'id',
    live: '',
    columns: [
      created,
      { name: 'Event', field: 'event', as: 'mono' },
      { name: 'About', field: 'resource_id', as: 'mono' },
      { name: 'Request', field: 'request_id', as: 'mono' },
    ],
    filters: [
      { name: 'event', label: 'Event' },
      { name: 'resource_id', label: 'About' },
    ],
  },
  audit: {
    title: 'Audit log',
    note: 'who changed what',
    path: auditLogList.at(),
    keyField: 'id',
    columns: [
      { name: 'Time', field: 'at', as: 'time' },
      { name: 'Who', field: 'actor.id', as: 'mono' },
      { name: 'What', field: 'action', as: 'mono' },
      { name: 'On', field: 'target', as: 'mono' },
      { name: 'After', field: 'after', as: 'json' },
      { name: 'From', field: 'ip', as: 'mono' },
    ],
    filters: [
      { name: 'action', label: 'What' },
      { name: 'target', label: 'On' },
    ],
  },
  emails: {
    title: 'Emails',
    path: emailList.at(),
    keyField: 'message_id',
    live: 'email.',
    columns: [
      created,
      state,
      { name: 'To', field: 'to' },
      { name: 'Subject', field: 'subject' },
      { name: 'Opened', field: 'open_count', as: 'count' },
      { name: 'Clicked', field: 'click_count', as: 'count' },
    ],
    filters: [
      {
        name: 'status',
        label: 'State',
        among: ['scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled'],
      },
      { name: 'recipient', label: 'To' },
    ],
  },
  chats: {
    title: 'Chats',
    path: messengerList.at(),
    keyField: 'message_id',
    live: 'messenger.',
    columns: [
      { name: 'Time', field: 'accepted_at', as: 'time' },
      state,
      { name: 'Direction', field: 'direction', as: 'words' },
      { name: 'From', field: 'from', as: 'mono' },
      { name: 'To', field: 'to', as: 'mono' },
      { name: 'Kind', field: 'type', as: 'words' },
      { name: 'Text', field: 'text.body' },
    ],
    filters: [
      { name: 'status', label: 'State', among: ['accepted', 'sent', 'delivered', 'read', 'failed', 'received'] },
      { name: 'direction', label: 'Direction', among: ['outbound', 'inbound'] },
    ],
  },
  ussd: {
    title: 'USSD sessions',
    path: ussdListSessions.at(),
    keyField: 'session_id',
    live: 'ussd.',
    columns: [
      created,
      state,
      { name: 'Phone', field: 'phone', as: 'mono' },
      { name: 'Code', field: 'shortcode', as: 'mono' },
      { name: 'Steps', field: 'total_steps', as: 'count' },
      { name: 'Ended', field: 'reason', as: 'words' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['initiated', 'active', 'completed', 'expired'] }],
  },
  identity: {
    title: 'Identity checks',
    path: identityListVerifications.at(),
    keyField: 'verification_id',
    live: 'identity.',
    columns: [
      created,
      state,
      { name: 'Stage', field: 'stage', as: 'words' },
      { name: 'Checks', field: 'checks_performed' },
      reference,
    ],
    filters: [{ name: 'status', label: 'State', among: ['pending', 'verified', 'rejected', 'expired'] }],
  },
  senders: {
    title: 'Senders',
    path: smsListSenderIds.at(),
    keyField: 'id',
    columns: [
      created,
      { name: 'Sender', field: 'sender' },
      state,
      { name: 'Countries', field: 'countries' },
      { name: 'Purpose', field: 'purpose' },
      { name: 'Reason', field: 'reason' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['pending', 'approved', 'rejected'] }],
  },
}
