// SPDX-License-Identifier: Apache-2.0
// Authentication: from the Authorization header to a caller. Keys are looked up by SHA-256 and cached briefly; a signal
// invalidates the cache on every node when an account or key changes, and while the signal connection is down nothing
// is cached. A token is a key with fewer scopes and a short life, and ends with its key. A console session is a member
// in one environment, with the scopes of their role.
import { createHash } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { AppError } from '../kernel/errors.ts'
import { type Id, idOf } from '../kernel/ids.ts'
import { allows } from './auth/scopes.ts'
import { type Tokens, toleranceSeconds } from './auth/tokens.ts'
import type { Clock } from './clock.ts'
import { limitNames } from './limits/plan-limits.ts'
import type { Policy } from './limits/share.ts'
import type { Signals } from './nodes/signals.ts'
import { type Environment, type Tenant, tenantOf } from './tenant.ts'

const knownForMs = 30_000
const refusedForMs = 5_000
const maxKnown = 50_000
const maxRefused = 5_000
const maxSessions = 5_000
/** Default rate limit of a key, per second. */
const keyLimitPerSecond = 100
/** Rate limit of all keys of an account in one environment, per second; a key with its own limit counts alone. */
const accountLimitPerSecond = 500

/** Reply envelopes: fields inside `data`, beside it, or both. */
export const envelopes = ['both', 'flat', 'data'] as const
export type Envelope = (typeof envelopes)[number]

/** Changes of status that a callback URL is told of: each, or the last. */
export const callbackEvents = ['all', 'final'] as const
export type CallbackEvents = (typeof callbackEvents)[number]

export type Allowances = Readonly<Record<string, number>>

/** Key and account data from the accounts area. */
export interface KeyFacts {
  keyUuid: string
  account: string
  bucket: number
  environment: Environment
  /** What it may do: at most what the member who made it may do now. */
  scopes: readonly string[]
  /** Member who made it, or whose key did; null of a key that no member made. */
  member: string | null
  /** The member is disabled or gone, and so is the key. */
  isHeld: boolean
  /** Personal data is masked. */
  masksPeople: boolean
  expiresAt: Date | null
  revokedAt: Date | null
  allowedIps: readonly string[]
  rateLimitPerSecond: number | null
  /** Refuses unknown fields by default. */
  strict: boolean
  /** Default reply envelope. */
  envelope: Envelope
  /** Default of requests: the key's, or else the account's. */
  callbackEvents: CallbackEvents
  plan: string
  planLimits: Readonly<Partial<Record<string, number | null>>>
  /** Limits the operator set for this account in place of its plan's. */
  allowances: Allowances
  currency: string
  country: string
  operator: boolean
  suspended: boolean
  clockOffsetMs: number
}

/** Session of a signed-in member. */
export interface SessionFacts {
  facts: KeyFacts
  actor: string
  signedInAtMs: number
  /** End of the session by inactivity or maximum age. */
  endsAtMs: number
}

export interface CredentialStore {
  findByHash(hash: Buffer): Promise<KeyFacts | null>
  findById(keyUuid: string): Promise<KeyFacts | null>
  /** Account data as its keys have it, without scopes. */
  factsOfAccount(account: string, environment: Environment): Promise<KeyFacts | null>
  /** Newest key of an account for a door. */
  doorKey(tenant: Tenant, door: string): Promise<string | null>
  /** Finds a live session and records its use. */
  findSession(hash: Buffer, environment: Environment): Promise<SessionFacts | null>
  /** Records uses of keys with their IP addresses. */
  used(uses: readonly { keyUuid: string; ip: string }[]): Promise<void>
  /** Records that a key was sent over plain HTTP. */
  exposed(key: KeyFacts, ip: string, requestId: string): Promise<void>
}

/** Principal: created once per key and shared by its requests. */
export interface Principal {
  facts: KeyFacts
  tenant: Tenant
  accountId: Id<'account'>
  keyId: Id<'apiKey'>
  scopes: ReadonlySet<string>
  /** Actor for the audit log: the key, or the token's subject. */
  actor: string
  /** Rate limits of the key and of all keys of its account. */
  keyPolicies: readonly Policy[]
  planPolicies: Readonly<Record<string, Policy>>
  allowedIps: BlockList | null
  expiresAtMs: number
  /** A token made from the key, not the key itself. */
  isToken: boolean
  /** Time of the last password entry; null without a console session. */
  signedInAtMs: number | null
  /** Personal data is masked. */
  masksPeople: boolean
}

/** Caller of one request. */
export interface Caller {
  principal: Principal
  tenant: Tenant
  accountId: Id<'account'>
  actor: string
  ip: string
  requestId: Id<'request'>
  /** Real time of the request, for ids. */
  receivedMs: number
  /** Account time: the sandbox clock in test, real time in live. */
  nowMs: number
}

/** Person behind a request, who may not approve what they asked for: the member, also behind their keys, or a key that no member made. */
export function makerOf({ principal: { facts, keyId } }: Caller): string {
  return facts.member === null ? `key:${keyId}` : `member:${idOf('member', facts.member)}`
}

interface Remembered {
  principal: Principal | null
  refusal: string
  untilMs: number
}

export class Authenticator {
  readonly #store: CredentialStore
  readonly #signals: Signals
  readonly #clock: Clock
  readonly #tokens: Tokens
  readonly #known = new Map<string, Remembered>()
  /** Cache of refusals, kept apart so that trying many keys evicts no valid one. */
  readonly #refused = new Map<string, Remembered>()
  /** Cache of sessions by environment and secret, kept apart so that no Authorization header can name one. */
  readonly #sessions = new Map<string, Remembered>()
  readonly #uses = new Map<string, string>()
  /** Cache generation, raised at each invalidation: results of lookups started before are not cached. */
  #forgotten = 0

  constructor(store: CredentialStore, signals: Signals, clock: Clock, tokens: Tokens) {
    this.#store = store
    this.#signals = signals
    this.#clock = clock
    this.#tokens = tokens
    signals.on('accounts', (account) => this.forget(account))
    signals.onGap(() => {
      this.#forgotten++
      this.#known.clear()
      this.#refused.clear()
      this.#sessions.clear()
    })
  }

  /** Principal of an Authorization header; throws UNAUTHORIZED. Synchronous on a cache hit. */
  authenticate(header: string | undefined, ip: string): Principal | Promise<Principal> {
    if (header === undefined) throw unauthorized('the Authorization header is missing')
    const remembered = this.#known.get(header) ?? this.#refused.get(header)
    if (remembered && remembered.untilMs > this.#clock.nowMs()) return this.#admit(remembered, ip)
    return this.#lookUp(header).then((found) => this.#admit(found, ip))
  }

  /** Principal of a session cookie; throws UNAUTHORIZED. */
  async authenticateSession(token: string, environment: Environment, ip: string): Promise<Principal> {
    const name = `${environment} ${token}`
    const remembered = this.#sessions.get(name)
    if (remembered && remembered.untilMs > this.#clock.nowMs()) return this.#admit(remembered, ip)
    const forgotten = this.#forgotten
    const found = await this.#store.findSession(hashOf(token), environment)
    if (!found) throw unauthorized('the session has ended: sign in again')
    const admission = this.#admission(sessionPrincipal(found))
    if (this.#signals.connected && forgotten === this.#forgotten) keep(this.#sessions, name, admission, maxSessions)
    return this.#admit(admission, ip)
  }

  /** Invalidates the cache of an account. */
  forget(account: string): void {
    this.#forgotten++
    this.#refused.clear()
    for (const among of [this.#known, this.#sessions])
      for (const [credential, { principal }] of among)
        if (principal?.tenant.account === account) among.delete(credential)
  }

  /** Account data as its own keys have it, for operators. */
  factsOfAccount(account: string, environment: Environment): Promise<KeyFacts | null> {
    return this.#store.factsOfAccount(account, environment)
  }

  /** Principal of what an account has going on without a request. */
  async principalOfAccount({ account, environment }: Tenant): Promise<Principal | null> {
    const facts = await this.#store.factsOfAccount(account, environment)
    return facts && principalOf(facts, [], null, Number.POSITIVE_INFINITY)
  }

  /** Newest key that an account made for a door, which signs its callbacks; null when there is none. */
  doorKey(tenant: Tenant, door: string): Promise<string | null> {
    return this.#store.doorKey(tenant, door)
  }

  /** Records that a key was sent over plain HTTP, if it exists. */
  async exposed(hash: Buffer, ip: string, requestId: string): Promise<void> {
    const facts = await this.#store.findByHash(hash)
    if (facts) await this.#store.exposed(facts, ip, requestId)
  }

  /** Stores the key uses since the last time. */
  async noteUses(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = [...this.#uses].map(([keyUuid, ip]) => ({ keyUuid, ip }))
    this.#uses.clear()
    await this.#store.used(uses)
  }

  #admit({ principal, refusal }: Remembered, ip: string): Principal {
    if (principal === null) throw unauthorized(refusal)
    if (principal.expiresAtMs <= this.#clock.nowMs())
      throw unauthorized(`the credential expired on ${new Date(principal.expiresAtMs).toISOString()}`)
    if (principal.allowedIps && !principal.allowedIps.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4'))
      throw new AppError(
        'FORBIDDEN',
        `this key may not be used from the address ${ip}, which is not among its allowed_ips`,
      )
    if (principal.signedInAtMs === null) this.#uses.set(principal.facts.keyUuid, ip)
    return principal
  }

  async #lookUp(header: string): Promise<Remembered> {
    const credential = bearer(header)
    const forgotten = this.#forgotten
    const found = credential.startsWith('pmj_')
      ? await this.#lookUpKey(credential)
      : await this.#lookUpToken(credential)
    if (this.#signals.connected && forgotten === this.#forgotten) this.#remember(header, credential, found)
    return found
  }

  /** Cache a result and evict the oldest. */
  #remember(header: string, credential: string, found: Remembered): void {
    // A header padded with spaces is not cached.
    if (header.length > 'Bearer '.length + credential.length) return
    const [among, most] = found.principal ? [this.#known, maxKnown] : [this.#refused, maxRefused]
    this.#known.delete(header)
    this.#refused.delete(header)
    keep(among, header, found, most)
  }

  /** A malformed key is cheap to refuse and could be anything: it throws and is not cached. */
  async #lookUpKey(key: string): Promise<Remembered> {
    if (!isWellFormedKey(key)) throw unauthorized('the key is malformed: check that it was copied whole')
    const facts = await this.#store.findByHash(hashOf(key))
    if (!facts) return this.#refusal('there is no such key')
    if (facts.revokedAt) return this.#refusal(`the key was revoked on ${facts.revokedAt.toISOString()}`)
    if (facts.isHeld) return this.#refusal(heldKey)
    return this.#admission(principalOf(facts, facts.scopes, null, Number.POSITIVE_INFINITY))
  }

  /** Looks up a token; an invalid one throws and is not cached. */
  async #lookUpToken(token: string): Promise<Remembered> {
    const claims = await this.#tokens.verify(token)
    if (typeof claims === 'string') throw unauthorized(claims)
    const facts = await this.#store.findById(claims.keyUuid)
    if (!facts || facts.revokedAt) return this.#refusal('the key that this token was made with has been revoked')
    if (facts.isHeld) return this.#refusal(heldKey)
    const scopes = claims.scopes.filter((scope) => allows(new Set(facts.scopes), scope))
    return this.#admission(principalOf(facts, scopes, claims.subject, claims.expiresAtMs))
  }

  #admission(principal: Principal): Remembered {
    return { principal, refusal: '', untilMs: this.#clock.nowMs() + knownForMs }
  }

  #refusal(refusal: string): Remembered {
    return { principal: null, refusal, untilMs: this.#clock.nowMs() + refusedForMs }
  }
}

/** Cache as newest and evict the oldest. */
function keep(among: Map<string, Remembered>, name: string, found: Remembered, most: number): void {
  among.delete(name)
  for (const [oldest] of among) {
    if (among.size < most) break
    among.delete(oldest)
  }
  among.set(name, found)
}

/** Requires the key itself for what outlives a token; otherwise a token could renew itself for ever. */
export function requireKey({ principal }: Caller): void {
  if (principal.isToken) throw new AppError('FORBIDDEN', 'this requires an API key; tokens cannot create tokens')
}

/** Requires a key without an end and without bound addresses, to make what has neither: a member, an SMTP user. */
export function requireUnbound(caller: Caller, what: string): void {
  requireKey(caller)
  const { expiresAt, allowedIps } = caller.principal.facts
  if (expiresAt !== null || allowedIps.length > 0)
    throw new AppError(
      'FORBIDDEN',
      `a key that ends, or is bound to addresses, ${what}: that would outlive or outreach it`,
    )
}

/** Requires an API key: tokens are made from one and end with it, so a session makes none. */
export function requireApiKey(caller: Caller): void {
  requireKey(caller)
  if (caller.principal.signedInAtMs !== null)
    throw new AppError('FORBIDDEN', 'this requires an API key; console sessions cannot be used')
}

/**
 * Remaining lifetime of the key, which bounds its tokens. A token that is renewed by a token ends with it, without the clock
 * tolerance, or it could be renewed for ever.
 */
export function secondsOfKey({ principal, receivedMs }: Caller): number {
  const endsMs = principal.expiresAtMs - (principal.isToken ? toleranceSeconds * 1000 : 0)
  if (endsMs - receivedMs < 1000) throw unauthorized('the credential has expired')
  return Math.floor((endsMs - receivedMs) / 1000)
}

export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyForm = /^pmj_(?:test|live|operator)_[0-9A-Za-z]{38}$/

/** Environment word in a key; an operator key is a live key with the operator scope. */
export type KeyWord = Environment | 'operator'

/**
 * Generates a key: 32 random base62 characters (190 bits) and a checksum of 6, so that a mistyped key is refused without
 * a lookup.
 */
export function newKey(word: KeyWord, randomBytes: (size: number) => Buffer): string {
  let body = ''
  while (body.length < 32)
    for (const byte of randomBytes(48)) if (byte < 248 && body.length < 32) body += base62[byte % 62]
  const start = `pmj_${word}_${body}`
  return start + checksum(start)
}

export function isWellFormedKey(key: string): boolean {
  return keyForm.test(key) && checksum(key.slice(0, -6)) === key.slice(-6)
}

/** CRC-32 (IEEE 802.3) as six base62 characters. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let out = ''
  for (let i = 0; i < 6; i++) {
    out = base62[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}

/** Allows list of IP addresses and CIDR ranges; null allows all. */
export function addressList(ranges: readonly string[]): BlockList | null {
  if (ranges.length === 0) return null
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function principalOf(
  facts: KeyFacts,
  scopes: readonly string[],
  subject: string | null,
  tokenExpiresAtMs: number,
): Principal {
  const keyId = idOf('apiKey', facts.keyUuid)
  const planPolicies: Record<string, Policy> = {}
  for (const [area, limit] of planEntries(facts.planLimits))
    planPolicies[area] = {
      name: `plan-${area}`,
      key: `plan:${facts.account}:${facts.environment}:${area}`,
      limit,
      windowMs: 60_000,
      shared: true,
    }
  return {
    facts,
    tenant: tenantOf({ bucket: facts.bucket, account_id: facts.account, environment: facts.environment }),
    accountId: idOf('account', facts.account),
    keyId,
    scopes: new Set(scopes),
    actor: subject ? `token:${subject}` : `key:${keyId}`,
    keyPolicies: keyPoliciesOf(facts),
    planPolicies,
    allowedIps: addressList(facts.allowedIps),
    isToken: tokenExpiresAtMs !== Number.POSITIVE_INFINITY,
    signedInAtMs: null,
    masksPeople: facts.masksPeople,
    expiresAtMs: Math.min(tokenExpiresAtMs, facts.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY),
  }
}

function keyPoliciesOf({ keyUuid, account, environment, rateLimitPerSecond }: KeyFacts): readonly Policy[] {
  const limit = rateLimitPerSecond ?? keyLimitPerSecond
  const window = { windowMs: 1_000, shared: true }
  const own: Policy = { name: 'key', key: `key:${keyUuid}`, limit, ...window }
  const all = { name: 'account', key: `account:${account}:${environment}`, limit: accountLimitPerSecond, ...window }
  return limit > keyLimitPerSecond ? [own] : [own, all]
}

function sessionPrincipal({ facts, actor, signedInAtMs, endsAtMs }: SessionFacts): Principal {
  const principal = principalOf(facts, facts.scopes, null, Number.POSITIVE_INFINITY)
  return { ...principal, actor, signedInAtMs, expiresAtMs: endsAtMs }
}

function* planEntries(limits: KeyFacts['planLimits']): Generator<[string, number]> {
  for (const area of limitNames()) {
    const limit = limits[area]
    if (limit !== undefined && limit !== null) yield [area, limit]
  }
}

const maxCredentialLength = 4096
const heldKey = 'the member who made this key may not sign in, so it works no more: rotate it, or make another'

function bearer(header: string): string {
  const match = /^Bearer +([\x21-\x7e]+)$/i.exec(header)
  if (!match?.[1] || header.length > maxCredentialLength)
    throw unauthorized('the Authorization header is not of the form Bearer <key>')
  return match[1]
}

function unauthorized(details: string): AppError {
  return new AppError('UNAUTHORIZED', details)
}
