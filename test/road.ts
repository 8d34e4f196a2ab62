// SPDX-License-Identifier: Apache-2.0
// Road to a PostgreSQL server that can be closed, with every connection on it, and opened again at the same address.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import pg from 'pg'

export interface Road {
  readonly url: string
  close(): void
  open(): void
  /** Closes it for good. */
  end(): void
}

export async function openRoad(url: string): Promise<Road> {
  const { host, port, user, password = '', database: name } = new pg.Client({ connectionString: url })
  const sockets = new Set<Socket>()
  let isOpen = true
  const server = createServer((near) => {
    if (!isOpen) return void near.destroy()
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the road has no port')
  const close = (): void => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${address.port}/${name}?sslmode=disable`,
    close,
    open: () => {
      isOpen = true
    },
    end: () => {
      close()
      server.close()
    },
  }
}
