// SPDX-License-Identifier: Apache-2.0
// Where a payer is sent who has to confirm on a page: an address of ours first, which knows whether it is still time and sends
// on from there. So everybody is given one kind of link, whoever has the page. It is not the address that the provider calls.
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

/** Where the payer of an attempt comes back to from a page. */
export function comeBackUrl(app: App, tenant: Tenant, attempt: Named): string {
  return `${goUrl(app, tenant, attempt)}/return`
}

function goUrl(app: App, tenant: Tenant, { id, token }: Named): string {
  return `${app.publicUrl}/go/${secretNameOf({ subject: 'attempt', tenant, topic: 0, id, token: payerToken(token) })}`
}
