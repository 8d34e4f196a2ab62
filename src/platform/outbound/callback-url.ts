// SPDX-License-Identifier: Apache-2.0
// Callback URLs of requests. Customers repeat the same one, so a valid URL is cached for a minute; every connection
// checks it anyway.
import { AppError } from '../../kernel/errors.ts'
import { minuteMs } from '../../kernel/time.ts'
import type { App } from '../app.ts'
import { onePerApp } from '../program/one-per-app.ts'
import type { Tenant } from '../tenant.ts'
import { dialectOf } from './dialect-url.ts'

const cachedForMs = minuteMs
const maxCached = 10_000
/** Limit of distinct URLs per request: each may need a lookup. */
const maxPerRequest = 100

/** Cache: environment and URL → valid until. */
const passed = onePerApp(() => new Map<string, number>())

/** Throws INVALID_URL when `url` is given and may not be called. */
export async function checkCallback(app: App, { environment }: Tenant, url: string | null | undefined): Promise<void> {
  if (url === undefined || url === null) return
  const cache = passed(app)
  const key = `${environment} ${url}`
  const nowMs = app.clock.nowMs()
  if ((cache.get(key) ?? 0) > nowMs) return
  await app.outbound.checkUrl(dialectOf(url).url, 'callback', environment, 'callback_url')
  const [oldest] = cache.size >= maxCached ? cache.keys() : []
  if (oldest !== undefined) cache.delete(oldest)
  cache.set(key, nowMs + cachedForMs)
}

/** Problems of the URLs that may not be called. */
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
