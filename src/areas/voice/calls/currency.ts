// SPDX-License-Identifier: Apache-2.0
// Currency an account is charged in.
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'

const find = statement.home<{ account: string }, { currency: string | null }>(
  'voice.currency_of',
  'select accounts.currency_of($account::uuid) as currency',
)

export async function currencyOf(app: App, account: string): Promise<string> {
  return (await maybe(app.db.query(find, { account })))?.currency ?? 'USD'
}
