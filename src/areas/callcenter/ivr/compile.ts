// SPDX-License-Identifier: Apache-2.0
// Menus and destinations compiled to call-control actions for the voice area. Inputs come back to the call centre,
// which owns these flows.
import { sentencesIn } from '../queue-sentences.ts'
import type { DestinationOf } from '../schema.ts'
import type { Person } from './directory.ts'
import type { IvrDocument, IvrPrompt } from './ivr.ts'
import { filledIn, menuOf, peopleIn, type WalkState } from './walk.ts'

type Action = Readonly<Record<string, unknown>>

const maxPhrases = 100
const maxLetters = 20

export function compileMenu(
  ivr: IvrDocument,
  state: WalkState,
  prompt: IvrPrompt | null,
  agents: readonly Person[] = [],
): Action[] {
  const menu = menuOf(ivr, state)
  const { prompt: own, input = {}, options = {}, collect, directory } = menu
  const { types = ['dtmf'], max_digits, timeout = 5, bargein = true } = input
  const phrases = Object.values(options).flatMap(({ phrases: said = [], label }) => [
    ...said,
    ...(label === undefined ? [] : [label]),
  ])
  const { choices } = state
  const names = (choices ?? peopleIn(menu, agents)).map(({ name }) => name)
  const longest = Math.max(1, ...Object.keys(options).map((key) => key.length))
  return [
    ...[prompt, choices ? null : own].flatMap((one) => (one ? [spoken(one, ivr.language, state, bargein)] : [])),
    ...(choices ? [offer(names, ivr.language, bargein)] : []),
    {
      action: 'input',
      type: types,
      maxDigits: choices ? 1 : (max_digits ?? (directory ? maxLetters : collect ? (collect.max ?? 20) : longest)),
      timeOut: timeout,
      submitOnHash: collect !== undefined || directory !== undefined,
      mask: collect?.mask ?? false,
      ...(types.includes('speech')
        ? {
            speech: {
              language: ivr.language,
              context: [...phrases, ...names].slice(0, maxPhrases),
              startTimeout: timeout,
            },
          }
        : {}),
    },
  ]
}

/** People of one name, each with a key. */
function offer(names: readonly string[], tag: string, bargeIn: boolean): Action {
  const { words, language } = sentencesIn(tag)
  const text = names.map((name, i) => words('choice', { name, key: i + 1 })).join(' ')
  return { action: 'talk', text, language, bargeIn }
}

function spoken(prompt: IvrPrompt, language: string, { variables }: WalkState, bargeIn: boolean): Action {
  const sound = prompt.prompt_id === undefined ? prompt.url : `prompt:${prompt.prompt_id}`
  if (sound !== undefined) return { action: 'stream', streamUrl: [sound], bargeIn }
  return {
    action: 'talk',
    text: filledIn(prompt.text ?? ' ', variables),
    language: prompt.language ?? language,
    bargeIn,
  }
}

/** Call data sent to a customer's server that supplies the flow. */
interface Luggage {
  variables: Readonly<Record<string, unknown>>
  path: readonly unknown[]
}

/** Action that asks a server for the flow. */
export function compileQuestion(url: string, luggage: Luggage): Action[] {
  return [{ action: 'notify', payload: luggage, eventUrl: [url] }]
}

/** Actions of a destination outside the call centre; null for queues, agents and menus. */
export function compileDestination(destination: DestinationOf, language: string, luggage: Luggage): Action[] | null {
  const { type, number = '', uri = '', answer_url = '', text } = destination
  const tongue = destination.language ?? language
  switch (type) {
    case 'queue':
    case 'agent':
    case 'ivr':
      return null
    case 'phone':
      return [{ action: 'connect', endpoint: [{ type: 'phone', number }] }]
    case 'sip':
      return [{ action: 'connect', endpoint: [{ type: 'sip', uri }] }]
    case 'application':
      return compileQuestion(answer_url, luggage)
    case 'voicemail':
      return [
        { action: 'talk', text: text ?? 'Please leave a message after the tone.', language: tongue },
        { action: 'record', beepStart: true, endOnSilence: 5, endOnKey: '#', timeOut: 180 },
        { action: 'hangup' },
      ]
    case 'message':
      return [{ action: 'talk', text: text ?? ' ', language: tongue }, { action: 'hangup' }]
    case 'hangup':
      return [{ action: 'hangup' }]
  }
}
