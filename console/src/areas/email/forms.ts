// SPDX-License-Identifier: Apache-2.0
// Forms of email: sending, templates, domains, suppressions, passwords of SMTP and where its events go.
import {
  emailAddSuppressions,
  emailCreateDomain,
  emailCreateSmtpCredential,
  emailCreateTemplate,
  emailRotateSmtpCredential,
  emailSend,
  emailSendBulk,
  emailSetTrackingWebhook,
  sandboxEditDns,
} from '#sdk/operations.ts'
import { oneOf, severalOf } from '../../kit/choose.tsx'
import { csvRows } from '../../kit/csv.ts'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { emailDomains, emailEvents, emailSenders, emailTemplates } from '../../kit/known.ts'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { go } from '../../place.tsx'
import { variablesFor } from './variables.tsx'

const content: readonly FieldOf[] = [
  {
    name: 'from',
    label: 'From',
    isRequired: true,
    hint: 'Address at one of your domains',
    show: oneOf(emailSenders, { isOpen: true }),
  },
  { name: 'template', label: 'Template', hint: 'Or a subject and a text below', show: oneOf(emailTemplates) },
  { name: 'subject', label: 'Subject' },
  { name: 'text', label: 'Text', isLong: true },
  { name: 'html', label: 'HTML', isLong: true },
  { name: 'variables', label: 'Variables', as: 'json', show: variablesFor },
  { name: 'scheduled_at', label: 'Scheduled for', as: 'moment' },
]

export const sendOne: FormOf = formOf(emailSend, {
  title: 'Send an email',
  action: 'Send',
  fields: [{ name: 'to', label: 'To', as: 'list', isRequired: true }, ...content],
  done: ({ message_id }) => go(`/emails/${message_id}`),
})

export const sendMany: FormOf = formOf(emailSendBulk, {
  title: 'Send to many',
  action: 'Send all',
  fields: [
    {
      name: 'recipients',
      label: 'Recipients',
      as: 'rows',
      columns: ['email'],
      hint: 'The first line names the columns: email, name, and the variables of the text',
      value: (text) => csvRows(text).map(({ email, name, ...variables }) => ({ email, name, variables })),
    },
    ...content,
  ],
  done: ({ bulk_id }) => go(`/email-bulk/${bulk_id}`),
})

export const newTemplate: FormOf = formOf(emailCreateTemplate, {
  title: 'Create template',
  fields: [
    { name: 'name', label: 'Name', isRequired: true, hint: 'Letters and digits, such as receipt' },
    { name: 'subject', label: 'Subject', isRequired: true },
    { name: 'html', label: 'HTML', isLong: true, isRequired: true, hint: '{{name}} is a variable' },
  ],
  done: ({ id }) => go(`/email-templates/${id}`),
})

export const newDomain: FormOf = formOf(emailCreateDomain, {
  title: 'Add a domain',
  action: 'Add',
  fields: [
    { name: 'domain', label: 'Domain', isRequired: true, hint: 'Such as shop.example' },
    { name: 'dkim_record', label: 'DKIM record type', among: ['cname', 'txt'] },
  ],
  done: ({ id }) => go(`/domains/${id}`),
})

export const suppress: FormOf = formOf(emailAddSuppressions, {
  title: 'Suppress an address',
  action: 'Suppress',
  fields: [
    { name: 'emails', label: 'Email', as: 'list', isRequired: true, hint: 'Several with commas' },
    { name: 'applies_to', label: 'Applies to', among: ['all', 'bulk'] },
    { name: 'expires_at', label: 'Until', as: 'moment' },
  ],
})

export const newCredential: FormOf = formOf(emailCreateSmtpCredential, {
  title: 'Create SMTP credential',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { name: 'domains', label: 'Domains', as: 'list', hint: 'Select none for all', show: severalOf(emailDomains) },
    { name: 'allowed_ips', label: 'Allowed IP addresses', as: 'list' },
  ],
  done: ({ password }) => password,
})

export const rotateCredential = ({ id }: Row): FormOf =>
  formOf(emailRotateSmtpCredential, {
    title: 'Another password',
    action: 'Rotate password',
    given: { id: textOf(id) },
    fields: [],
    done: ({ password }) => password,
  })

export const tellOfEmail: FormOf = formOf(emailSetTrackingWebhook, {
  title: 'Event webhook',
  action: 'Save',
  fields: [
    { name: 'url', label: 'Address', isRequired: true, hint: 'https://…' },
    { name: 'events', label: 'Events', as: 'list', hint: 'Select none for all', show: severalOf(emailEvents) },
    { name: 'enabled', label: 'Enabled', as: 'flag' },
  ],
  initial: { enabled: 'yes' },
  done: ({ secret }) => secret ?? null,
})

/** Names below pamoja.test and those of added domains are found in a DNS of the sandbox's own. */
export const dnsRecord = formOf(sandboxEditDns, {
  title: 'Record of the sandbox DNS',
  action: 'Publish',
  fields: [
    { name: 'name', label: 'Name', isRequired: true, hint: 'Such as mail.example.com' },
    { name: 'type', label: 'Kind', among: ['TXT', 'CNAME', 'MX', 'A', 'AAAA', 'SRV', 'NS', 'TLSA'], isRequired: true },
    { name: 'value', label: 'Value', hint: 'Empty: removes the record' },
  ],
  initial: { type: 'TXT' },
})
