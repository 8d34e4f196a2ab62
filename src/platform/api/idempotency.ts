// SPDX-License-Identifier: Apache-2.0
// Idempotency keys. A request with an Idempotency-Key is executed once; a repeat gets the first reply, byte for byte.
// Key and effects commit together, so a crash leaves both or neither.
import { hash } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { type RowIn, rowType } from '../commit/row-encoding.ts'
import { type Database, maybe, type Queryable, statement } from '../db.ts'
import type { Secrets } from '../secrets.ts'
import { mine, type Tenant } from '../tenant.ts'

/** Timeout after which a running request counts as lost with its node, and the key is free again. */
const runningSeconds = 60

export interface Answer {
  status: number
  location: string | null
  body: string
  /** Plain text, where other replies of the route are JSON. */
  isText?: boolean
}

/** Key row for platform.claim_keys, with the reply stored under it. */
export const keyRow = rowType('platform.idempotency_item', {
  bucket: 'smallint',
  account_id: 'uuid',
  environment: 'text',
  key: 'text',
  request_hash: 'text',
  status: 'smallint',
  body: 'text',
})

interface KeyItem extends RowIn<typeof keyRow> {
  status: number
  body: string
}

/** Idempotency key in a group commit: stored with the effects and the reply. */
export interface Keyed {
  /** Key and hash, for a handler that uses a plain transaction after all; null without a key. */
  readonly request: { readonly key: string; readonly hash: string } | null
  /** Cell for `platform.claim_keys`: `key: keyRow`. Null without a key. */
  row(reply: unknown): KeyItem | null

  /** Passes the result of claim_keys: a used key ends the request, with the first reply or an error. */
  settle(seen: string | null): void
}

/** Thrown by `Keyed.settle` for a used key: the stored reply is replayed, if the request is the same. */
export class AnsweredBefore extends Error {}

/** Key in use or used for another request. Never stored as a reply. */
export class KeyConflict extends AppError {}

interface Row {
  request_hash: string
  status: number | null
  location: string | null
  body: string | null
  sealed: boolean
  running: boolean
}

type KeyParameters = Tenant & { readonly key: string }

/** A request's claim to its key; equal requests have equal hashes. */
export type Claim = KeyParameters & { readonly hash: string }

type StoredAnswer = Claim & { status: number; location: string | null; body: string; sealed: boolean }

const find = statement.tenant<KeyParameters, Row>(
  'platform.find_idempotency',
  `select request_hash, status, location, body, sealed, coalesce(running_until > now(), false) as running
     from platform.idempotency
    where ${mine} and key = $key`,
)

/** Takes a key that is new, or whose request timed out. */
const take = statement.tenant<Claim & { seconds: number }, { key: string }>(
  'platform.claim_idempotency',
  `insert into platform.idempotency as i (bucket, account_id, environment, key, request_hash, running_until)
   values ($bucket, $account, $environment, $key, $hash, now() + $seconds::int * interval '1 second')
   on conflict (bucket, account_id, environment, key) do update
     set request_hash = excluded.request_hash, running_until = excluded.running_until
     where i.status is null and i.running_until < now()
   returning key`,
)

/** Stores the reply; a key taken over and finished by another node keeps its first reply. */
const finish = statement.tenant<StoredAnswer, { key: string }>(
  'platform.finish_idempotency',
  `insert into platform.idempotency as i (bucket, account_id, environment, key, request_hash, status, location, body, sealed)
   values ($bucket, $account, $environment, $key, $hash, $status, $location, $body, $sealed)
   on conflict (bucket, account_id, environment, key) do update
     set status = excluded.status, location = excluded.location, body = excluded.body, sealed = excluded.sealed,
         running_until = null
     where i.status is null and i.request_hash = excluded.request_hash
   returning key`,
)

/** Marks a reply as preliminary: until it is settled or times out, repeats are refused. */
const keepRunning = statement.tenant<KeyParameters & { seconds: number }, object>(
  'platform.keep_idempotency_running',
  `update platform.idempotency set running_until = now() + $seconds::int * interval '1 second'
    where ${mine} and key = $key`,
)

const amend = statement.tenant<StoredAnswer, object>(
  'platform.amend_idempotency',
  `update platform.idempotency
      set status = $status, location = $location, body = $body, sealed = $sealed, running_until = null
    where ${mine} and key = $key
      and request_hash = $hash and running_until is not null`,
)

const settle = statement.tenant<KeyParameters, object>(
  'platform.settle_idempotency',
  `update platform.idempotency set running_until = null
    where ${mine} and key = $key`,
)

const release = statement.tenant<KeyParameters, object>(
  'platform.release_idempotency',
  `delete from platform.idempotency
    where ${mine} and key = $key`,
)

const free = statement.tenant<KeyParameters, object>(
  'platform.free_idempotency',
  `delete from platform.idempotency
    where ${mine} and key = $key and status is null`,
)

export class Idempotency {
  readonly #db: Database
  readonly #secrets: Secrets
  #hashKey: string | null = null
  /** Keys with a group commit in progress on this node. */
  readonly #running = new Set<string>()

  constructor(db: Database, secrets: Secrets) {
    this.#db = db
    this.#secrets = secrets
  }

  /**
   * Request hash over method, path without /api and trailing slash, and raw body. A body may contain a card number,
   * which an unkeyed hash would expose to brute force. The secret goes first: hashes are never taken from outside, so
   * this is as safe as an HMAC and takes a third of the time.
   */
  hashOf(method: string, path: string, body: string): string {
    this.#hashKey ??= this.#secrets.fingerprint('platform.idempotency', '').toString('hex')
    const plain = path.replace(/^([^?]*)\/(?=\?|$)/, '$1')
    return hash('sha256', `${this.#hashKey}${method} ${plain}\n${body}`, 'base64')
  }

  /** Claims a key for a plain transaction. Returns the stored reply of the same request. */
  async begin(claim: Claim, secret: boolean): Promise<Answer | null> {
    // Load the sealing key now: inside the transaction that would need a second connection.
    if (secret) await this.#secrets.seal(claim, placeOf(claim), '')
    const taken = await this.#db.query(take, { ...claim, seconds: runningSeconds })
    return taken.length > 0 ? null : this.stored(claim)
  }

  /** Stored reply of a key; throws when the key belongs to another request or one still running. */
  async stored(claim: Claim): Promise<Answer> {
    const row = await maybe(this.#db.query(find, claim))
    if (row && row.request_hash !== claim.hash) throw otherRequest(row)
    if (!row || row.status === null || row.body === null || row.running) throw stillRunning()
    const body = row.sealed
      ? (await this.#secrets.open(claim, placeOf(claim), Buffer.from(row.body, 'base64'))).toString()
      : row.body
    return { status: row.status, location: row.location, body }
  }

  /** Stores the reply in the transaction of the effects. */
  async finish(tx: Queryable, claim: Claim, answer: Answer, secret: boolean): Promise<void> {
    const stored = await tx.query(finish, await this.#storable(claim, answer, secret))
    // Timed out and taken over by another node: roll back, so that exactly one execution remains.
    if (stored.length === 0) throw stillRunning()
  }

  /** Stores a preliminary reply; until it is settled, the request counts as running. */
  async finishForNow(tx: Queryable, claim: Claim, answer: Answer, secret: boolean): Promise<void> {
    await this.finish(tx, claim, answer, secret)
    await tx.query(keepRunning, { ...claim, seconds: runningSeconds })
  }

  /** Replaces a preliminary reply. */
  async amend(claim: Claim, answer: Answer, secret: boolean): Promise<void> {
    await this.#db.query(amend, await this.#storable(claim, answer, secret))
  }

  async #storable(claim: Claim, answer: Answer, secret: boolean): Promise<StoredAnswer> {
    const body = secret
      ? (await this.#secrets.seal(claim, placeOf(claim), answer.body)).toString('base64')
      : answer.body
    return { ...claim, ...answer, body, sealed: secret }
  }

  /** Makes the preliminary reply final. */
  async settle(claim: Claim): Promise<void> {
    await this.#db.query(settle, claim)
  }

  /** Deletes a key and its preliminary reply. */
  async release(claim: Claim): Promise<void> {
    await this.#db.query(release, claim)
  }

  async free(claim: Claim): Promise<void> {
    await this.#db.query(free, claim)
  }

  /** Reserves a key for a group commit of this node: a batch cannot contain it twice. */
  enter({ account, environment, key }: Claim): () => void {
    const name = `${account} ${environment} ${key}`
    if (this.#running.has(name)) throw stillRunning()
    this.#running.add(name)
    return () => this.#running.delete(name)
  }
}

/** Keyed object for a group commit. */
export function keyed(claim: Claim | null, status: number, body: (reply: unknown) => string): Keyed {
  return {
    request: claim && { key: claim.key, hash: claim.hash },
    row(reply) {
      if (claim === null) return null
      const { bucket, account, environment, key, hash } = claim
      return { bucket, account_id: account, environment, key, request_hash: hash, status, body: body(reply) }
    },
    settle(seen) {
      if (seen !== null) throw new AnsweredBefore()
    },
  }
}

const keyForm = /^[\x21-\x7e]{1,255}$/

/** Idempotency key of a request: from the header or the body's `idempotency_key`. */
export function keyOf(header: string | string[] | undefined, body: unknown): string | null {
  const given =
    header ??
    (typeof body === 'object' && body !== null && 'idempotency_key' in body ? body.idempotency_key : undefined)
  if (given === undefined || given === null) return null
  if (typeof given !== 'string' || !keyForm.test(given))
    throw new AppError('INVALID_REQUEST', 'an idempotency key is 1 to 255 visible ASCII characters')
  return given
}

function placeOf({ key }: Claim): string {
  return `platform.idempotency.body:${key}`
}

function otherRequest(first: Row): AppError {
  const id = madeBy(first)
  return new KeyConflict('DUPLICATE_REFERENCE', 'this idempotency key was used before with a different request', {
    extra: id === undefined ? {} : { existing_id: id },
  })
}

/** Id of what a request created: from its Location header, else the first id in the reply. */
function madeBy({ status, location, body, sealed }: Row): string | undefined {
  if (status === null || status >= 300) return undefined
  if (location !== null) return location.slice(location.lastIndexOf('/') + 1)
  return sealed ? undefined : /"\w+_id":"([^"]+)"/.exec(body ?? '')?.[1]
}

function stillRunning(): AppError {
  return new KeyConflict('REQUEST_IN_PROGRESS', 'the first request with this idempotency key has not finished', {
    retryAfterSeconds: 1,
  })
}
