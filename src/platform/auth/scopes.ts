// SPDX-License-Identifier: Apache-2.0
// What a credential may be allowed to do. `<area>:read` covers reading, `<area>:write` the rest and reading too; `*` is
// everything except operating the installation.

const scopeAreas = [
  'account',
  'billing',
  'callcenter',
  'email',
  'events',
  'fraud',
  'identity',
  'keys',
  'logs',
  'messenger',
  'payments',
  'payouts',
  'sandbox',
  'sms',
  'team',
  'ussd',
  'voice',
  'wallet',
  'webhooks',
] as const

type ScopeArea = (typeof scopeAreas)[number]
export type Scope = `${ScopeArea}:read` | `${ScopeArea}:write` | 'operator'

/** Another word for webhooks:write. */
const managesWebhooks = 'webhooks:manage'

/** Areas whose requests a plan limits by the minute. */
export const limitAreas = ['sms', 'email', 'messenger', 'voice', 'payments', 'identity'] as const
export type LimitArea = (typeof limitAreas)[number]

export function isScope(text: string): boolean {
  if (text === '*' || text === 'operator' || text === managesWebhooks) return true
  const [area, verb, ...rest] = text.split(':')
  return rest.length === 0 && (verb === 'read' || verb === 'write') && scopeAreas.some((known) => known === area)
}

/** Whether these scopes allow what needs `wanted`. */
export function allows(scopes: ReadonlySet<string>, wanted: string): boolean {
  if (scopes.has(wanted)) return true
  if (wanted === 'operator') return false
  if (scopes.has('*') || (wanted.endsWith(':read') && scopes.has(wanted.replace(/:read$/, ':write')))) return true
  if (wanted === managesWebhooks) return scopes.has('webhooks:write')
  return wanted.startsWith('webhooks:') && scopes.has(managesWebhooks)
}
