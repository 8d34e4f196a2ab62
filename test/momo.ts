// SPDX-License-Identifier: Apache-2.0
// A door before an installation's simulated MTN MoMo. Nobody calls back through it, and it can cut connections, so that
// nobody knows how far a request came.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { simulatedAccounts } from '../src/areas/payments/gateway/simulated.ts'
import type { World } from './world.ts'

export interface Door {
  /** Settings that an operator enters to speak to the provider through the door. */
  account: Record<string, string>
  close(): void
}

/** `cuts` says of which requests nothing reaches the provider. */
export async function openDoor(
  { app }: World,
  country: string,
  cuts: (method: string, path: string) => boolean,
): Promise<Door> {
  const { mtn_momo: momo = {} } = simulatedAccounts(app)
  const server = createServer(async (request, response) => {
    const { url = '', method = '', headers } = request
    const body = await text(request)
    if (cuts(method, url)) return void request.socket.destroy()
    const { host: _, connection: _connection, 'content-length': _length, 'x-callback-url': _url, ...sent } = headers
    const passed = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, String(value)]))
    const options = { method, headers: passed, ...(method === 'POST' ? { body } : {}) }
    const reply = await fetch(`${momo.base_url}${url}`, options)
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const base_url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  return {
    account: { provider: 'mtn_momo', environment: 'test', country, ...momo, base_url },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
