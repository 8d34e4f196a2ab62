// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { SmtpClient, SmtpError } from './client.ts'
import { parseCommand } from './command.ts'
import { ContentReader, encodeContent } from './content.ts'
import { ReplyReader, reply } from './reply.ts'
import { type Envelope, type ServerHost, ServerSession } from './server-session.ts'

const taken: { envelope: Envelope; content: Buffer }[] = []
const host: ServerHost = {
  hostname: 'mx.test',
  secureContext: () => null,
  isSubmission: false,
  maxBytes: 10_000,
  maxRecipients: 2,
  maxMessages: 3,
  idleMs: 5_000,
  recipient: async (to) => (to.startsWith('nobody@') ? reply(550, '5.1.1 No such user') : null),
  message: async (envelope, content) => {
    taken.push({ envelope, content })
    return reply(250, '2.0.0 Ok: taken')
  },
}
const server = createServer((socket) => new ServerSession(socket, host))
let port = 0
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = address && typeof address === 'object' ? address.port : 0
})
after(() => server.close())

/** Writes texts, each after the reply to the one before, and gives everything the server said until it closed. */
async function talk(...texts: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  const waiting = [...texts]
  socket.on('data', (chunk) => {
    heard += chunk.toString()
    const next = waiting.shift()
    if (next !== undefined) socket.write(next)
  })
  await once(socket, 'close')
  return heard
}

const paths: readonly (readonly [line: string, address: string | null])[] = [
  ['RCPT TO:<a@x.test>', 'a@x.test'],
  ['RCPT TO:<"a b"@x.test>', '"a b"@x.test'],
  ['RCPT TO:<"a\\ b"@x.test>', '"a b"@x.test'],
  ['RCPT TO:<"plain"@x.test>', 'plain@x.test'],
  ['RCPT TO:<@one.test,@two.test:a@x.test>', 'a@x.test'],
  ['RCPT TO:<@one.test:"a b"@x.test>', '"a b"@x.test'],
  ['RCPT TO:<"a\\"b"@x.test>', null],
  ['RCPT TO:<"a<b"@x.test>', null],
  ['RCPT TO:<a b@x.test>', null],
]

test('quoted local parts are mailboxes, and source routes are not followed', () => {
  for (const [line, address] of paths) {
    const command = parseCommand(line)
    assert.equal(command.verb === 'RCPT' ? command.to : null, address, line)
  }
})

test('a message is taken with its dots, and pipelined commands are answered in order', async () => {
  taken.length = 0
  const heard = await talk(
    'EHLO me.test\r\n',
    'MAIL FROM:<a@x.test>\r\nRCPT TO:<nobody@y.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n',
    'Subject: x\r\n\r\n..dot\r\nlast\r\n.\r\nQUIT\r\n',
  )
  assert.match(heard, /250 2\.1\.0.*550 5\.1\.1.*250 2\.1\.5.*354.*250 2\.0\.0 Ok: taken.*221/s)
  assert.equal(taken[0]?.content.toString(), 'Subject: x\r\n\r\n.dot\r\nlast\r\n')
  assert.deepEqual(taken[0]?.envelope.to, ['b@y.test'])
})

for (const [what, content] of [
  ['a bare LF before the dot', 'x\n.\r\nMAIL FROM:<evil@x.test>\r\n'],
  ['a bare LF after the dot', 'x\r\n.\nMAIL FROM:<evil@x.test>\r\n'],
  ['LF dot LF', 'x\n.\nMAIL FROM:<evil@x.test>\r\n'],
  ['CR dot CR', 'x\r.\rMAIL FROM:<evil@x.test>\r\n'],
  ['a bare CR in a line', 'x\ry\r\n.\r\n'],
] as const)
  test(`smuggling by ${what} is refused with 521 and nothing is taken`, async () => {
    taken.length = 0
    const heard = await talk(
      'EHLO me.test\r\n',
      'MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n',
      `${content}\r\n.\r\n`,
    )
    assert.match(heard, /521 5\.5\.2/)
    assert.equal(taken.length, 0)
  })

test('commands with a bare LF, without end, or without sense are refused', async () => {
  assert.match(await talk('EHLO me.test\n'), /521/)
  assert.match(await talk(`EHLO ${'x'.repeat(3000)}`), /500 5\.5\.2 Line too long/)
  assert.match(
    await talk('EHLO a.test\r\n', 'DATA\r\nNONSENSE\r\nMAIL FROM:a@b.c\r\nSTARTTLS\r\nQUIT\r\n'),
    /503.*500.*501.*503.*221/s,
  )
  assert.match(await talk('EHLO a.test\r\n', `${'XYZZY\r\n'.repeat(10)}`), /421 4\.7\.0 Too many errors/)
})

test('too many recipients, too large a message and too many messages are refused', async () => {
  const begin = 'MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\n'
  assert.match(
    await talk('EHLO a.test\r\n', `${begin}RCPT TO:<c@y.test>\r\nRCPT TO:<d@y.test>\r\nQUIT\r\n`),
    /452 4\.5\.3/,
  )
  assert.match(await talk('EHLO a.test\r\n', 'MAIL FROM:<a@x.test> SIZE=10001\r\nQUIT\r\n'), /552 5\.3\.4/)
  assert.match(
    await talk('EHLO a.test\r\n', `${begin}DATA\r\n`, `${'x'.repeat(99)}\r\n`.repeat(100).concat('.\r\nQUIT\r\n')),
    /552 5\.3\.4.*221/s,
  )
  const one = `${begin}DATA\r\n`
  assert.match(await talk('EHLO a.test\r\n', one, '.\r\n', one, '.\r\n', one, '.\r\n', begin), /421 4\.7\.0 Enough/)
})

test('commands are read strictly', () => {
  assert.deepEqual(parseCommand('mail from:<a@B.Example> SIZE=10'), {
    verb: 'MAIL',
    from: 'a@b.example',
    params: new Map([['SIZE', '10']]),
  })
  assert.deepEqual(parseCommand('MAIL FROM:<>'), { verb: 'MAIL', from: '', params: new Map() })
  assert.equal(parseCommand('RCPT TO:<>').verb, 'malformed')
  assert.equal(parseCommand('RCPT TO:<a>').verb, 'bad_address')
  assert.equal(parseCommand('MAIL FROM:<a@b.c> X=1 X=2').verb, 'malformed')
  assert.equal(parseCommand('DATA now').verb, 'malformed')
  assert.equal(parseCommand('').verb, 'unknown')
})

test('content survives its encoding, however it is cut', () => {
  for (const text of ['', '.\r\n', 'a\r\n.\r\n..\r\nb\r\n', '.a\r\n\r\n.\r\n']) {
    const wire = Buffer.concat(encodeContent(Buffer.from(text)))
    for (let cut = 0; cut <= wire.length; cut++) {
      const reader = new ContentReader(1000)
      const first = cut > 0 ? reader.push(wire.subarray(0, cut)) : null
      const end = first && first.kind !== 'more' ? first : reader.push(wire.subarray(cut))
      assert.equal(end.kind, 'whole')
      assert.equal(end.kind === 'whole' && end.content.toString(), text)
    }
  }
})

test('replies of several lines are read, and what is none is told apart', () => {
  const reader = new ReplyReader()
  assert.equal(reader.take('250-a'), 'more')
  assert.deepEqual(reader.take('250 2.0.0 b'), { code: 250, enhanced: null, text: 'a\n2.0.0 b' })
  assert.equal(reader.take('hello'), 'malformed')
})

const client = (at: number) =>
  SmtpClient.connect({
    host: '127.0.0.1',
    port: at,
    hello: 'me.test',
    tls: 'opportunistic',
    commandMs: 500,
    contentMs: 500,
    greetingMs: 500,
  })

test('the client sends several messages over one connection and hears each verdict', async () => {
  const connection = await client(port)
  const message = {
    from: 'a@x.test',
    content: Buffer.from('Subject: y\r\n\r\n.x\r\n'),
    isUtf8: false,
    isEightBit: false,
  }
  assert.deepEqual((await connection.send({ ...message, to: 'nobody@y.test' })).stage, 'recipient')
  const { stage, reply: answer } = await connection.send({ ...message, to: 'b@y.test' })
  assert.deepEqual([stage, answer.code, answer.enhanced], ['content', 250, '2.0.0'])
  assert.equal(taken.at(-1)?.content.toString(), 'Subject: y\r\n\r\n.x\r\n')
  await connection.quit()
})

test('to a server that offers PIPELINING, sender, recipient and DATA go out before it answers any of them', async () => {
  let asked = ''
  const patient = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('220 hi\r\n')
    socket.on('data', (chunk) => {
      asked += chunk.toString()
      if (/^EHLO .*\r\n$/.test(asked)) socket.write('250-hi\r\n250 PIPELINING\r\n')
      else if (/^MAIL .*\r\nRCPT .*\r\nDATA\r\n$/.test(asked)) socket.write('250 ok\r\n250 ok\r\n354 go\r\n')
      else if (asked.endsWith('\r\n.\r\n')) socket.write('250 ok\r\n')
      else return
      asked = ''
    })
  })
  patient.listen(0, '127.0.0.1')
  await once(patient, 'listening')
  const connection = await client((patient.address() as AddressInfo).port)
  const message = { from: 'a@x.test', to: 'b@y.test', content: Buffer.from('x\r\n'), isUtf8: false, isEightBit: false }
  for (let n = 0; n < 2; n++) assert.equal((await connection.send(message)).stage, 'content')
  connection.destroy()
  patient.close()
})

test('a server that is silent, resets or talks nonsense is told apart, and whether it has the message', async () => {
  const message = { from: 'a@x.test', to: 'b@y.test', content: Buffer.from('x\r\n'), isUtf8: false, isEightBit: false }
  const kinds: [(socket: Socket, text: string) => void, string, boolean][] = [
    [() => undefined, 'timeout', false],
    [(socket) => socket.write('bonjour\r\n'), 'garbage', false],
    [(socket) => socket.resetAndDestroy(), 'closed', false],
    [
      (socket, text) =>
        text.endsWith('.\r\n')
          ? socket.resetAndDestroy()
          : socket.write('354 go\r\n'.repeat(text.includes('DATA') ? 1 : 0)),
      'closed',
      true,
    ],
  ]
  for (const [answer, kind, sent] of kinds) {
    const bad = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.write('220 hi\r\n')
      socket.on('data', (chunk) => {
        const text = chunk.toString()
        if (text.startsWith('EHLO')) socket.write('250-hi\r\n250 PIPELINING\r\n')
        else if (sent && text.includes('MAIL')) socket.write('250 ok\r\n250 ok\r\n354 go\r\n')
        else answer(socket, text)
      })
    })
    bad.listen(0, '127.0.0.1')
    await once(bad, 'listening')
    const connection = await client((bad.address() as AddressInfo).port)
    await assert.rejects(
      connection.send(message),
      (error) => error instanceof SmtpError && error.kind === kind && error.sent === sent,
    )
    bad.close()
  }
})
