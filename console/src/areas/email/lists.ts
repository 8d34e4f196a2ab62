// SPDX-License-Identifier: Apache-2.0
// List of emails.
import {
  emailDeleteSmtpCredential,
  emailDeleteSuppression,
  emailList,
  emailListSmtpCredentials,
  emailListSuppressions,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { newCredential, rotateCredential, sendMany, sendOne, suppress, tellOfEmail } from './forms.ts'

export const emails: ListOf = {
  title: 'Emails',
  icon: 'mail',
  deeds: [
    { name: 'Event webhook', icon: 'hook', scope: 'email:write', form: tellOfEmail },
    { name: 'Send to many', icon: 'megaphone', scope: 'email:write', form: sendMany },
    { name: 'Send an email', icon: 'send', isMain: true, scope: 'email:write', form: sendOne },
  ],
  none: { title: 'No emails', advice: 'Emails that you send are listed here.' },
  path: emailList.at(),
  keyField: 'message_id',
  open: ['/emails/', 'message_id'],
  live: 'email.',
  dates: ['from', 'to'],
  sorts: true,
  columns: [
    created,
    { name: 'To', field: 'to', priority: 1, card: 'title' },
    { name: 'Subject', field: 'subject', priority: 1, card: 'sub', grows: true },
    { name: 'Opened', field: 'open_count', as: 'count', priority: 3 },
    { name: 'Clicked', field: 'click_count', as: 'count', priority: 4 },
    state,
  ],
  filters: [
    {
      name: 'status',
      label: 'State',
      among: ['scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled'],
    },
    { name: 'recipient', label: 'To' },
  ],
}

export const suppressions: ListOf = {
  title: 'Suppressions',
  note: 'Addresses that receive no email',
  icon: 'ban',
  path: emailListSuppressions.at(),
  keyField: 'email',
  open: ['/suppressions/', 'email'],
  dates: ['from', 'to'],
  deeds: [{ name: 'Suppress an address', icon: 'plus', isMain: true, scope: 'email:write', form: suppress }],
  columns: [
    created,
    { name: 'Email', field: 'email', priority: 1, card: 'title', grows: true },
    { name: 'Reason', field: 'reason', as: 'words', priority: 1, card: 'sub' },
    { name: 'Until', field: 'expires_at', as: 'time', priority: 3 },
  ],
  filters: [
    { name: 'email', label: 'Email' },
    { name: 'reason', label: 'Reason', among: ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] },
  ],
  actions: [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'email:write',
      asks: ({ email }) => removing(textOf(email), t('Emails are sent to this address again.')),
      run: ({ email }) => emailDeleteSuppression(api, { email: textOf(email), query: { confirm: true } }),
    },
  ],
  none: { title: 'No suppressions', advice: 'Addresses that bounced, complained or unsubscribed are listed here.' },
}

export const credentials: ListOf = {
  title: 'SMTP credentials',
  icon: 'key',
  path: emailListSmtpCredentials.at(),
  keyField: 'id',
  deeds: [{ name: 'Create SMTP credential', icon: 'plus', isMain: true, scope: 'email:write', form: newCredential }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title' },
    { name: 'User name', field: 'username', as: 'mono', priority: 1, card: 'sub', grows: true },
    { name: 'Server', field: 'host', priority: 2, text: (host, { port }) => `${textOf(host)}:${textOf(port)}` },
    { name: 'Last used', field: 'last_used_at', as: 'time', priority: 3, card: 'end' },
  ],
  actions: [
    { name: 'Rotate', scope: 'email:write', form: rotateCredential },
    {
      name: 'Revoke',
      isDanger: true,
      scope: 'email:write',
      asks: ({ name }) => removing(textOf(name), t('Programs that use it are refused at once.')),
      run: ({ id }) => emailDeleteSmtpCredential(api, { id: textOf(id) }),
    },
  ],
  none: { title: 'No SMTP credentials', advice: 'Credentials for programs that send email over SMTP.' },
}
