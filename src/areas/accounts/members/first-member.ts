// SPDX-License-Identifier: Apache-2.0
// The first member of an installation. A password can only be shown when it is made: later starts read it where the first one
// wrote it, or make another.
import { ConfigError } from '../../../config.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { hashPassword, isPassword, newPassword } from '../../../platform/auth/password.ts'
import { maybe } from '../../../platform/db.ts'
import { endSessionsOf, keepMember, memberByEmail } from './store.ts'
import { dropPasskeysOf } from './ways-store.ts'

type Means = Pick<App, 'db' | 'clock'>

const firstAddress = 'owner@localhost'

export interface SignIn {
  email: string
  password: string
}

/** Finds or makes the owner of the first account; `written` is what credentials.json said last time. */
export async function firstMember(app: App, account: string, written: unknown): Promise<SignIn> {
  const before = Object(written)
  const wanted = app.config.PAMOJA_ADMIN_PASSWORD ?? (typeof before.password === 'string' ? before.password : null)
  const found = await maybe(app.db.query(memberByEmail, { email: firstAddress }))
  const known = { email: firstAddress, password: wanted ?? '' }
  if (found?.account_id === account && wanted !== null && (await isPassword(wanted, found.password_hash))) return known
  return keepOwner(app, account, firstAddress, app.config.PAMOJA_ADMIN_PASSWORD ?? newPassword())
}

/** Makes an owner of the account, or gives them another password, which ends their sessions. */
export async function keepOwner(
  { db, clock }: Means,
  account: string,
  email: string,
  password = newPassword(),
): Promise<SignIn> {
  const passwordHash = await hashPassword(password)
  await db.homeTx(async (tx) => {
    const nowMs = clock.nowMs()
    const owner = { id: newUuid(nowMs), account, email, role: 'owner', passwordHash, now: new Date(nowMs) } as const
    const kept = await maybe(tx.query(keepMember, owner))
    if (!kept) throw new ConfigError(`${email} is a member of another account than ${idOf('account', account)}.`)
    await tx.query(endSessionsOf, { member: kept.id })
    await tx.query(dropPasskeysOf, { member: kept.id })
  })
  return { email, password }
}
