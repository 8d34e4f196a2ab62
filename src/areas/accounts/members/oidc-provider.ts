// SPDX-License-Identifier: Apache-2.0
// The identity provider of the installation, as OpenID Connect has it: its discovery document, its keys, the exchange of a
// code, and the ID token, which is believed only when issuer, audience, nonce, time and signature are right.
import { createLocalJWKSet } from 'jose/jwks/local'
import { jwtVerify } from 'jose/jwt/verify'
import type { App } from '../../../platform/app.ts'

/** Why the provider, or what it said, was not believed; for the log. */
export class OidcRefusal extends Error {}

export interface Client {
  readonly issuer: string
  readonly id: string
  readonly secret: string | null
  readonly name: string
}

/** Client of the settings; null where there is no provider. */
export function clientOf({ config }: Pick<App, 'config'>): Client | null {
  const { PAMOJA_OIDC_ISSUER: issuer, PAMOJA_OIDC_CLIENT_ID: id, PAMOJA_OIDC_CLIENT_SECRET: secret } = config
  return issuer === null || id === null ? null : { issuer, id, secret, name: config.PAMOJA_OIDC_NAME }
}

interface Provider {
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  readonly keys: string
  /** Where the provider tells more about a person; null where it does not. */
  readonly people: string | null
  /** Whether the secret of the client goes into the form, because the provider takes no other. */
  readonly secretInForm: boolean
  readonly namesIssuer: boolean
}

/** Signatures that need no secret of ours. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const keptMs = 10 * 60_000
const maxBytes = 256 * 1_024
const timeoutMs = 10_000
const toleranceSeconds = 30
const maxAgeSeconds = 600

const kept = new Map<string, { untilMs: number; provider: Promise<Provider> }>()

export function providerOf(app: App, { issuer }: Client): Promise<Provider> {
  const nowMs = app.clock.nowMs()
  const known = kept.get(issuer)
  if (known && known.untilMs > nowMs) return known.provider
  const provider = discovered(app, issuer)
  kept.set(issuer, { untilMs: nowMs + keptMs, provider })
  // What failed is asked again.
  provider.catch(() => kept.delete(issuer))
  return provider
}

async function discovered(app: App, issuer: string): Promise<Provider> {
  const said = Object(await asked(app, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`))
  if (trimmed(said.issuer) !== trimmed(issuer))
    throw new OidcRefusal(`the discovery document is of ${String(said.issuer)}, not of ${issuer}`)
  const endpoint = (name: string): string => {
    const url = String(said[name] ?? '')
    const isSafe = URL.canParse(url) && (url.startsWith('https:') || issuer.startsWith('http:'))
    if (!isSafe) throw new OidcRefusal(`${name} of the discovery document is no https: address`)
    return url
  }
  const methods: readonly unknown[] = said.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return {
    issuer: String(said.issuer),
    authorization: endpoint('authorization_endpoint'),
    token: endpoint('token_endpoint'),
    keys: endpoint('jwks_uri'),
    people: said.userinfo_endpoint === undefined ? null : endpoint('userinfo_endpoint'),
    secretInForm: !methods.includes('client_secret_basic') && methods.includes('client_secret_post'),
    namesIssuer: said.authorization_response_iss_parameter_supported === true,
  }
}

const trimmed = (issuer: unknown): string => String(issuer ?? '').replace(/\/$/, '')

export interface Tokens {
  idToken: string
  accessToken: string | null
}

/** Exchanges a code for the tokens. */
export async function tokensFor(
  app: App,
  client: Client,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<Tokens> {
  const { token, secretInForm } = await providerOf(app, client)
  const form = new URLSearchParams({
    ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
    ...(client.secret === null || secretInForm ? { client_id: client.id } : {}),
    ...(client.secret !== null && secretInForm ? { client_secret: client.secret } : {}),
  })
  const basic = `${encodeURIComponent(client.id)}:${encodeURIComponent(client.secret ?? '')}`
  const said = await asked(app, token, {
    body: form.toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(client.secret === null || secretInForm
        ? {}
        : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
  })
  const { id_token: idToken, access_token: access } = Object(said)
  if (typeof idToken !== 'string') throw new OidcRefusal('the provider gave no ID token')
  return { idToken, accessToken: typeof access === 'string' ? access : null }
}

export interface Identity {
  issuer: string
  subject: string
  /** Address in lower case; null where the provider does not say that it is verified. */
  email: string | null
}

export async function identityIn(app: App, client: Client, tokens: Tokens, nonce: string): Promise<Identity> {
  const { issuer, keys, people } = await providerOf(app, client)
  const known = createLocalJWKSet(keySet(await asked(app, keys)))
  const { payload } = await jwtVerify(tokens.idToken, known, {
    ...{ issuer, audience: client.id, algorithms, clockTolerance: toleranceSeconds, maxTokenAge: maxAgeSeconds },
    ...{ requiredClaims: ['sub', 'exp', 'iat', 'nonce'], currentDate: new Date(app.clock.nowMs()) },
  }).catch((error: Error) => {
    throw new OidcRefusal(`the ID token is not valid: ${error.message}`)
  })
  const { sub = '', azp } = payload
  if (payload.nonce !== nonce) throw new OidcRefusal('the ID token was made for another sign-in')
  if (azp !== undefined && azp !== client.id) throw new OidcRefusal('the ID token was made for another client')
  const told = payload.email === undefined && people ? await toldOf(app, people, tokens, sub) : payload
  const { email, email_verified } = told
  const isVerified = email_verified === true && typeof email === 'string'
  return { issuer, subject: sub, email: isVerified ? email.toLowerCase() : null }
}

/** What the provider tells beside the ID token, if it is of the same person. */
async function toldOf(
  app: App,
  people: string,
  { accessToken }: Tokens,
  sub: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (accessToken === null) return {}
  const said = Object(await asked(app, people, { headers: { authorization: `Bearer ${accessToken}` } }))
  return said.sub === sub ? said : {}
}

/** Keys of a document; an empty set where it has none. */
function keySet(said: unknown): { keys: { kty: string }[] } {
  const { keys } = Object(said)
  return { keys: Array.isArray(keys) ? keys.filter((one) => typeof Object(one).kty === 'string') : [] }
}

async function asked(
  app: App,
  url: string,
  sent: { body?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<unknown> {
  const outcome = await app.carrierOutbound.send({
    ...{ pool: 'identity provider', url, use: 'callback', environment: 'live', connections: 4 },
    method: sent.body === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', ...sent.headers },
    body: sent.body ?? null,
    ...{ timeoutMs, maxAnswerBytes: maxBytes, once: sent.body !== undefined },
  })
  if (outcome.kind === 'failed') throw new OidcRefusal(`${new URL(url).host} cannot be reached: ${outcome.reason}`)
  const { status, body } = outcome
  if (status !== 200 || outcome.truncated) throw new OidcRefusal(`${new URL(url).host} answered with ${status}`)
  try {
    return JSON.parse(body)
  } catch {
    throw new OidcRefusal(`${new URL(url).host} did not answer with JSON`)
  }
}
