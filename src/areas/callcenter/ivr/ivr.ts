// SPDX-License-Identifier: Apache-2.0
// The noun: IVR menus driven by keys and speech, and their validation.
import { type Static, Type } from 'typebox'
import { isQuickPattern, quickPatternRule } from '../../../kernel/quick-pattern.ts'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { Destination, type DestinationOf, destinationProblem, Language, plainDestination, Url } from '../schema.ts'

const maxMenus = 200
const maxDepth = 10

const Prompt = Type.Object(
  {
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 3_000,
        description: 'Text to speak; `{{variable}}` is replaced by its value',
      }),
    ),
    language: Type.Optional(Language),
    url: Type.Optional(Url('URL of a sound to play instead of the text')),
    prompt_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'Id of an uploaded prompt to play instead of the text, `prm_…`' }),
    ),
  },
  { description: 'Text to speak' },
)

const values = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()]),
  { description: 'Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules' },
)

/** Target of a choice. `then` of a `set` is one of the others. */
export interface IvrAction {
  menu?: string
  webhook?: string
  repeat?: true
  back?: true
  set?: Record<string, string | number | boolean>
  then?: IvrAction
  type?: DestinationOf['type']
  id?: string
  number?: string
  uri?: string
  answer_url?: string
  text?: string
  language?: string
}

const key = (description: string) =>
  Type.String({
    pattern: '^[\\w-]{1,64}$',
    rule: 'must have 1 to 64 letters, digits, dashes and underscores',
    description,
  })

const flat = {
  menu: Type.Optional(key('Key of the next menu')),
  webhook: Type.Optional(Url('URL that returns a list of actions')),
  repeat: Type.Optional(Type.Literal(true, { description: 'True repeats the menu' })),
  back: Type.Optional(Type.Literal(true, { description: 'True returns to the previous menu' })),
  set: Type.Optional(values),
  type: Type.Optional(Destination.properties.type),
  id: Destination.properties.id,
  number: Destination.properties.number,
  uri: Destination.properties.uri,
  answer_url: Destination.properties.answer_url,
  text: Destination.properties.text,
  language: Destination.properties.language,
}
const Then = Type.Object(flat, { description: 'Destination after `set`' })
const Action = Type.Object(
  // biome-ignore lint/suspicious/noThenProperty: the documentation names the field
  { ...flat, then: Type.Optional(Then) },
  { description: 'Action of the choice: a menu, a destination, a webhook, `set` with `then`, `repeat` or `back`' },
)

const Otherwise = Type.Object(
  {
    retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        rule: 'must be 0 to 10; default 2',
        description: 'Number of times the menu is repeated before `action`',
      }),
    ),
    prompt: Type.Optional(Prompt),
    action: Type.Optional(Action),
  },
  { description: 'Handling of a missing or invalid choice' },
)

const Menu = Type.Object({
  prompt: Type.Optional(Prompt),
  options: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[0-9*#]{1,8}$' }),
      Type.Object({
        label: Type.Optional(Type.String({ maxLength: 64, description: 'Label, shown in the trace' })),
        phrases: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
            maxItems: 20,
            description: 'Spoken words that also choose it, where `speech` is accepted',
          }),
        ),
        action: Action,
      }),
      {
        additionalProperties: false,
        maxProperties: 50,
        rule: 'must name keys 0-9, * and #',
        nameRule: 'must be keys 0-9, * and #',
        description: 'Choices by the keys that are pressed',
      },
    ),
  ),
  input: Type.Optional(
    Type.Object(
      {
        types: Type.Optional(
          Type.Array(OneOf(['dtmf', 'speech']), {
            minItems: 1,
            maxItems: 2,
            description: 'Input types: keys (`dtmf`), speech, or both; default keys',
          }),
        ),
        max_digits: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 20,
            rule: 'must be 1 to 20',
            description:
              'Number of keys that completes the choice; default: that of the longest option or `collect.max`',
          }),
        ),
        timeout: Type.Optional(
          Type.Number({
            minimum: 1,
            maximum: 30,
            rule: 'must be 1 to 30 seconds',
            description: 'Seconds to wait for the first key or word; default 5',
          }),
        ),
        bargein: Type.Optional(Type.Boolean({ description: 'True lets a key stop the prompt; default true' })),
      },
      { description: 'Input settings; default keys, within 5 seconds' },
    ),
  ),
  collect: Type.Optional(
    Type.Object(
      {
        variable: key('Variable that stores the digits: `order` is `{{order}}` in prompts'),
        min: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: 'Minimum number of digits' })),
        max: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 20, description: 'Maximum number of digits; default 20' }),
        ),
        pattern: Type.Optional(
          Type.String({ maxLength: 100, description: `Pattern of the digits: ${quickPatternRule}` }),
        ),
        mask: Type.Optional(
          Type.Boolean({ description: 'True masks the digits in traces and events; only your servers receive them' }),
        ),
        next: Action,
      },
      { description: 'Collects digits such as an order number, instead of a choice' },
    ),
  ),
  directory: Type.Optional(
    Type.Object(
      {
        agents: Type.Optional(Type.Boolean({ description: 'True includes your agents by name; default true' })),
        entries: Type.Optional(
          Type.Array(
            Type.Object({
              name: Type.String({ minLength: 1, maxLength: 100, description: 'Name, as callers spell or say it' }),
              action: Action,
            }),
            { maxItems: 200, rule: 'must be at most 200 names', description: 'Further names and their destinations' },
          ),
        ),
      },
      {
        description:
          'Directory: accepts a name, spelled on the keys (2 is A, B or C) and ended by `#`, or spoken where `speech` is accepted; up to nine matches are offered. Alternative to `options` and `collect`',
      },
    ),
  ),
  on_timeout: Type.Optional(Otherwise),
  on_invalid: Type.Optional(Otherwise),
})

const name = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Unique name',
})
const menus = Type.Record(Type.String({ pattern: '^[\\w-]{1,64}$' }), Menu, {
  minProperties: 1,
  maxProperties: maxMenus,
  additionalProperties: false,
  rule: `must be 1 to ${maxMenus} menus by their keys`,
  nameRule: 'must be a key of letters, digits, dashes and underscores',
  description: 'Menus by key; a menu has options, collects digits or asks for a name',
})

const optional = {
  variables: Type.Optional(values),
  business_hours_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of the business hours, `bh_…`; default always open' }),
  ),
  closed: Type.Optional(Destination),
  status: Type.Optional(
    OneOf(['active', 'draft'], { description: '`draft` is not reached by calls; default `active`' }),
  ),
}

export const IvrCreate = Type.Object({
  name,
  language: Type.Optional(Language),
  entry: key('Key of the first menu'),
  menus,
  ...optional,
})
export const IvrChange = Type.Object({
  name: Type.Optional(name),
  language: Type.Optional(Language),
  entry: Type.Optional(key('Key of the first menu')),
  menus: Type.Optional(menus),
  ...optional,
  variables: Type.Optional(Nullable(values, { description: 'Variables that calls begin with; null removes all' })),
  business_hours_id: Type.Optional(
    Nullable(Type.String({ maxLength: 40, description: 'Id of the business hours, `bh_…`; null is always open' })),
  ),
  closed: Type.Optional(
    Nullable(Destination, {
      description: 'Destination outside the hours; null: the `closed_action` of the hours, else the call ends',
    }),
  ),
})

export interface IvrPrompt {
  text?: string
  language?: string
  url?: string
  prompt_id?: string
}

interface IvrOtherwise {
  retries?: number
  prompt?: IvrPrompt
  action?: IvrAction
}

export interface IvrMenu {
  prompt?: IvrPrompt
  options?: Record<string, { label?: string; phrases?: string[]; action: IvrAction }>
  input?: { types?: ('dtmf' | 'speech')[]; max_digits?: number; timeout?: number; bargein?: boolean }
  collect?: { variable: string; min?: number; max?: number; pattern?: string; mask?: boolean; next: IvrAction }
  directory?: { agents?: boolean; entries?: { name: string; action: IvrAction }[] }
  on_timeout?: IvrOtherwise
  on_invalid?: IvrOtherwise
}

export interface IvrDocument {
  name: string
  language: string
  entry: string
  menus: Record<string, IvrMenu>
  variables: Record<string, string | number | boolean>
  business_hours_id: string | null
  closed: DestinationOf | null
  status: 'active' | 'draft'
}

export function ivrDocument(wanted: Static<typeof IvrCreate>): IvrDocument {
  const {
    name: called,
    language = 'en-US',
    entry,
    menus: all,
    variables = {},
    business_hours_id,
    closed,
    status = 'active',
  } = wanted
  return {
    name: called,
    language,
    entry,
    menus: all,
    variables,
    business_hours_id: business_hours_id ?? null,
    closed: closed ?? null,
    status,
  }
}

/** All actions reachable from a menu. */
export function actionsOf({ options = {}, collect, directory, on_timeout, on_invalid }: IvrMenu): IvrAction[] {
  const direct = [
    ...Object.values(options).map(({ action }) => action),
    ...(collect ? [collect.next] : []),
    ...(directory?.entries ?? []).map(({ action }) => action),
    ...[on_timeout?.action, on_invalid?.action].filter((action) => action !== undefined),
  ]
  return direct.flatMap((action) => (action.then ? [action, action.then] : [action]))
}

/** All prompts of a menu. */
export function promptsOf({ prompt, on_timeout, on_invalid }: IvrMenu): IvrPrompt[] {
  return [prompt, on_timeout?.prompt, on_invalid?.prompt].filter((one) => one !== undefined)
}

/** Destination of an action; null when it has none. */
export function destinationIn({ type, ...action }: IvrAction): DestinationOf | null {
  return type === undefined ? null : plainDestination({ type, ...action })
}

/** Why menus are invalid: the field and a sentence; null when valid. */
export function ivrProblem(ivr: IvrDocument): { field: string; problem: string } | null {
  if (!ivr.menus[ivr.entry]) return { field: 'entry', problem: `must be a menu; there is no "${ivr.entry}"` }
  for (const [key, menu] of Object.entries(ivr.menus)) {
    const problem = menuProblem(ivr, menu)
    if (problem) return { field: `menus.${key}`, problem }
  }
  const depths = depthsOf(ivr)
  const unreachable = Object.keys(ivr.menus).find((key) => !depths.has(key))
  if (unreachable) return { field: `menus.${unreachable}`, problem: 'cannot be reached from the entry' }
  const deepest = [...depths].find(([, depth]) => depth > maxDepth)
  if (deepest) return { field: `menus.${deepest[0]}`, problem: `is more than ${maxDepth} menus away from the entry` }
  return null
}

function menuProblem(ivr: IvrDocument, menu: IvrMenu): string | null {
  const { options, collect, directory } = menu
  if ([options, collect, directory].filter((one) => one !== undefined).length !== 1)
    return 'must have exactly one of options, collect and directory'
  if (directory?.agents === false && (directory.entries ?? []).length === 0)
    return 'must have somebody in its directory'
  if (
    promptsOf(menu).some(
      ({ text, url, prompt_id: id }) => [text, url, id].filter((one) => one !== undefined).length !== 1,
    )
  )
    return 'must have exactly one of text, url and prompt_id in its prompts'
  if (collect?.pattern !== undefined && !isQuickPattern(collect.pattern))
    return `must have a pattern of ${quickPatternRule}`
  if (collect && (collect.min ?? 1) > (collect.max ?? 20)) return 'must not collect more digits at least than at most'
  for (const action of actionsOf(menu)) {
    const problem = actionProblem(ivr, action)
    if (problem) return problem
  }
  return null
}

function actionProblem(ivr: IvrDocument, action: IvrAction): string | null {
  const { menu, webhook, repeat, back, set, then, type } = action
  const said = [menu, webhook, repeat, back, set, type].filter((one) => one !== undefined)
  if (said.length !== 1) return 'must have actions with exactly one of menu, type, webhook, set, repeat and back'
  if (set !== undefined && then === undefined) return 'must say then where it says set'
  if (set === undefined && then !== undefined) return 'must say then only beside set'
  if (menu !== undefined && !ivr.menus[menu]) return `leads to "${menu}", which is no menu`
  const destination = destinationIn(action)
  const problem = destination && destinationProblem(destination)
  return problem ? `has a destination that ${problem}` : null
}

/** Depth of each menu from the entry. */
function depthsOf({ entry, menus: all }: IvrDocument): Map<string, number> {
  const depths = new Map([[entry, 1]])
  const line = [entry]
  for (let key = line.shift(); key !== undefined; key = line.shift()) {
    const menu = all[key]
    for (const { menu: next } of menu ? actionsOf(menu) : [])
      if (next !== undefined && !depths.has(next)) {
        depths.set(next, (depths.get(key) ?? 1) + 1)
        line.push(next)
      }
  }
  return depths
}
