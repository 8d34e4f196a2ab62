// SPDX-License-Identifier: Apache-2.0
// One conversation: what was written both ways, and an answer while the window for free words is open.
import { messengerGetConversation, messengerMarkRead, messengerSend } from '#sdk/operations.ts'
import type { MessengerThread } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Ago, Card } from '../../kit/kit.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { t } from '../../words.ts'
import { PictureOf } from './picture.tsx'
import { saidIn } from './said.ts'

export const ConversationPage = recordPage<MessengerThread>({
  in: ['/conversations', 'Conversations'],
  get: (phone) => messengerGetConversation(api, { phone }),
  at: (phone) => messengerGetConversation.at({ phone }),
  live: 'messenger.',
  title: ({ name, phone }) => name ?? phone,
  note: ({ phone }) => phone,
  facts: [
    { name: 'Messaging window until', field: 'window_expires_at', as: 'time' },
    { name: 'Opted out', field: 'opted_out', as: 'flag' },
  ],
  deeds: ({ phone, window_open, messages }) => {
    const last = messages.findLast(({ direction }) => direction === 'inbound')
    return [
      ...(last
        ? [
            {
              name: 'Mark as read',
              icon: 'ticks' as const,
              scope: 'messenger:write',
              run: () => messengerMarkRead(api, { id: last.message_id }),
            },
          ]
        : []),
      ...(window_open
        ? [
            {
              name: 'Answer',
              icon: 'send' as const,
              isMain: true,
              scope: 'messenger:write',
              form: {
                title: 'Answer',
                action: 'Send',
                fields: [{ name: 'text', label: 'Text', isLong: true, isRequired: true }],
                async make({ text = '' }: Readonly<Record<string, string | undefined>>) {
                  await messengerSend(api, { body: { to: phone, type: 'text', text: { body: text } } })
                  return null
                },
              },
            },
          ]
        : []),
    ]
  },
  more: ({ messages }) => (
    <Card title="Messages">
      <ol class="story">
        {messages.map((message) => (
          <li key={message.message_id}>
            <span class="soft">{message.direction === 'inbound' ? t('User') : t('You')}</span>{' '}
            <span dir="auto">{saidIn(message)}</span>
            <span class="soft push">
              <Ago at={message.accepted_at} />
            </span>
            <PictureOf message={message} />
          </li>
        ))}
      </ol>
    </Card>
  ),
})
