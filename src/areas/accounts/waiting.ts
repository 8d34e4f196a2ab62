// SPDX-License-Identifier: Apache-2.0
// Everything that waits for a person, counted in one answer: for the badges of the console, and for whoever builds their own.
import { Type } from 'typebox'
import { type Route, read } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { allows } from '../../platform/auth/scopes.ts'
import { maxCounted, type WaitingCount } from '../../platform/operator/waiting.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { queues } from '../../platform/work/queues.ts'

const Counts = Type.Record(Type.String(), Type.Integer(), {
  description: `Number of records by name, such as \`payouts_to_approve\`; counting stops at ${maxCounted}`,
})

const WaitingReply = Type.Object(
  {
    counts: Counts,
    clock_offset_seconds: Type.Number({
      description: 'Offset of the test clock from the real time in seconds; 0 in live',
    }),
  },
  { title: 'Waiting' },
)

async function countsOf(app: App, tenant: Tenant, wanted: readonly WaitingCount[]): Promise<Record<string, number>> {
  const counted = await Promise.all(wanted.map(async (one) => [one.name, await one.count(app.db, tenant)] as const))
  return Object.fromEntries(counted)
}

const waiting = read({
  method: 'GET',
  path: '/v1/account/waiting',
  operation: 'account.waiting',
  summary: 'Get counts of pending work',
  description:
    'Counts payouts to approve, identity checks to review, open disputes, overdue invoices and failing endpoints that the credential can read.',
  scope: 'any',
  reply: { status: 200, schema: WaitingReply },
  examples: [{ name: 'All counts' }],
  handle: async (app, _input, { tenant, principal }) => ({
    counts: await countsOf(
      app,
      tenant,
      app.waiting.filter(({ scope }) => scope !== 'operator' && allows(principal.scopes, scope)),
    ),
    clock_offset_seconds: principal.facts.clockOffsetMs / 1_000,
  }),
})

const waitingForOperators = read({
  method: 'GET',
  path: '/v1/operator/waiting',
  operation: 'operator.waiting',
  summary: 'Get counts of pending work for operators',
  description:
    'Counts carriers that are down, senders to approve, failed jobs, open discrepancies, and payouts and refunds with an unknown outcome.',
  scope: 'operator',
  reply: { status: 200, schema: Type.Object({ counts: Counts }, { title: 'OperatorWaiting' }) },
  examples: [{ name: 'All counts' }],
  handle: async (app, _input, { tenant }) => {
    const [counts, lanes] = await Promise.all([
      countsOf(
        app,
        tenant,
        app.waiting.filter(({ scope }) => scope === 'operator'),
      ),
      queues(app.db),
    ])
    return { counts: { ...counts, jobs_failed: lanes.reduce((sum, { failed }) => sum + failed, 0) } }
  },
})

export const waitingRoutes: readonly Route[] = [waiting, waitingForOperators]
