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
  /** Owners of the addresses of the rows, as they are now. */
  readonly owners: Owners
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
    })
  | { readonly problem: RowProblem }

/**
 * Imports rows in a transaction in which nobody else changes customers of the account. `owners` are those that were looked up before it,
 * null for none: who owns an address is read again where it turns out to have changed. It fails with a unique violation where an address
 * is owned of which they do not tell.
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
  const counted = { created: 0, updated: 0, unchanged: 0 }
  const unchanged: string[] = []
  const problems: RowProblem[] = []
  // The database writes some while others are applied; nothing is written any more when this is left.
  let writing: Promise<void> = Promise.resolve()
  const { wishes } = people
  let known: ReadonlyMap<string, string> | null = null
  try {
    for (let at = 0; at < rows.length; at += appliedAtOnce) {
      for (const row of rows.slice(at, at + appliedAtOnce)) {
        const done = people.apply(row)
        if ('problem' in done) problems.push(done.problem)
        else if (done.outcome === 'unchanged') unchanged.push(done.draft.id)
        else counted[done.outcome]++
      }
      if ((at + appliedAtOnce) % writtenAtOnce === 0 || at + appliedAtOnce >= rows.length) {
        const created = people.takeCreated()
        writing = writing.then(() => people.create(tx, created))
        // Told by whoever waits for it.
        writing.catch(() => undefined)
      }
      await nextTurn()
    }
    if (wishes.length > 0) known = await knownConsents(app, caller, wishes)
  } finally {
    await writing
  }
  await people.change(tx)
  const { changed: consenting, withdrawn } =
    known === null ? { changed: new Set<string>(), withdrawn: 0 } : await importConsents(app, tx, caller, wishes, known)
  for (const id of unchanged) counted[consenting.has(id) ? 'updated' : 'unchanged']++
  return { ...counted, withdrawn, problems, owners: people.owners }
}

/** Customers by their numbers, addresses and external ids. */
export class Owners {
  readonly #externals = new Map<string, string>()
  /** Numbers and addresses: no text is both. */
  readonly #addresses = new Map<string, string>()

  get(kind: AddressKind, address: string): string | undefined {
    return kind === 'external' ? this.#externals.get(address) : this.#addresses.get(address)
  }

  set(kind: AddressKind, address: string, customer: string): void {
    if (kind === 'external') this.#externals.set(address, customer)
    else this.#addresses.set(address, customer)
  }

  get isEmpty(): boolean {
    return this.#externals.size === 0 && this.#addresses.size === 0
  }

  ids(): Set<string> {
    return new Set([...this.#externals.values(), ...this.#addresses.values()])
  }
}

/** Adds those of other owners whose addresses rows name. */
export function addOwners(owners: Owners, rows: readonly Row[], others: Owners): void {
  eachNamed(rows, (kind, address) => {
    const owner = others.get(kind, address)
    if (owner !== undefined) owners.set(kind, address, owner)
  })
}

/** Looks up whose the addresses of rows are. */
export async function ownersOf(queryable: Queryable, { tenant }: Caller, rows: readonly Row[]): Promise<Owners> {
  const [kinds, addresses]: [string[], string[]] = [[], []]
  eachNamed(rows, (kind, address) => {
    kinds.push(kind)
    addresses.push(address)
  })
  const owners = new Owners()
  if (kinds.length === 0) return owners
  for (const { kind, address, customer_id } of await queryable.query(findOwners, { ...tenant, kinds, addresses }))
    owners.set(kind, address, customer_id)
  return owners
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

/** Customers that the rows of a batch are about. */
class People {
  readonly #caller: Caller
  readonly owners: Owners
  /** Consents of the rows. */
  readonly wishes: ImportedWish[] = []
  /** Addresses of persons who were erased. */
  readonly #erased = new Set<string>()
  readonly #drafts = new Map<string, Draft>()
  /** Addresses that were given to customers since they were taken to be written. */
  readonly #claims: Readonly<Record<AddressKind, string[]>> = { external: [], email: [], phone: [] }
  readonly #created: Draft[] = []

  private constructor(caller: Caller, owners: Owners) {
    this.#caller = caller
    this.owners = owners
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
    for (const { kind, address } of await erasedAmong(app, queryable, tenant, () => people.#freeOf(rows)))
      people.#erased.add(`${kind} ${address}`)
    const ids = [...people.owners.ids()]
    if (ids.length > 0)
      for (const row of await queryable.query(find, { ...tenant, ids }))
        people.#drafts.set(row.id, { id: row.id, isNew: false, isChanged: false, fields: row })
    return people
  }

  /** Addresses of rows that nobody is known to have. */
  #freeOf(rows: readonly Row[]): { kind: AddressKind; address: string }[] {
    const free: { kind: AddressKind; address: string }[] = []
    eachNamed(rows, (kind, address) => {
      if (this.owners.get(kind, address) === undefined) free.push({ kind, address })
    })
    return free
  }

  /**
   * Whether the addresses are still those of their owners. One that got an owner meanwhile fails to be claimed, unless it is of somebody
   * who was erased.
   */
  isCurrent(rows: readonly Row[]): boolean {
    let isCurrent = this.#erased.size === 0
    eachNamed(rows, (kind, address) => {
      const owner = this.owners.get(kind, address)
      if (owner === undefined || !isCurrent) return
      const fields = this.#drafts.get(owner)?.fields
      isCurrent =
        kind === 'external'
          ? fields?.external_id === address
          : (kind === 'phone' ? fields?.phones : fields?.emails)?.includes(address) === true
    })
    return isCurrent
  }

  /** Applies a row, if there is nothing wrong with it. */
  apply(row: Row): Done {
    if ('problem' in row) return row
    try {
      const { draft, outcome } = this.#take(row.input)
      return { draft, outcome, fields: draft.fields }
    } catch (error) {
      return { problem: problemOf(row.line, error, error instanceof Taker ? error.customer : null) }
    }
  }

  /** Throws CUSTOMER_CONFLICT, or what is wrong with what the customer would have then. */
  #take(input: Imported): Applied {
    const known = this.#knownBy(input)
    eachName(input, (kind, address) => {
      const owner = this.owners.get(kind, address)
      if (owner === undefined && this.#erased.has(`${kind} ${address}`)) throw returning(fieldOf[kind])
      if (owner !== undefined && owner !== known?.id) throw new Taker(fieldOf[kind], owner)
    })
    const before = known?.fields ?? nothingKnown
    const fields = withRow(before, input)
    const id = known?.id ?? newUuid(this.#caller.receivedMs)
    if (input.consents) this.wishes.push(...importedWishes(fields, input.consents, id))
    eachName(input, (kind, address) => {
      if (this.owners.get(kind, address) !== undefined) return
      this.owners.set(kind, address, id)
      this.#claims[kind].push(address)
    })
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
    const owner = this.owners.get(kind, address)
    return owner === undefined ? null : (this.#drafts.get(owner) ?? null)
  }

  /** Lines of whom the rows created since this was asked before, for COPY. */
  takeCreated(): Created {
    const { tenant, nowMs } = this.#caller
    const own = `${tenant.bucket}\t${tenant.account}\t${tenant.environment}\t`
    // External ids first, and each kind in the order of its addresses, so that two who take several never wait for each other.
    const addresses = claimOrder.map((kind) => {
      const claims = this.#claims[kind].splice(0).sort()
      const lines = claims.map((address) => `${copyField(address)}\t${this.owners.get(kind, address)}\n`)
      return eachAfter(`${own}${kind}\t`, lines)
    })
    const stamp = new Date(nowMs).toISOString()
    const customers = this.#created.splice(0).map((draft) => {
      draft.isNew = false
      draft.isChanged = false
      return `${createdLine(draft)}\t${stamp}\t${stamp}\n`
    })
    return { addresses: addresses.join(''), customers: eachAfter(own, customers) }
  }

  async create(tx: Tx, { addresses, customers }: Created): Promise<void> {
    const { bucket } = this.#caller.tenant
    if (addresses !== '') await tx.copyIn(bucket, 'customers.addresses', claimedColumns, [addresses])
    if (customers !== '') await tx.copyIn(bucket, 'customers.customers', createdColumns, [customers])
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
  readonly addresses: string
  readonly customers: string
}

const claimOrder: readonly AddressKind[] = ['external', 'email', 'phone']

/** Lines, each after the same beginning. */
function eachAfter(beginning: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : beginning + lines.join(beginning)
}

function createdLine({ id, fields }: Draft): string {
  const { external_id, name, language, country, timezone, phones, emails, attributes, tags } = fields
  const about = `${copyField(external_id)}\t${copyField(name)}\t${copyField(language)}\t${copyField(country)}\t${copyField(timezone)}`
  const [phone, email] = [copyField(phones[0] ?? null), copyField(emails[0] ?? null)]
  const lists = `${copyField(arrayOf(phones))}\t${copyField(arrayOf(emails))}\t${phone}\t${email}`
  return `${id}\t${about}\t${lists}\t${copyField(JSON.stringify(attributes))}\t${copyField(arrayOf(tags))}`
}

/** Tells of each number, address and external id that rows name. */
function eachNamed(rows: readonly Row[], tell: (kind: AddressKind, address: string) => void): void {
  for (const row of rows) if ('input' in row) eachName(row.input, tell)
}

function eachName(
  { external_id, phones, emails }: Pick<Imported, 'external_id' | 'phones' | 'emails'>,
  tell: (kind: AddressKind, address: string) => void,
): void {
  if (external_id) tell('external', external_id)
  if (phones) for (const phone of phones) tell('phone', phone)
  if (emails) for (const email of emails) tell('email', email)
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
  const [only = ''] = list
  if (list.length === 1 && !/["\\]/.test(only)) return `{"${only}"}`
  return `{${list.map((one) => `"${/["\\]/.test(one) ? one.replaceAll(/["\\]/g, '\\$&') : one}"`).join(',')}}`
}
