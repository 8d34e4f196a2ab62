// SPDX-License-Identifier: Apache-2.0
// Texts that were sent and received, and the senders that the account may use.
import {
  smsDeleteSmppCredential,
  smsList,
  smsListOptOuts,
  smsListSenderIds,
  smsListSmppCredentials,
  smsOptIn,
  smsPricing,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { askForSender, lookUp, newSmppCredential, optOut, rotateSmppCredential } from './forms.ts'

export const messages: ListOf = {
  title: 'Messages',
  icon: 'message',
  path: smsList.at(),
  keyField: 'message_id',
  open: ['/messages/', 'message_id'],
  live: 'sms.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  links: [
    { to: '/send', name: 'Send a text', scope: 'sms:write' },
    { to: '/send-many', name: 'Send to many', scope: 'sms:write' },
  ],
  deeds: [{ name: 'Look up a number', icon: 'search', scope: 'sms:read', form: lookUp }],
  columns: [
    created,
    { name: 'Phone', field: 'to', priority: 1, card: 'title', text: phoneOf },
    {
      name: 'Text',
      field: 'message',
      priority: 1,
      card: 'sub',
      grows: true,
      text: (value) => textOf(value ?? t('Erased')),
    },
    { name: 'Sender', field: 'from', priority: 3, text: senderOf },
    { name: 'Network', field: 'network', priority: 4 },
    state,
    { name: 'Cost', field: 'cost', as: 'money', priority: 2, card: 'end' },
  ],
  filters: [
    { name: 'status', label: 'State', among: ['queued', 'sent', 'delivered', 'failed', 'received'] },
    { name: 'direction', label: 'Direction', among: ['outbound', 'inbound'] },
    { name: 'to', label: 'To' },
    { name: 'q', label: 'Words' },
    { name: 'scheduled', label: 'Scheduled', among: ['true'] },
    { name: 'batch_id', label: 'Batch' },
  ],
  none: {
    title: 'No messages',
    advice: 'Texts that you send and receive are listed here.',
    to: '/send',
    action: 'Send a text',
  },
}

type Texted = Readonly<Record<string, unknown>>

/** Number of the other side. */
function phoneOf(_value: unknown, { direction, from, to }: Texted): string {
  return textOf(direction === 'inbound' ? from : to)
}

function senderOf(_value: unknown, { direction, from, to }: Texted): string {
  return textOf(direction === 'inbound' ? to : from)
}

export const senders: ListOf = {
  title: 'Senders',
  icon: 'tag',
  path: smsListSenderIds.at(),
  keyField: 'id',
  open: ['/senders/', 'id'],
  deeds: [{ name: 'Register a sender', icon: 'plus', isMain: true, scope: 'sms:write', form: askForSender }],
  none: { title: 'No senders', advice: 'A sender id is the name shown above your texts.' },
  sorts: true,
  columns: [
    { name: 'Sender', field: 'sender', priority: 1, card: 'title' },
    state,
    { name: 'Countries', field: 'countries', as: 'country', priority: 2, card: 'sub' },
    { name: 'Purpose', field: 'purpose', priority: 3, grows: true },
    { name: 'Reason', field: 'reason', priority: 4 },
    { ...created, isDay: false, name: 'Created', priority: 3 },
  ],
  filters: [{ name: 'status', label: 'State', among: ['pending', 'approved', 'rejected'] }],
}

export const optOuts: ListOf = {
  title: 'Opt-outs',
  icon: 'ban',
  path: smsListOptOuts.at(),
  keyField: 'phone',
  deeds: [{ name: 'Opt out a number', icon: 'plus', isMain: true, scope: 'sms:write', form: optOut }],
  columns: [
    created,
    { name: 'Phone', field: 'phone', as: 'mono', priority: 1, card: 'title' },
    { name: 'Sender', field: 'from', priority: 2, card: 'sub' },
    { name: 'Reason', field: 'reason', priority: 3, grows: true },
    { name: 'Source', field: 'source', as: 'words', priority: 2, card: 'end' },
  ],
  filters: [{ name: 'phone', label: 'Phone' }],
  actions: [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'sms:write',
      asks: ({ phone }) => removing(textOf(phone), t('Texts are sent to this number again.')),
      run: ({ phone }) => smsOptIn(api, { phone: textOf(phone) }),
    },
  ],
  none: { title: 'No opt-outs', advice: 'Numbers that replied STOP or were opted out by you are listed here.' },
}

export const prices: ListOf = {
  title: 'Prices of texts',
  icon: 'coins',
  path: smsPricing.at(),
  keyField: 'mcc_mnc',
  columns: [
    { name: 'Country', field: 'country', as: 'country', priority: 1, card: 'title' },
    {
      name: 'Network',
      field: 'network',
      priority: 1,
      card: 'sub',
      grows: true,
      text: (name) => textOf(name ?? t('Other networks')),
    },
    { name: 'From', field: 'effective_from', as: 'time', priority: 3 },
    { name: 'Price', field: 'price', as: 'money', priority: 1, card: 'end' },
  ],
  filters: [{ name: 'country', label: 'Country' }],
}

export const smppCredentials: ListOf = {
  title: 'SMPP credentials',
  icon: 'key',
  path: smsListSmppCredentials.at(),
  keyField: 'id',
  deeds: [{ name: 'Create SMPP credential', icon: 'plus', isMain: true, scope: 'sms:write', form: newSmppCredential }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title' },
    { name: 'System id', field: 'system_id', as: 'mono', priority: 1, card: 'sub', grows: true },
    { name: 'Server', field: 'host', priority: 2, text: serverOf },
    { name: 'Last used', field: 'last_used_at', as: 'time', priority: 3, card: 'end' },
  ],
  actions: [
    { name: 'Rotate', scope: 'sms:write', form: rotateSmppCredential },
    {
      name: 'Revoke',
      isDanger: true,
      scope: 'sms:write',
      asks: ({ name }) => removing(textOf(name), t('Programs that use it are refused at once.')),
      run: ({ id }) => smsDeleteSmppCredential(api, { id: textOf(id) }),
    },
  ],
  none: { title: 'No SMPP credentials', advice: 'Credentials for programs that send texts over SMPP.' },
}

function serverOf(host: unknown, { port, tls_port }: Texted): string {
  return [tls_port, port].flatMap((one) => (typeof one === 'number' ? [`${textOf(host)}:${one}`] : [])).join(', ')
}
