// SPDX-License-Identifier: Apache-2.0
// Numbers on which texts come in: their keywords, what is answered, and who is told.
import { numbersList, smsGetNumber, smsGiveUpNumber } from '#sdk/operations.ts'
import type { SmsNumber } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { Card, Figures } from '../../kit/kit.tsx'
import { type ListOf, textOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { t } from '../../words.ts'
import { changeNumber, takeNumber } from './forms.ts'

export const numbers: ListOf = {
  title: 'Numbers',
  icon: 'hash',
  path: numbersList.at(),
  keyField: 'number',
  // What is dialled with USSD only has its page among the short codes.
  open: ({ number, capabilities }) =>
    `${textOf(capabilities) === 'ussd' ? '/short-codes/' : '/numbers/'}${encodeURIComponent(textOf(number))}`,
  deeds: [{ name: 'Add a number', icon: 'plus', isMain: true, scope: 'sms:write', form: takeNumber }],
  columns: [
    { name: 'Number', field: 'number', as: 'mono', priority: 1, card: 'title' },
    { name: 'Country', field: 'country', as: 'country', priority: 2, card: 'end' },
    { name: 'Capabilities', field: 'capabilities', as: 'words', priority: 1, card: 'sub', grows: true },
    { name: 'Shared', field: 'shared', as: 'flag', priority: 3 },
  ],
  filters: [{ name: 'capability', label: 'Capabilities', among: ['sms', 'voice', 'ussd', 'messenger'] }],
  none: { title: 'No numbers', advice: 'Numbers receive texts and calls. In test you can add any number.' },
}

export const NumberPage = recordPage<SmsNumber>({
  in: ['/numbers', 'Numbers'],
  get: (number) => smsGetNumber(api, { number }),
  at: (number) => smsGetNumber.at({ number }),
  title: ({ number }) => number,
  facts: [
    { name: 'Shared', field: 'shared', as: 'flag' },
    { name: 'Webhook URL for inbound texts', field: 'default_webhook_url' },
  ],
  deeds: (value) => [
    {
      name: 'Release',
      isDanger: true,
      scope: 'sms:write',
      asks: removing(value.number, t('You no longer receive texts to it.')),
      run: () => smsGiveUpNumber(api, { number: value.number }),
      leadsTo: '/numbers',
    },
    { name: 'Change', icon: 'pencil', isMain: true, scope: 'sms:write', form: changeNumber(value) },
  ],
  more: ({ keywords }) => (
    <Card title="Keywords">
      <Figures
        names={['Keyword', 'Answer', 'Address']}
        rows={keywords.map(({ keyword, auto_reply, webhook_url }) => ({
          key: keyword,
          name: keyword,
          figures: [auto_reply ?? '–', webhook_url ?? '–'],
        }))}
      />
    </Card>
  ),
})
