// SPDX-License-Identifier: Apache-2.0
// A door to SMTP submission for programs that know neither TLS nor AUTH, such as smtp-source: each connection is encrypted and
// authenticated here, and then passed on as it is.
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface MailBridge {
  readonly port: number
  stop(): Promise<void>
}

interface Submission {
  readonly port: number
  readonly ca: string
  readonly username: string
  readonly password: string
}

export async function startMailBridge(submission: Submission): Promise<MailBridge> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    client.on('close', () => sockets.delete(client))
    open(submission).then(
      (upstream) => {
        upstream.on('error', () => client.destroy())
        client.on('close', () => upstream.destroy())
        client.write('220 bridge ESMTP\r\n')
        client.pipe(upstream).pipe(client)
      },
      () => client.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the bridge has no port')
  return {
    port: address.port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A connection on which mail may be submitted. */
async function open({ port, ca, username, password }: Submission): Promise<Socket> {
  const plain = connectTcp({ host: '127.0.0.1', port })
  await answered(plain, '')
  await answered(plain, 'EHLO bridge\r\n')
  await answered(plain, 'STARTTLS\r\n')
  plain.removeAllListeners('data')
  const secure = connectTls({ socket: plain, servername: 'localhost', ca })
  await once(secure, 'secureConnect')
  await answered(secure, 'EHLO bridge\r\n')
  await answered(secure, `AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}\r\n`)
  return secure
}

/** Says something, and waits for the whole reply, which must be positive. */
function answered(socket: Socket, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const take = (chunk: Buffer): void => {
      said += chunk.toString()
      const last = /(?:^|\r\n)(\d)\d\d [^\r]*\r\n$/.exec(said)
      if (!last) return
      socket.off('data', take)
      if (last[1] === '2') resolve()
      else reject(new Error(said))
    }
    socket.on('data', take)
    socket.once('error', reject)
    if (words !== '') socket.write(words)
  })
}
