// SPDX-License-Identifier: Apache-2.0
// What every program here needs: requests that may be repeated safely, and a place to be called back. Node alone is enough.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

// The platform writes these down when it starts. Elsewhere, take them from your own settings.
const home = process.env.PAMOJA_HOME ?? '.pamoja'
const file = `${home}/credentials.json`
if (!existsSync(file)) stop(`There is no ${file} yet: start the platform first, with npm start.`)
const { base_url, api_key, ca_file } = JSON.parse(readFileSync(file, 'utf8'))
const ca = ca_file ? readFileSync(ca_file) : undefined
const tries = 4

/** One call of the API. With a key of its own it happens once, however often it has to be asked. */
export async function call(method, path, body, idempotencyKey = randomUUID()) {
  for (let failures = 1; ; failures++) {
    const answer = await exchange(method, path, body, idempotencyKey).catch((error) => ({ status: 503, error }))
    if (answer.status < 400) return answer.body.data
    const isWorthRepeating = answer.status === 429 || answer.status >= 500
    if (failures === tries && answer.error?.code === 'ECONNREFUSED')
      stop(`Nobody answers at ${base_url}: start the platform first, with npm start.`)
    if (!isWorthRepeating || failures === tries) throw answer.error ?? new Error(explain(answer.body.error))
    await pause(500 * 2 ** failures)
  }
}

async function exchange(method, path, body, idempotencyKey) {
  const sent = request(`${base_url}/api${path}`, {
    method,
    ca,
    headers: {
      authorization: `Bearer ${api_key}`,
      'content-type': 'application/json',
      ...(method === 'GET' ? {} : { 'idempotency-key': idempotencyKey }),
    },
  })
  sent.end(body && JSON.stringify(body))
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, body: JSON.parse(await read(response)) }
}

function stop(why) {
  console.error(why)
  process.exit(1)
}

const explain = ({ code, message, details }) => `${code}: ${message} (${details})`

/** Whether a request comes from the platform: compare before you parse. */
export function isFromPamoja(rawBody, headers, secret) {
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** A server that takes callbacks. `until` gives the first event that is as you want it. */
export async function listenForCallbacks() {
  const { secret } = await call('GET', '/v1/webhooks/callback-secret')
  const events = []
  const server = createServer(async (asked, response) => {
    const rawBody = await read(asked)
    if (!isFromPamoja(rawBody, asked.headers, secret)) return response.writeHead(401).end()
    // Answer first, work afterwards: what is not answered within five seconds is sent again.
    response.end()
    events.push(JSON.parse(rawBody))
    server.emit('event')
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  return {
    url: `http://localhost:${server.address().port}/called`,
    async until(isWanted) {
      while (!events.some(isWanted)) await once(server, 'event')
      server.close()
      server.closeAllConnections()
      return events.find(isWanted)
    },
  }
}

async function read(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
