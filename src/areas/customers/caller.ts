// SPDX-License-Identifier: Apache-2.0
// Caller of what a job does: the account, in the name of who began it.
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** Caller of a campaign or an import. Throws ACCOUNT_SUSPENDED. */
export async function callerOf(
  app: App,
  tenant: Tenant,
  { id, started_by }: { readonly id: string; readonly started_by: string | null },
): Promise<Caller> {
  const principal = await app.authenticator.principalOfAccount(tenant)
  if (!principal) throw new Error('the account of a job is gone')
  if (principal.facts.suspended) throw new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  const receivedMs = app.clock.nowMs()
  return {
    ...{ principal, tenant, accountId: principal.accountId, actor: started_by ?? principal.actor, ip: '' },
    ...{ requestId: idOf('request', id), receivedMs, nowMs: receivedMs + principal.facts.clockOffsetMs },
  }
}
