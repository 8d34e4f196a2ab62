// SPDX-License-Identifier: Apache-2.0
// Verbs of API keys: make, change, rotate, revoke. Every node is told at once, so that a key works from the moment it
// is shown and stops with the reply that says so.
import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { parseMoment } from '../../kernel/time.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import { allows } from '../../platform/auth/scopes.ts'
import {
  type CallbackEvents,
  type Caller,
  type Envelope,
  hashOf,
  isWellFormedKey,
  newKey,
  requireKey,
} from '../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../platform/db.ts'
import type { Environment } from '../../platform/tenant.ts'
import { accessOf, type DoorAccess, type DoorKey, newDoorKey } from './door-key.ts'
import { keyEvents } from './events.ts'
import { type ApiKey, checkedRanges, endWithin, grantable, rangesWithin, requireCovered } from './key.ts'
import { scopesOf } from './roles.ts'
import type { KeyCreate, KeyRotate, KeyUpdate } from './schema.ts'
import {
  countKeys,
  findKey,
  insertKey,
  type KeyRow,
  keyOf,
  lockKey,
  revokeKey,
  revokeKeysOf,
  roleOfMember,
  updateKey,
} from './store.ts'

export type NewApiKey = ApiKey & { key: string; door_access?: DoorAccess }

/** Key for the door that a request names; null for one of the own API. */
export async function prepareKey(
  app: App,
  { door, environment }: Static<typeof KeyCreate>,
  { tenant, receivedMs }: Caller,
): Promise<DoorKey | null> {
  if (door === undefined) return null
  return newDoorKey(app.secrets, { ...tenant, ...(environment ? { environment } : {}) }, door, receivedMs)
}

/** Successor of a key for a door; null of another key. */
export async function prepareRotation(app: App, id: string, { tenant, receivedMs }: Caller): Promise<DoorKey | null> {
  const old = await maybe(app.db.query(findKey, { id: keyUuid(id), account: tenant.account }))
  if (!old?.door) return null
  return newDoorKey(app.secrets, { ...tenant, environment: old.environment }, old.door, receivedMs)
}

export async function createKey(
  app: App,
  tx: Tx,
  input: Static<typeof KeyCreate>,
  caller: Caller,
  doorKey: DoorKey | null,
): Promise<NewApiKey> {
  requireKey(caller)
  const environment = input.environment ?? caller.tenant.environment
  await requireLive(app, tx, environment, caller)
  await requireRoom(tx, caller)
  const made = await storeNewKey(app, tx, {
    account: caller.tenant.account,
    environment,
    name: input.name,
    scopes: grantable(input.scopes, caller.principal.scopes),
    createdBy: caller.actor,
    member: caller.principal.facts.member,
    expiresAt: endWithin(futureMoment(input.expires_at, caller.receivedMs), caller.principal.facts),
    allowedIps: rangesWithin(checkedRanges(input.allowed_ips ?? []), caller.principal.facts),
    rateLimit: caller.principal.facts.rateLimitPerSecond,
    doorKey,
    ...mannersOf(input),
  })
  await record(tx, caller, 'apikey.create', made.id, { after: { name: made.name, environment, scopes: made.scopes } })
  // Callbacks are signed with the newest key of their door.
  if (doorKey) await forget(app, tx, caller.tenant.account)
  return withAccess(app, made, caller, doorKey)
}

/** Keys that work, in both environments. A plan that an operator made has as many as the widest. */
const maxKeys: Readonly<Record<string, number>> = { free: 10, starter: 25, growth: 100 }
const maxKeysOfAll = 500

/** Keys of an account are limited in number: each has its own rate limit, and a lost one has to be found among them. */
async function requireRoom(tx: Tx, { principal: { facts }, receivedMs }: Caller): Promise<void> {
  const ofPlan = Object.hasOwn(maxKeys, facts.plan) ? maxKeys[facts.plan] : undefined
  const most = facts.allowances.api_keys ?? ofPlan ?? maxKeysOfAll
  const { count } = await one(tx.query(countKeys, { account: facts.account, at: new Date(receivedMs) }))
  if (count >= most) throw new AppError('CONFLICT', `the account has ${count} of ${most} keys: revoke an unused one`)
}

/** Test keys lie about in files and laptops. Where there is real money they must not open the way to it. */
async function requireLive({ config }: App, tx: Tx, wanted: Environment, { tenant, principal }: Caller): Promise<void> {
  if (wanted === 'test' || tenant.environment === 'live') return
  // A role may do less in live than in test.
  if (principal.signedInAtMs !== null)
    throw new AppError('FORBIDDEN', 'a session makes live keys in the live environment: Pamoja-Environment: live')
  const { account, member } = principal.facts
  const maker = member === null ? null : await maybe(tx.query(roleOfMember, { account, id: member }))
  if (maker && !allows(new Set(scopesOf(maker.role, 'live')), 'keys:write'))
    throw new AppError('FORBIDDEN', `this key was made by a ${maker.role}, who makes no live keys; neither does it`)
  if (config.NODE_ENV !== 'production') return
  throw new AppError('FORBIDDEN', 'a test key makes no live key: use a live key, or ask the operator for the first one')
}

export async function changeKey(
  app: App,
  tx: Tx,
  id: string,
  input: Static<typeof KeyUpdate>,
  caller: Caller,
): Promise<ApiKey> {
  requireKey(caller)
  const row = await existing(tx, id, caller)
  requireCovered(row.scopes, caller.principal.scopes)
  const before = keyOf(row, caller.receivedMs)
  if (before.status === 'revoked')
    throw new AppError('CONFLICT', 'the key is revoked', { extra: { current_status: 'revoked' } })
  const changed = await one(
    tx.query(updateKey, {
      id: row.id,
      account: caller.tenant.account,
      name: input.name ?? row.name,
      scopes: input.scopes ? grantable(input.scopes, caller.principal.scopes) : row.scopes,
      expiresAt:
        input.expires_at === undefined
          ? row.expires_at
          : endWithin(futureMoment(input.expires_at, caller.receivedMs), caller.principal.facts),
      allowedIps: input.allowed_ips
        ? rangesWithin(checkedRanges(input.allowed_ips), caller.principal.facts)
        : row.allowed_ips,
      rateLimit: row.rate_limit_per_second,
      strict: input.strict ?? row.strict,
      envelope: input.envelope ?? row.envelope,
      callbackEvents: input.callback_events === undefined ? row.callback_events : input.callback_events,
    }),
  )
  const after = keyOf(changed, caller.receivedMs)
  await record(tx, caller, 'apikey.update', after.id, { before: visible(before), after: visible(after) })
  await forget(app, tx, caller.tenant.account)
  return after
}

/** Makes a successor with the same name and scopes; the old key works on for the grace period. */
export async function rotateKey(
  app: App,
  tx: Tx,
  id: string,
  input: Static<typeof KeyRotate>,
  caller: Caller,
  doorKey: DoorKey | null,
): Promise<NewApiKey> {
  requireKey(caller)
  const old = await existing(tx, id, caller)
  const { status } = keyOf(old, caller.receivedMs)
  if (status === 'revoked' || status === 'expired')
    throw new AppError('CONFLICT', `the key is ${status}: make a new one instead`, {
      extra: { current_status: status },
    })
  requireCovered(old.scopes, caller.principal.scopes)
  const graceMs = (input.grace_period ?? 86_400) * 1000
  const end = new Date(Math.min(caller.receivedMs + graceMs, old.expires_at?.getTime() ?? Number.POSITIVE_INFINITY))
  await tx.query(updateKey, {
    id: old.id,
    account: caller.tenant.account,
    name: old.name,
    scopes: old.scopes,
    expiresAt: end,
    allowedIps: old.allowed_ips,
    rateLimit: old.rate_limit_per_second,
    ...mannersOf(old),
  })
  const made = await storeNewKey(app, tx, {
    account: caller.tenant.account,
    environment: old.environment,
    name: old.name,
    scopes: old.scopes,
    createdBy: caller.actor,
    // Whoever rotates a key answers for its successor.
    member: caller.principal.facts.member,
    expiresAt: endWithin(null, caller.principal.facts),
    allowedIps: rangesWithin(old.allowed_ips, caller.principal.facts),
    rotatedFrom: old.id,
    rateLimit: old.rate_limit_per_second,
    doorKey,
    ...mannersOf(old),
  })
  await record(tx, caller, 'apikey.rotate', idOf('apiKey', old.id), { after: { successor: made.id, works_until: end } })
  await forget(app, tx, caller.tenant.account)
  return withAccess(app, made, caller, doorKey)
}

function withAccess({ publicUrl }: App, made: NewApiKey, { tenant }: Caller, doorKey: DoorKey | null): NewApiKey {
  return doorKey ? { ...made, door_access: accessOf(doorKey, tenant.account, publicUrl) } : made
}

export async function deleteKey(app: App, tx: Tx, id: string, caller: Caller): Promise<{ id: string; deleted: true }> {
  const row = await existing(tx, id, caller)
  requireCovered(row.scopes, caller.principal.scopes)
  const revoked = await maybe(
    tx.query(revokeKey, { id: row.id, account: caller.tenant.account, at: new Date(caller.receivedMs) }),
  )
  if (revoked) {
    await tellRevoked(app, tx, row, caller)
    await forget(app, tx, caller.tenant.account)
  }
  return { id: idOf('apiKey', row.id), deleted: true }
}

/** Revokes every key that a member made, or whose keys did: they are known to somebody who is no member any more. */
export async function endKeysOf(app: App, tx: Tx, member: string, caller: Caller): Promise<void> {
  const { account } = caller.tenant
  const rows = await tx.query(revokeKeysOf, { account, member, at: new Date(caller.receivedMs) })
  for (const row of rows) await tellRevoked(app, tx, { ...row, revoked_at: null }, caller)
}

async function tellRevoked(app: App, tx: Tx, row: KeyRow, caller: Caller): Promise<void> {
  const key = keyOf(row, caller.receivedMs)
  await record(tx, caller, 'apikey.revoke', key.id, { before: visible(key) })
  const told = { key_id: key.id, name: key.name, prefix: key.prefix, last4: key.last4 }
  const place = { ...caller, tenant: { ...caller.tenant, environment: row.environment } }
  await app.outbox.emit(tx, keyEvents.revoked, place, key.id, told)
}

export async function getKey(queryable: Queryable, id: string, caller: Caller): Promise<ApiKey> {
  const row = await maybe(queryable.query(findKey, { id: keyUuid(id), account: caller.tenant.account }))
  if (!row || hidden(row, caller)) throw noSuchKey(id)
  return keyOf(row, caller.receivedMs)
}

/** Defaults of a key for the requests that it makes. */
interface Manners {
  strict?: boolean
  envelope?: Envelope
  callback_events?: CallbackEvents | null
}

export interface KeyToStore extends Manners {
  account: string
  environment: Environment
  name: string
  scopes: string[]
  createdBy: string
  /** Member who makes it, or whose key does; none of what the operator or the first start makes. */
  member?: string | null
  expiresAt: Date | null
  allowedIps: string[]
  rotatedFrom?: string
  rateLimit?: number | null
  /** A fixed key, for installations that are set up by script. */
  key?: string
  /** Key for a door, sealed. */
  doorKey?: DoorKey | null
}

/** Stores the hash of a new key and gives the key itself, for the only time. */
export async function storeNewKey(app: Pick<App, 'clock'>, tx: Tx, wanted: KeyToStore): Promise<NewApiKey> {
  const nowMs = app.clock.nowMs()
  const { doorKey = null } = wanted
  const key =
    doorKey?.key ??
    wanted.key ??
    newKey(wanted.scopes.includes('operator') ? 'operator' : wanted.environment, randomBytes)
  if (!isWellFormedKey(key)) throw new AppError('VALIDATION_ERROR', 'the key does not have the form of an API key')
  const row = await one(
    tx.query(insertKey, {
      hash: hashOf(key),
      id: doorKey?.id ?? newUuid(nowMs),
      account: wanted.account,
      environment: wanted.environment,
      name: wanted.name,
      prefix: key.slice(0, 13),
      last4: key.slice(-4),
      scopes: wanted.scopes,
      createdBy: wanted.createdBy,
      member: wanted.member ?? null,
      expiresAt: wanted.expiresAt,
      rotatedFrom: wanted.rotatedFrom ?? null,
      allowedIps: wanted.allowedIps,
      rateLimit: wanted.rateLimit ?? null,
      door: doorKey?.door ?? null,
      sealedKey: doorKey?.sealed ?? null,
      ...mannersOf(wanted),
    }),
  )
  return { ...keyOf(row, nowMs), key }
}

/** Makes every node look the account's keys up anew: this one before it answers, the others as soon as they hear of it. */
export async function forget(app: App, tx: Tx, account: string): Promise<void> {
  tx.afterCommit(() => app.authenticator.forget(account))
  await app.signals.send(tx, 'accounts', account)
}

async function existing(tx: Tx, id: string, caller: Caller): Promise<KeyRow> {
  const row = await maybe(tx.query(lockKey, { id: keyUuid(id), account: caller.tenant.account }))
  if (!row || hidden(row, caller)) throw noSuchKey(id)
  return row
}

/** Test credentials see test things only. A live key of the same account may manage both. */
function hidden(row: KeyRow, caller: Caller): boolean {
  return row.environment !== caller.tenant.environment && caller.tenant.environment === 'test'
}

function keyUuid(id: string): string {
  const uuid = uuidOf('apiKey', id)
  if (uuid === null) throw noSuchKey(id)
  return uuid
}

function noSuchKey(id: string): AppError {
  return new AppError('NOT_FOUND', `there is no key ${id.slice(0, 60)}; key ids begin with key_`)
}

export function futureMoment(text: string | null | undefined, nowMs: number): Date | null {
  if (text === undefined || text === null) return null
  const moment = parseMoment(text)
  if (!moment || moment.getTime() <= nowMs) throw invalid('expires_at', 'must be in the future')
  return moment
}

export function mannersOf({ strict = false, envelope = 'both', callback_events = null }: Manners) {
  return { strict, envelope, callbackEvents: callback_events }
}

function visible({ name, scopes, expires_at, allowed_ips, status, strict, envelope, callback_events }: ApiKey): object {
  return { name, scopes, expires_at, allowed_ips, status, strict, envelope, callback_events }
}
