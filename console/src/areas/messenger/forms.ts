// SPDX-License-Identifier: Apache-2.0
// Forms of chats: a message, a template, an opt-in, a file.
import {
  messengerChangeTemplate,
  messengerCreateTemplate,
  messengerOptIn,
  messengerSend,
  messengerUploadMedia,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { type FormOf, formOf } from '../../kit/form.tsx'
import { chatTemplates } from '../../kit/known.ts'
import { go } from '../../place.tsx'
import { bubble, type Parts, valuesFor } from './bubble.tsx'

export const write: FormOf = {
  title: 'Send a message',
  action: 'Send',
  fields: [
    { name: 'to', label: 'Phone', isRequired: true },
    {
      name: 'text',
      label: 'Text',
      isLong: true,
      hint: 'Within 24 hours of the user’s last message; otherwise use a template',
    },
    { name: 'template', label: 'Template', show: oneOf(chatTemplates) },
    { name: 'values', label: 'Values', show: valuesFor },
  ],
  async make({ to = '', text, template, values }) {
    const [name = '', language = ''] = template?.split(' ') ?? []
    const parameters = listIn(values).map((value) => ({ type: 'text' as const, text: value }))
    const components = parameters.length > 0 ? [{ type: 'body' as const, parameters }] : []
    await messengerSend(api, {
      body: template
        ? { to, type: 'template', template: { name, language, components } }
        : { to, type: 'text', text: { body: text ?? '' } },
    })
    return null
  },
}

const listIn = (json: string | undefined): string[] => (json === undefined ? [] : JSON.parse(json))

export const newTemplate: FormOf = {
  title: 'Create template',
  action: 'Submit for approval',
  fields: [
    { name: 'name', label: 'Name', isRequired: true, hint: 'Small letters and underscores' },
    { name: 'language', label: 'Language', isRequired: true, hint: 'Such as en or sw' },
    { name: 'category', label: 'Kind', among: ['utility', 'marketing', 'authentication'] },
    { name: 'header', label: 'Header' },
    { name: 'body', label: 'Text', isLong: true, isRequired: true, hint: '{{1}} is the first value' },
    { name: 'footer', label: 'Footer' },
    { name: 'buttons', label: 'Quick replies', hint: 'At most three, with commas' },
  ],
  preview: bubble,
  async make({ name = '', language = 'en', category, ...parts }) {
    const { id } = await messengerCreateTemplate(api, {
      body: { name, language, category: categories[category ?? 'utility'] ?? 'UTILITY', components: partsOf(parts) },
    })
    go(`/chat-templates/${id}`)
    return null
  },
}

const categories: Readonly<Record<string, 'UTILITY' | 'MARKETING' | 'AUTHENTICATION'>> = {
  utility: 'UTILITY',
  marketing: 'MARKETING',
  authentication: 'AUTHENTICATION',
}

function partsOf({ header, body, footer, buttons }: Parts) {
  const taps = (buttons ?? '').split(',').map((text) => text.trim())
  return [
    ...(header ? [{ type: 'HEADER' as const, format: 'TEXT' as const, text: header }] : []),
    { type: 'BODY' as const, text: body ?? '' },
    ...(footer ? [{ type: 'FOOTER' as const, text: footer }] : []),
    ...(buttons
      ? [{ type: 'BUTTONS' as const, buttons: taps.map((text) => ({ type: 'QUICK_REPLY' as const, text })) }]
      : []),
  ]
}

export const changeTemplate = (id: string, initial: Parts): FormOf => ({
  title: 'Edit template',
  action: 'Submit for approval',
  fields: newTemplate.fields.filter(({ name }) => ['header', 'body', 'footer', 'buttons'].includes(name)),
  initial: { ...initial },
  preview: bubble,
  async make(parts) {
    await messengerChangeTemplate(api, { id, body: { components: partsOf(parts) } })
    return null
  },
})

export const optIn: FormOf = formOf(messengerOptIn, {
  title: 'Opt in a person',
  action: 'Opt in',
  fields: [
    { name: 'phone', label: 'Phone', isRequired: true },
    { name: 'source', label: 'Source of consent', hint: 'Such as checkout form' },
  ],
})

export const upload: FormOf = {
  title: 'Upload a file',
  action: 'Upload',
  fields: [{ name: 'file', label: 'File', as: 'file', isRequired: true }],
  async make(_, { file }) {
    const body = new FormData()
    if (file) body.append('file', file)
    const { media_id } = await messengerUploadMedia(api, { body })
    go(`/media/${media_id}`)
    return null
  },
}
