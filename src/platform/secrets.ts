// SPDX-License-Identifier: Apache-2.0
// Envelope encryption. Each account has its own data keys, wrapped under the installation's root key, which is never in
// the database: a stolen database reveals nothing, and deleting an account's data keys destroys its secrets. A sealed
// value is bound to its account and place, so it cannot be moved to another row.

import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { buckets, nilUuid } from '../kernel/ids.ts'
import { firstBy } from './db/merging.ts'
import { type Database, statement } from './db.ts'
import type { RootKey, RootKeys } from './secrets/root-keys.ts'
import {
  dataKeyHeader,
  dataKeyIdOf,
  decrypt,
  encrypt,
  keyBytes,
  rootKeyHeader,
  rootKeyIdOf,
} from './secrets/sealing.ts'
import type { Tenant } from './tenant.ts'

/** Owner of a data key; the environments of an account share it. */
export type Owner = Pick<Tenant, 'bucket' | 'account'>

/** A value was sealed under a root key this process lacks. */
export class UnknownRootKeyError extends Error {
  readonly keyId: string

  constructor(keyId: string) {
    super(`this was sealed under the root key ${keyId}, which is not among those of this installation`)
    this.keyId = keyId
  }
}

const maxRemembered = 10_000
/** Cache time of data keys; other nodes may seal under a replaced key, or know a deleted one, for so long. */
const rememberedForMs = 300_000
const maxDataKeyId = 32_767
const rewrapPage = 500

const findDataKeys = statement.tenant<Owner, { id: number; wrapped: Buffer }>(
  'platform.find_data_keys',
  `select id, wrapped from platform.data_keys where bucket = $bucket and account_id = $account`,
)

/** Adds a data key; when two nodes create the same one at once, the first one's stays. */
const addDataKey = statement.tenant<Owner & { id: number; rootKey: string; wrapped: Buffer }, object>(
  'platform.add_data_key',
  `insert into platform.data_keys (bucket, account_id, id, root_key, wrapped)
   values ($bucket, $account, $id, $rootKey, $wrapped)
   on conflict (bucket, account_id, id) do nothing`,
)

const findDataKeysToRewrap = statement.everywhere<
  { buckets: readonly number[]; rootKey: string; bucket: number; account: string; id: number; limit: number },
  { bucket: number; account_id: string; id: number; wrapped: Buffer }
>(
  'platform.find_data_keys_to_rewrap',
  `select bucket, account_id, id, wrapped from platform.data_keys
    where bucket = any($buckets::smallint[]) and root_key <> $rootKey
      and (bucket, account_id, id) > ($bucket::smallint, $account::uuid, $id::smallint)
    order by bucket, account_id, id limit $limit::int`,
  {
    merge: firstBy(
      ({ bucket, account_id, id }) => `${String(bucket).padStart(3, '0')} ${account_id} ${String(id).padStart(5, '0')}`,
      ({ limit }) => limit,
    ),
  },
)

const rewrapDataKey = statement.tenant<
  Owner & { id: number; rootKey: string; before: Buffer; wrapped: Buffer },
  { id: number }
>(
  'platform.rewrap_data_key',
  `update platform.data_keys set root_key = $rootKey, wrapped = $wrapped
    where bucket = $bucket and account_id = $account and id = $id and wrapped = $before
   returning id`,
)

const findSealedSigningKeys = statement.home<Record<never, never>, { id: string; sealed: Buffer }>(
  'platform.find_sealed_signing_keys',
  `select id, sealed from platform.signing_keys`,
)

const resealSigningKey = statement.home<{ id: string; before: Buffer; sealed: Buffer }, { id: string }>(
  'platform.reseal_signing_key',
  `update platform.signing_keys set sealed = $sealed where id = $id and sealed = $before returning id`,
)

const findInstallKey = statement.home<{ name: string }, { sealed: Buffer }>(
  'platform.find_install_key',
  `select sealed from platform.install_keys where name = $name`,
)

const addInstallKey = statement.home<{ name: string; sealed: Buffer }, object>(
  'platform.add_install_key',
  `insert into platform.install_keys (name, sealed) values ($name, $sealed) on conflict do nothing`,
)

const resealInstallKey = statement.home<{ name: string; before: Buffer; sealed: Buffer }, object>(
  'platform.reseal_install_key',
  `update platform.install_keys set sealed = $sealed where name = $name and sealed = $before`,
)

/** Key of all fingerprints. */
const fingerprintKey = { name: 'fingerprint', place: 'platform.install_keys.sealed:fingerprint' }

export class Secrets {
  #fingerprintKey: KeyObject | null = null
  readonly #db: Database
  readonly #active: RootKey
  readonly #roots: ReadonlyMap<string, KeyObject>
  /** Cache of keyrings, most recently used last. */
  readonly #remembered = new Map<string, Keyring>()
  readonly #loading = new Map<string, Promise<Keyring | null>>()

  constructor(db: Database, roots: RootKeys) {
    this.#db = db
    this.#active = roots.active
    this.#roots = new Map([roots.active, ...roots.others].map(({ id, key }) => [id, key]))
  }

  /** Loads or creates the fingerprint key. */
  async start(): Promise<void> {
    const { name, place } = fingerprintKey
    const sealed = this.sealForInstallation(place, randomBytes(keyBytes))
    await this.#db.query(addInstallKey, { name, sealed })
    const [row] = await this.#db.query(findInstallKey, { name })
    if (row) this.#fingerprintKey = createSecretKey(this.openForInstallation(place, row.sealed))
  }

  /** Keyed hash of a value that must not be stored: equal for equal values, meaningless without the key. */
  fingerprint(use: string, value: string): Buffer {
    if (!this.#fingerprintKey) throw new Error('the key of fingerprints was not read')
    // One `update` call: each takes a third of the total time, on every request.
    return createHmac('sha256', this.#fingerprintKey).update(`${use}\n${value}`).digest()
  }

  /** Encrypts a value of an account. `place` is where it will be stored, as `schema.table.column:row`. */
  async seal(owner: Owner, place: string, plaintext: Buffer | string): Promise<Buffer> {
    const ring = (await this.#keyring(owner)) ?? (await this.#firstKeyring(owner))
    const key = this.#dataKey(owner, ring, ring.activeId)
    return encrypt(key, dataKeyHeader(ring.activeId), owner.account, place, plaintext)
  }

  /** Decrypts a value sealed for this account and place; throws for any other, and for a changed one. */
  async open(owner: Owner, place: string, sealed: Buffer): Promise<Buffer> {
    const id = dataKeyIdOf(sealed)
    let ring = await this.#keyring(owner)
    // Another node may have created a new key meanwhile.
    if (!ring?.wrapped.has(id)) ring = await this.#read(owner)
    if (!ring?.wrapped.has(id)) throw new Error('the account has no key with the number that the sealed value names')
    return decrypt(this.#dataKey(owner, ring, id), owner.account, place, sealed)
  }

  /** Encrypts an installation's value directly under the active root key. */
  sealForInstallation(place: string, plaintext: Buffer | string): Buffer {
    return this.#sealUnderRoot(noAccount, place, plaintext)
  }

  openForInstallation(place: string, sealed: Buffer): Buffer {
    return this.#openUnderRoot(noAccount, place, sealed)
  }

  /** Re-wrap everything under the active root key, after a rotation. */
  async rewrap(): Promise<{ dataKeys: number; signingKeys: number }> {
    await this.#resealFingerprintKey()
    return { dataKeys: await this.#rewrapDataKeys(), signingKeys: await this.#resealSigningKeys() }
  }

  /**
   * Creates a new data key for an account; older ones only decrypt. No command uses this yet: no account comes near the
   * number of values one key may seal.
   */
  async rotateDataKey(owner: Owner): Promise<void> {
    const ring = await this.#read(owner)
    await this.#addDataKey(owner, (ring?.activeId ?? 0) + 1)
    await this.#read(owner)
  }

  async #keyring(owner: Owner): Promise<Keyring | null> {
    const known = this.#remembered.get(owner.account)
    if (known && known.untilMs > performance.now()) {
      this.#remembered.delete(owner.account)
      this.#remembered.set(owner.account, known)
      return known
    }
    const loading =
      this.#loading.get(owner.account) ?? this.#read(owner).finally(() => this.#loading.delete(owner.account))
    this.#loading.set(owner.account, loading)
    return loading
  }

  async #firstKeyring(owner: Owner): Promise<Keyring> {
    await this.#addDataKey(owner, 1)
    const ring = await this.#read(owner)
    if (!ring) throw new Error('the data key of an account was deleted while it was made')
    return ring
  }

  async #addDataKey({ bucket, account }: Owner, id: number): Promise<void> {
    if (id > maxDataKeyId) throw new Error(`an account cannot have more than ${maxDataKeyId} data keys`)
    const wrapped = this.#sealUnderRoot(account, dataKeyPlace(id), randomBytes(keyBytes))
    await this.#db.queryBeside(addDataKey, { bucket, account, id, rootKey: this.#active.id, wrapped })
  }

  async #read({ bucket, account }: Owner): Promise<Keyring | null> {
    const rows = await this.#db.queryBeside(findDataKeys, { bucket, account })
    if (rows.length === 0) return null
    const ring: Keyring = {
      activeId: Math.max(...rows.map(({ id }) => id)),
      wrapped: new Map(rows.map(({ id, wrapped }) => [id, wrapped])),
      unwrapped: new Map(),
      untilMs: performance.now() + rememberedForMs,
    }
    this.#remember(account, ring)
    return ring
  }

  #remember(account: string, ring: Keyring): void {
    const known = this.#remembered.get(account)
    // A slow read must not restore a key that a later one saw replaced.
    if (known && known.untilMs > performance.now() && known.activeId > ring.activeId) return
    this.#remembered.delete(account)
    this.#remembered.set(account, ring)
    if (this.#remembered.size <= maxRemembered) return
    for (const oldest of this.#remembered.keys()) return void this.#remembered.delete(oldest)
  }

  /** Unwrapped on use, so that an old key under a lost root key does not affect the others. */
  #dataKey({ account }: Owner, ring: Keyring, id: number): KeyObject {
    const known = ring.unwrapped.get(id)
    if (known) return known
    const wrapped = ring.wrapped.get(id)
    if (!wrapped) throw new Error('a keyring lacks its own key')
    const key = createSecretKey(this.#openUnderRoot(account, dataKeyPlace(id), wrapped))
    ring.unwrapped.set(id, key)
    return key
  }

  #sealUnderRoot(account: string, place: string, plaintext: Buffer | string): Buffer {
    return encrypt(this.#active.key, rootKeyHeader(this.#active.id), account, place, plaintext)
  }

  #openUnderRoot(account: string, place: string, sealed: Buffer): Buffer {
    const id = rootKeyIdOf(sealed)
    const root = this.#roots.get(id)
    if (!root) throw new UnknownRootKeyError(id)
    return decrypt(root, account, place, sealed)
  }

  async #rewrapDataKeys(): Promise<number> {
    const rootKey = this.#active.id
    let count = 0
    let after = { bucket: -1, account: nilUuid, id: 0 }
    for (;;) {
      const rows = await this.#db.query(findDataKeysToRewrap, {
        buckets,
        rootKey,
        ...after,
        limit: rewrapPage,
      })
      for (const { bucket, account_id: account, id, wrapped: before } of rows) {
        const place = dataKeyPlace(id)
        const wrapped = this.#sealUnderRoot(account, place, this.#openUnderRoot(account, place, before))
        count += (await this.#db.query(rewrapDataKey, { bucket, account, id, rootKey, before, wrapped })).length
        after = { bucket, account, id }
      }
      if (rows.length < rewrapPage) return count
    }
  }

  async #resealFingerprintKey(): Promise<void> {
    const { name, place } = fingerprintKey
    for (const { sealed: before } of await this.#db.query(findInstallKey, { name })) {
      const sealed = this.sealForInstallation(place, this.openForInstallation(place, before))
      await this.#db.query(resealInstallKey, { name, before, sealed })
    }
  }

  async #resealSigningKeys(): Promise<number> {
    let count = 0
    for (const { id, sealed: before } of await this.#db.query(findSealedSigningKeys, {})) {
      if (rootKeyIdOf(before) === this.#active.id) continue
      const place = signingKeyPlace(id)
      const sealed = this.sealForInstallation(place, this.openForInstallation(place, before))
      count += (await this.#db.query(resealSigningKey, { id, before, sealed })).length
    }
    return count
  }
}

/** Data keys of one account. The highest number seals. */
interface Keyring {
  readonly activeId: number
  readonly wrapped: ReadonlyMap<number, Buffer>
  readonly unwrapped: Map<number, KeyObject>
  readonly untilMs: number
}

/** Place of a token signing key's private half. */
export function signingKeyPlace(kid: string): string {
  return `platform.signing_keys.sealed:${kid}`
}

function dataKeyPlace(id: number): string {
  return `platform.data_keys.wrapped:${id}`
}

const noAccount = ''
