// SPDX-License-Identifier: Apache-2.0
// Short codes and long numbers that handsets write to. A customer may take any test number; a live one is assigned by
// an operator, to one account or to several that share it.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { dialectNamed, urlOf } from '../../../platform/outbound/dialect-url.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { numbersFor, type OwnedNumber } from '../../numbers/area.ts'
import { announcePermission } from '../senders/permissions.ts'
import type { Keyword } from './keywords.ts'
import type { NumberDeleted, NumberRecord } from './schema.ts'

/** Numbers of one account in one environment. */
export const maxNumbers = 100

/** Handling of the messages that come in at a number. */
interface Settings {
  readonly keywords: readonly Keyword[]
  readonly default_webhook_url: string | null
}

export const smsNumbers = numbersFor<Settings>('sms')

export type NumberRow = OwnedNumber<Settings>

/** Takes a number from an account, or from all that have it. */
export async function removeNumber(
  app: App,
  tx: Tx,
  caller: Caller,
  { environment, number, account }: { environment: Environment; number: string; account: string | null },
): Promise<Static<typeof NumberDeleted>> {
  const rows = isStorable(number) ? await smsNumbers.release(tx, environment, number, account) : []
  if (rows.length === 0) throw noSuchNumber()
  for (const row of rows) {
    await record(tx, caller, 'sms.remove_number', number, { before: { account_id: idOf('account', row.account_id) } })
    await announcePermission(app, tx, row.account_id)
  }
  return { id: number, number, deleted: true }
}

export function numberRecord(row: NumberRow): Static<typeof NumberRecord> {
  const { number, shared, settings, created_at, updated_at } = row
  const { keywords, default_webhook_url } = settings
  return {
    ...{ number, shared, created_at, updated_at },
    keywords: keywords.map(({ keyword, webhook_url, auto_reply }) => ({
      ...{ keyword, auto_reply, webhook_url: urlOf(webhook_url), dialect: dialectNamed(webhook_url) },
    })),
    default_webhook_url: urlOf(default_webhook_url),
    dialect: dialectNamed(default_webhook_url),
  }
}

/** Whether the database can hold a number from a path, which may contain a zero byte. */
export function isStorable(number: string): boolean {
  return /^\+?\d+$/.test(number)
}

export function noSuchNumber(): AppError {
  return new AppError('NOT_FOUND', 'there is no such number')
}
