// SPDX-License-Identifier: Apache-2.0
// A road to a database: a proxy that does something when certain words pass, before they arrive or when their answer comes.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import pg from 'pg'

interface Wait {
  words: string
  when: 'before' | 'after' | 'hold'
  run(): unknown
}

export interface WatchedRoad {
  url: string
  on(words: string, when: Wait['when'], run: Wait['run']): void
  /** Sends on what is held. */
  go(): void
  close(): void
}

export async function openWatchedRoad(url: string): Promise<WatchedRoad> {
  const { host, port, user, password = '', database: name } = new pg.Client({ connectionString: url })
  const sockets = new Set<Socket>()
  const held: (() => void)[] = []
  let waits: Wait | null = null
  const server = createServer((near) => {
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    let isAnswerAwaited = false
    sockets.add(near).add(far)
    near.on('data', (bytes) => {
      const wait = waits !== null && bytes.includes(waits.words) ? waits : null
      if (wait?.when === 'before') return void wait.run()
      if (wait?.when === 'hold') {
        waits = null
        held.push(() => far.write(bytes))
        return void wait.run()
      }
      isAnswerAwaited ||= wait !== null
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (isAnswerAwaited) waits?.run()
      else near.write(bytes)
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the road has no port')
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${address.port}/${name}?sslmode=disable`,
    on: (words: string, when: Wait['when'], run: Wait['run']) => {
      waits = { words, when, run }
    },
    go: () => {
      for (const send of held.splice(0)) send()
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
