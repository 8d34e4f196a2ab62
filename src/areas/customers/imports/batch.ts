// SPDX-License-Identifier: Apache-2.0
// A batch of an import: rows find their customers, by external id or else by number or address, and all of them are written together.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Queryable, Tx } from '../../../platform/db.ts'
import { copyField } from '../../../platform/http/request-log.ts'
import { maxAddresses } from '../addresses.ts'
import { changed } from '../attributes.ts'
import { type ImportedWish, importConsents, importedWishes, knownConsents } from '../consents.ts'
import { erasedAmong } from '../erase/erased.ts'
import { type AddressKind, findOwners, findPeople, lockPeople, type Person } from '../store.ts'
import { type Imported, problemOf, type Row, type RowProblem } from './rows.ts'
import { changeMany, claimedColumns, createdColumns } from './store.ts'

const maxTags = 20
/** Rows that are applied before what the database answered has its turn. */
const appliedAtOnce = 50
/** Rows that are written together. */
const writtenAtOnce = 1_000

/** The import went on elsewhere, or an attribute got another type: what was read is to be read again. */
export class Collided extends Error {}

export interface BatchResult {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly withdrawn: number
  readonly problems: readonly RowProblem[]
  /** Owners of the addresses that the rows are the first to have. */
  readonly claimed: Owners
}

type Fields = Omit<Person, 'id' | 'merged_into'>

const nothingKnown: Fields = {
  ...{ external_id: null, name: null, language: null, country: null, timezone: null },
  ...{ phones: [], emails: [], attributes: {}, tags: [] },
}

/** Customer as the rows of a batch leave them. */
interface Draft {
  readonly id: string
  /** Whether it is yet to be written as a new one. */
  isNew: boolean
  isChanged: boolean
  fields: Fields
}

/** Customer and what a row does to them. */
interface Applied {
  readonly draft: Draft
  readonly outcome: 'created' | 'updated' | 'unchanged'
}

type Done =
  | (Applied & {
      /** The customer after the row. */
      readonly fields: Fields
      readonly wishes: readonly ImportedWish[]
    })
  | { readonly problem: RowProblem }

/**
 * Imports rows in a transaction in which nobody else changes customers of the account. `owners` are those that were looked up before it,
 * null for none: who owns an address is read again where it turns out to have changed.
 */
export async function importBatch(
  app: App,
  tx: Tx,
  caller: Caller,
  rows: readonly Row[],
  owners: Owners | null,
): Promise<BatchResult> {
  const looked = owners && (await People.of(app, tx, caller, rows, lockPeople, owners))
  const people = looked?.isCurrent(rows) ? looked : await People.of(app, tx, caller, rows, lockPeople)
  const done: Done[] = []
  // The database writes some while others are applied; nothing is written any more when this is left.
  let writing: Promise<void> = Promise.resolve()
  let wishes: readonly ImportedWish[] = []
  let known: ReadonlyMap<string, string> | null = null
  try {
    while (done.length < rows.length) {
      for (const row of rows.slice(done.length, done.length + appliedAtOnce)) done.push(people.apply(row))
      if (done.length % writtenAtOnce === 0 || done.length === rows.length) {
        const created = people.takeCreated()
        writing = writing.then(() => people.create(tx, created))
        // Told by whoever waits for it.
        writing.catch(() => undefined)
      }
      await nextTurn()
    }
    wishes = done.flatMap((one) => ('wishes' in one ? one.wishes : []))
    if (wishes.length > 0) known = await knownConsents(app, caller, wishes)
  } finally {
    await writing
  }
  await people.change(tx)
  const { changed: consenting, withdrawn } =
    known === null ? { changed: new Set<string>(), withdrawn: 0 } : await importConsents(app, tx, caller, wishes, known)
  const counted = { created: 0, updated: 0, unchanged: 0 }
  for (const one of done)
    if ('outcome' in one)
      counted[one.outcome === 'unchanged' && consenting.has(one.draft.id) ? 'updated' : one.outcome]++
  const problems = done.flatMap((one) => ('problem' in one ? one.problem : []))
  return { ...counted, withdrawn, problems, claimed: people.claimed }
}

/** Owners of addresses by their keys. */
export type Owners = ReadonlyMap<string, string>

/** Those of some owners that rows name. */
export function claimedOf(rows: readonly Row[], claimed: Owners): Owners {
  const found = new Map<string, string>()
  for (const { key } of namedIn(rows)) {
    const owner = claimed.get(key)
    if (owner !== undefined) found.set(key, owner)
  }
  return found
}

/** Looks up whose the addresses of rows are. */
export async function ownersOf(queryable: Queryable, { tenant }: Caller, rows: readonly Row[]): Promise<Owners> {
  const named = namedIn(rows)
  const asked = { kinds: named.map(({ kind }) => kind), addresses: named.map(({ address }) => address) }
  const found = await queryable.query(findOwners, { ...tenant, ...asked })
  return new Map(found.map(({ kind, address, customer_id }) => [keyOf(kind, address), customer_id]))
}

/** What rows would do, consents aside; nothing is written. */
export async function rehearsed(app: App, caller: Caller, rows: readonly Row[]): Promise<Done[]> {
  const people = await People.of(app, app.db, caller, rows, findPeople)
  return rows.map((row) => people.apply(row))
}

/** Refusal of an address that another customer has. */
class Taker extends AppError {
  readonly customer: string

  constructor(field: string, customer: string) {
    const told = `has one that belongs to ${idOf('customer', customer)}`
    super('CUSTOMER_CONFLICT', told, { fields: [{ field, code: 'CUSTOMER_CONFLICT', message: told }] })
    this.customer = customer
  }
}

function returning(field: string): AppError {
  const message = 'has one of a person who was erased'
  return new AppError('CUSTOMER_ERASED', message, { fields: [{ field, code: 'CUSTOMER_ERASED', message }] })
}

const fieldOf = { external: 'external_id', phone: 'phones', email: 'emails' } as const

interface Claim {
  readonly kind: AddressKind
  readonly address: string
  readonly customer: string
}

/** Customers that the rows of a batch are about. */
class People {
  readonly #caller: Caller
  readonly #owners: Map<string, string>
  readonly claimed = new Map<string, string>()
  /** Addresses of persons who were erased. */
  readonly #erased = new Set<string>()
  readonly #drafts = new Map<string, Draft>()
  readonly #claims: Claim[] = []
  readonly #created: Draft[] = []

  private constructor(caller: Caller, owners: Owners) {
    this.#caller = caller
    this.#owners = new Map(owners)
  }

  /** Reads those whom the rows name. */
  static async of(
    app: App,
    queryable: Queryable,
    caller: Caller,
    rows: readonly Row[],
    find: typeof findPeople,
    owners?: Owners,
  ): Promise<People> {
    const { tenant } = caller
    const people = new People(caller, owners ?? (await ownersOf(queryable, caller, rows)))
    const free = namedIn(rows).filter(({ key }) => !people.#owners.has(key))
    for (const { kind, address } of await erasedAmong(app, queryable, tenant, free))
      people.#erased.add(keyOf(kind, address))
    const ids = [...new Set(people.#owners.values())]
    if (ids.length > 0)
      for (const row of await queryable.query(find, { ...tenant, ids }))
        people.#drafts.set(row.id, { id: row.id, isNew: false, isChanged: false, fields: row })
    return people
  }

  /** Whether the addresses are still those of their owners. One that got an owner meanwhile fails to be claimed. */
  isCurrent(rows: readonly Row[]): boolean {
    return namedIn(rows).every(({ kind, address, key }) => {
      const owner = this.#owners.get(key)
      if (owner === undefined) return true
      const fields = this.#drafts.get(owner)?.fields
      if (kind === 'external') return fields?.external_id === address
      return (kind === 'phone' ? fields?.phones : fields?.emails)?.includes(address) === true
    })
  }

  /** Applies a row, if there is nothing wrong with it. */
  apply(row: Row): Done {
    if ('problem' in row) return row
    try {
      const { draft, outcome } = this.#take(row.input)
      const { id, fields } = draft
      return { draft, outcome, fields, wishes: importedWishes(fields, row.input.consents ?? [], id) }
    } catch (error) {
      return { problem: problemOf(row.line, error, error instanceof Taker ? error.customer : null) }
    }
  }

  /** Throws CUSTOMER_CONFLICT, or what is wrong with what the customer would have then. */
  #take(input: Imported): Applied {
    const known = this.#knownBy(input)
    const fresh: Named[] = []
    for (const named of namedBy(input)) {
      const owner = this.#owners.get(named.key)
      if (owner === undefined) {
        if (this.#erased.has(named.key)) throw returning(fieldOf[named.kind])
        fresh.push(named)
      } else if (owner !== known?.id) throw new Taker(fieldOf[named.kind], owner)
    }
    const before = known?.fields ?? nothingKnown
    const fields = withRow(before, input)
    const id = known?.id ?? newUuid(this.#caller.receivedMs)
    for (const named of fresh) {
      this.#owners.set(named.key, id)
      this.claimed.set(named.key, id)
      this.#claims.push({ kind: named.kind, address: named.address, customer: id })
    }
    if (known === null) {
      const draft = { id, isNew: true, isChanged: false, fields }
      this.#drafts.set(id, draft)
      this.#created.push(draft)
      return { draft, outcome: 'created' }
    }
    if (isSame(before, fields)) return { draft: known, outcome: 'unchanged' }
    known.fields = fields
    known.isChanged = !known.isNew
    return { draft: known, outcome: 'updated' }
  }

  /** Customer with the external id, or else with the first number or address that is known. */
  #knownBy({ external_id, phones = [], emails = [] }: Imported): Draft | null {
    const named = external_id ? this.#owned('external', external_id) : null
    if (named) return named
    const kind = phones.some((one) => this.#owned('phone', one) !== null) ? 'phone' : 'email'
    for (const address of kind === 'phone' ? phones : emails) {
      const draft = this.#owned(kind, address)
      if (!draft) continue
      if (external_id && draft.fields.external_id !== null) throw new Taker(fieldOf[kind], draft.id)
      return draft
    }
    return null
  }

  #owned(kind: AddressKind, address: string): Draft | null {
    const owner = this.#owners.get(keyOf(kind, address))
    return owner === undefined ? null : (this.#drafts.get(owner) ?? null)
  }

  /** Lines of whom the rows created since this was asked before, for COPY. */
  takeCreated(): Created {
    const { tenant, nowMs } = this.#caller
    const own = `${tenant.bucket}\t${tenant.account}\t${tenant.environment}`
    const claims = this.#claims.splice(0)
    // External ids first, and each kind in the order of its addresses, so that two who take several never wait for each other.
    const addresses = claimOrder.flatMap((kind) =>
      claims
        .flatMap((one) => (one.kind === kind ? `${copyField(one.address)}\t${one.customer}\n` : []))
        .sort()
        .map((line) => `${own}\t${kind}\t${line}`),
    )
    const stamp = new Date(nowMs).toISOString()
    const customers = this.#created.splice(0).map((draft) => {
      draft.isNew = false
      draft.isChanged = false
      return `${own}\t${createdLine(draft)}\t${stamp}\t${stamp}\n`
    })
    return { addresses, customers }
  }

  async create(tx: Tx, { addresses, customers }: Created): Promise<void> {
    const { bucket } = this.#caller.tenant
    if (addresses.length > 0) await tx.copyIn(bucket, 'customers.addresses', claimedColumns, addresses)
    if (customers.length > 0) await tx.copyIn(bucket, 'customers.customers', createdColumns, customers)
  }

  /** Writes whom the rows changed, after whom they created. */
  async change(tx: Tx): Promise<void> {
    const changed = [...this.#drafts.values()].filter(({ isChanged }) => isChanged)
    const { tenant, nowMs } = this.#caller
    if (changed.length > 0) await tx.query(changeMany, { ...tenant, ...columnsOf(changed), at: new Date(nowMs) })
  }
}

/** Lines of new customers and of their addresses, for COPY. */
interface Created {
  readonly addresses: readonly string[]
  readonly customers: readonly string[]
}

const claimOrder: readonly AddressKind[] = ['external', 'email', 'phone']

function createdLine({ id, fields }: Draft): string {
  const { external_id, name, language, country, timezone, phones, emails, attributes, tags } = fields
  const texts = [external_id, name, language, country, timezone, arrayOf(phones), arrayOf(emails)]
  const rest = [phones[0] ?? null, emails[0] ?? null, JSON.stringify(attributes), arrayOf(tags)]
  return `${id}\t${[...texts, ...rest].map(copyField).join('\t')}`
}

function keyOf(kind: AddressKind, address: string): string {
  return `${kind} ${address}`
}

/** Number, address or external id that a row names, and its key among all of a batch. */
interface Named {
  readonly kind: AddressKind
  readonly address: string
  readonly key: string
}

const namedOf = new WeakMap<Imported, readonly Named[]>()

const namedInRows = new WeakMap<readonly Row[], readonly Named[]>()

function namedIn(rows: readonly Row[]): readonly Named[] {
  const known = namedInRows.get(rows) ?? rows.flatMap((row) => ('input' in row ? namedBy(row.input) : []))
  namedInRows.set(rows, known)
  return known
}

function namedBy(input: Imported): readonly Named[] {
  const known = namedOf.get(input) ?? namesOf(input)
  namedOf.set(input, known)
  return known
}

function namesOf({
  external_id,
  phones = [],
  emails = [],
}: Pick<Imported, 'external_id' | 'phones' | 'emails'>): Named[] {
  const named: Named[] = external_id ? [nameOf('external', external_id)] : []
  for (const phone of phones) named.push(nameOf('phone', phone))
  for (const email of emails) named.push(nameOf('email', email))
  return named
}

function nameOf(kind: AddressKind, address: string): Named {
  return { kind, address, key: keyOf(kind, address) }
}

/** Fields of a customer after a row: what it says, with its numbers, addresses and tags beside those that they have. */
function withRow(before: Fields, input: Imported): Fields {
  const phones = joined(before.phones, input.phones)
  const emails = joined(before.emails, input.emails)
  const tags = joined(before.tags, input.tags)
  requireFew('phones', phones, maxAddresses)
  requireFew('emails', emails, maxAddresses)
  requireFew('tags', tags, maxTags)
  const attributes = changed(before.attributes, input.attributes)
  return {
    external_id: input.external_id ?? before.external_id,
    name: input.name === undefined ? before.name : input.name,
    language: input.language === undefined ? before.language : input.language,
    country: input.country === undefined ? before.country : input.country,
    timezone: input.timezone === undefined ? before.timezone : input.timezone,
    phones,
    emails,
    attributes,
    tags,
  }
}

function requireFew(field: string, list: readonly string[], max: number): void {
  if (list.length > max) throw invalid(field, `must be at most ${max}, including those of the customer`)
}

function joined(own: string[], more: string[] = []): string[] {
  return more.length === 0 ? own : own.length === 0 ? more : [...new Set([...own, ...more])]
}

function isSame(one: Fields, other: Fields): boolean {
  return (
    (['external_id', 'name', 'language', 'country', 'timezone'] as const).every(
      (field) => one[field] === other[field],
    ) &&
    (['phones', 'emails', 'tags'] as const).every((field) => one[field].length === other[field].length) &&
    Object.keys(one.attributes).length === Object.keys(other.attributes).length &&
    Object.entries(other.attributes).every(([name, value]) => one.attributes[name] === value)
  )
}

/** Customers as lists of one length, which statements take; empty for what is not known. */
function columnsOf(drafts: readonly Draft[]) {
  const all = drafts.map(({ fields }) => fields)
  return {
    ids: drafts.map(({ id }) => id),
    externals: all.map(({ external_id }) => external_id ?? ''),
    names: all.map(({ name }) => name ?? ''),
    languages: all.map(({ language }) => language ?? ''),
    countries: all.map(({ country }) => country ?? ''),
    timezones: all.map(({ timezone }) => timezone ?? ''),
    phones: all.map(({ phones }) => arrayOf(phones)),
    emails: all.map(({ emails }) => arrayOf(emails)),
    attributes: all.map(({ attributes }) => JSON.stringify(attributes)),
    tags: all.map(({ tags }) => arrayOf(tags)),
  }
}

/** List as PostgreSQL writes an array. */
function arrayOf(list: readonly string[]): string {
  if (list.length === 0) return '{}'
  return `{${list.map((one) => `"${/["\\]/.test(one) ? one.replaceAll(/["\\]/g, '\\$&') : one}"`).join(',')}}`
}
