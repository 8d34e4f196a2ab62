// SPDX-License-Identifier: Apache-2.0
// Four eyes: above how many customers an account asks for a second person to start a campaign.
import { maybe, type Queryable, statement } from '../../../platform/db.ts'

const fourEyesAbove = statement.home<{ account: string }, { above: number }>(
  'customers.four_eyes_above',
  `select (value #>> '{}')::int as above from accounts.with_setting('campaign_four_eyes')
    where account_id = $account and value <> 'null'`,
)

/** Null where one person may start any. */
export async function aboveFor(queryable: Queryable, account: string): Promise<number | null> {
  return (await maybe(queryable.query(fourEyesAbove, { account })))?.above ?? null
}
