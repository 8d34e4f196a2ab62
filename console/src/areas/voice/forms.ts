// SPDX-License-Identifier: Apache-2.0
// Forms of calls: placing one, saying something in one, and what a number does.
import { voiceAssignNumber, voiceCreateCall, voicePlay } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { type FormOf, formOf } from '../../kit/form.tsx'
import { agents, queues, speech, voiceMenus, voiceNumbers } from '../../kit/known.ts'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { go } from '../../place.tsx'

const language = { name: 'tts.language', label: 'Language', show: oneOf(speech) } as const

export const placeCall: FormOf = formOf(voiceCreateCall, {
  title: 'Place a call',
  action: 'Call',
  fields: [
    { name: 'to', label: 'Phone', isRequired: true },
    { name: 'from', label: 'From', isRequired: true, hint: 'One of your numbers', show: oneOf(voiceNumbers) },
    { name: 'tts.text', label: 'Text to speak', isLong: true },
    language,
    { name: 'answer_url', label: 'Answer URL' },
    { name: 'record', label: 'Record it', as: 'flag' },
    { name: 'scheduled_at', label: 'Scheduled for', as: 'moment' },
    {
      ...{ name: 'machine_detection', label: 'Answering machine detection', isMore: true },
      among: ['none', 'hangup', 'continue', 'leave_message'],
    },
  ],
  initial: { 'tts.language': 'en-KE' },
  done: ({ call_id }) => go(`/calls/${call_id}`),
})

export const sayIn = (call_id: string): FormOf =>
  formOf(voicePlay, {
    title: 'Speak',
    action: 'Say it',
    given: { call_id },
    fields: [{ name: 'tts.text', label: 'Text to speak', isLong: true, isRequired: true }, language],
    initial: { 'tts.language': 'en-KE' },
  })

export const assignNumber = ({ number, assigned_to }: Row): FormOf => ({
  title: 'Assign number',
  action: 'Save',
  fields: [
    { name: 'answer_url', label: 'Answer URL', hint: 'https://…; or select a destination below' },
    { name: 'queue_id', label: 'Queue', show: oneOf(queues) },
    { name: 'ivr_id', label: 'Voice menu', show: oneOf(voiceMenus) },
    { name: 'agent_id', label: 'Agent', show: oneOf(agents) },
  ],
  initial: { answer_url: textOf(Object(assigned_to).answer_url) || undefined },
  async make({ answer_url, queue_id, ivr_id, agent_id }) {
    await voiceAssignNumber(api, {
      number: textOf(number),
      body: answer_url ? { application: { answer_url } } : { queue_id, ivr_id, agent_id },
    })
    return null
  },
})
