// SPDX-License-Identifier: Apache-2.0
// Address for payers who confirm on a provider's page: a page of ours first, which checks that it is still time and
// redirects. So there is one kind of link for all providers. It is not the address that the provider calls.
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { PaymentDetails } from '../providers/provider.ts'
import { payerToken, secretNameOf } from './callback-address.ts'
import type { AttemptRow } from './store.ts'

type Named = Pick<AttemptRow, 'id' | 'token'>

/** Details stored with a payment whose payer is sent to a page. */
export function sentTo(app: App, tenant: Tenant, attempt: Named, page: string): PaymentDetails {
  return { page_url: page, redirect_url: goUrl(app, tenant, attempt) }
}

/** Address to which the payer of an attempt returns. */
export function comeBackUrl(app: App, tenant: Tenant, attempt: Named): string {
  return `${goUrl(app, tenant, attempt)}/return`
}

function goUrl(app: App, tenant: Tenant, { id, token }: Named): string {
  return `${app.publicUrl}/go/${secretNameOf({ subject: 'attempt', tenant, topic: 0, id, token: payerToken(token) })}`
}
