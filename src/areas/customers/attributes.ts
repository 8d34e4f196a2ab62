// SPDX-License-Identifier: Apache-2.0
// Attributes of customers. The first value that an account gives an attribute decides its type, for all customers.
import { AppError, invalid } from '../../kernel/errors.ts'
import { parseDay, parseMoment } from '../../kernel/time.ts'
import { one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import type { Attributes, AttributeValue } from './store.ts'

export const attributeTypes = ['text', 'number', 'boolean', 'date'] as const
export type AttributeType = (typeof attributeTypes)[number]

const maxOfCustomer = 50
const maxBytes = 4 * 1_024
/** Characters of the longest number as text. */
const longestNumber = 25
/** Attributes of an account, over all of its customers. */
const maxOfAccount = 500

const typesOf = statement.tenant<Tenant & { names: readonly string[] }, { name: string; type: AttributeType }>(
  'customers.types_of_attributes',
  `select name, type from customers.attributes where ${mine} and name = any($names::text[])`,
)

export const listTypes = statement.tenant<Tenant, { name: string; type: AttributeType }>(
  'customers.list_attributes',
  `select name, type from customers.attributes where ${mine} order by name`,
)

const declareTypes = statement.tenant<
  Tenant & { names: readonly string[]; types: readonly string[] },
  { name: string }
>(
  'customers.declare_attributes',
  `insert into customers.attributes (bucket, account_id, environment, name, type)
   select $bucket::smallint, $account::uuid, $environment::text, n.name, n.type
     from unnest($names::text[], $types::text[]) n(name, type) order by n.name
   on conflict do nothing returning name`,
)

const countTypes = statement.tenant<Tenant, { count: number }>(
  'customers.count_attributes',
  `select count(*)::int as count from customers.attributes where ${mine}`,
)

/** Attributes with changes applied: null takes one away. */
export function changed(
  before: Attributes,
  changes: Readonly<Record<string, AttributeValue | null>> | undefined,
): Attributes {
  if (changes === undefined || Object.keys(changes).length === 0) return before
  const kept: Record<string, AttributeValue> = { ...before }
  for (const [name, value] of Object.entries(changes))
    if (value === null) delete kept[name]
    else kept[name] = value
  if (Object.keys(kept).length > maxOfCustomer)
    throw invalid('attributes', `must be at most ${maxOfCustomer}, including those of the customer`)
  if (bytesAtMost(kept) > maxBytes && Buffer.byteLength(JSON.stringify(kept)) > maxBytes)
    throw invalid('attributes', `must have at most ${maxBytes} bytes as JSON, including those of the customer`)
  return kept
}

/** Bytes that attributes have at most as JSON, in which no letter takes more than six. */
function bytesAtMost(attributes: Attributes): number {
  let letters = 1
  for (const [name, value] of Object.entries(attributes))
    letters += name.length + (typeof value === 'string' ? value.length : longestNumber) + 1
  return letters * 6
}

/** Type that a value has where it is the first of its attribute. */
function typeOf(value: AttributeValue): AttributeType {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  return isDate(value) ? 'date' : 'text'
}

function isDate(text: string): boolean {
  return parseDay(text) !== null || parseMoment(text) !== null
}

/** Whether a value may be given to an attribute of a type: what looks like a date is text too. */
function fits(value: AttributeValue, type: AttributeType): boolean {
  return type === 'text' ? typeof value === 'string' : typeOf(value) === type
}

/** Checks the types of attributes, and decides those of new ones. Throws ATTRIBUTE_TYPE. */
export async function checkTypes(tx: Tx, tenant: Tenant, attributes: Attributes): Promise<void> {
  const names = Object.keys(attributes).sort()
  if (names.length === 0) return
  const known = await tx.query(typesOf, { ...tenant, names })
  const fresh = names.filter((name) => known.every((one) => one.name !== name))
  refuse(attributes, known)
  if (fresh.length === 0) return
  const { count } = await one(tx.query(countTypes, tenant))
  if (count + fresh.length > maxOfAccount)
    throw invalid('attributes', `must not exceed ${maxOfAccount} different ones in the account`)
  const types = fresh.map((name) => typeOf(attributes[name] ?? ''))
  const declared = await tx.query(declareTypes, { ...tenant, names: fresh, types })
  // Another request may have decided some at the same moment.
  if (declared.length < fresh.length) refuse(attributes, await tx.query(typesOf, { ...tenant, names: fresh }))
}

function refuse(attributes: Attributes, known: readonly { name: string; type: AttributeType }[]): void {
  for (const { name, type } of known) {
    const value = attributes[name]
    if (value !== undefined && !fits(value, type)) throw wrongType(name, type)
  }
}

function wrongType(name: string, type: AttributeType): AppError {
  return new AppError('ATTRIBUTE_TYPE', `attributes.${name} must be a ${type}, as its first value was`, {
    fields: [{ field: `attributes.${name}`, code: 'ATTRIBUTE_TYPE', message: `must be a ${type}` }],
  })
}

/** New attributes with their types. */
export type FreshTypes = ReadonlyMap<string, AttributeType>

/** Types of the attributes of an account, for many customers: read once, and new ones declared some at a time. */
export class AttributeTypes {
  readonly #known: Map<string, AttributeType>
  #fresh = new Map<string, AttributeType>()

  private constructor(known: Map<string, AttributeType>) {
    this.#known = known
  }

  static async of(queryable: Queryable, { bucket, account, environment }: Tenant): Promise<AttributeTypes> {
    const rows = await queryable.query(listTypes, { bucket, account, environment })
    return new AttributeTypes(new Map(rows.map(({ name, type }) => [name, type])))
  }

  /** Value that the text of a cell stands for. Throws ATTRIBUTE_TYPE. */
  valueOf(name: string, text: string, wanted: AttributeType | null): AttributeValue {
    const type = this.#known.get(name) ?? wanted
    const number = Number(text)
    const isNumber = Number.isFinite(number)
    if (type === 'text') return text
    if (type === null && isNumber && String(number) === text) return number
    if (type === null && (text === 'true' || text === 'false')) return text === 'true'
    if (type === 'number' && isNumber) return number
    if (type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
    if (type === 'number' || type === 'boolean' || (type === 'date' && !isDate(text))) throw wrongType(name, type)
    return text
  }

  /** Checks values, and decides the types of new attributes. Throws ATTRIBUTE_TYPE. */
  check(attributes: Readonly<Record<string, AttributeValue | null>>, wanted: ReadonlyMap<string, AttributeType>): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) continue
      const type = this.#known.get(name)
      if (type !== undefined && !fits(value, type)) throw wrongType(name, type)
      if (type !== undefined) continue
      if (this.#known.size >= maxOfAccount)
        throw invalid('attributes', `must not exceed ${maxOfAccount} different ones in the account`)
      const decided = wanted.get(name) ?? typeOf(value)
      this.#known.set(name, decided)
      this.#fresh.set(name, decided)
    }
  }

  /** The new ones since this was asked before. */
  takeFresh(): FreshTypes {
    const fresh = this.#fresh
    this.#fresh = new Map()
    return fresh
  }
}

/** Declares new attributes; false when another request gave one of them another type at the same moment. */
export async function declareFresh(tx: Tx, tenant: Tenant, fresh: FreshTypes): Promise<boolean> {
  if (fresh.size === 0) return true
  const names = [...fresh.keys()]
  await tx.query(declareTypes, { ...tenant, names, types: [...fresh.values()] })
  const declared = await tx.query(typesOf, { ...tenant, names })
  return declared.every(({ name, type }) => fresh.get(name) === type)
}
