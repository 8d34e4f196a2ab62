// SPDX-License-Identifier: Apache-2.0
// Replies that come before the handshake of TLS: somebody between the two may have written them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { SmtpClient, SmtpError } from './client.ts'

const injected: [what: string, text: string][] = [
  ['whole replies', '250 mx.test\r\n550 5.1.1 No such user\r\n'],
  ['the beginning of a reply', '250-mx.test\r\n'],
  ['the beginning of a line', '250 mx'],
]
for (const [what, text] of injected)
  test(`after STARTTLS, ${what} in the clear end the connection`, async (t) => {
    const server = createServer((socket) => {
      socket.write('220 mx.test\r\n')
      socket.on('error', () => undefined)
      socket.on('data', (line) => {
        if (line.toString().startsWith('EHLO')) socket.write('250-mx.test\r\n250 STARTTLS\r\n')
        if (line.toString().startsWith('STARTTLS')) socket.write(`220 Go on\r\n${text}`)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    for (const tls of ['required', 'encrypted'] as const)
      await assert.rejects(
        SmtpClient.connect({ host: '127.0.0.1', port, hello: 'us.test', tls, servername: 'mx.test' }),
        (error) => error instanceof SmtpError && error.kind === 'tls' && /before the handshake/.test(error.message),
      )
  })
