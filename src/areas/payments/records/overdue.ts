// SPDX-License-Identifier: Apache-2.0
// Overdue payouts and refunds, whose outcome is unknown, as operators see them.
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { Amount, At, EnvironmentName, Nullable } from '../../../platform/schema/fields.ts'
import type { Environment } from '../../../platform/tenant.ts'

export const overdueFields = {
  provider_id: Type.String({ description: 'As the provider knows it' }),
  account_id: Type.String({ description: 'Whose it is, such as `acc_…`' }),
  environment: EnvironmentName({ description: '`test` or `live`' }),
  provider: Type.String({ description: 'Who was asked to pay, such as `mpesa`' }),
  country: Type.String({ description: 'Where the provider is, ISO 3166' }),
  amount: Amount({ description: 'In major units' }),
  currency: Type.String({ description: 'Of the amount' }),
  created_at: At({ description: 'When it was asked for' }),
  overdue_at: Nullable(At({ description: 'Since when its outcome is overdue; null once it is settled' })),
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
