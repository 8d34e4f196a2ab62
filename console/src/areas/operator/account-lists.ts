// SPDX-License-Identifier: Apache-2.0
// Lists of one account as the operator reads them, by the part of the address behind the account's id. They are those that the
// account has itself, at the operator's routes: without actions, and without links into pages of the operator's own account.
import {
  operatorListAuditLog,
  operatorListChatMessages,
  operatorListDeliveries,
  operatorListEmails,
  operatorListInvoices,
  operatorListMessages,
  operatorListPayouts,
  operatorListRequests,
  operatorListSubscriptions,
  operatorListTransactions,
  operatorListUssdSessions,
  operatorListWebhooks,
  operatorWriteOffInvoice,
} from '#sdk/operations.ts'
import { api, currentEnvironment } from '../../api.ts'
import { created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { audit, requests } from '../accounts/lists.ts'
import { invoices, subscriptions } from '../billing/lists.ts'
import { emails } from '../email/lists.ts'
import { chats } from '../messenger/lists.ts'
import { payments, payouts } from '../payments/lists.tsx'
import { messages } from '../sms/lists.ts'
import { sessions } from '../ussd/lists.ts'

/** Address of the account's page. */
export const accountPlace = (account_id: string): string => `/operator/accounts/${account_id}`

export function accountLists(account_id: string): Readonly<Record<string, ListOf>> {
  const own = { account_id }
  const place = accountPlace(account_id)
  return {
    messages: asOperator(messages, operatorListMessages.at(own), `${place}/messages/`),
    payments: asOperator(payments, operatorListTransactions.at(own), `${place}/payments/`),
    payouts: asOperator(payouts, operatorListPayouts.at(own), `${place}/payouts/`),
    chats: asOperator(chats, operatorListChatMessages.at(own), `${place}/chats/`),
    emails: asOperator(emails, operatorListEmails.at(own), `${place}/emails/`),
    ussd: asOperator(sessions, operatorListUssdSessions.at(own), `${place}/ussd/`),
    webhooks: {
      title: 'Webhooks',
      icon: 'hook',
      path: operatorListWebhooks.at(own),
      query: { environment: currentEnvironment() },
      keyField: 'id',
      open: [`${place}/webhooks/`, 'id'],
      columns: [
        { name: 'Address', field: 'url', as: 'mono', priority: 1, card: 'title', grows: true },
        { name: 'Events', field: 'events', priority: 3, card: 'sub' },
        { name: 'Health', field: 'health.state', as: 'state', priority: 1, card: 'state' },
        { name: 'Created', field: 'created_at', as: 'time', priority: 2 },
      ],
    },
    invoices: {
      ...asOperator(invoices, operatorListInvoices.at(own), `${place}/invoices/`),
      actions: [
        {
          name: 'Write off',
          isDanger: true,
          shows: ({ status }) => status === 'open' || status === 'overdue' || status === 'sent',
          asks: ({ number, invoice_id }) => ({
            title: t('Write off the invoice {name}?', { name: textOf(number ?? invoice_id) }),
            consequences: [t('The customer is no longer asked to pay.'), t('It cannot be restored.')],
            action: t('Write off'),
            keep: t('Keep it'),
          }),
          run: ({ invoice_id }) => operatorWriteOffInvoice(api, { account_id, invoice_id: textOf(invoice_id) }),
        },
      ],
    },
    subscriptions: asOperator(subscriptions, operatorListSubscriptions.at(own), `${place}/subscriptions/`),
    requests: asOperator(requests, operatorListRequests.at(own), `${place}/requests/`),
    audit: asOperator(audit, operatorListAuditLog.at(own)),
  }
}

/** What was delivered to one webhook of the account. */
export function deliveriesOf(account_id: string, id: string): ListOf {
  return {
    title: 'Deliveries',
    icon: 'hook',
    path: operatorListDeliveries.at({ account_id, id }),
    query: { environment: currentEnvironment() },
    keyField: 'id',
    open: [`${accountPlace(account_id)}/webhooks/${id}/`, 'id'],
    columns: [
      created,
      { name: 'Event', field: 'event', as: 'mono', priority: 1, card: 'title', grows: true },
      { name: 'Object', field: 'resource_id', as: 'mono', priority: 2, card: 'sub' },
      { name: 'Answer', field: 'response_status', as: 'mono', orField: 'last_error', priority: 1, card: 'end' },
      { name: 'Attempts', field: 'attempts', as: 'count', priority: 3 },
      state,
    ],
    filters: [{ name: 'status', label: 'State', among: ['pending', 'delivering', 'delivered', 'failed', 'cancelled'] }],
  }
}

/** A list that members have, at another path; its rows open pages at `to`, or none. */
function asOperator({ live, links, none, actions, open, query, ...list }: ListOf, path: string, to?: string): ListOf {
  return {
    ...list,
    path,
    query: { ...query, environment: currentEnvironment() },
    ...(to && open && typeof open !== 'function' ? { open: [to, open[1]] } : {}),
  }
}
