// SPDX-License-Identifier: Apache-2.0
// Event catalogue: all declared events, and the words a subscription may use. `*` is all, `sms.*` all that begin with
// `sms.`; some old names are aliases.
import { nearest } from '../../kernel/spelling.ts'
import { actionOf, type EventType } from '../events.ts'
import { type JsonSchema, standalone } from '../schema/json-schema.ts'

export interface Catalogue {
  readonly events: readonly EventType[]
  find(name: string): EventType | undefined
  /** Canonical words of a subscription, or the unknown ones. */
  resolve(words: readonly string[]): Subscription
  /** Words that mean nothing, as a refusal names them: the first twenty, each with what was probably meant. */
  told(unknown: readonly string[]): string
  /** Whether a canonical subscription includes an event. */
  matches(subscription: readonly string[], name: string): boolean
  /** Names under which a canonical subscription receives changes, one name per change. */
  heardBy(subscription: readonly string[]): Heard
  /** Event names of a canonical subscription; null for all. */
  namesOf(subscription: readonly string[]): string[] | null
  /** Catalogue entries of the API. */
  entries(): CatalogueEntry[]
}

/** Event names; `twins` are those that may be the second name of another event's row. */
export interface Heard {
  readonly types: readonly string[]
  readonly twins: readonly string[]
}

/** An empty subscription is refused too, without unknown words. */
type Subscription =
  | { readonly kind: 'accepted'; readonly events: string[] }
  | { readonly kind: 'refused'; readonly unknown: string[] }

interface CatalogueEntry {
  readonly name: string
  readonly area: string
  readonly summary: string
  readonly aliases: readonly string[]
  /** JSON Schema of the whole body. */
  readonly schema: JsonSchema
  readonly example: unknown
}

const everything = '*'
const maxTold = 20

export function catalogueOf(areas: readonly { readonly events?: readonly EventType[] }[]): Catalogue {
  const events = areas.flatMap((area) => area.events ?? [])
  const byName = new Map(events.map((type) => [type.name, type]))
  if (byName.size !== events.length) throw new Error('two events have the same name')
  for (const { name, within } of events)
    if (within !== undefined && !byName.has(within)) throw new Error(`${name} is within ${within}, which is no event`)
  const meanings = meaningsOf(events)
  const spelled = [...meanings.keys()].filter((word) => word !== everything)
  return {
    events,
    find: (name) => byName.get(name),
    resolve,
    told,
    matches,
    heardBy,
    namesOf,
    entries: () => events.map(entryOf),
  }

  function resolve(words: readonly string[]): Subscription {
    const unknown = words.filter((word) => !meanings.has(word))
    if (words.length === 0 || unknown.length > 0) return { kind: 'refused', unknown }
    if (words.includes(everything)) return { kind: 'accepted', events: [everything] }
    return { kind: 'accepted', events: [...new Set(words.flatMap((word) => meanings.get(word) ?? []))] }
  }

  function told(unknown: readonly string[]): string {
    const words = [...new Set(unknown)]
    const named = words.slice(0, maxTold).map((word) => {
      const meant = nearest(word.trim().toLowerCase(), spelled)
      return `${JSON.stringify(word.slice(0, 60))}${meant === null ? '' : ` (did you mean ${JSON.stringify(meant)}?)`}`
    })
    return `${named.join(', ')}${words.length > named.length ? ` and ${words.length - named.length} more` : ''}`
  }

  function heardBy(subscription: readonly string[]): Heard {
    const heard = events.filter(({ name }) => matches(subscription, name))
    const twins = heard.filter(({ within }) => within !== undefined)
    return { types: heard.map(({ name }) => name), twins: twins.map(({ name }) => name) }
  }

  function namesOf(subscription: readonly string[]): string[] | null {
    if (subscription.includes(everything)) return null
    const isNamed = (name: string): boolean => subscription.some((word) => word === name || word === wholeArea(name))
    return events.map(({ name }) => name).filter(isNamed)
  }

  function matches(subscription: readonly string[], name: string): boolean {
    const takes = (one: string) => subscription.some((word) => [everything, wholeArea(one), one].includes(word))
    const within = byName.get(name)?.within
    return byName.has(name) && takes(name) && !(within !== undefined && takes(within))
  }
}

/** Subscription word → canonical words. */
function meaningsOf(events: readonly EventType[]): ReadonlyMap<string, readonly string[]> {
  const canonical = [everything, ...events.flatMap(({ name }) => [name, wholeArea(name)])]
  const meanings = new Map<string, readonly string[]>(canonical.map((word) => [word, [word]]))
  for (const { name, aliases = [] } of events)
    for (const alias of aliases) {
      if (canonical.includes(alias)) throw new Error(`the alias ${alias} of ${name} is a name already`)
      meanings.set(alias, [...(meanings.get(alias) ?? []), name])
    }
  return meanings
}

/** `sms.*` of `sms.delivered`. */
function wholeArea(name: string): string {
  return `${areaOf(name)}.${everything}`
}

/** `sms` of `sms.delivered`. */
function areaOf(name: string): string {
  return name.slice(0, name.indexOf('.'))
}

function entryOf(type: EventType): CatalogueEntry {
  const { name, summary, aliases = [] } = type
  const example: unknown = JSON.parse(sampleBody(type))
  return { name, area: areaOf(name), summary, aliases, schema: bodySchema(type, standalone), example }
}

/** Schema of a whole body: head and payload. */
export function bodySchema(
  { name, head, payload }: EventType,
  publish: (schema: unknown) => JsonSchema,
): { allOf: JsonSchema[] } {
  const held = {
    name: { type: 'string', const: name, description: 'Event name used in subscriptions' },
    action: { type: 'string', const: actionOf(name), description: 'Event name without its area' },
    id: { type: 'string', description: 'Id of the event, the same in repeated deliveries' },
    at: {
      type: 'string',
      format: 'date-time',
      description: 'Unique id of the event; repeated deliveries carry the same one',
    },
  }
  const properties = Object.fromEntries(Object.entries(head).map(([member, holds]) => [member, held[holds]]))
  return { allOf: [{ type: 'object', required: Object.keys(head), properties }, publish(payload)] }
}

/** Body of the sample, exactly as a subscriber receives it. */
export function sampleBody(type: EventType): string {
  return type.body('evt_01jb2c3d4e5f6g7h8j9kamnpqr', new Date('2026-03-01T09:15:30Z'), type.sample)
}
