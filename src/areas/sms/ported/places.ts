// SPDX-License-Identifier: Apache-2.0
// Numbers that moved to another network: routes, prices and lookups go by where a number is now. What was looked up is
// remembered, and while no number is ported nothing is looked up at all: a message does not pay for what an operator does
// not use.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { factsOf, isE164, type Place, placeOf, resolveNetwork } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { record } from '../../../platform/audit.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import { gathered } from '../../../platform/gathered.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import { type Route, read, write } from '../../../platform/route.ts'
import { At, Nullable } from '../../../platform/schema.ts'
import { Phone, PhoneParam } from '../schema.ts'

/** Numbers whose whereabouts are remembered, ported or not. More than one request can name. */
const maxRemembered = 100_000
/** Said to all nodes when the list changed. */
export const portedTopic = 'ported-numbers'

interface PortedRow {
  phone: string
  network: string
  mcc_mnc: string | null
  updated_at: Date
}

type Whereabouts = Pick<PortedRow, 'network' | 'mcc_mnc'>

const anyPorted = statement<Record<never, never>, { found: boolean }>(
  'sms.any_ported',
  'select exists (select from sms.ported_numbers) as found',
)

const findPorted = statement<{ phones: readonly string[] }, PortedRow>(
  'sms.find_ported',
  'select phone, network, mcc_mnc, updated_at from sms.ported_numbers where phone = any($phones::text[])',
)

const anyPortedBetween = statement<{ first: string; end: string }, { found: boolean }>(
  'sms.any_ported_between',
  'select exists (select from sms.ported_numbers where phone >= $first and phone < $end) as found',
)

const putPorted = statement<{ phone: string; network: string; mccMnc: string | null; at: Date }, PortedRow>(
  'sms.put_ported',
  `insert into sms.ported_numbers (phone, network, mcc_mnc, updated_at) values ($phone, $network, $mccMnc, $at)
   on conflict (phone) do update
     set network = excluded.network, mcc_mnc = excluded.mcc_mnc, updated_at = excluded.updated_at
   returning phone, network, mcc_mnc, updated_at`,
)

const removePorted = statement<{ phone: string }, PortedRow>(
  'sms.remove_ported',
  'delete from sms.ported_numbers where phone = $phone returning phone, network, mcc_mnc, updated_at',
)

/** What a node knows of numbers that moved. When the list changes, it begins anew: a look that is under way fills the old. */
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

/** Looks up what is not known yet; undefined when there is nothing to wait for. Then `placeFor` can say where they are. */
export function findPlaces(app: App, phones: readonly string[]): Promise<void> | undefined {
  const knowledge = knowledgeOf(app)
  const { any, whereabouts } = knowledge.memory
  if (any === false) return undefined
  const missing = phones.filter((phone) => !whereabouts.has(phone) && isE164(phone))
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

/** Where a number that `findPlaces` looked up belongs. */
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

/** Where a number is, and how that is known: a list that has numbers of its country is taken to have all that moved. */
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

const PortedNumber = Type.Object({
  phone: Phone(),
  network: Type.String({
    minLength: 1,
    maxLength: 60,
    rule: 'must be the name of a network, or its mobile country and network code',
    description: 'Where the number is now: a name such as Safaricom, or a code such as 63902',
  }),
})

const PortedRecord = Type.Object(
  {
    phone: Type.String(),
    network: Type.String(),
    mcc_mnc: Nullable(Type.String()),
    original_network: Nullable(Type.String({ description: 'Whose range the number is from' })),
    updated_at: At(),
  },
  { title: 'SmsPortedNumber' },
)

const put = write({
  method: 'POST',
  path: '/v1/operator/sms/ported-numbers',
  operation: 'operator.portSmsNumber',
  summary: 'Note that a number moved to another network',
  description: 'One number. `npm start -- mnp import <file>` takes a registry’s whole list.',
  scope: 'operator',
  body: PortedNumber,
  reply: {
    status: 201,
    schema: PortedRecord,
    location: ({ phone }) => `/v1/operator/sms/ported-numbers/${phone}`,
  },
  errors: ['INVALID_PHONE', 'VALIDATION_ERROR'],
  examples: [{ name: 'A number that moved', body: { phone: '+254711000031', network: '63903' } }],
  handle: async (app, tx, { body }, caller) => {
    const { phone } = body
    const { network, code } = resolveNetwork(phone, body.network)
    const row = await one(tx.query(putPorted, { phone, network, mccMnc: code, at: new Date(caller.receivedMs) }))
    await record(tx, caller, 'sms.port_number', `phone:${phone}`, { after: { network } })
    await app.signals.send(tx, 'sms', portedTopic)
    return recordOf(row)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/operator/sms/ported-numbers/:phone',
  operation: 'operator.getPortedSmsNumber',
  summary: 'Read where a number moved to',
  scope: 'operator',
  params: PhoneParam,
  reply: { status: 200, schema: PortedRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => {
    const row = await maybe(app.db.query(findPorted, { phones: [params.phone] }))
    if (!row) throw notPorted()
    return recordOf(row)
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/operator/sms/ported-numbers/:phone',
  operation: 'operator.unportSmsNumber',
  summary: 'Note that a number is back with the network of its range',
  scope: 'operator',
  params: PhoneParam,
  reply: { status: 200, schema: PortedRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const row = await maybe(tx.query(removePorted, { phone: params.phone }))
    if (!row) throw notPorted()
    await record(tx, caller, 'sms.unport_number', `phone:${params.phone}`, { before: { network: row.network } })
    await app.signals.send(tx, 'sms', portedTopic)
    return recordOf(row)
  },
})

function recordOf({ phone, network, mcc_mnc, updated_at }: PortedRow) {
  return { phone, network, mcc_mnc, original_network: placeOf(phone).network, updated_at }
}

function notPorted(): AppError {
  return new AppError('NOT_FOUND', 'this number is not known to have moved')
}

export const portedNumberRoutes: readonly Route[] = [put, get, remove]
