// SPDX-License-Identifier: Apache-2.0
// Team of an account: members of the console and their roles. An account never loses its last owner.
import { randomBytes } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Need, type Route, read, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { type Caller, requireUnbound } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { At, Deleted, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { requireCovered } from '../key.ts'
import { endKeysOf, forget } from '../keys.ts'
import { type Role, roles, scopesOf } from '../roles.ts'
import { inviteForMs, mailedInvitation, newInvitation } from './invitation.ts'
import { newReset } from './reset.ts'
import { endSessionsOf } from './store.ts'
import {
  changeMember,
  countTeam,
  findOfTeam,
  invite,
  listTeam,
  lockTeam,
  removeMember,
  type TeamRow,
} from './team-store.ts'

const maxMembers = 200

const role = OneOf(roles, { description: 'Role of the member; permissions are listed in docs/console.md' })
const name = Type.String({
  maxLength: 100,
  rule: 'must have at most 100 characters',
  description: 'Display name; default empty',
})

const Member = Type.Object(
  {
    id: Type.String({ description: 'Id of the member, such as `mbr_…`' }),
    email: Type.String({ description: 'Sign-in address' }),
    name: Type.String({ description: 'Display name; empty if none was given' }),
    role,
    status: OneOf(['invited', 'active', 'disabled'], {
      description: '`invited` until they accept; a `disabled` one cannot sign in',
    }),
    operator: Type.Boolean({ description: 'True for operators of the installation' }),
    email_verified: Type.Boolean({
      description:
        'True for members who accepted by the mailed link or through the identity provider. Others are not found by their address there',
    }),
    totp_enabled: Type.Boolean({ description: 'True when two-factor sign-in is on' }),
    last_login_at: Nullable(At({ description: 'Time of the last sign-in; null if never' })),
    created_at: At({ description: 'Time of the invitation' }),
  },
  { title: 'TeamMember' },
)

const Invited = Type.Object(
  {
    ...Member.properties,
    invite_url: Type.String({
      sensitive: true,
      description:
        'Invitation link, shown only once, to pass on where mail does not arrive. It works for a week, and does not verify the address',
    }),
  },
  { title: 'InvitedMember' },
)

const Reset = Type.Object(
  {
    id: Type.String({ description: 'Id of the member, such as `mbr_…`' }),
    reset_url: Type.String({ sensitive: true, description: 'Link to set a new password, shown only once' }),
    expires_at: At({ description: 'Expiry time of the link' }),
  },
  { title: 'PasswordReset' },
)

const members = list({
  path: '/v1/team/members',
  operation: 'team.list',
  summary: 'List team members',
  scope: 'team:read',
  query: Type.Object(listQuery),
  row: Member,
  examples: [{ name: 'All of them' }],
  handle: async ({ db }, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await db.query(listTeam, { account: tenant.account, ...window }), memberOf)
  },
})

const inviteRoute = writeAcross({
  method: 'POST',
  path: '/v1/team/members',
  operation: 'team.invite',
  summary: 'Invite a team member',
  description:
    'The invitation is mailed from a domain of the operator. It can be accepted once, by the link in the mail or by the one in the reply.',
  scope: 'team:write',
  body: Type.Object({
    email: Type.String({
      pattern: '^[^\\s@]+@[^\\s@]+$',
      maxLength: 254,
      rule: 'must be an email address',
      description: 'Sign-in address; unique in the installation, so a member of another account cannot be invited',
    }),
    name: Type.Optional(name),
    role,
  }),
  reply: { status: 201, schema: Invited, location: ({ id }) => `/v1/team/members/${id}` },
  errors: ['CONFLICT', 'FORBIDDEN'],
  examples: [{ name: 'A developer', body: { email: 'ada@example.com', name: 'Ada', role: 'developer' } }],
  handle: async (app, tx, { body }, caller) => {
    const { account } = caller.tenant
    await requireMayGive(app, tx, caller, body.role)
    await tx.query(lockTeam, { account })
    if ((await one(tx.query(countTeam, { account }))).members >= maxMembers)
      throw new AppError('CONFLICT', `the account has ${maxMembers} members already`)
    const { hash, url } = newInvitation(app)
    const row = await maybe(
      tx.query(invite, {
        id: newUuid(caller.receivedMs),
        account,
        email: body.email.toLowerCase(),
        name: body.name ?? '',
        role: body.role,
        hash,
        until: new Date(caller.receivedMs + inviteForMs),
      }),
    )
    if (!row) throw new AppError('CONFLICT', 'a member with this address exists already, in this account or another')
    const made = memberOf(row)
    await record(tx, caller, 'member.invite', made.id, { after: { email: made.email, role: made.role } })
    const job = app.work.prepare(mailedInvitation, null, { account, member: row.id, email: row.email })
    await app.work.add(tx, job)
    tx.afterCommit(() => app.work.begin(job))
    return { ...made, invite_url: url }
  },
})

/** An address is a member's once in the whole installation, so that each needs another. */
const aMember: Need = {
  operation: 'team.invite',
  id: 'id',
  body: () => ({ email: `${randomBytes(6).toString('hex')}@example.com`, role: 'developer' }),
}

const getMember = read({
  method: 'GET',
  path: '/v1/team/members/:id',
  operation: 'team.get',
  summary: 'Get a team member',
  scope: 'team:read',
  params: IdParam,
  reply: { status: 200, schema: Member },
  errors: ['NOT_FOUND'],
  needs: aMember,
  handle: async ({ db }, { params }, { tenant }) => memberOf(await existing(db, tenant.account, params.id)),
})

const changeRoute = writeAcross({
  method: 'PATCH',
  path: '/v1/team/members/:id',
  operation: 'team.change',
  summary: 'Change a member’s role or disable them',
  scope: 'team:write',
  params: IdParam,
  body: Type.Object({
    role: Type.Optional(role),
    name: Type.Optional(name),
    status: Type.Optional(
      OneOf(['active', 'disabled'], {
        description: '`disabled` ends their sessions, and refuses them and their keys until they are `active` again',
      }),
    ),
  }),
  reply: { status: 200, schema: Member },
  errors: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
  examples: [{ name: 'Another role', body: { role: 'viewer' } }],
  needs: aMember,
  handle: async (app, tx, { params, body }, caller) => {
    const { account } = caller.tenant
    await tx.query(lockTeam, { account })
    const before = await existing(tx, account, params.id)
    await requireMayGive(app, tx, caller, before.role, ...(body.role === undefined ? [] : [body.role]))
    spareOperators(before, caller)
    if (before.status === 'invited' && body.status !== undefined)
      throw new AppError('CONFLICT', 'the invitation has not been taken up; delete it instead')
    const wanted = {
      role: body.role ?? before.role,
      name: body.name ?? before.name,
      status: body.status ?? before.status,
    }
    const row = await one(tx.query(changeMember, { account, id: before.id, ...wanted }))
    await keepAnOwner(tx, account, before)
    if (row.status === 'disabled') await tx.query(endSessionsOf, { member: row.id })
    await forget(app, tx, account)
    const { role: was, status } = before
    await record(tx, caller, 'member.change', params.id, {
      before: { role: was, status },
      after: { role: row.role, status: row.status },
    })
    return memberOf(row)
  },
})

const removeRoute = writeAcross({
  method: 'DELETE',
  path: '/v1/team/members/:id',
  operation: 'team.remove',
  summary: 'Remove a member and end their sessions and keys',
  scope: 'team:write',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
  needs: aMember,
  handle: async (app, tx, { params }, caller) => {
    const { account } = caller.tenant
    await tx.query(lockTeam, { account })
    const before = await existing(tx, account, params.id)
    await requireMayGive(app, tx, caller, before.role)
    spareOperators(before, caller)
    await endKeysOf(app, tx, before.id, caller)
    await tx.query(removeMember, { account, id: before.id })
    await keepAnOwner(tx, account, before)
    await forget(app, tx, account)
    await record(tx, caller, 'member.remove', params.id, { before: { email: before.email, role: before.role } })
    return { id: params.id, deleted: true as const }
  },
})

const resetRoute = writeAcross({
  method: 'POST',
  path: '/v1/team/members/:id/reset',
  operation: 'team.resetPassword',
  summary: 'Create a password reset link for a member',
  description:
    'The link can be used once, within an hour; pass it on to the member. The old password stays valid until then, and the second factor is unchanged.',
  scope: 'team:write',
  params: IdParam,
  reply: { status: 200, schema: Reset },
  errors: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
  needs: aMember,
  handle: async (app, tx, { params }, caller) => {
    const before = await existing(tx, caller.tenant.account, params.id)
    await requireMayGive(app, tx, caller, before.role)
    spareOperators(before, caller)
    const begun = await newReset(app, tx, before.id)
    if (!begun) throw new AppError('CONFLICT', 'only members who can sign in have a password to reset')
    await record(tx, caller, 'member.reset_password', params.id)
    return { id: params.id, reset_url: begun.url, expires_at: begun.until }
  },
})

/**
 * Refuses to give, change or take a role that may do more than the caller: a member has no end, signs in from anywhere and in
 * both environments. So a key needs all that the role may do, and is itself bound to nothing; in production it is a live one.
 */
async function requireMayGive({ config }: App, tx: Tx, caller: Caller, ...touched: Role[]): Promise<void> {
  const { principal, tenant } = caller
  requireUnbound(caller, 'changes no team')
  requireCovered([...new Set(touched.flatMap((one) => scopesOf(one, 'live')))], principal.scopes)
  await refuseOwners(tx, caller, touched)
  if (principal.signedInAtMs !== null) return
  if (tenant.environment === 'test' && config.NODE_ENV === 'production')
    throw new AppError(
      'FORBIDDEN',
      'a test key changes no team: members reach the live environment too; use a live key',
    )
}

/** Owners are made, changed and removed by owners and their keys only; a key that no member made counts as an owner's. */
async function refuseOwners(tx: Tx, { principal, tenant }: Caller, touched: readonly Role[]): Promise<void> {
  const { member: id } = principal.facts
  if (!touched.includes('owner') || id === null) return
  const member = await maybe(tx.query(findOfTeam, { account: tenant.account, id }))
  if (member?.role !== 'owner') throw new AppError('FORBIDDEN', 'only an owner changes who is an owner')
}

/** Refuses everybody but operators to change, remove or reset a member who runs the installation. */
function spareOperators({ operator }: TeamRow, { principal }: Caller): void {
  if (operator && !principal.scopes.has('operator'))
    throw new AppError('FORBIDDEN', 'who runs the installation is changed, removed and reset by an operator only')
}

/** Refuses to take the last owner away; a team that never had one, as of an account made by the operator, is left as it is. */
async function keepAnOwner(tx: Tx, account: string, before: { role: string; status: string }): Promise<void> {
  if (before.role !== 'owner' || before.status !== 'active') return
  if ((await one(tx.query(countTeam, { account }))).owners > 0) return
  throw new AppError('CONFLICT', 'an account keeps at least one owner who can sign in')
}

async function existing(db: Queryable, account: string, id: string): Promise<TeamRow> {
  const uuid = uuidOf('member', id)
  const row = uuid && (await maybe(db.query(findOfTeam, { account, id: uuid })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such member; ids of members begin with mbr_')
  return row
}

function memberOf({ id, ...row }: TeamRow): Static<typeof Member> {
  return { id: idOf('member', id), ...row }
}

export const teamRoutes: readonly Route[] = [members, inviteRoute, getMember, changeRoute, removeRoute, resetRoute]
