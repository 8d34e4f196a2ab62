// SPDX-License-Identifier: Apache-2.0
// Roles of members, as the scopes that a session of theirs has. Pure.
import type { Environment } from '../../platform/tenant.ts'

export const roles = [
  ...(['owner', 'admin', 'developer', 'finance'] as const),
  ...(['supervisor', 'agent', 'reviewer', 'viewer'] as const),
] as const
export type Role = (typeof roles)[number]

const channels = ['customers', 'sms', 'messenger', 'email', 'voice', 'ussd', 'identity']
const money = ['payments', 'payouts', 'wallet', 'billing']

/** Scopes of a text to a caller and of a request for money from one. */
const toCallers = ['sms:send', 'payments:request']

/** A developer changes keys of the test environment only. */
export function scopesOf(role: Role, environment: Environment): string[] {
  if (role === 'owner' || role === 'admin') return ['*']
  if (role === 'viewer') return reading([...channels, ...money, 'webhooks', 'account', 'logs', 'events'])
  if (role === 'reviewer') return [...writing(['identity']), 'identity:review', 'identity:audit']
  if (role === 'supervisor')
    return [
      ...writing(['callcenter', 'conversations']),
      ...reading(['voice', 'account', 'customers']),
      ...toCallers,
      // Whoever makes a menu tries it on the phone beside it.
      ...(environment === 'test' ? writing(['sandbox']) : []),
    ]
  if (role === 'finance')
    return [...writing(money), 'payouts:approve', ...reading(['customers', 'account', 'logs', 'events'])]
  if (role === 'agent') return ['callcenter:agent', 'conversations:own', 'conversations:answer', ...toCallers]
  const own = [
    ...writing([...channels, 'conversations', 'webhooks']),
    ...reading([...money, 'account', 'logs', 'events']),
  ]
  return environment === 'test' ? [...own, ...writing(['keys', 'sandbox', 'payments'])] : [...own, 'keys:read']
}

/** A viewer reads without personal data. */
export function masksPeople(role: Role): boolean {
  return role === 'viewer'
}

const writing = (areas: readonly string[]): string[] => areas.map((area) => `${area}:write`)
const reading = (areas: readonly string[]): string[] => areas.map((area) => `${area}:read`)
