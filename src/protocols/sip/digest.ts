// SPDX-License-Identifier: Apache-2.0
// Digest authentication of SIP (RFC 3261 §22, RFC 7616, RFC 8760): MD5 and SHA-256, with and without qop. Challenges that ask
// for anything else are not answered.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { quote, splitList, unquoted } from './header-values.ts'

export interface Challenge {
  realm: string
  nonce: string
  algorithm: 'MD5' | 'SHA-256'
  opaque: string | null
  qop: 'auth' | null
  stale: boolean
}

export interface Credentials {
  username: string
  password: string
}

/** The strongest challenge of an answer that this side can meet. */
export function readChallenge(values: readonly string[]): Challenge | null {
  const known = values.map(readOne).filter((challenge) => challenge !== null)
  return known.find(({ algorithm }) => algorithm === 'SHA-256') ?? known[0] ?? null
}

function readOne(value: string): Challenge | null {
  const fields = readFields(value)
  if (!fields) return null
  const algorithm = (fields.get('algorithm') ?? 'MD5').toUpperCase()
  const qops = fields
    .get('qop')
    ?.split(',')
    .map((word) => word.trim().toLowerCase())
  const [realm, nonce] = [fields.get('realm'), fields.get('nonce')]
  if (realm === undefined || nonce === undefined || (algorithm !== 'MD5' && algorithm !== 'SHA-256')) return null
  if (qops && !qops.includes('auth')) return null
  return {
    realm,
    nonce,
    algorithm,
    opaque: fields.get('opaque') ?? null,
    qop: qops ? 'auth' : null,
    stale: fields.get('stale')?.toLowerCase() === 'true',
  }
}

function readFields(value: string): Map<string, string> | null {
  const scheme = /^Digest\s+/i.exec(value)
  if (!scheme) return null
  const fields = new Map<string, string>()
  for (const part of splitList(value.slice(scheme[0].length))) {
    const found = /^([A-Za-z0-9-]+)\s*=\s*("(?:[^"\\]|\\[\s\S])*"|[^\s"]+)$/.exec(part)
    if (found) fields.set((found[1] ?? '').toLowerCase(), unquoted(found[2] ?? ''))
  }
  return fields
}

/** The value of an Authorization header for one request; `use` counts the requests with this nonce. */
export function authorise(
  challenge: Challenge,
  credentials: Credentials,
  method: string,
  uri: string,
  use = 1,
): string {
  const cnonce = randomBytes(8).toString('hex')
  const nc = use.toString(16).padStart(8, '0')
  const response = digestOf(challenge, credentials, method, uri, cnonce, nc)
  const parts = [
    `username=${quote(credentials.username)}`,
    `realm=${quote(challenge.realm)}`,
    `nonce=${quote(challenge.nonce)}`,
    `uri=${quote(uri)}`,
    `response="${response}"`,
    `algorithm=${challenge.algorithm}`,
  ]
  if (challenge.qop) parts.push('qop=auth', `cnonce="${cnonce}"`, `nc=${nc}`)
  if (challenge.opaque !== null) parts.push(`opaque=${quote(challenge.opaque)}`)
  return `Digest ${parts.join(', ')}`
}

export function digestOf(
  { realm, nonce, algorithm, qop }: Pick<Challenge, 'realm' | 'nonce' | 'algorithm' | 'qop'>,
  { username, password }: Credentials,
  method: string,
  uri: string,
  cnonce: string,
  nc: string,
): string {
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex')
  const secret = hash(`${username}:${realm}:${password}`)
  const request = hash(`${method}:${uri}`)
  return hash(qop ? `${secret}:${nonce}:${nc}:${cnonce}:${qop}:${request}` : `${secret}:${nonce}:${request}`)
}

/** Challenge of a server. The caller makes and remembers the nonce. */
export function challengeWith(realm: string, nonce: string): string {
  return `Digest realm=${quote(realm)}, nonce="${nonce}", algorithm=MD5, qop="auth"`
}

/** Whether an Authorization header proves the password, for the nonce that was given out. */
export function proves(
  value: string,
  method: string,
  nonce: string,
  passwordOf: (username: string) => string | null,
): boolean {
  const fields = readFields(value)
  const [username, realm, uri, response] = ['username', 'realm', 'uri', 'response'].map((name) => fields?.get(name))
  const password = username === undefined ? null : passwordOf(username)
  if (!fields || username === undefined || realm === undefined || uri === undefined || response === undefined)
    return false
  if (password === null || fields.get('nonce') !== nonce) return false
  const qop = fields.get('qop') === 'auth' ? ('auth' as const) : null
  const expected = digestOf(
    { realm, nonce, algorithm: fields.get('algorithm') === 'SHA-256' ? 'SHA-256' : 'MD5', qop },
    { username, password },
    method,
    uri,
    fields.get('cnonce') ?? '',
    fields.get('nc') ?? '',
  )
  return response.length === expected.length && timingSafeEqual(Buffer.from(response), Buffer.from(expected))
}
