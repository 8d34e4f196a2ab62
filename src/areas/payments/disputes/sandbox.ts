// SPDX-License-Identifier: Apache-2.0
// Sandbox route that ends a dispute of a test account: the simulated acquirer learns the bank's decision, and reports
// it as a real one would.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import { disputeHelperPath } from '../../../protocols/acquirer.ts'
import { simulatedAccounts } from '../gateway/simulated.ts'
import { cardProvider } from '../methods/card.ts'
import { disputeUuid, noSuchDispute } from './dispute.ts'
import { aDispute } from './routes.ts'
import { findDispute } from './store.ts'

const decisionMs = 10_000

const outcome = OneOf(['won', 'lost'], { description: 'Decision of the bank; `won`: in your favour' })

const close = write({
  method: 'POST',
  path: '/v1/sandbox/disputes/:dispute_id/close',
  operation: 'sandbox.closeDispute',
  summary: 'Simulate the decision of a dispute',
  description: 'Decides the dispute as the payer’s bank. The result is sent as payment.dispute_closed shortly after.',
  scope: 'sandbox:write',
  params: Type.Object({ dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }) }),
  body: Type.Object({ outcome }),
  reply: {
    status: 200,
    schema: Type.Object(
      {
        dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }),
        payment_id: Type.String({ description: 'Id of the disputed payment, such as `pay_…`' }),
        outcome,
      },
      { title: 'SandboxDisputeClose' },
    ),
  },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE', 'PROVIDER_UNAVAILABLE'],
  needs: aDispute,
  prepare: (app, { params, body }, caller) => decide(app, caller, params.dispute_id, body.outcome),
  handle: async (_app, tx, { body }, caller, decided) => {
    await record(tx, caller, 'sandbox.close_dispute', decided.dispute_id, { after: { outcome: body.outcome } })
    return decided
  },
})

async function decide(app: App, { tenant }: Caller, id: string, outcome: 'won' | 'lost') {
  const dispute = await maybe(app.db.query(findDispute, { ...tenant, id: disputeUuid(id) }))
  if (!dispute) throw noSuchDispute()
  const { status, provider_id } = dispute
  if (status !== 'open') throw new AppError('INVALID_STATE', `the dispute is ${status}`, { extra: { status } })
  const settings = simulatedAccounts(app)[cardProvider]
  const client = new ProviderClient(app.carrierOutbound)
  const answer = settings
    ? await client.ask({
        method: 'POST',
        url: `${settings.base_url}${disputeHelperPath(provider_id)}`,
        headers: { authorization: `Bearer ${settings.secret_key}`, 'idempotency-key': `${dispute.id}-${outcome}` },
        body: { outcome },
        timeoutMs: decisionMs,
      })
    : null
  if (answer?.kind === 'answered' && (answer.status === 404 || answer.status === 400))
    throw new AppError('INVALID_STATE', 'the simulated acquirer has no such open dispute', {
      extra: { status },
    })
  if (answer?.kind !== 'answered' || answer.status !== 200)
    throw new AppError('PROVIDER_UNAVAILABLE', 'the simulated acquirer does not answer', { retryAfterSeconds: 5 })
  return { dispute_id: idOf('dispute', dispute.id), payment_id: idOf('payment', dispute.payment_id), outcome }
}

export const disputeSandboxRoutes: readonly Route[] = [close]
