// SPDX-License-Identifier: Apache-2.0
// Forms of texts: a sender, an opt-out, a number, and looking one up.
import { PamojaError } from '#sdk/client.ts'
import {
  smsChangeNumber,
  smsCreateSenderId,
  smsCreateSmppCredential,
  smsGetOptOut,
  smsLookup,
  smsOptOut,
  smsRotateSmppCredential,
  smsTakeNumber,
} from '#sdk/operations.ts'
import type { SmsNumber } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { oneOf, rowsWith } from '../../kit/choose.tsx'
import { say } from '../../kit/dialogs.tsx'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { senders } from '../../kit/known.ts'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'

const phone = { name: 'phone', label: 'Phone', isRequired: true, hint: 'Such as +254712345678' } as const

export const askForSender: FormOf = formOf(smsCreateSenderId, {
  title: 'Register a sender',
  action: 'Register',
  fields: [
    { name: 'sender', label: 'Sender', isRequired: true, hint: 'At most eleven letters and digits' },
    { name: 'countries', label: 'Countries', as: 'list', hint: 'Such as KE, UG; empty: all' },
    { name: 'purpose', label: 'Purpose', isRequired: true },
    { name: 'sample', label: 'Sample message', isRequired: true, isLong: true },
  ],
})

export const optOut: FormOf = formOf(smsOptOut, {
  title: 'Opt out a number',
  action: 'Opt out',
  fields: [
    phone,
    { name: 'from', label: 'Sender', hint: 'Empty: all', show: oneOf(senders) },
    { name: 'reason', label: 'Reason' },
  ],
})

export const lookUp: FormOf = {
  title: 'Look up a number',
  action: 'Look up',
  fields: [phone],
  async make({ phone: asked = '' }) {
    const [found, off] = await Promise.all([
      smsLookup(api, { phone: asked }),
      smsGetOptOut(api, { phone: asked }).catch((error: unknown) => {
        if (error instanceof PamojaError && error.status === 404) return null
        throw error
      }),
    ])
    if (!found.valid) throw new Error(t('{name} is not a valid number', { name: asked }))
    const where = [found.national_format, found.country, found.network].filter(Boolean).join(', ')
    say(off ? t('{what}; opted out', { what: where }) : where)
    return null
  },
}

const numberFields: readonly FieldOf[] = [
  { name: 'default_webhook_url', label: 'Webhook URL for inbound texts', hint: 'https://…' },
  {
    name: 'keywords',
    label: 'Keywords',
    as: 'json',
    hint: 'Texts that begin with the keyword get the reply, and are sent to the URL.',
    show: rowsWith(
      [
        { name: 'keyword', label: 'Keyword' },
        { name: 'auto_reply', label: 'Answer', isLong: true },
        { name: 'webhook_url', label: 'Address' },
      ],
      'Add a keyword',
    ),
  },
]

export const takeNumber: FormOf = formOf(smsTakeNumber, {
  title: 'Add a number',
  fields: [{ name: 'number', label: 'Number', isRequired: true }, ...numberFields],
})

export const changeNumber = ({ number, keywords, default_webhook_url }: SmsNumber): FormOf =>
  formOf(smsChangeNumber, {
    title: 'Edit number',
    action: 'Save',
    given: { number },
    fields: numberFields,
    initial: {
      default_webhook_url: default_webhook_url ?? undefined,
      keywords: JSON.stringify(
        keywords.map(({ keyword, auto_reply, webhook_url }) => ({
          keyword,
          auto_reply: auto_reply ?? '',
          webhook_url: webhook_url ?? '',
        })),
      ),
    },
  })

export const newSmppCredential: FormOf = formOf(smsCreateSmppCredential, {
  title: 'Create SMPP credential',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { name: 'allowed_ips', label: 'Allowed IP addresses', as: 'list' },
  ],
  done: ({ system_id, password }) => `${system_id} ${password}`,
})

export const rotateSmppCredential = ({ id }: Row): FormOf =>
  formOf(smsRotateSmppCredential, {
    title: 'Another password',
    action: 'Rotate password',
    given: { id: textOf(id) },
    fields: [],
    done: ({ password }) => password,
  })
