// SPDX-License-Identifier: Apache-2.0
// List of calls.
import {
  voiceListCalls,
  voiceListNumbers,
  voiceListRecognition,
  voiceListVoices,
  voiceSampleVoice,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { type ListOf, type Row, state, textOf } from '../../kit/list-page.tsx'
import { numberText, shortId, words } from '../../kit/words.ts'
import { assignNumber, placeCall } from './forms.ts'

/** `1:05`, of seconds. */
export function lasting(seconds: unknown): string {
  const whole = Math.round(Number(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

export const calls: ListOf = {
  title: 'Calls',
  icon: 'call',
  deeds: [{ name: 'Place a call', icon: 'call', isMain: true, scope: 'voice:write', form: placeCall }],
  path: voiceListCalls.at(),
  keyField: 'call_id',
  open: ['/calls/', 'call_id'],
  live: 'call.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    { name: 'Time', field: 'started_at', as: 'time', isDay: true, priority: 1 },
    {
      ...{ name: 'Phone', field: 'to', priority: 1, card: 'title', grows: true },
      text: (_to, { direction, from, to }) => numberText(textOf(direction === 'inbound' ? from : to)),
    },
    { name: 'Direction', field: 'direction', as: 'words', priority: 2, card: 'sub' },
    { name: 'Duration', field: 'duration', priority: 1, card: 'end', text: lasting },
    { name: 'Cost', field: 'cost', as: 'money', priority: 3 },
    state,
  ],
  filters: [
    {
      name: 'status',
      label: 'State',
      among: ['ringing', 'answered', 'completed', 'failed', 'rejected', 'busy', 'timeout'],
    },
    { name: 'direction', label: 'Direction', among: ['outbound', 'inbound'] },
    { name: 'number', label: 'Number' },
  ],
  none: { title: 'No calls', advice: 'Calls that you place and receive are listed here.' },
}

export const numbers: ListOf = {
  title: 'Numbers to call',
  icon: 'hash',
  path: voiceListNumbers.at(),
  keyField: 'number',
  columns: [
    { name: 'Number', field: 'number', as: 'mono', priority: 1, card: 'title' },
    { name: 'Country', field: 'country', as: 'country', priority: 2, card: 'end' },
    {
      ...{ name: 'Answered by', field: 'assigned_to.type', priority: 1, card: 'sub', grows: true },
      text: (type, { assigned_to }) =>
        type
          ? [
              words(textOf(type)),
              textOf(Object(assigned_to).answer_url ?? shortId(textOf(Object(assigned_to).id))),
            ].join(' ')
          : '–',
    },
  ],
  actions: [{ name: 'Change', scope: 'voice:write', form: assignNumber }],
  none: { title: 'No numbers', advice: 'Numbers that people can call are listed here.' },
}

export const voices: ListOf = {
  title: 'Voices',
  note: 'Text-to-speech voices',
  icon: 'speaker',
  path: voiceListVoices.at(),
  keyField: 'voice',
  columns: [
    { name: 'Voice', field: 'voice', as: 'words', priority: 1, card: 'title' },
    { name: 'Language', field: 'language', as: 'language', priority: 1, card: 'sub' },
    { name: 'Gender', field: 'gender', as: 'words', priority: 3 },
    { name: 'Quality', field: 'quality', as: 'words', priority: 2, card: 'end' },
    { name: 'Available', field: 'available', as: 'flag', priority: 2 },
  ],
  actions: [{ name: 'Listen', shows: ({ available }) => available === true, run: hear }],
}

export const recognition: ListOf = {
  title: 'Speech recognition',
  note: 'Supported languages of speech recognition',
  icon: 'ear',
  path: voiceListRecognition.at(),
  keyField: 'language',
  columns: [
    { name: 'Language', field: 'language', as: 'language', priority: 1, card: 'title' },
    { name: 'Model', field: 'model', priority: 1, card: 'sub' },
    { name: 'Source', field: 'source', as: 'words', priority: 2, card: 'end' },
    { name: 'Available', field: 'available', as: 'flag', priority: 2 },
  ],
}

/** Says a sentence in the voice; the policy of the page takes media from the server only, and sound that is decoded here. */
async function hear({ voice, language }: Row): Promise<void> {
  const context = new AudioContext()
  const spoken = await voiceSampleVoice(api, { voice: textOf(voice), query: { language: textOf(language) } })
  const source = context.createBufferSource()
  source.buffer = await context.decodeAudioData(await spoken.arrayBuffer())
  source.connect(context.destination)
  source.addEventListener('ended', () => void context.close())
  source.start()
}
