// SPDX-License-Identifier: Apache-2.0
// A template as the chat shows it: header, text, footer and the replies to tap on. And the values that one is sent with.
import { messengerListTemplates } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Field } from '../../kit/fields.tsx'
import { listOf } from '../../kit/filled.ts'
import type { Control } from '../../kit/form.tsx'
import { textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'

export interface Parts {
  readonly header?: string | undefined
  readonly body?: string | undefined
  readonly footer?: string | undefined
  readonly buttons?: string | undefined
}

export function Bubble({ header, body, footer, buttons = '' }: Parts) {
  return (
    <div class="bubble-preview" dir="auto">
      {header && <p class="strong">{header}</p>}
      <p class="text">{body}</p>
      {footer && <p class="soft small">{footer}</p>}
      {listOf(buttons).map((text) => (
        <p key={text} class="tap">
          {text}
        </p>
      ))}
    </div>
  )
}

export const bubble = (parts: Parts) => <Bubble {...parts} />

/** A field for each `{{1}}` of the chosen template, with the text as it will be read. */
export const valuesFor = (control: Control) => <Values {...control} />

function Values({ value, typed, problem, onInput }: Control) {
  const chosen = typed?.template
  const known = useLoad('templates', () => messengerListTemplates(api, { query: { limit: 100 } }))
  const template = known.value?.data.find(({ name, language }) => chosen === `${name} ${language}`)
  if (!template) return null
  const body = textOf(Object(template.components.find((one) => Object(one).type === 'BODY')).text)
  const holes = [...new Set([...body.matchAll(/\{\{(\d+)\}\}/g)].map(([, number]) => Number(number)))].sort()
  const values: readonly string[] = value === '' ? [] : JSON.parse(value)
  const set = (at: number, text: string): void =>
    onInput(JSON.stringify(holes.map((_, i) => (i === at ? text : (values[i] ?? '')))))
  return (
    <>
      {holes.map((hole, i) => (
        <Field
          key={hole}
          label={t('Value of {name}', { name: `{{${hole}}}` })}
          value={values[i] ?? ''}
          onInput={(text) => set(i, text)}
          required
          problem={i === 0 ? problem : undefined}
        />
      ))}
      <Bubble body={body.replace(/\{\{(\d+)\}\}/g, (hole, number) => values[holes.indexOf(Number(number))] || hole)} />
    </>
  )
}
