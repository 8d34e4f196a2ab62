// SPDX-License-Identifier: Apache-2.0
// Forms of segments and campaigns.
import { campaignsCreate, campaignsTest, campaignsUpdate, segmentsCreate } from '#sdk/operations.ts'
import type { Campaign } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { say } from '../../kit/dialogs.tsx'
import type { Filled, FormOf } from '../../kit/form.tsx'
import { segments, senders } from '../../kit/known.ts'
import { count, money, words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

/** Everybody with a tag; the page of the segment has every other condition. */
export const segmentForm: FormOf = {
  title: 'New segment',
  action: 'Create',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { name: 'tag', label: 'Tag', hint: 'Without a tag: all customers. More conditions can be set on the next page.' },
  ],
  async make({ name = '', tag }) {
    const filter = tag === undefined ? everybody : { field: 'tags', op: 'eq', value: tag }
    const { id } = await segmentsCreate(api, { body: { name, filter } })
    go(`/segments/${id}`)
    return null
  },
}

const everybody = { field: 'created_at', op: 'gt', value: '2000-01-01' }

const fields: FormOf['fields'] = [
  { name: 'name', label: 'Name', isRequired: true },
  { name: 'segment_id', label: 'Segment', isRequired: true, show: oneOf(segments) },
  { name: 'from', label: 'Sender', isRequired: true, show: oneOf(senders, { isOpen: true }) },
  {
    ...{ name: 'text', label: 'Text', isLong: true, isRequired: true },
    hint: 'Other channels, variants and the time are set on the next page.',
  },
  { name: 'rate', label: 'Messages a minute', isMore: true },
  { name: 'budget', label: 'Budget', isMore: true, hint: 'Sending stops when the budget is reached' },
]

function bodyOf({ name = '', segment_id = '', from = '', text = '', rate, budget }: Filled) {
  return {
    ...{ name, segment_id, channel: ['sms' as const], content: { sms: { from, text } } },
    rate: rate === undefined ? null : Number(rate),
    budget: budget === undefined ? null : Number(budget),
  }
}

export const campaignForm: FormOf = {
  ...{ title: 'New campaign', action: 'Create', fields },
  async make(filled) {
    const { id } = await campaignsCreate(api, { body: bodyOf(filled) })
    go(`/campaigns/${id}`)
    return null
  },
}

/** Form that changes what may be changed after the start. */
export function changeForm({ id, name, rate, budget }: Campaign): FormOf {
  return {
    ...{ title: 'Change', action: 'Save' },
    initial: { name, rate: rate?.toString(), budget: budget?.toString() },
    fields: fields.filter((field) => ['name', 'rate', 'budget'].includes(field.name)),
    async make({ name = '', rate, budget }) {
      const limits = {
        rate: rate === undefined ? null : Number(rate),
        budget: budget === undefined ? null : Number(budget),
      }
      await campaignsUpdate(api, { id, body: { name, ...limits } })
      return null
    },
  }
}

/** Form that sends each variant of a draft to one's own number or address. */
export function trialForm({ id, channel }: Campaign, save: () => Promise<unknown>): FormOf {
  const isMailAlone = channel.every((one) => one === 'email')
  return {
    ...{ title: 'Send me one', action: 'Send' },
    fields: [
      ...(isMailAlone ? [] : [{ name: 'phone', label: 'Phone', hint: 'Your own number, such as +254711000001' }]),
      ...(channel.includes('email') ? [{ name: 'email', label: 'Email address' }] : []),
    ],
    async make({ phone, email }) {
      await save()
      const to = { ...(phone === undefined ? {} : { phone }), ...(email === undefined ? {} : { email }) }
      const { messages, cost, currency } = await campaignsTest(api, { id, body: to })
      const refused = messages.find((one) => one.error_code !== null)
      if (refused?.error_code) throw new Error(t('Not sent: {reason}', { reason: words(refused.error_code) }))
      say(t('{count} sent for {price}', { count: count(messages.length), price: money(cost, currency) }))
      return null
    },
  }
}

export function renameForm({ id, name }: Campaign): FormOf {
  return {
    ...{ title: 'Rename', action: 'Save', initial: { name } },
    fields: fields.filter((field) => field.name === 'name'),
    async make({ name = '' }) {
      await campaignsUpdate(api, { id, body: { name } })
      return null
    },
  }
}
