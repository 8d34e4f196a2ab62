// SPDX-License-Identifier: Apache-2.0
// Frames of a timeline that providers are part of: the requests that they were sent, and the calls that came from them.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Exchange } from '../../../platform/outbound/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { redacted } from '../../../platform/timeline.ts'
import type { AttemptRow } from './store.ts'

/** Recorder of the requests that a provider is sent about a payment; undefined where its timeline is not kept. */
export function traceOf(
  app: App,
  tenant: Tenant,
  { payment_id, clock_offset_ms }: Pick<AttemptRow, 'payment_id' | 'clock_offset_ms'>,
): ((exchange: Exchange) => void) | undefined {
  return providerTrace(app, tenant, idOf('payment', payment_id), Number(clock_offset_ms))
}

/** Recorder for any resource, by its public id. */
export function providerTrace(
  app: App,
  tenant: Tenant,
  resource: string,
  clockOffsetMs: number,
): ((exchange: Exchange) => void) | undefined {
  const note = app.timeline.of(tenant, resource, clockOffsetMs)
  if (!note) return undefined
  return ({ method, url, body, answer, durationMs }) => {
    const { host, pathname } = new URL(url)
    const isAnswered = answer.kind === 'answered'
    note({
      kind: 'provider',
      direction: 'out',
      title: `${method} ${pathname}`,
      peer: host,
      status: isAnswered ? String(answer.status) : answer.reason,
      isOk: isAnswered && answer.status < 400,
      durationMs,
      request: redacted(body),
      answer: isAnswered ? redacted(answer.body) : null,
    })
  }
}

/** The resource that a provider's call was about. */
interface Called {
  readonly resource: string
  readonly provider: string
  readonly clockOffsetMs: number
}

/** Records a provider's call in the timeline of what it was about. */
export function noteCallback(app: App, tenant: Tenant, called: Called, body: unknown, isTaken: boolean): void {
  app.timeline.of(
    tenant,
    called.resource,
    called.clockOffsetMs,
  )?.({
    kind: 'callback',
    direction: 'in',
    title: 'Callback',
    peer: called.provider,
    status: isTaken ? '200' : '404',
    isOk: isTaken,
    durationMs: null,
    request: redacted(body),
    answer: null,
  })
}
