// SPDX-License-Identifier: Apache-2.0
// Passkeys: made and removed by a member who is signed in, and signing in with one. A passkey stands for password and second
// factor together, because its authenticator recognises the person.
import { randomBytes } from 'node:crypto'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { isLater, isSignedBy, passkeyKey, readCeremony } from '../../../kernel/webauthn.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { type From, memberActing } from './acting.ts'
import { enter } from './sign-in.ts'
import type { SessionRow } from './store.ts'
import {
  beginStep,
  keepPasskey,
  listPasskeys,
  passkeyByCredential,
  removePasskey,
  type StepKind,
  takeStep,
  usePasskey,
} from './ways-store.ts'

const challengeMs = 5 * 60_000
const maxOfMember = 20
const maxCredentialBytes = 1_023

/** Site that passkeys belong to: the host of the installation's own address. */
export function relyingParty({ publicUrl }: Pick<App, 'publicUrl'>): { rpId: string; origin: string } {
  const { hostname, origin } = new URL(publicUrl)
  return { rpId: hostname, origin }
}

/** A challenge that is answered once, within five minutes. */
async function challenge({ db, clock }: App, kind: StepKind, member: string | null): Promise<string> {
  const text = randomBytes(32).toString('base64url')
  const until = new Date(clock.nowMs() + challengeMs)
  await db.query(beginStep, { hash: hashOf(text), kind, member, until })
  return text
}

export async function beginSignIn(app: App): Promise<object> {
  return { challenge: await challenge(app, 'passkey', null), rp_id: relyingParty(app).rpId }
}

/** What a browser says about a ceremony, in base64url. */
export interface Ceremony {
  credential: Buffer
  clientData: Buffer
  authenticatorData: Buffer
}

export interface Assertion extends Ceremony {
  signature: Buffer
}

/** Signs a member in with a passkey; gives the cookie's secret. All refusals read alike. */
export async function signInWithPasskey(
  app: App,
  { credential, clientData, authenticatorData, signature }: Assertion,
  from: From,
  before: string | null,
): Promise<string> {
  const now = new Date(app.clock.nowMs())
  const asked = challengeIn(clientData)
  if (!(await maybe(app.db.query(takeStep, { hash: hashOf(asked), kind: 'passkey', now })))) throw refused()
  const found = await maybe(app.db.query(passkeyByCredential, { credential }))
  const said = readCeremony(clientData, authenticatorData, {
    ...relyingParty(app),
    ...{ type: 'webauthn.get', challenge: asked },
  })
  if (!found || typeof said === 'string' || found.status !== 'active') throw refused()
  if (!isSignedBy(found.public_key, clientData, authenticatorData, signature)) throw refused()
  const { passkey: id, counter: known } = found
  if (!isLater(said.counter, Number(known))) {
    app.log.warn({ passkey: id }, 'passkey refused: its counter went back, which suggests a copy')
    throw refused()
  }
  return app.db.acrossTx(async (tx) => {
    if (!(await maybe(tx.query(usePasskey, { id, counter: BigInt(said.counter), at: now })))) throw refused()
    return enter(app, tx, found, from, before)
  })
}

const refused = (): AppError => new AppError('UNAUTHORIZED', 'this passkey is not registered here')

/** What the browser needs to make a passkey of the member. */
export async function beginPasskey(app: App, own: SessionRow): Promise<object> {
  const known = await app.db.query(listPasskeys, { member: own.member_id })
  return {
    challenge: await challenge(app, 'new_passkey', own.member_id),
    rp_id: relyingParty(app).rpId,
    user: { id: Buffer.from(own.member_id.replaceAll('-', ''), 'hex').toString('base64url'), name: own.email },
    known: known.map(({ credential }) => credential.toString('base64url')),
  }
}

/** Keeps a passkey that the browser has made for the challenge of `beginPasskey`. */
export async function addPasskey(
  app: App,
  own: SessionRow,
  made: Ceremony & { key: Buffer; name: string },
  from: From,
): Promise<void> {
  const at = new Date(app.clock.nowMs())
  const asked = challengeIn(made.clientData)
  const step = await maybe(app.db.query(takeStep, { hash: hashOf(asked), kind: 'new_passkey', now: at }))
  if (step?.member_id !== own.member_id) throw new AppError('CONFLICT', 'the challenge was used, or its time is over')
  const said = readCeremony(made.clientData, made.authenticatorData, {
    ...relyingParty(app),
    ...{ type: 'webauthn.create', challenge: asked },
  })
  if (typeof said === 'string') throw invalid('authenticator_data', said)
  const { credential, key } = made
  if (credential.length > maxCredentialBytes || said.credential?.equals(credential) !== true)
    throw invalid('credential', 'is not the one that the authenticator made')
  if (passkeyKey(key) === null) throw invalid('public_key', 'must be a key of P-256, Ed25519 or RSA of 2048 bits')
  await app.db.acrossTx(async (tx) => {
    const row = { id: newUuid(at.getTime()), credential, member: own.member_id, name: made.name, key, at }
    const kept = await maybe(tx.query(keepPasskey, { ...row, counter: BigInt(said.counter), most: maxOfMember }))
    if (!kept) throw new AppError('CONFLICT', `this passkey is known already, or there are ${maxOfMember} of yours`)
    await recordAs(tx, acting(own, from, at), 'member.add_passkey', idOf('passkey', row.id))
  })
}

export async function passkeysOf(app: App, own: SessionRow): Promise<object> {
  const rows = await app.db.query(listPasskeys, { member: own.member_id })
  return { data: rows.map(({ credential, id, ...row }) => ({ id: idOf('passkey', id), ...row })) }
}

export async function dropPasskey(app: App, own: SessionRow, id: string, from: From): Promise<void> {
  const at = new Date(app.clock.nowMs())
  await app.db.acrossTx(async (tx) => {
    if (!(await maybe(tx.query(removePasskey, { member: own.member_id, id }))))
      throw new AppError('NOT_FOUND', 'you have no such passkey')
    await recordAs(tx, acting(own, from, at), 'member.remove_passkey', idOf('passkey', id))
  })
}

const acting = ({ member_id: id, account_id }: SessionRow, from: From, at: Date) =>
  memberActing({ id, account_id }, from, at.getTime())

/** Challenge that the client data names, which is looked for among those that were given out. */
function challengeIn(clientData: Buffer): string {
  try {
    return String(Object(JSON.parse(clientData.toString('utf8'))).challenge ?? '')
  } catch {
    return ''
  }
}
