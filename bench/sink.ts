// SPDX-License-Identifier: Apache-2.0
// A receiver of webhooks, as a process of its own. At /ok it answers at once and notes when each delivery arrived; at
// /slow it answers late, at /hang never. Says its port to its parent, and what it saw when asked.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

/** Just inside the five seconds that an attempt may take. */
const slowMs = 4_500

const [, , certFile = '', keyFile = ''] = process.argv
let arrivals = new Map<string, number>()
const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
  const delivery = request.headers['x-service-delivery-id']
  if (request.url === '/ok' && typeof delivery === 'string' && !arrivals.has(delivery))
    arrivals.set(delivery, performance.timeOrigin + performance.now())
  request.resume()
  request.once('end', () => {
    if (request.url === '/slow') setTimeout(() => response.end('ok'), slowMs)
    else if (request.url !== '/hang') response.end('ok')
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : null })
})
process.on('message', (asked) => {
  if (asked === 'count') process.send?.({ count: arrivals.size })
  else {
    process.send?.({ arrivals: [...arrivals] })
    arrivals = new Map()
  }
})
process.once('disconnect', () => process.exit(0))
