// SPDX-License-Identifier: Apache-2.0
// Numbers that accounts own. A number is capable of texts, calls, USSD or a chat messenger, and each capability has an owner
// and settings of its own: an operator may give the texts of a number to one account and its calls to another.
import { newUuid } from '../../kernel/ids.ts'
import { maybe, type Queryable, statement } from '../../platform/db.ts'
import type { Environment, Tenant } from '../../platform/tenant.ts'
import type { Capability } from './capability.ts'

export interface OwnedNumber<Settings> {
  readonly environment: Environment
  readonly number: string
  readonly account_id: string
  readonly bucket: number
  readonly id: string
  /** Others may have it too. */
  readonly shared: boolean
  readonly settings: Settings
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = 'environment, number, account_id, bucket, id, shared, settings, created_at, updated_at'

/** An owner with how far its clock was moved. */
export interface Owner<Settings> extends OwnedNumber<Settings> {
  readonly clock_offset_ms: bigint
}

/** Time of a request, by the clock that ids are made by and by the account's own. */
interface Moment {
  readonly receivedMs: number
  readonly nowMs: number
}

/** A number that an account is about to own. */
interface Given<Settings> {
  readonly number: string
  readonly shared?: boolean
  readonly settings: Settings
  /** Refused where the account has as many of this capability. */
  readonly most?: number
}

interface Listed {
  readonly environment: Environment
  /** Account whose numbers are listed; null for all. */
  readonly account: string | null
  readonly after: string | null
  readonly descending: boolean
  readonly limit: number
}

/** The numbers of one capability, with the settings that its area keeps for each. */
export function numbersFor<Settings>(capability: Capability) {
  type Row = OwnedNumber<Settings>
  const these = `capability = '${capability}'`

  const ownersOf = statement.home<
    { environment: Environment; forms: readonly string[]; account: string | null },
    Owner<Settings>
  >(
    `numbers.owners_for_${capability}`,
    `select ${columns}, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms from numbers.owned
      where environment = $environment and number = any($forms::text[]) and ${these}
        and ($account::uuid is null or account_id = $account)
      order by account_id`,
  )
  const listed = statement.home<{ [K in keyof Listed]: Listed[K] }, Row>(
    `numbers.list_for_${capability}`,
    `select ${columns} from numbers.owned
      where environment = $environment and ($account::uuid is null or account_id = $account) and ${these}
        and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
      order by case when $descending then id end desc, id
      limit $limit::int + 1`,
  )
  const inOrder = statement.home<{ environment: Environment; account: string | null; limit: number }, Row>(
    `numbers.in_order_for_${capability}`,
    `select ${columns} from numbers.owned
      where environment = $environment and ($account::uuid is null or account_id = $account) and ${these}
      order by number, account_id limit $limit`,
  )
  const insert = statement.home<
    Tenant & { number: string; id: string; shared: boolean; settings: string | null; at: Date; most: number | null },
    Row
  >(
    `numbers.own_for_${capability}`,
    `insert into numbers.owned (environment, number, capability, account_id, bucket, id, shared, settings, created_at, updated_at)
     select $environment::text, $number::text, '${capability}', $account::uuid, $bucket::smallint, $id::uuid, $shared::boolean,
            $settings::jsonb, $at::timestamptz, $at::timestamptz
      where $most::int is null or (select count(*) from numbers.owned
                                    where account_id = $account and environment = $environment and ${these}) < $most
     on conflict do nothing
     returning ${columns}`,
  )
  const update = statement.home<Tenant & { number: string; settings: string; at: Date }, Row>(
    `numbers.change_for_${capability}`,
    `update numbers.owned set settings = $settings::jsonb, updated_at = $at
      where environment = $environment and number = $number and ${these} and account_id = $account and bucket = $bucket
     returning ${columns}`,
  )
  const remove = statement.home<{ environment: Environment; number: string; account: string | null }, Row>(
    `numbers.release_for_${capability}`,
    `delete from numbers.owned
      where environment = $environment and number = $number and ${these} and ($account::uuid is null or account_id = $account)
     returning ${columns}`,
  )

  return {
    /** Everybody who has a number, in any of the forms in which it may be written; or one account, if it has it. */
    owners: (queryable: Queryable, environment: Environment, forms: readonly string[], account: string | null = null) =>
      queryable.query(ownersOf, { environment, forms, account }),
    /** A page of them, by age. */
    page: (queryable: Queryable, window: Listed) => queryable.query(listed, { ...window }),
    /** The first of them by their digits, of an account or of all. */
    inOrder: (queryable: Queryable, environment: Environment, account: string | null, limit: number) =>
      queryable.query(inOrder, { environment, account, limit }),
    /** Gives a number to an account; null where it or another one has it already, or it has too many. */
    own: (
      tx: Queryable,
      { bucket, account, environment }: Tenant,
      { receivedMs, nowMs }: Moment,
      given: Given<Settings>,
    ): Promise<Row | null> =>
      maybe(
        tx.query(insert, {
          bucket,
          account,
          environment,
          number: given.number,
          id: newUuid(receivedMs),
          shared: given.shared ?? false,
          settings: given.settings === null ? null : JSON.stringify(given.settings),
          at: new Date(nowMs),
          most: given.most ?? null,
        }),
      ),
    /** Changes what a number of an account does; null where the account does not have it. */
    change: (
      tx: Queryable,
      { bucket, account, environment }: Tenant,
      number: string,
      settings: Settings,
      nowMs: number,
    ) =>
      maybe(
        tx.query(update, {
          bucket,
          account,
          environment,
          number,
          settings: JSON.stringify(settings),
          at: new Date(nowMs),
        }),
      ),
    /** Takes a number from an account, or from all that have it; gives who had it. */
    release: (tx: Queryable, environment: Environment, number: string, account: string | null) =>
      tx.query(remove, { environment, number, account }),
  }
}

const lockAll = statement.home<Record<never, never>, object>(
  'numbers.lock',
  'lock table numbers.owned in share row exclusive mode',
)

/** Lock for assigning shared numbers and keywords: two assignments at once would not see each other. */
export async function lockNumbers(tx: Queryable): Promise<void> {
  await tx.query(lockAll, {})
}
