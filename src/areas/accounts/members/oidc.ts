// SPDX-License-Identifier: Apache-2.0
// Signing in through the identity provider of the installation (authorization code with PKCE). One secret in a cookie of the
// browser is all that is kept between the two ends: state, nonce and verifier are made from it, so that what comes back in
// another browser is worth nothing. Members are found by who they are at the provider; the first time by their address, if the
// provider says that it is verified and the member has proven that it is theirs: an account must not catch people by inviting
// their addresses. A person who opens an invitation can accept it this way, and a member who is signed in can connect it.
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
import { acceptAs } from './team-store.ts'
import { secondFactor } from './totp.ts'
import { beginStep, findStep, identityOf, linkIdentity, memberById, takeStep } from './ways-store.ts'

/** How long somebody may take at the provider, or for the code of the authenticator. */
export const stepMs = 10 * 60_000

const madeOf = (secret: string, what: 'state' | 'nonce' | 'verifier'): string =>
  createHash('sha256').update(`oidc ${what} ${secret}`).digest('base64url')

const callbackOf = ({ publicUrl }: App): string => `${publicUrl}/console/api/oidc/callback`

/**
 * Where the browser goes to sign in, and the secret that it keeps meanwhile. `member` is whose invitation is accepted, or who
 * connects the provider; null for a sign-in.
 */
export async function beginOidc(app: App, member: string | null): Promise<{ url: string; secret: string }> {
  const client = own(app)
  const { authorization } = await providerOf(app, client)
  const secret = randomBytes(32).toString('base64url')
  const state = madeOf(secret, 'state')
  const until = new Date(app.clock.nowMs() + stepMs)
  await app.db.query(beginStep, { hash: hashOf(state), kind: 'oidc', member, until })
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

/** A session; the secret of a step that waits for the code of the member's authenticator; or a member who is connected now. */
type Entered = { kind: 'session'; token: string } | { kind: 'step'; step: string } | { kind: 'connected' }

/** Browser that comes back from the provider: the secret that it kept, its session, and who is signed in by it. */
export interface Browser {
  readonly secret: string | null
  readonly session: string | null
  readonly member: string | null
}

export async function finishOidc(
  app: App,
  { state, code, iss }: SentBack,
  { secret, session, member: signedIn }: Browser,
  from: From,
): Promise<Entered> {
  const client = own(app)
  const now = new Date(app.clock.nowMs())
  const expected = madeOf(secret ?? '', 'state')
  if (secret === null || !isSame(state, expected)) throw new OidcRefusal('the state is not of this browser')
  const begun = await maybe(app.db.query(takeStep, { hash: hashOf(state), kind: 'oidc', now }))
  if (!begun) throw new OidcRefusal('the state was used, or its time is over')
  const provider = await providerOf(app, client)
  if (iss === null ? provider.namesIssuer : iss !== provider.issuer)
    throw new OidcRefusal('the browser was sent back by another issuer')
  const tokens = await tokensFor(app, client, {
    ...{ code, verifier: madeOf(secret, 'verifier'), redirectUri: callbackOf(app) },
  })
  const identity = await identityIn(app, client, tokens, madeOf(secret, 'nonce'))
  return app.db.acrossTx(async (tx) => {
    if (begun.member_id !== null && begun.member_id === signedIn) {
      await connect(tx, await activeMember(tx, signedIn), identity, from, now)
      return { kind: 'connected' }
    }
    const member =
      begun.member_id === null
        ? await memberOf(tx, identity, from, now)
        : await accept(tx, begun.member_id, identity, from, now)
    if (member.totp_secret === null) return { kind: 'session', token: await enter(app, tx, member, from, session) }
    const step = randomBytes(32).toString('base64url')
    const until = new Date(now.getTime() + stepMs)
    await tx.query(beginStep, { hash: hashOf(step), kind: 'code', member: member.id, until })
    return { kind: 'step', step }
  })
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The member who is this person at the provider. */
async function memberOf(tx: Tx, identity: Identity, from: From, at: Date): Promise<MemberRow> {
  const { issuer, subject, email } = identity
  const linked = await maybe(tx.query(identityOf, { issuer, subject }))
  if (linked) return activeMember(tx, linked.member_id)
  const member = email === null ? null : await maybe(tx.query(memberByEmail, { email }))
  if (member?.status !== 'active') throw new OidcRefusal('nobody here is this person, or the address is not verified')
  if (!member.is_proven)
    throw new OidcRefusal('the member has not proven the address: they accepted by the link that their inviter saw')
  await connect(tx, member, identity, from, at)
  return member
}

async function activeMember(tx: Tx, id: string): Promise<MemberRow> {
  const member = await maybe(tx.query(memberById, { id }))
  if (member?.status !== 'active') throw new OidcRefusal('the member is not active')
  return member
}

/** The member whose invitation this person accepts. */
async function accept(tx: Tx, id: string, identity: Identity, from: From, now: Date): Promise<MemberRow> {
  const { email } = identity
  if (email === null || !(await maybe(tx.query(acceptAs, { id, email, now }))))
    throw new OidcRefusal('the invitation is of another address, was taken up, or its time is over')
  const member = await activeMember(tx, id)
  await recordAs(tx, memberActing(member, from, now.getTime()), 'member.join', idOf('member', id))
  await connect(tx, member, identity, from, now)
  return member
}

/** Notes who a member is at the provider. */
async function connect(tx: Tx, member: MemberRow, { issuer, subject }: Identity, from: From, at: Date): Promise<void> {
  if (!(await maybe(tx.query(linkIdentity, { issuer, subject, member: member.id, at })))) {
    const linked = await maybe(tx.query(identityOf, { issuer, subject }))
    if (linked?.member_id === member.id) return
    // Another person at the provider may be given an address that was another's before.
    throw new OidcRefusal('the member is another person at the provider, or the person another member')
  }
  await recordAs(tx, memberActing(member, from, at.getTime()), 'member.link_identity', idOf('member', member.id), {
    after: { issuer, subject },
  })
}

/** Signs in with the code of the authenticator, which is wanted after the provider as after a password. */
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
