// SPDX-License-Identifier: Apache-2.0
// Lists of one account as the operator reads them, by the part of the address behind the account's id. They are those that the
// account has itself, at the operator's routes: without actions, and without links into pages of the operator's own account.
import {
  operatorListAuditLog,
  operatorListChatMessages,
  operatorListDeliveries,
  operatorListEmails,
  operatorListMessages,
  operatorListPayouts,
  operatorListRequests,
  operatorListTransactions,
  operatorListUssdSessions,
  operatorListWebhooks,
} from '#sdk/operations.ts'
import { currentEnvironment } from '../../api.ts'
import { amount, created, type ListOf, state } from '../../kit/list-page.tsx'
import { lists } from '../../lists.ts'

/** Address of the account's page. */
export const accountPlace = (account_id: string): string => `/operator/accounts/${account_id}`

export function accountLists(account_id: string): Readonly<Record<string, ListOf>> {
  const own = { account_id }
  const query = { environment: currentEnvironment() }
  const place = accountPlace(account_id)
  return {
    messages: {
      title: 'Messages',
      path: operatorListMessages.at(own),
      query,
      keyField: 'message_id',
      columns: [
        { ...created, to: `${place}/messages/`, toField: 'message_id' },
        state,
        { name: 'From', field: 'from' },
        { name: 'To', field: 'to', as: 'mono' },
        { name: 'Text', field: 'message' },
        { name: 'Cost', field: 'cost', as: 'money' },
        { name: 'Reference', field: 'reference' },
      ],
      filters: [
        { name: 'status', label: 'State', among: ['queued', 'sent', 'delivered', 'failed', 'received'] },
        { name: 'to', label: 'To' },
      ],
    },
    payments: {
      title: 'Payments',
      path: operatorListTransactions.at(own),
      query,
      keyField: 'transaction_id',
      columns: [
        { ...created, to: `${place}/payments/`, toField: 'payment_id' },
        { name: 'Kind', field: 'type', as: 'words' },
        state,
        amount,
        { name: 'By', field: 'provider' },
        { name: 'Phone', field: 'phone', as: 'mono' },
        { name: 'Reference', field: 'reference' },
      ],
      filters: [
        { name: 'type', label: 'Kind', among: ['payment', 'topup', 'refund', 'payout'] },
        { name: 'reference', label: 'Reference' },
      ],
    },
    ...asOperator('payouts', operatorListPayouts.at(own), query, `${place}/payouts/`),
    ...asOperator('chats', operatorListChatMessages.at(own), query),
    ...asOperator('emails', operatorListEmails.at(own), query),
    ...asOperator('ussd', operatorListUssdSessions.at(own), query),
    webhooks: {
      title: 'Webhooks',
      path: operatorListWebhooks.at(own),
      query,
      keyField: 'id',
      columns: [
        { name: 'Address', field: 'url', as: 'mono', to: `${place}/webhooks/`, toField: 'id' },
        { name: 'Events', field: 'events' },
        { name: 'In force', field: 'enabled', as: 'flag' },
        { name: 'Since', field: 'created_at', as: 'time' },
      ],
    },
    requests: {
      title: 'Requests',
      path: operatorListRequests.at(own),
      query,
      keyField: 'request_id',
      columns: [
        { name: 'Time', field: 'at', as: 'time' },
        { name: 'Method', field: 'method', as: 'mono' },
        { name: 'Path', field: 'path', as: 'mono' },
        { name: 'Status', field: 'status', as: 'mono' },
        { name: 'What went wrong', field: 'error_code', as: 'mono' },
        { name: 'Request', field: 'request_id', as: 'mono' },
      ],
      filters: [
        { name: 'method', label: 'Method', among: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
        {
          name: 'status',
          label: 'Status',
          among: ['200', '201', '400', '401', '402', '403', '404', '409', '422', '429'],
        },
      ],
    },
    ...asOperator('audit', operatorListAuditLog.at(own), query),
  }
}

/** What was delivered to one webhook of the account. */
export function deliveriesOf(account_id: string, id: string): ListOf {
  return {
    title: 'Deliveries',
    path: operatorListDeliveries.at({ account_id, id }),
    query: { environment: currentEnvironment() },
    keyField: 'id',
    columns: [
      created,
      { name: 'Event', field: 'event', as: 'mono' },
      { name: 'About', field: 'resource_id', as: 'mono' },
      state,
      { name: 'Answer', field: 'response_status', as: 'mono', orField: 'last_error' },
      { name: 'Attempts', field: 'attempts', as: 'count' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['pending', 'delivering', 'delivered', 'failed', 'cancelled'] }],
  }
}

/** A list that members have, at another path; links of its cells lead to `to`, or nowhere. */
function asOperator(name: string, path: string, query: Record<string, string>, to?: string): Record<string, ListOf> {
  const list = lists[name]
  if (!list) return {}
  const { title, keyField, filters = [] } = list
  const columns = list.columns.map(({ to: own, ...column }) => (own && to ? { ...column, to } : column))
  return { [name]: { title, keyField, filters, columns, path, query } }
}
