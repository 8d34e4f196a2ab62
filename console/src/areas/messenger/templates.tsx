// SPDX-License-Identifier: Apache-2.0
// Templates of chats: how far their approval is, and how one looks in the chat.
import { messengerDeleteTemplate, messengerGetTemplate, messengerListTemplates } from '#sdk/operations.ts'
import type { MessengerTemplate } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { Card, Pill } from '../../kit/kit.tsx'
import { type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { Bubble, type Parts } from './bubble.tsx'
import { changeTemplate, newTemplate } from './forms.ts'

export const templates: ListOf = {
  title: 'Chat templates',
  icon: 'template',
  path: messengerListTemplates.at(),
  keyField: 'id',
  open: ['/chat-templates/', 'id'],
  live: 'messenger.template',
  deeds: [{ name: 'Create template', icon: 'plus', isMain: true, scope: 'messenger:write', form: newTemplate }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Language', field: 'language', as: 'language', priority: 2, card: 'sub' },
    { name: 'Kind', field: 'category', priority: 3, text: (kind) => words(textOf(kind).toLowerCase()) },
    { ...state, show: ({ status }) => <Pill state={textOf(status).toLowerCase()} /> },
  ],
  filters: [{ name: 'name', label: 'Name' }],
  none: { title: 'No templates', advice: 'Only approved templates can start a conversation.' },
}

const partOf = (template: MessengerTemplate, type: string): Readonly<Record<string, unknown>> =>
  Object(template.components.find((one) => Object(one).type === type) ?? {})

const tapsOf = (template: MessengerTemplate): string[] => {
  const { buttons } = partOf(template, 'BUTTONS')
  return Array.isArray(buttons) ? buttons.map((one) => textOf(Object(one).text)) : []
}

const partsShown = (template: MessengerTemplate): Parts => ({
  header: textOf(partOf(template, 'HEADER').text) || undefined,
  body: textOf(partOf(template, 'BODY').text),
  footer: textOf(partOf(template, 'FOOTER').text) || undefined,
  buttons: tapsOf(template).join(', ') || undefined,
})

export const ChatTemplatePage = recordPage<MessengerTemplate>({
  in: ['/chat-templates', 'Chat templates'],
  get: (id) => messengerGetTemplate(api, { id }),
  at: (id) => messengerGetTemplate.at({ id }),
  live: 'messenger.template',
  title: ({ name }) => name,
  note: ({ language }) => language,
  state: ({ status }) => status.toLowerCase(),
  facts: [
    { name: 'Rejection reason', field: 'rejected_reason' },
    { name: 'Quality', field: 'quality', text: (quality) => words(textOf(quality).toLowerCase()) },
    { name: 'Created', field: 'created_at', as: 'time' },
    { name: 'Changed', field: 'updated_at', as: 'time' },
  ],
  deeds: (template) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'messenger:write',
      asks: removing(template.name, t('Messages that use it are refused.')),
      run: async () => {
        await messengerDeleteTemplate(api, { id: template.id })
        go('/chat-templates')
      },
    },
    {
      name: 'Change',
      icon: 'pencil',
      isMain: true,
      scope: 'messenger:write',
      form: changeTemplate(template.id, partsShown(template)),
    },
  ],
  more: (template) => (
    <Card title="Preview">
      <Bubble {...partsShown(template)} />
    </Card>
  ),
})
