// SPDX-License-Identifier: Apache-2.0
// Networks of ported numbers: routes, prices and lookups use the current network of a number. Lookups are cached, and
// while no number is ported nothing is looked up at all: messages do not pay for an unused feature.
import { factsOf, isE164, type Place, placeOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { gathered } from '../../../platform/concurrency/gather.ts'
import { one, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'

/** Numbers whose whereabouts are remembered, ported or not. More than one request can name. */
const maxRemembered = 100_000
/** Topic of the signal that the list changed. */
export const portedTopic = 'ported-numbers'

export interface PortedRow {
  phone: string
  network: string
  mcc_mnc: string | null
  updated_at: Date
}

type Whereabouts = Pick<PortedRow, 'network' | 'mcc_mnc'>

const anyPorted = statement.home<Record<never, never>, { found: boolean }>(
  'sms.any_ported',
  'select exists (select from sms.ported_numbers) as found',
)

export const findPorted = statement.home<{ phones: readonly string[] }, PortedRow>(
  'sms.find_ported',
  'select phone, network, mcc_mnc, updated_at from sms.ported_numbers where phone = any($phones::text[])',
)

const anyPortedBetween = statement.home<{ first: string; end: string }, { found: boolean }>(
  'sms.any_ported_between',
  'select exists (select from sms.ported_numbers where phone >= $first and phone < $end) as found',
)

/** Cache of ported numbers. A change of the list replaces it: a lookup that is under way fills the old one. */
interface Memory {
  /** Whether there are any; null until it was asked. */
  any: boolean | null
  readonly whereabouts: Map<string, Whereabouts | null>
}

interface Knowledge {
  memory: Memory
  find(phone: string): Promise<PortedRow | null>
}

const knowledgeOf = onePerApp((app): Knowledge => {
  const knowledge: Knowledge = {
    memory: { any: null, whereabouts: new Map() },
    find: gathered(async (phones: readonly string[]) => {
      const rows = new Map((await app.db.query(findPorted, { phones })).map((row) => [row.phone, row]))
      return phones.map((phone) => rows.get(phone) ?? null)
    }),
  }
  const forget = (): void => {
    knowledge.memory = { any: null, whereabouts: new Map() }
  }
  app.signals.on('sms', (what) => what === portedTopic && forget())
  app.signals.onGap(forget)
  return knowledge
})

/**
 * Looks up numbers that are not cached; undefined when there is nothing to wait for. Afterwards `placeFor` answers. While the
 * signal connection is down, the cache is not used.
 */
export function findPlaces(app: App, phones: readonly string[]): Promise<void> | undefined {
  const knowledge = knowledgeOf(app)
  if (!app.signals.connected) knowledge.memory.any = null
  const { any, whereabouts } = knowledge.memory
  if (any === false) return undefined
  const isKnown = (phone: string): boolean => app.signals.connected && whereabouts.has(phone)
  const missing = phones.filter((phone) => !isKnown(phone) && isE164(phone))
  return missing.length === 0 ? undefined : lookUp(app, knowledge, missing)
}

async function lookUp(app: App, { memory, find }: Knowledge, phones: readonly string[]): Promise<void> {
  memory.any ??= (await one(app.db.query(anyPorted, {}))).found
  if (!memory.any) return
  const [first = ''] = phones
  const rows = phones.length === 1 ? [await find(first)] : await app.db.query(findPorted, { phones })
  const found = new Map(rows.flatMap((row) => (row ? [[row.phone, row] as const] : [])))
  const { whereabouts } = memory
  for (const phone of phones) {
    const [oldest] = whereabouts.size >= maxRemembered ? whereabouts.keys() : []
    if (oldest !== undefined) whereabouts.delete(oldest)
    whereabouts.set(phone, found.get(phone) ?? null)
  }
}

/** Country and network of a number that `findPlaces` looked up. */
export function placeFor(app: App, phone: string): Place {
  const place = placeOf(phone)
  const moved = knowledgeOf(app).memory.whereabouts.get(phone)
  return moved ? { ...place, network: moved.network } : place
}

interface Portability {
  network: string | null
  mcc_mnc: string | null
  original_network: string | null
  ported: boolean | null
  source: 'prefix' | 'mnp'
}

/**
 * Network of a number, and how it is known: a list with any number of a country is taken to have all its ported ones.
 */
export async function portabilityOf(app: App, phone: string): Promise<Portability> {
  const { network, networkCode, callingCode } = factsOf(phone)
  await findPlaces(app, [phone])
  const { any: anywhere, whereabouts } = knowledgeOf(app).memory
  const moved = whereabouts.get(phone)
  if (moved)
    return { network: moved.network, mcc_mnc: moved.mcc_mnc, original_network: network, ported: true, source: 'mnp' }
  const { found: isListed } =
    anywhere && callingCode
      ? await one(app.db.query(anyPortedBetween, { first: `+${callingCode}`, end: `+${Number(callingCode) + 1}` }))
      : { found: false }
  return {
    network,
    mcc_mnc: networkCode,
    original_network: network,
    ported: isListed ? false : null,
    source: isListed ? 'mnp' : 'prefix',
  }
}
