// SPDX-License-Identifier: Apache-2.0
// Stored menu: schema, validation, and the walk of a session through it. Pure, except for requests of fetch nodes,
// which the caller answers.
import { type Static, Type } from 'typebox'
import { isQuickPattern, quickPatternRule } from '../../kernel/quick-pattern.ts'
import type { Data } from './schema.ts'

const maxNodes = 200
/** Limit of chained fetch nodes before a screen. */
const maxHops = 10
const maxStack = 50
const wrongChoice = 'Wrong choice. Try again.'

const Text = Type.Union([Type.String({ minLength: 1, maxLength: 1_000 }), Type.Record(Type.String(), Type.String())], {
  rule: 'must be a text, or an object with a text for each language',
  description: 'Text of the screen; `{{data.name}}` is replaced by session data',
})

const NodeName = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]{1,40}$', rule: 'must have 1 to 40 letters, digits, _ or -', description })

const Option = Type.Object({
  key: Type.Optional(
    Type.String({
      pattern: '^[0-9*#]{1,4}$',
      rule: 'must be 1 to 4 keys of a phone',
      description:
        'Key that selects the option; default: its place in the list. 0 goes back and 00 to the start, unless an option has them',
    }),
  ),
  label: Text,
  next: NodeName('Name of the next screen'),
})

const Node = Type.Object({
  text: Type.Optional(Text),
  options: Type.Optional(
    Type.Array(Option, {
      minItems: 1,
      maxItems: 50,
      rule: 'must list 1 to 50 options',
      description: 'Choices, shown below the text',
    }),
  ),
  input: Type.Optional(
    Type.Object(
      {
        save: Type.String({
          pattern: '^[A-Za-z_]\\w{0,39}$',
          rule: 'must be a name such as amount',
          description: 'Variable that stores the input: `amount` is `{{data.amount}}`',
        }),
        pattern: Type.Optional(
          Type.String({ maxLength: 200, description: `Pattern of the input: ${quickPatternRule}` }),
        ),
        error: Type.Optional(Text),
      },
      { description: 'Free input, followed by `next`' },
    ),
  ),
  fetch: Type.Optional(
    Type.Object(
      {
        url: Type.String({ maxLength: 2_048, description: 'URL called by POST, https://' }),
        timeout_ms: Type.Optional(
          Type.Integer({
            minimum: 100,
            maximum: 5_000,
            rule: 'must be 100 to 5000',
            description: 'Milliseconds to wait for the reply; default 3000',
          }),
        ),
      },
      {
        description:
          'Request to your application before the screen is shown; the reply may contain `data`, `next` and `message`',
      },
    ),
  ),
  next: Type.Optional(NodeName('Screen that follows an input or a fetch')),
  end: Type.Optional(Type.Boolean({ description: 'True ends the session with this screen' })),
  sms: Type.Optional(
    Type.Object(
      {
        message: Text,
        from: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 16,
            description: 'Sender; default: the account’s default_sender, or the code',
          }),
        ),
      },
      { description: 'Text sent to the subscriber when the screen is reached' },
    ),
  ),
  pay: Type.Optional(
    Type.Object(
      {
        amount: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.String({ minLength: 1, maxLength: 60 })], {
          rule: 'must be an amount, or a text such as {{data.amount}}',
          description: 'Amount in major units, or a variable of the session',
        }),
        currency: Type.String({
          pattern: '^[A-Z]{3}$',
          rule: 'must be a currency such as KES',
          description: 'Currency of the payment',
        }),
        provider: Type.Optional(
          Type.String({
            maxLength: 40,
            description: 'Provider, such as `mpesa`; derived from the subscriber’s number by default',
          }),
        ),
      },
      { description: 'Payment requested on the phone after the session; on last screens only' },
    ),
  ),
})

export const MenuDocument = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      rule: 'must have 1 to 100 characters',
      description: 'Label',
    }),
    languages: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z]{2,3}$', rule: 'must be a language such as sw' }), {
        maxItems: 20,
        description: 'Languages that every text must have; the first is the default',
      }),
    ),
    start: NodeName('First screen of a session'),
    nodes: Type.Record(Type.String({ pattern: '^[A-Za-z0-9_-]{1,40}$' }), Node, {
      minProperties: 1,
      maxProperties: maxNodes,
      rule: `must have 1 to ${maxNodes} screens`,
      description: 'Screens by name',
    }),
  },
  { title: 'UssdMenuDocument' },
)

export type MenuDocument = Static<typeof MenuDocument>
export type MenuNode = Static<typeof Node>
type Words = Static<typeof Text>

/** Position of a session in its menu. */
export interface MenuState {
  readonly node: string
  /** History of screens for `back`, latest last. */
  readonly stack: readonly string[]
}

/** Validation problems of a menu, one sentence per screen; empty when valid. */
export function problemsOf({ nodes, start, languages = [] }: MenuDocument): string[] {
  const names = Object.keys(nodes)
  if (!Object.hasOwn(nodes, start)) return [`start names the screen ${start}, which does not exist`]
  const reached = reachedFrom(nodes, start)
  return names.flatMap((name) => {
    const node = nodes[name] ?? {}
    const wrong = problemOf(node, languages)
    const missing = nextOf(node).filter((next) => !Object.hasOwn(nodes, next))
    return [
      ...(reached.has(name) ? [] : [`${name} cannot be reached`]),
      ...missing.map((next) => `${name} leads to ${next}, which does not exist`),
      ...(wrong === null ? [] : [`${name} ${wrong}`]),
    ]
  })
}

function problemOf(node: MenuNode, languages: readonly string[]): string | null {
  const { text, options, input, fetch, next, end = false } = node
  if (node.pay && !end)
    return 'asks for a payment and does not end: a phone shows such a request when its session is over'
  if (text === undefined && !(fetch && next !== undefined)) return 'has no text'
  const untold = [text, ...(options ?? []).map(({ label }) => label), input?.error, node.sms?.message].flatMap(
    (words) => (typeof words === 'object' ? languages.filter((language) => words[language] === undefined) : []),
  )
  if (untold.length > 0) return `has no text in ${[...new Set(untold)].join(', ')}`
  if (end && (options || input || next !== undefined)) return 'ends and leads somewhere: leave one of them out'
  if (!end && !options && !input && !(fetch && next !== undefined))
    return 'is a dead end: give it options, an input or end'
  if (input && !options && next === undefined) return 'takes an input and has no next'
  const keys = keysOf(node)
  if (new Set(keys).size < keys.length) return 'has two options with one key'
  return input?.pattern === undefined || isQuickPattern(input.pattern)
    ? null
    : `has a pattern that is not taken: use ${quickPatternRule}`
}

function nextOf({ options = [], next }: MenuNode): string[] {
  return [...options.map((option) => option.next), ...(next === undefined ? [] : [next])]
}

function reachedFrom(nodes: MenuDocument['nodes'], start: string): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const node = nodes[name]
    if (!node || reached.has(name)) continue
    reached.add(name)
    // The reply to a fetch node may lead to any node.
    waiting.push(...nextOf(node), ...(node.fetch ? Object.keys(nodes) : []))
  }
  return reached
}

/** Keys of the options; numbered where not given. */
function keysOf({ options = [] }: MenuNode): string[] {
  return options.map(({ key }, i) => key ?? String(i + 1))
}

/** Reply to a fetch node: data to keep, another node, another text. Null: no reply. */
export interface Fetched {
  readonly data?: Data
  readonly next?: string
  readonly message?: string
}

export interface Walk {
  readonly document: MenuDocument
  readonly data: Data
  readonly language: string | null
  fetch(node: string, url: string, timeoutMs: number, data: Data): Promise<Fetched | null>
}

export interface Arrived {
  readonly text: string
  readonly ends: boolean
  readonly state: MenuState
  readonly data: Data
  /** Nodes passed that send a text or request a payment. */
  readonly doing: readonly string[]
}

/**
 * Node reached by inputs, from the start or the session's position; null when a fetch node got no reply or too many
 * were chained.
 */
export async function walked(walk: Walk, state: MenuState | null, inputs: readonly string[]): Promise<Arrived | null> {
  let here = state === null ? await entered(walk, { node: walk.document.start, stack: [] }, walk.data) : null
  if (state === null && here === null) return null
  let at: MenuState = here?.state ?? state ?? { node: walk.document.start, stack: [] }
  let data = here?.data ?? walk.data
  const doing = [...(here?.doing ?? [])]
  for (const input of inputs) {
    here = await stepped(walk, at, data, input)
    doing.push(...(here?.doing ?? []))
    if (here === null || here.ends) return here && { ...here, doing }
    at = here.state
    data = here.data
  }
  return here && { ...here, doing }
}

async function stepped(walk: Walk, state: MenuState, data: Data, input: string): Promise<Arrived | null> {
  const node = walk.document.nodes[state.node]
  if (!node) return null
  const place = keysOf(node).indexOf(input)
  const option = node.options?.[place]
  const forward = (next: string): MenuState => ({ node: next, stack: [...state.stack, state.node].slice(-maxStack) })
  if (option) return entered(walk, forward(option.next), data)
  if (input === '00') return entered(walk, { node: walk.document.start, stack: [] }, data)
  const back = state.stack.at(-1)
  if (input === '0' && back !== undefined && !node.input)
    return entered(walk, { node: back, stack: state.stack.slice(0, -1) }, data)
  if (node.input && node.next !== undefined && fits(node.input.pattern, input))
    return entered(walk, forward(node.next), { ...data, [node.input.save]: input })
  return again(walk, state, data, wordsOf(node.input?.error, walk) ?? wrongChoice)
}

function fits(pattern: string | undefined, input: string): boolean {
  return pattern === undefined || new RegExp(pattern, 'u').test(input)
}

/** Repeats the screen with an error message above it. */
function again(walk: Walk, state: MenuState, data: Data, error: string): Arrived {
  const node = walk.document.nodes[state.node] ?? {}
  return { text: `${filled(error, data)}\n${screenOf(node, data, walk, null)}`, ends: false, state, data, doing: [] }
}

async function entered(walk: Walk, to: MenuState, known: Data): Promise<Arrived | null> {
  let state = to
  let data = known
  const doing: string[] = []
  for (let hop = 0; hop < maxHops; hop++) {
    const node = walk.document.nodes[state.node]
    if (!node) return null
    if (node.sms || node.pay) doing.push(state.node)
    let message: string | null = null
    if (node.fetch) {
      const told = await walk.fetch(state.node, node.fetch.url, node.fetch.timeout_ms ?? 3_000, data)
      if (told === null) return null
      data = { ...data, ...told.data }
      message = told.message ?? null
      const next = told.next ?? (node.text === undefined && message === null ? node.next : undefined)
      if (next !== undefined) {
        state = { ...state, node: next }
        continue
      }
    }
    return { text: screenOf(node, data, walk, message), ends: node.end ?? false, state, data, doing }
  }
  return null
}

function screenOf(
  node: MenuNode,
  data: Data,
  walk: Pick<Walk, 'document' | 'language'>,
  message: string | null,
): string {
  const keys = keysOf(node)
  const labels = (node.options ?? []).map(({ label }, i) => `${keys[i]} ${wordsOf(label, walk) ?? ''}`)
  const text = message ?? wordsOf(node.text, walk) ?? ''
  return filled([text, ...labels].join('\n'), data)
}

/** Text in the session's language, else in the menu's first, else in any. */
export function wordsOf(
  words: Words | undefined,
  { document, language }: Pick<Walk, 'document' | 'language'>,
): string | null {
  if (words === undefined || typeof words === 'string') return words ?? null
  const first = document.languages?.[0]
  const chosen = (language && words[language]) || (first && words[first])
  return chosen || (Object.values(words)[0] ?? null)
}

/** Substitutes `{{data.name}}` and `{{name}}`; unknown names become empty. */
export function filled(text: string, data: Data): string {
  return text.replace(/\{\{\s*(?:data\.)?(\w+)\s*\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(data, name) ? data[name] : ''
    return typeof value === 'object' ? '' : String(value)
  })
}
