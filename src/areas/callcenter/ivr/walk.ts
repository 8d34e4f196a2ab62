// SPDX-License-Identifier: Apache-2.0
// IVR walk as a pure function: position and input give the next menu or destination. Used by live calls and
// simulations.
import type { DestinationOf } from '../schema.ts'
import { canChoose, named, type Person, spelled } from './directory.ts'
import { destinationIn, type IvrAction, type IvrDocument, type IvrMenu, type IvrPrompt } from './ivr.ts'

export interface WalkState {
  readonly menu: string
  /** History of menus, for `back`. */
  readonly before: readonly string[]
  readonly variables: Readonly<Record<string, string | number | boolean>>
  readonly path: readonly { menu: string; digit: string; label: string | null }[]
  readonly timeouts: number
  readonly mistakes: number
  /** People of the name that was spelled, who are offered by keys from 1. */
  readonly choices?: readonly Person[]
}

export interface Heard {
  digits: string
  speech: readonly string[]
}

type WalkStep =
  /** Plays a menu; `prompt` replaces its own on a retry. */
  | { kind: 'menu'; state: WalkState; prompt: IvrPrompt | null }
  | { kind: 'go'; state: WalkState; destination: DestinationOf }
  | { kind: 'webhook'; state: WalkState; url: string }

/** Step limit against endless loops. */
const maxSteps = 100

export function enter(ivr: IvrDocument, variables: WalkState['variables'] = {}): WalkState {
  return {
    menu: ivr.entry,
    before: [],
    variables: { ...ivr.variables, ...variables },
    path: [],
    timeouts: 0,
    mistakes: 0,
  }
}

export function menuOf(ivr: IvrDocument, state: WalkState): IvrMenu {
  return ivr.menus[state.menu] ?? {}
}

/** `people` are the agents, for menus that take a name. */
export function walk(ivr: IvrDocument, state: WalkState, heard: Heard, people: readonly Person[] = []): WalkStep {
  if (state.path.length >= maxSteps) return goodbye(state)
  const menu = menuOf(ivr, state)
  if (heard.digits === '' && heard.speech.length === 0) return again(ivr, state, 'timeouts')
  if (menu.directory) return meant(ivr, state, peopleIn(menu, people), heard)
  return menu.collect ? collected(ivr, state, menu, heard.digits) : chosen(ivr, state, menu, heard)
}

function chosen(ivr: IvrDocument, state: WalkState, { options = {} }: IvrMenu, heard: Heard): WalkStep {
  const spoken = heard.speech.map(plain)
  const found = Object.entries(options).find(
    ([digit, { label, phrases = [] }]) =>
      digit === heard.digits ||
      (heard.digits === '' &&
        [...phrases, ...(label === undefined ? [] : [label])].some((one) => spoken.includes(plain(one)))),
  )
  if (!found) return again(ivr, state, 'mistakes')
  const [digit, { label = null, action }] = found
  const path = [...state.path, { menu: state.menu, digit, label }]
  return follow(ivr, { ...state, path, timeouts: 0, mistakes: 0 }, action)
}

/** Whom a menu finds by name. */
export function peopleIn({ directory }: IvrMenu, agents: readonly Person[]): readonly Person[] {
  return directory ? [...(directory.entries ?? []), ...(directory.agents === false ? [] : agents)] : []
}

/** A name, or a choice among people of the same one. */
function meant(ivr: IvrDocument, state: WalkState, people: readonly Person[], { digits, speech }: Heard): WalkStep {
  const { choices = null, ...rest } = state
  const chosen = digits === '' ? [] : [choices?.[Number(digits) - 1]].filter((one) => one !== undefined)
  const found = digits === '' ? named(choices ?? people, speech) : choices ? chosen : spelled(people, digits)
  const [only] = found
  if (!only || !canChoose(found)) return again(ivr, state, 'mistakes')
  if (found.length > 1)
    return { kind: 'menu', state: { ...rest, timeouts: 0, mistakes: 0, choices: found }, prompt: null }
  const path = [...state.path, { menu: state.menu, digit: digits, label: only.name }]
  return follow(ivr, { ...rest, path, timeouts: 0, mistakes: 0 }, only.action)
}

function collected(ivr: IvrDocument, state: WalkState, { collect }: IvrMenu, digits: string): WalkStep {
  if (!collect) return goodbye(state)
  const { variable, min = 1, max = 20, pattern, mask = false, next } = collect
  const fits =
    digits.length >= min &&
    digits.length <= max &&
    (pattern === undefined || new RegExp(`^(?:${pattern})$`).test(digits))
  if (!fits) return again(ivr, state, 'mistakes')
  const shown = mask ? '*'.repeat(digits.length) : digits
  return follow(
    ivr,
    {
      ...state,
      variables: { ...state.variables, [variable]: digits },
      path: [...state.path, { menu: state.menu, digit: shown, label: variable }],
      timeouts: 0,
      mistakes: 0,
    },
    next,
  )
}

/** No input or an invalid one: ask again, and after the last retry follow the menu's fallback. */
function again(ivr: IvrDocument, state: WalkState, why: 'timeouts' | 'mistakes'): WalkStep {
  const menu = menuOf(ivr, state)
  const otherwise = (why === 'timeouts' ? menu.on_timeout : menu.on_invalid) ?? {}
  const times = state[why] + 1
  const next = { ...state, [why]: times }
  if (times <= (otherwise.retries ?? 2)) return { kind: 'menu', state: next, prompt: otherwise.prompt ?? null }
  const { choices: _, ...left } = next
  return otherwise.action ? follow(ivr, { ...left, timeouts: 0, mistakes: 0 }, otherwise.action) : goodbye(next)
}

function follow(ivr: IvrDocument, state: WalkState, action: IvrAction): WalkStep {
  const { set, then, menu, repeat, back, webhook } = action
  if (set && then) return follow(ivr, { ...state, variables: { ...state.variables, ...set } }, then)
  if (menu !== undefined)
    return {
      kind: 'menu',
      state: { ...state, menu, before: [...state.before, state.menu].slice(-maxSteps) },
      prompt: null,
    }
  if (repeat) return { kind: 'menu', state, prompt: null }
  if (back) {
    const last = state.before.at(-1) ?? ivr.entry
    return { kind: 'menu', state: { ...state, menu: last, before: state.before.slice(0, -1) }, prompt: null }
  }
  if (webhook !== undefined) return { kind: 'webhook', state, url: webhook }
  const destination = destinationIn(action)
  return destination ? { kind: 'go', state, destination } : goodbye(state)
}

function goodbye(state: WalkState): WalkStep {
  return { kind: 'go', state, destination: { type: 'hangup' } }
}

/** Variables with masked values replaced by asterisks. */
export function openVariables(ivr: IvrDocument, variables: WalkState['variables']): WalkState['variables'] {
  const masked = Object.values(ivr.menus).flatMap(({ collect }) => (collect?.mask ? [collect.variable] : []))
  const hide = (name: string, value: string | number | boolean) =>
    masked.includes(name) ? '*'.repeat(String(value).length) : value
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, hide(name, value)]))
}

/** Substitutes variables in a text. */
export function filledIn(text: string, variables: WalkState['variables']): string {
  return text.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (_, name: string) => String(variables[name] ?? ''))
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .trim()
}
