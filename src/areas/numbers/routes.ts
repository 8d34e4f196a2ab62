// SPDX-License-Identifier: Apache-2.0
// The list of everything that an account can be reached at.
import { Type } from 'typebox'
import { isE164, placeOf } from '../../kernel/phone.ts'
import { list, type Route } from '../../platform/api/route.ts'
import { statement } from '../../platform/db.ts'
import { At, Nullable, OneOf, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import type { Environment } from '../../platform/tenant.ts'
import { type Capability, capabilities, capableOf } from './capability.ts'

const maxListed = 10_000

const OwnedNumber = Type.Object(
  {
    number: Type.String({ description: 'E.164, a short code, or a code that handsets dial' }),
    country: Nullable(Type.String({ description: 'Country, ISO 3166; null if it is unknown' })),
    capabilities: Type.Array(OneOf(capabilities), { description: 'Capabilities of the number' }),
    shared: Type.Boolean({ description: 'True if other accounts have keywords on it' }),
    created_at: At({ description: 'Time at which it became yours' }),
  },
  { title: 'OwnedNumber' },
)

const selectOwned = statement.home<
  { environment: Environment; account: string; capability: Capability | null; limit: number },
  { number: string; capabilities: Capability[]; shared: boolean; created_at: Date }
>(
  'numbers.list',
  `select number, array_agg(capability) as capabilities, bool_or(shared) as shared, min(created_at) as created_at
     from numbers.owned where account_id = $account and environment = $environment
    group by number having $capability::text is null or bool_or(capability = $capability)
    order by number limit $limit`,
)

const listOwn = list({
  path: '/v1/numbers',
  operation: 'numbers.list',
  summary: 'List your numbers and their capabilities',
  description:
    'Numbers and codes that receive texts, calls, USSD sessions and chat messages; each is set up in its own chapter.',
  scope: 'numbers:read',
  query: Type.Object({
    ...wholeListQuery,
    capability: Type.Optional(OneOf(capabilities, { description: 'Filter by capability' })),
  }),
  row: OwnedNumber,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant: { environment, account } }) => {
    const asked = { environment, account, capability: query.capability ?? null, limit: maxListed }
    const rows = (await app.db.query(selectOwned, asked)).map(
      ({ number, capabilities: owned, shared, created_at }) => ({
        number,
        country: isE164(number) ? placeOf(number).country : null,
        capabilities: capableOf(environment, number, owned),
        shared,
        created_at,
      }),
    )
    return pageOfWhole(query, rows, ({ number }) => number)
  },
})

export const ownedNumberRoutes: readonly Route[] = [listOwn]
