// SPDX-License-Identifier: Apache-2.0
// Controls of the call centre's forms: queues and agents by their names, and where a call goes.
import type { CallDestination } from '#sdk/schemas.ts'
import { Several } from '../../kit/choose.tsx'
import { Choice, Field, TextField } from '../../kit/fields.tsx'
import type { Control } from '../../kit/form.tsx'
import { t } from '../../words.ts'
import { type Names, useNames } from './names.ts'

export const SeveralAgents = (control: Control) => <Several {...control} among={useNames().agents} />
export const SeveralQueues = (control: Control) => <Several {...control} among={useNames().queues} />

/** Business hours by their name; none is always open. */
export function OneOfHours({ label, value, onInput }: Control) {
  const { hours } = useNames()
  return (
    <Choice
      label={label}
      value={value}
      among={['', ...Object.keys(hours), ...(value !== '' && hours[value] === undefined ? [value] : [])]}
      names={{ '': t('Always open'), ...hours }}
      isRequired
      onChange={onInput}
    />
  )
}

/** Kinds of destinations that take a text of their own, and its label. */
const written: Readonly<Record<string, string>> = {
  phone: 'Phone',
  sip: 'SIP address',
  application: 'URL of your application',
  message: 'Prompt',
  voicemail: 'Announcement',
}
const fieldOf = { phone: 'number', sip: 'uri', application: 'answer_url', message: 'text', voicemail: 'text' } as const
type Written = keyof typeof fieldOf
const isWritten = (type: string): type is Written => Object.hasOwn(fieldOf, type)

/** All places that a call can go to, by `type:id`. */
function placesOf({ queues, agents, menus }: Names): Record<string, string> {
  const named = (type: string, all: Readonly<Record<string, string>>, words: string): [string, string][] =>
    Object.entries(all).map(([id, name]) => [`${type}:${id}`, t(words, { name })])
  return Object.fromEntries([
    ...named('queue', queues, 'Queue {name}'),
    ...named('ivr', menus, 'Voice menu {name}'),
    ...named('agent', agents, 'Agent {name}'),
    ['phone', t('A phone')],
    ['sip', t('A SIP phone')],
    ['message', t('Play a message')],
    ['voicemail', t('Voicemail')],
    ['application', t('Your own application')],
    ['hangup', t('The call ends')],
  ])
}

/** A destination in words. */
export function placeName(place: CallDestination | null, names: Names): string {
  if (place === null) return t('No answer')
  const { type, id = '' } = place
  const known = placesOf(names)[isWritten(type) || type === 'hangup' ? type : `${type}:${id}`]
  const more = isWritten(type) ? place[fieldOf[type]] : undefined
  return [known ?? `${type} ${id}`, more].filter(Boolean).join(': ')
}

/** What a control of a destination holds: the destination as JSON, or nothing. */
export const destinationIn = (text: string): CallDestination | null => (text === '' ? null : JSON.parse(text))

/** Where a call goes; `more` are places that only this form has, such as another step of a menu. */
export function Where({
  more = {},
  none = t('No destination yet'),
  isRequired = false,
  ...control
}: Control & {
  more?: Readonly<Record<string, string>>
  /** What no place means. */
  none?: string
  isRequired?: boolean
}) {
  const { label, value, problem, onInput } = control
  const names = { ...more, ...placesOf(useNames()) }
  const now: Partial<CallDestination> & { menu?: string; repeat?: true; back?: true } = destinationIn(value) ?? {}
  const plain = now.repeat ? 'repeat' : now.back ? 'back' : now.menu === undefined ? undefined : `menu:${now.menu}`
  const chosen = plain ?? (now.id === undefined ? (now.type ?? '') : `${now.type}:${now.id}`)
  const choose = (place: string): void => {
    const [type = '', ...rest] = place.split(':')
    const id = rest.join(':')
    if (place === '') return onInput('')
    if (type === 'repeat' || type === 'back') return onInput(JSON.stringify({ [type]: true }))
    onInput(JSON.stringify(type === 'menu' ? { menu: id } : { type, ...(id === '' ? {} : { id }) }))
  }
  const type = now.type ?? ''
  const write = (text: string): void => {
    if (isWritten(type)) onInput(JSON.stringify({ type, ...(text === '' ? {} : { [fieldOf[type]]: text }) }))
  }
  const Text = type === 'message' || type === 'voicemail' ? TextField : Field
  const missing = chosen !== '' && names[chosen] === undefined ? { [chosen]: now.id ?? now.menu ?? chosen } : {}
  return (
    <div class="field where">
      <Choice
        label={label}
        value={chosen}
        among={[...(isRequired ? [] : ['']), ...Object.keys(names), ...Object.keys(missing)]}
        names={{ '': none, ...names, ...missing }}
        isRequired
        onChange={choose}
      />
      {isWritten(type) && (
        <Text label={written[type] ?? ''} value={now[fieldOf[type]] ?? ''} onInput={write} problem={problem} />
      )}
      {problem && !isWritten(type) && (
        <p class="hint bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
