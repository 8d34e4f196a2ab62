// SPDX-License-Identifier: Apache-2.0
// Signing in through the identity provider of the installation (authorization code with PKCE). One secret in a cookie of the
// browser is all that is kept between the two ends: state, nonce and verifier are made from it, so that what comes back in
// another browser is worth nothing. Members are found by who they are at the provider; the first time by their address, if the
// provider says that it is verified. Nobody becomes a member by this.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { type From, memberActing } from './acting.ts'
import {
  type Client,
  clientOf,
  type Identity,
  identityIn,
  OidcRefusal,
  providerOf,
  tokensFor,
} from './oidc-provider.ts'
import { countOrRefuse, enter, fromOneNetwork } from './sign-in.ts'
import { forgiveFailures, type MemberRow, memberByEmail } from './store.ts'
import { secondFactor } from './totp.ts'
import { beginStep, findStep, identityOf, linkIdentity, memberById, takeStep } from './ways-store.ts'

/** How long somebody may take at the provider, or for the code of the authenticator. */
export const stepMs = 10 * 60_000

const madeOf = (secret: string, what: 'state' | 'nonce' | 'verifier'): string =>
  createHash('sha256').update(`oidc ${what} ${secret}`).digest('base64url')

const callbackOf = ({ publicUrl }: App): string => `${publicUrl}/console/api/oidc/callback`

/** Where the browser goes to sign in, and the secret that it keeps meanwhile. */
export async function beginOidc(app: App): Promise<{ url: string; secret: string }> {
  const client = own(app)
  const { authorization } = await providerOf(app, client)
  const secret = randomBytes(32).toString('base64url')
  const state = madeOf(secret, 'state')
  const until = new Date(app.clock.nowMs() + stepMs)
  await app.db.query(beginStep, { hash: hashOf(state), kind: 'oidc', member: null, until })
  const url = new URL(authorization)
  const asked = {
    ...{ response_type: 'code', client_id: client.id, redirect_uri: callbackOf(app), scope: 'openid email' },
    ...{ state, nonce: madeOf(secret, 'nonce'), code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(madeOf(secret, 'verifier')).digest('base64url'),
  }
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
  return { url: url.href, secret }
}

function own(app: App): Client {
  const client = clientOf(app)
  if (client === null) throw new AppError('NOT_FOUND', 'this installation has no identity provider')
  return client
}

/** What the provider sent the browser back with. */
export interface SentBack {
  state: string
  code: string
  iss: string | null
}

/** A session; or the secret of a step that waits for the code of the member's authenticator. */
type Entered = { token: string } | { step: string }

export async function finishOidc(
  app: App,
  { state, code, iss }: SentBack,
  secret: string | null,
  from: From,
  before: string | null,
): Promise<Entered> {
  const client = own(app)
  const now = new Date(app.clock.nowMs())
  const expected = madeOf(secret ?? '', 'state')
  if (secret === null || !isSame(state, expected)) throw new OidcRefusal('the state is not of this browser')
  if (!(await maybe(app.db.query(takeStep, { hash: hashOf(state), kind: 'oidc', now }))))
    throw new OidcRefusal('the state was used, or its time is over')
  const provider = await providerOf(app, client)
  if (iss === null ? provider.namesIssuer : iss !== provider.issuer)
    throw new OidcRefusal('the browser was sent back by another issuer')
  const tokens = await tokensFor(app, client, {
    ...{ code, verifier: madeOf(secret, 'verifier'), redirectUri: callbackOf(app) },
  })
  const identity = await identityIn(app, client, tokens, madeOf(secret, 'nonce'))
  return app.db.acrossTx(async (tx) => {
    const member = await memberOf(tx, identity, from, now)
    if (member.totp_secret === null) return { token: await enter(app, tx, member, from, before) }
    const step = randomBytes(32).toString('base64url')
    const until = new Date(now.getTime() + stepMs)
    await tx.query(beginStep, { hash: hashOf(step), kind: 'code', member: member.id, until })
    return { step }
  })
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The member who is this person at the provider. */
async function memberOf(tx: Tx, { issuer, subject, email }: Identity, from: From, at: Date): Promise<MemberRow> {
  const linked = await maybe(tx.query(identityOf, { issuer, subject }))
  const member = linked
    ? await maybe(tx.query(memberById, { id: linked.member_id }))
    : email === null
      ? null
      : await maybe(tx.query(memberByEmail, { email }))
  if (member?.status !== 'active') throw new OidcRefusal('nobody here is this person, or the address is not verified')
  if (linked) return member
  // Somebody else at the provider may be given an address that was another's before.
  if (!(await maybe(tx.query(linkIdentity, { issuer, subject, member: member.id, at }))))
    throw new OidcRefusal('the member is another person at the provider')
  await recordAs(tx, memberActing(member, from, at.getTime()), 'member.link_identity', idOf('member', member.id), {
    after: { issuer, subject },
  })
  return member
}

/** Sign in with the code of the authenticator, which is wanted after the provider as after a password. */
export async function finishWithCode(
  app: App,
  step: string | null,
  code: string,
  from: From,
  before: string | null,
): Promise<string> {
  const now = new Date(app.clock.nowMs())
  const asked = { hash: hashOf(step ?? ''), kind: 'code', now } as const
  const over = (): AppError => new AppError('UNAUTHORIZED', 'this took too long: sign in again')
  const found = step === null ? null : await maybe(app.db.query(findStep, asked))
  const member = found?.member_id ? await maybe(app.db.query(memberById, { id: found.member_id })) : null
  if (member?.status !== 'active') throw over()
  const counted = hashOf(`code ${member.id}`)
  await countOrRefuse(app, { hash: counted, ...fromOneNetwork })
  const useUp = await secondFactor(app, member, code, now.getTime())
  return app.db.acrossTx(async (tx) => {
    if (!(await maybe(tx.query(takeStep, asked)))) throw over()
    await useUp(tx)
    await tx.query(forgiveFailures, { hash: counted })
    return enter(app, tx, member, from, before)
  })
}
