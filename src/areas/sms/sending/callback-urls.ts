// SPDX-License-Identifier: Apache-2.0
// The addresses that messages name for news of them. Customers name the same one with every message, so one that passed is
// not looked up again for a while; every connection to it is checked anyway.
import { AppError } from '../../../kernel/errors.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'

const goodForMs = minuteMs
const maxRemembered = 10_000
/** Different addresses that one request may name: each may take a while to look up. */
const maxPerRequest = 100

/** Environment and address -> until when it counts as checked. */
const passed = onePerApp(() => new Map<string, number>())

/** Throws INVALID_URL when an address may not be called. */
export async function checkCallback(app: App, { environment }: Tenant, url: string): Promise<void> {
  const known = passed(app)
  const key = `${environment} ${url}`
  const nowMs = app.clock.nowMs()
  if ((known.get(key) ?? 0) > nowMs) return
  await app.outbound.checkUrl(url, 'callback', environment, 'callback_url')
  const [oldest] = known.size >= maxRemembered ? known.keys() : []
  if (oldest !== undefined) known.delete(oldest)
  known.set(key, nowMs + goodForMs)
}

/** What is wrong with some of many addresses. */
export async function callbackProblems(
  app: App,
  tenant: Tenant,
  urls: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, AppError>> {
  const different = [...new Set(urls)].filter((url) => url !== undefined)
  const problems = new Map<string, AppError>()
  for (const url of different.slice(maxPerRequest))
    problems.set(
      url,
      new AppError(
        'VALIDATION_ERROR',
        `callback_url is one too many: a request may name ${maxPerRequest} different ones`,
      ),
    )
  await Promise.all(
    different.slice(0, maxPerRequest).map((url) =>
      checkCallback(app, tenant, url).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error
        problems.set(url, error)
      }),
    ),
  )
  return problems
}
