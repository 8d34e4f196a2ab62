// SPDX-License-Identifier: Apache-2.0
// Challenge that proves that the owner of a URL registers it: a GET whose `hub.challenge` must come back.
import { randomInt } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import type { Environment } from '../../../platform/tenant.ts'

const timeoutMs = 5_000
/** Range of challenges: ten digits, as messengers send, since receivers may parse and print the number. */
const challenges = [1_000_000_000, 2 ** 31] as const

/** Challenge a URL; throws INVALID_URL unless it answers with the challenge in time. */
export async function challenge(
  { outbound }: Pick<App, 'outbound'>,
  asked: { pool: string; url: string; environment: Environment; headers: Record<string, string>; verifyToken: string },
): Promise<void> {
  const expected = String(randomInt(...challenges))
  const query = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.verify_token': asked.verifyToken,
    'hub.challenge': expected,
  })
  const outcome = await outbound.send({
    pool: asked.pool,
    use: 'webhook',
    environment: asked.environment,
    url: asked.url,
    // Apart from the URL, which may be as long as a URL may be.
    query: query.toString(),
    method: 'GET',
    headers: { ...asked.headers, 'user-agent': 'Pamoja-Webhooks/1.0' },
    body: null,
    timeoutMs,
    connections: 1,
  })
  if (outcome.kind === 'failed') throw unproven(`${outcome.error}: ${outcome.reason}`)
  if (outcome.status < 200 || outcome.status > 299) throw unproven(`it answered with the status ${outcome.status}`)
  if (outcome.body.trim() !== expected) throw unproven('its answer was not the value of hub.challenge')
}

function unproven(why: string): AppError {
  return new AppError('INVALID_URL', `url did not pass the challenge of verify_token: ${why}`)
}
