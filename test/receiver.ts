// SPDX-License-Identifier: Apache-2.0
// A customer's server: HTTPS on loopback with a certificate of its own making. It keeps what it was asked and answers as
// it is told.
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverIdentity } from '../src/platform/http/certificates.ts'
import { patienceMs } from './eventually.ts'

interface Received {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingHttpHeaders
  body: string
}

export interface Receiver {
  /** Address without a trailing slash. */
  origin: string
  url(path: string): string
  /** Requests in the order in which they came. */
  received: Received[]
  /** Waits for the next request to a path (without its query) that was not given out before. */
  next(path: string): Promise<Received>
  /** Says what is done with the next requests; 200 `ok` is answered unless told otherwise. */
  answer(how: (request: Received, response: ServerResponse) => void): void
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-receiver-'))
  const { key, cert } = await serverIdentity({ dir, now: new Date() })
  const received: Received[] = []
  const given = new Set<Received>()
  const arrivals = new EventEmitter()
  let respond = (_request: Received, response: ServerResponse): void => void response.end('ok')
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const whole = { method, url, headers, body: Buffer.concat(chunks).toString() }
      received.push(whole)
      respond(whole, response)
      arrivals.emit('request')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    origin: `https://localhost:${address.port}`,
    url: (path) => `https://localhost:${address.port}${path}`,
    received,
    async next(path) {
      const signal = AbortSignal.timeout(patienceMs())
      for (;;) {
        const found = received.find((request) => request.url.split('?')[0] === path && !given.has(request))
        if (found) {
          given.add(found)
          return found
        }
        await once(arrivals, 'request', { signal }).catch(() => {
          throw new Error(`waited in vain for a request to ${path}`)
        })
      }
    },
    answer(how) {
      respond = how
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
