// SPDX-License-Identifier: Apache-2.0
// Overdue payouts and refunds, whose outcome is unknown, as operators see them.
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { Amount, At, EnvironmentName, Nullable } from '../../../platform/schema/fields.ts'
import type { Environment } from '../../../platform/tenant.ts'

export const overdueFields = {
  provider_id: Type.String({ description: 'Transaction id at the provider' }),
  account_id: Type.String({ description: 'Id of the account it belongs to, such as `acc_…`' }),
  environment: EnvironmentName({ description: '`test` or `live`' }),
  provider: Type.String({ description: 'Provider that was asked to pay, such as `mpesa`' }),
  country: Type.String({ description: 'Country of the provider, ISO 3166' }),
  amount: Amount({ description: 'Amount in major units' }),
  currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
  created_at: At({ description: 'Time of the request' }),
  overdue_at: Nullable(At({ description: 'Time since which the outcome is overdue; null once it is settled' })),
}

interface OverdueRow {
  readonly account_id: string
  readonly environment: Environment
  readonly provider: string
  readonly country: string
  readonly amount: bigint
  readonly currency: string
  readonly created_at: Date
}

export function shownOverdue(row: OverdueRow, providerId: string, overdueAt: Date | null) {
  const { environment, provider, country, amount, currency, created_at } = row
  return {
    provider_id: providerId,
    account_id: idOf('account', row.account_id),
    environment,
    provider,
    country,
    amount,
    currency,
    created_at,
    overdue_at: overdueAt,
  }
}
