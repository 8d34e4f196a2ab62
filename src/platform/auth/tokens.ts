// SPDX-License-Identifier: Apache-2.0
// Access tokens (JWT, EdDSA): a bearer acts for an API key for a short while with some of its scopes. Any node verifies
// them with the public keys; private keys are sealed in the database and shared by all nodes. The caller checks whether
// the API key is still valid.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import type { JWK, JWTPayload } from 'jose'
import {
  JOSEAlgNotAllowed,
  JOSEError,
  JWSSignatureVerificationFailed,
  JWTClaimValidationFailed,
  JWTExpired,
} from 'jose/errors'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import type { Clock } from '../clock.ts'
import { type Database, statement } from '../db.ts'
import { type Secrets, signingKeyPlace } from '../secrets.ts'
import type { Environment } from '../tenant.ts'

export interface TokenClaims {
  keyUuid: string
  account: string
  environment: Environment
  scopes: string[]
  subject: string | null
  /** Time from which the token is refused: `exp` plus tolerance. */
  expiresAtMs: number
}

export interface TokenRequest {
  keyUuid: string
  /** Public account id, `acc_...`. */
  accountId: string
  /** The account's UUID. */
  account: string
  environment: Environment
  scopes: readonly string[]
  subject: string | null
  expiresInSeconds: number
}

export interface TokensOptions {
  db: Database
  secrets: Secrets
  clock: Clock
  /** Issuer: the public URL. Tokens of other issuers are refused. */
  issuer: string
}

const audience = 'pamoja'
const algorithm = 'EdDSA'
const tokenType = 'JWT'
/** Clock tolerance after a token's `exp`. */
export const toleranceSeconds = 30
const rotateAfterMs = 30 * dayMs
/** Time that a replaced public key is kept; no token lives that long. */
const keptForMs = 31 * dayMs
const maxLifetimeSeconds = 30 * 86_400
/** Times a new key is published before it signs, so that all nodes and JWKS readers know it. */
const publishedAheadMs = 600_000
const reloadEveryMs = 3_000

interface Row {
  id: string
  public_key: JWK
  sealed: Buffer
  created_at: Date
}

const findKeys = statement.home<Record<never, never>, Row>(
  'platform.find_signing_keys',
  `select id, public_key, sealed, created_at from platform.signing_keys order by created_at desc, id`,
)

/** Inserts a signing key, unless another node was first. Two at the same moment do no harm. */
const addKey = statement.home<{ id: string; publicKey: string; sealed: Buffer; now: Date; newerThan: Date }, object>(
  'platform.add_signing_key',
  `insert into platform.signing_keys (id, public_key, sealed, created_at)
   select $id, $publicKey::jsonb, $sealed, $now
    where not exists (select from platform.signing_keys where created_at > $newerThan)`,
)

/** Deletes keys by the time they were replaced, not made: rotation may have been paused. */
const removeKeys = statement.home<{ replacedBefore: Date }, object>(
  'platform.remove_signing_keys',
  `delete from platform.signing_keys k
    where exists (select from platform.signing_keys newer
                   where newer.created_at > k.created_at and newer.created_at < $replacedBefore)`,
)

export class Tokens {
  readonly #db: Database
  readonly #secrets: Secrets
  readonly #clock: Clock
  readonly #issuer: string
  /** Signing keys, newest first. */
  #keys: readonly SigningKey[] = []
  #loading: Promise<void> | null = null
  #reloadedAtMs = Number.NEGATIVE_INFINITY

  constructor({ db, secrets, clock, issuer }: TokensOptions) {
    this.#db = db
    this.#secrets = secrets
    this.#clock = clock
    this.#issuer = issuer
  }

  /** Loads the signing keys and creates the first. Throws when their root key is missing. */
  async start(): Promise<void> {
    await this.rotate()
    this.#privateHalf(this.#signer())
  }

  async issue(request: TokenRequest): Promise<string> {
    const { accountId, account, keyUuid, environment, scopes, subject, expiresInSeconds } = request
    if (idOf('account', account) !== accountId) throw new Error('a token was asked for two accounts at once')
    if (!(expiresInSeconds > 0 && expiresInSeconds <= maxLifetimeSeconds))
      throw new Error(`a token cannot live for ${expiresInSeconds} seconds`)
    // Another node should have created a new key by now.
    if (this.#isRotationDue()) await this.#reloadSometimes()
    const signer = this.#signer()
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1000)
    const claims = {
      iss: this.#issuer,
      aud: audience,
      sub: accountId,
      env: environment,
      scope: scopes.join(' '),
      key_id: idOf('apiKey', keyUuid),
      jti: randomUUID(),
      iat: nowSeconds,
      exp: nowSeconds + expiresInSeconds,
      ...(subject === null ? {} : { act: subject }),
    }
    return new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, kid: signer.kid, typ: tokenType })
      .sign(this.#privateHalf(signer))
  }

  /** Claims of a token, or why it is invalid. Never throws for a bad token. */
  async verify(token: string): Promise<TokenClaims | string> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#publicHalf(kid), {
        algorithms: [algorithm],
        typ: tokenType,
        issuer: this.#issuer,
        audience,
        requiredClaims: ['sub', 'env', 'scope', 'key_id', 'jti', 'iat', 'exp'],
        currentDate: new Date(this.#clock.nowMs()),
        clockTolerance: toleranceSeconds,
      })
      return claimsOf(payload) ?? malformed
    } catch (error) {
      return refusalOf(error)
    }
  }

  /** Public keys for `/.well-known/jwks.json`. */
  jwks(): { keys: JWK[] } {
    return { keys: this.#keys.map(({ jwk }) => jwk) }
  }

  /** Rotates: creates a signing key when due, deletes expired ones, and loads those of other nodes. */
  async rotate(): Promise<void> {
    await this.#reload()
    if (this.#isRotationDue()) await this.#addKey()
    await this.#db.query(removeKeys, { replacedBefore: new Date(this.#clock.nowMs() - keptForMs) })
    // A reload in progress may have started before the change.
    await this.#loading
    await this.#reload()
  }

  #isRotationDue(): boolean {
    const newest = this.#keys[0]
    return !newest || this.#clock.nowMs() - newest.createdAtMs >= rotateAfterMs
  }

  async #addKey(): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const { kty, crv, x } = publicKey.export({ format: 'jwk' })
    if (kty === undefined || crv === undefined || x === undefined) throw new Error('a new key has no public half')
    const kid = await calculateJwkThumbprint({ kty, crv, x })
    const nowMs = this.#clock.nowMs()
    await this.#db.query(addKey, {
      id: kid,
      publicKey: JSON.stringify({ kty, crv, x, kid, alg: algorithm, use: 'sig' }),
      sealed: this.#secrets.sealForInstallation(
        signingKeyPlace(kid),
        privateKey.export({ type: 'pkcs8', format: 'der' }),
      ),
      now: new Date(nowMs),
      newerThan: new Date(nowMs - rotateAfterMs),
    })
  }

  /** Newest key published long enough, else (on the first day) the oldest. */
  #signer(): SigningKey {
    const publishedBeforeMs = this.#clock.nowMs() - publishedAheadMs
    const key = this.#keys.find(({ createdAtMs }) => createdAtMs <= publishedBeforeMs) ?? this.#keys.at(-1)
    if (!key) throw new Error('there is no key to sign tokens with: start() has not finished')
    return key
  }

  #privateHalf(key: SigningKey): KeyObject {
    key.privateKey ??= createPrivateKey({
      key: this.#secrets.openForInstallation(signingKeyPlace(key.kid), key.sealed),
      format: 'der',
      type: 'pkcs8',
    })
    return key.privateKey
  }

  async #publicHalf(kid: string | undefined): Promise<KeyObject> {
    const isMeant = (key: SigningKey): boolean => key.kid === kid
    if (!this.#keys.some(isMeant)) await this.#reloadSometimes()
    const key = this.#keys.find(isMeant)
    if (!key) throw new UnknownSigner()
    return key.publicKey
  }

  /** Reloads at most once in a few seconds, so that forged tokens cannot load the database. */
  async #reloadSometimes(): Promise<void> {
    const nowMs = this.#clock.nowMs()
    if (this.#loading === null) {
      if (Math.abs(nowMs - this.#reloadedAtMs) < reloadEveryMs) return
      this.#reloadedAtMs = nowMs
    }
    await this.#reload()
  }

  async #reload(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null
    })
    await this.#loading
  }

  async #load(): Promise<void> {
    const known = new Map(this.#keys.map((key) => [key.kid, key]))
    const rows = await this.#db.query(findKeys, {})
    this.#keys = rows.map((row) => known.get(row.id) ?? signingKeyOf(row))
  }
}

interface SigningKey {
  readonly kid: string
  readonly jwk: JWK
  readonly publicKey: KeyObject
  readonly sealed: Buffer
  /** Decrypted at first use: verification does not need it. */
  privateKey: KeyObject | null
  readonly createdAtMs: number
}

class UnknownSigner extends Error {}

function signingKeyOf({ id, public_key: jwk, sealed, created_at: createdAt }: Row): SigningKey {
  const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  return { kid: id, jwk, publicKey, sealed, privateKey: null, createdAtMs: createdAt.getTime() }
}

function claimsOf({ sub, env, scope, key_id, act, exp }: JWTPayload): TokenClaims | null {
  const account = typeof sub === 'string' ? uuidOf('account', sub) : null
  const keyUuid = typeof key_id === 'string' ? uuidOf('apiKey', key_id) : null
  if (account === null || keyUuid === null || exp === undefined) return null
  if ((env !== 'test' && env !== 'live') || typeof scope !== 'string') return null
  return {
    keyUuid,
    account,
    environment: env,
    scopes: scope.split(' ').filter((name) => name !== ''),
    subject: typeof act === 'string' ? act : null,
    expiresAtMs: (exp + toleranceSeconds) * 1000,
  }
}

const malformed = 'the token is malformed: check that it was copied whole'

/** Refusal of an invalid token. Other errors (database unavailable) are rethrown. */
function refusalOf(error: unknown): string {
  if (error instanceof UnknownSigner) return 'the token is signed with a key that this installation does not have'
  if (error instanceof JWTExpired && error.payload.exp !== undefined)
    return `the token expired on ${new Date(error.payload.exp * 1000).toISOString()}`
  if (error instanceof JWTClaimValidationFailed && error.claim === 'iss')
    return 'the token was issued by another installation'
  if (error instanceof JWTClaimValidationFailed) return `the claim ${error.claim} of the token is missing or wrong`
  if (error instanceof JOSEAlgNotAllowed) return `the token is not signed with ${algorithm}`
  if (error instanceof JWSSignatureVerificationFailed) return 'the signature of the token does not match its content'
  if (error instanceof JOSEError) return malformed
  throw error
}
