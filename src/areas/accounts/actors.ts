// SPDX-License-Identifier: Apache-2.0
// Names of the keys and members behind an account's audit log and request log.
import { type Id, idOf, uuidOf } from '../../kernel/ids.ts'
import { type Database, statement } from '../../platform/db.ts'

const namesOfActors = statement.home<{ account: string; keys: string[]; members: string[] }, ActorName>(
  'accounts.names_of_actors',
  `select id, 'key' as kind, name from accounts.api_keys where account_id = $account and id = any($keys::uuid[])
    union all
   select id, 'member', coalesce(nullif(name, ''), email) from accounts.members
    where account_id = $account and id = any($members::uuid[])`,
)

interface ActorName {
  id: string
  kind: 'key' | 'member'
  name: string
}

/** Names of an account's own keys and members, by their ids. */
export async function actorNames(
  db: Database,
  account: string,
  actors: readonly { type: string; id: string }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = (prefix: 'apiKey' | 'member') => [...new Set(actors.flatMap(({ id }) => uuidOf(prefix, id) ?? []))]
  const asked = { account, keys: ids('apiKey'), members: ids('member') }
  const rows = await db.query(namesOfActors, asked)
  return new Map(rows.map(({ id, kind, name }) => [idOf(kind === 'key' ? 'apiKey' : 'member', id), name]))
}

const makersOfRequests = statement.home<{ account: string; ids: string[] }, MakerRow>(
  'accounts.makers_of_requests',
  `select k.id, k.name as key_name, k.member_id, coalesce(nullif(m.name, ''), m.email) as member_name
     from accounts.api_keys k left join accounts.members m on m.id = k.member_id and m.account_id = k.account_id
    where k.account_id = $account and k.id = any($ids::uuid[])
    union all
   select id, null, id, coalesce(nullif(name, ''), email) from accounts.members
    where account_id = $account and id = any($ids::uuid[])`,
)

interface MakerRow {
  id: string
  key_name: string | null
  member_id: string | null
  member_name: string | null
}

/** Key of a request, and the member who made that key or, signed in to the console, the request itself. */
export interface Maker {
  key_id: Id<'apiKey'> | null
  key_name: string | null
  member: { id: Id<'member'>; name: string | null } | null
}

/** Who made the requests of an account, by what those were logged with: the id of a key, or that of a member. */
export async function makersOf(
  db: Database,
  account: string,
  logged: readonly string[],
): Promise<(loggedWith: string) => Maker> {
  const rows = await db.query(makersOfRequests, { account, ids: [...new Set(logged)] })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return (loggedWith) => {
    // Keys are kept when they are revoked, so what is none of them was a member, who has been removed.
    const { key_name = null, member_id: member = loggedWith, member_name = null } = byId.get(loggedWith) ?? {}
    return {
      key_id: member === loggedWith ? null : idOf('apiKey', loggedWith),
      key_name,
      member: member === null ? null : { id: idOf('member', member), name: member_name },
    }
  }
}
