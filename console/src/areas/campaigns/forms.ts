// SPDX-License-Identifier: Apache-2.0
// Forms of segments and campaigns.
import { campaignsCreate, campaignsUpdate, segmentsCreate } from '#sdk/operations.ts'
import type { Campaign } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import type { Filled, FormOf } from '../../kit/form.tsx'
import { segments, senders } from '../../kit/known.ts'
import { momentAt, typedMoment } from '../../kit/words.ts'
import { go } from '../../place.tsx'

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
    hint: '{{first_name|friend}} is the name, {{optout}} a link that stops further texts',
  },
  { name: 'text_b', label: 'Text of variant B', isLong: true, isMore: true, hint: 'Sent to half of the audience' },
  { name: 'at', label: 'Scheduled for', as: 'moment', hint: 'Empty: now' },
  { name: 'rate', label: 'Messages a minute', isMore: true },
  { name: 'budget', label: 'Budget', isMore: true, hint: 'Sending stops when the budget is reached' },
]

const secondVariant = 'B'

function bodyOf({ name = '', segment_id = '', from = '', text = '', text_b, at, rate, budget }: Filled) {
  const sms = (said: string) => ({ sms: { from, text: said } })
  return {
    ...{ name, segment_id, channel: ['sms' as const], content: sms(text) },
    variants: text_b === undefined ? [] : [{ name: secondVariant, share: 50, content: sms(text_b) }],
    schedule: at === undefined ? {} : { at: momentAt(at) },
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

/** Form that changes all of a draft, and the rate and budget of what was started. */
export function changeForm(campaign: Campaign): FormOf {
  const { id, state, name, segment_id, content, variants, schedule, rate, budget } = campaign
  const isDraft = state === 'draft'
  const initial = {
    ...{ name, segment_id: segment_id ?? undefined, from: content.sms?.from, text: content.sms?.text },
    ...{ text_b: variants[0]?.content.sms?.text, at: schedule.at && typedMoment(schedule.at) },
    ...{ rate: rate?.toString(), budget: budget?.toString() },
  }
  return {
    ...{ title: 'Change', action: 'Save', initial },
    fields: isDraft ? fields : fields.filter((field) => ['name', 'rate', 'budget'].includes(field.name)),
    async make(filled) {
      const { name, rate, budget, ...rest } = bodyOf(filled)
      await campaignsUpdate(api, { id, body: { name, rate, budget, ...(isDraft ? rest : {}) } })
      return null
    },
  }
}
