// SPDX-License-Identifier: Apache-2.0
// SQL of the ways to sign in beside a password: passkeys, identities at a provider, and steps that were begun.
import { statement } from '../../../platform/db.ts'
import { type MemberRow, memberColumns } from './store.ts'

export type StepKind = 'passkey' | 'new_passkey' | 'oidc' | 'code'

export const beginStep = statement.home<{ hash: Buffer; kind: StepKind; member: string | null; until: Date }, object>(
  'accounts.begin_sign_in_step',
  'insert into accounts.sign_in_steps (hash, kind, member_id, until) values ($hash, $kind, $member, $until)',
)

/** Takes a step, which nobody can take again; no row when it was taken, or its time is over. */
export const takeStep = statement.home<{ hash: Buffer; kind: StepKind; now: Date }, { member_id: string | null }>(
  'accounts.take_sign_in_step',
  'delete from accounts.sign_in_steps where hash = $hash and kind = $kind and until > $now returning member_id',
)

export const findStep = statement.home<{ hash: Buffer; kind: StepKind; now: Date }, { member_id: string | null }>(
  'accounts.find_sign_in_step',
  'select member_id from accounts.sign_in_steps where hash = $hash and kind = $kind and until > $now',
)

export const dropSteps = statement.home<{ now: Date }, object>(
  'accounts.drop_sign_in_steps',
  'delete from accounts.sign_in_steps where until <= $now',
)

export interface PasskeyRow {
  id: string
  name: string
  credential: Buffer
  created_at: Date
  last_used_at: Date | null
}

/** Index: passkeys_of_member. */
export const listPasskeys = statement.home<{ member: string }, PasskeyRow>(
  'accounts.list_passkeys',
  `select id, name, credential, created_at, last_used_at from accounts.passkeys
    where member_id = $member order by id`,
)

/** Gives no row where the credential is known already, or the member has as many as there may be. */
export const keepPasskey = statement.home<
  {
    id: string
    credential: Buffer
    member: string
    name: string
    key: Buffer
    counter: bigint
    at: Date
    most: number
  },
  { id: string }
>(
  'accounts.keep_passkey',
  `insert into accounts.passkeys (id, credential, member_id, name, public_key, counter, created_at)
   select $id, $credential, $member, $name, $key, $counter, $at
    where (select count(*) from accounts.passkeys where member_id = $member) < $most::int
   on conflict (credential) do nothing
   returning id`,
)

export const removePasskey = statement.home<{ member: string; id: string }, { id: string }>(
  'accounts.remove_passkey',
  'delete from accounts.passkeys where member_id = $member and id = $id returning id',
)

export const dropPasskeysOf = statement.home<{ member: string }, object>(
  'accounts.drop_passkeys_of',
  'delete from accounts.passkeys where member_id = $member',
)

type Found = Pick<MemberRow, 'id' | 'account_id' | 'status'>

export const passkeyByCredential = statement.home<
  { credential: Buffer },
  Found & { passkey: string; public_key: Buffer; counter: bigint }
>(
  'accounts.passkey_by_credential',
  `select m.id, m.account_id, m.status, p.id as passkey, p.public_key, p.counter
     from accounts.passkeys p join accounts.members m on m.id = p.member_id
    where p.credential = $credential`,
)

/** Notes a use; no row when another use with the same counter, or a later one, was noted meanwhile. */
export const usePasskey = statement.home<{ id: string; counter: bigint; at: Date }, { id: string }>(
  'accounts.use_passkey',
  `update accounts.passkeys set counter = $counter, last_used_at = $at
    where id = $id and (counter < $counter or (counter = 0 and $counter = 0))
   returning id`,
)

export const memberById = statement.home<{ id: string }, MemberRow>(
  'accounts.member_by_id',
  `select ${memberColumns} from accounts.members where id = $id`,
)

export const identityOf = statement.home<{ issuer: string; subject: string }, { member_id: string }>(
  'accounts.identity_of',
  'select member_id from accounts.member_identities where issuer = $issuer and subject = $subject',
)

/** Links a member with who they are at the provider; no row when either is linked already. */
export const linkIdentity = statement.home<
  { issuer: string; subject: string; member: string; at: Date },
  { member_id: string }
>(
  'accounts.link_identity',
  `insert into accounts.member_identities (issuer, subject, member_id, linked_at)
   values ($issuer, $subject, $member, $at) on conflict do nothing returning member_id`,
)
