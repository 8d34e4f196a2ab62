// SPDX-License-Identifier: Apache-2.0
// Every kind of route that bytes come and go by, and hooks, as a client meets them.
import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Client, type Reply, refusal } from '../client.ts'
import { folderOf, hookSecret, maxFileBytes, maxHookBytes } from '../notes/files.ts'
import { parts } from '../parts.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account

before(async () => {
  world = await startWorld()
  ada = await world.account({ balance: 100 })
})
after(() => world.stop())

const letters = 'abcdefghijklmnopqrstuvwxyz'

async function sent(client: Client, content: string | Buffer, name = 'a.txt'): Promise<string> {
  const { status, body } = await client.request(
    'POST',
    '/v1/note-files',
    parts({ title: 'A' }, [{ part: 'file', content, name }]),
  )
  assert.equal(status, 201, JSON.stringify(body))
  return body.file_id
}

const kept = async (): Promise<string[]> => readdir(folderOf(world.app)).catch(() => [])

test('a file is sent in parts and fetched again, byte for byte, with its name and its tag', async () => {
  const content = randomBytes(200_000)
  const id = await sent(ada.client, content, 'été 1.txt')
  const whole = await fetched(`/v1/note-files/${id}`)
  assert.equal(whole.status, 200)
  assert.deepEqual(whole.bytes, content)
  const { headers } = whole
  const sha = createHash('sha256').update(content).digest('hex')
  assert.equal(headers['content-length'], '200000')
  assert.equal(headers['content-type'], 'text/plain')
  assert.equal(headers.etag, `"${sha}"`)
  assert.equal(headers['accept-ranges'], 'bytes')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.match(
    String(headers['content-disposition']),
    /^attachment; filename="-t- 1\.txt"; filename\*=UTF-8''%C3%A9t%C3%A9%201\.txt$/,
  )
})

test('a range of a file is given as it is asked for, and the whole where it cannot be read', async () => {
  const id = await sent(ada.client, letters)
  const rows: [string, number, string, string | undefined][] = [
    ['bytes=0-4', 206, 'abcde', 'bytes 0-4/26'],
    ['bytes=24-', 206, 'yz', 'bytes 24-25/26'],
    ['bytes=-2', 206, 'yz', 'bytes 24-25/26'],
    ['bytes=0-999', 206, letters, 'bytes 0-25/26'],
    ['bytes=0-1,4-5', 200, letters, undefined],
    ['bytes=5-2', 200, letters, undefined],
    ['words=0-1', 200, letters, undefined],
  ]
  for (const [range, status, text, place] of rows) {
    const part = await ada.client.get(`/v1/note-files/${id}`, { headers: { range } })
    assert.deepEqual([part.status, part.text, part.headers['content-range']], [status, text, place], range)
    assert.equal(part.headers['content-length'], String(text.length))
  }
})

test('a range where there is nothing is refused with how much there is', async () => {
  const id = await sent(ada.client, letters)
  for (const range of ['bytes=26-', 'bytes=-0']) {
    const refused = await ada.client.get(`/v1/note-files/${id}`, { headers: { range } })
    assert.deepEqual([refused.status, refused.body.error.code], [416, 'RANGE_NOT_SATISFIABLE'])
    assert.equal(refused.headers['content-range'], 'bytes */26')
    assert.equal(refused.headers['content-disposition'], undefined)
  }
})

test('whoever has a file already is told so, and a range of another one is not given', async () => {
  const id = await sent(ada.client, letters)
  const path = `/v1/note-files/${id}`
  const { etag = '' } = (await ada.client.get(path)).headers
  const same = await ada.client.get(path, { headers: { 'if-none-match': etag } })
  assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag])
  assert.equal((await ada.client.get(path, { headers: { 'if-none-match': '"other"' } })).status, 200)
  const range = 'bytes=0-0'
  assert.equal((await ada.client.get(path, { headers: { range, 'if-range': etag } })).text, 'a')
  assert.equal((await ada.client.get(path, { headers: { range, 'if-range': '"other"' } })).text, letters)
})

test('HEAD tells of a file all that GET would, without its bytes', async () => {
  const id = await sent(ada.client, letters)
  const got = await ada.client.get(`/v1/note-files/${id}`)
  const head = await ada.client.request('HEAD', `/v1/note-files/${id}`, { headers: { range: 'bytes=0-1' } })
  assert.deepEqual([head.status, head.text], [200, ''])
  for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges', 'content-disposition'])
    assert.equal(head.headers[name], got.headers[name], name)
})

test('an empty file is a file', async () => {
  const id = await sent(ada.client, '')
  const got = await ada.client.get(`/v1/note-files/${id}`)
  assert.deepEqual([got.status, got.text, got.headers['content-length']], [200, '', '0'])
})

test('files may come before the fields that say what they are, and under any name where one is taken', async () => {
  const options = parts({ title: 'Last', copies: '3' }, [{ part: 'upload', content: 'x' }], { filesFirst: true })
  const { status, body } = await ada.client.request('POST', '/v1/note-files', options)
  assert.deepEqual([status, body.title, body.size], [201, 'Last', 1])
  const payload = parts({ payload: JSON.stringify({ title: 'In JSON' }) }, [{ part: 'file', content: 'x' }])
  assert.equal((await ada.client.request('POST', '/v1/note-files', payload)).body.title, 'In JSON')
})

test('nothing is kept of a request in parts that is refused', async () => {
  const before = await kept()
  const file = { part: 'file', content: 'x' }
  const rows: [string, ReturnType<typeof parts>, number, string][] = [
    ['a field is missing', parts({}, [file]), 422, 'VALIDATION_ERROR'],
    ['a field breaks a rule', parts({ title: 'A', copies: 'many' }, [file]), 422, 'VALIDATION_ERROR'],
    ['the file is missing', parts({ title: 'A' }, []), 422, 'VALIDATION_ERROR'],
    ['there are two files', parts({ title: 'A' }, [file, file]), 422, 'VALIDATION_ERROR'],
    ['the verb refuses', parts({ title: 'refused' }, [file]), 409, 'CONFLICT'],
    [
      'the file is too large',
      parts({ title: 'A' }, [{ part: 'file', content: Buffer.alloc(maxFileBytes + 1) }]),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    [
      'all of it is too large',
      parts({ title: 'A' }, [{ part: 'file', content: Buffer.alloc(3 * maxFileBytes) }]),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['a field is too large', parts({ title: 'a'.repeat(maxFileBytes * 4) }, []), 413, 'PAYLOAD_TOO_LARGE'],
    ['the last boundary is missing', parts({ title: 'A' }, [file], { cutBytes: 30 }), 400, 'INVALID_REQUEST'],
    ['there is no boundary', { raw: 'x', headers: { 'content-type': 'multipart/form-data' } }, 400, 'INVALID_REQUEST'],
    ['it is JSON', { body: { title: 'A' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['it holds U+0000', parts({ title: 'A\u0000' }, [file]), 400, 'INVALID_REQUEST'],
    [
      'there are too many parts',
      parts(Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`f${i}`, '1'])), []),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ]
  for (const [what, options, status, code] of rows)
    assert.deepEqual(await refusal(ada.client.request('POST', '/v1/note-files', options)), [status, code], what)
  assert.deepEqual(await kept(), before)
})

test('nothing is kept of a request in parts that is cut off half-way', async () => {
  const before = await kept()
  const { raw = '', headers = {} } = parts({ title: 'A' }, [{ part: 'file', content: randomBytes(200_000) }])
  const cut = new Promise<void>((resolve) => {
    const asked = request(`${world.node.url}/v1/note-files`, {
      method: 'POST',
      ca: caOf(),
      headers: { ...headers, authorization: `Bearer ${ada.key}`, 'content-length': Buffer.byteLength(raw) },
    })
    asked.on('error', () => resolve())
    asked.on('close', () => resolve())
    asked.write(raw.slice(0, 150_000), () => {
      void eventually(async () => (await kept()).length > before.length, 'the file begins').then(() => asked.destroy())
    })
  })
  await cut
  await eventually(async () => (await kept()).length === before.length, 'the file is gone')
})

test('the same parts with the same key are one request, whatever the boundary, and others are a conflict', async () => {
  const before = await kept()
  const headers = { 'idempotency-key': 'one-file' }
  const file = { part: 'file', content: 'same' }
  const first = await ada.client.request('POST', '/v1/note-files', parts({ title: 'A' }, [file], { headers }))
  assert.equal(first.status, 201)
  const { raw = '', headers: sentHeaders = {} } = parts({ title: 'A' }, [file], { headers })
  const again = await ada.client.request('POST', '/v1/note-files', {
    raw: raw.toString().replaceAll('pamoja-test-boundary', 'another'),
    headers: { ...sentHeaders, 'content-type': 'multipart/form-data; boundary=----another' },
  })
  assert.deepEqual([again.status, again.body.file_id], [201, first.body.file_id])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const other = parts({ title: 'A' }, [{ part: 'file', content: 'other' }], { headers })
  assert.deepEqual(await refusal(ada.client.request('POST', '/v1/note-files', other)), [409, 'DUPLICATE_REFERENCE'])
  assert.equal((await kept()).length, before.length + 1, 'one file is kept')
})

test('a small file comes in JSON as base64, or as a part of the same name', async () => {
  const path = '/v1/note-files/inline'
  const inJson = await ada.client.post(path, { title: 'A', content: Buffer.from('abc').toString('base64') })
  const pages = ['1', '2'].map((content) => ({ part: 'pages', content }))
  const inParts = await ada.client.request(
    'POST',
    path,
    parts({ title: 'A' }, [{ part: 'content', content: 'abc' }, ...pages]),
  )
  assert.deepEqual([inJson.status, inParts.status], [200, 200], inParts.text)
  assert.equal(inParts.body.sha256, inJson.body.sha256)
  assert.deepEqual([inJson.body.pages, inParts.body.pages], [0, 2])
  const large = parts({ title: 'A' }, [{ part: 'content', content: Buffer.alloc(4_097) }])
  assert.deepEqual(await refusal(ada.client.request('POST', path, large)), [413, 'PAYLOAD_TOO_LARGE'])
  const strange = parts({ title: 'A' }, [{ part: 'photo', content: 'abc' }])
  assert.deepEqual(await refusal(ada.client.request('POST', path, strange)), [422, 'VALIDATION_ERROR'])
  const logged = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/logs/${inParts.headers['x-request-id']}`)
    return body.success && body
  }, 'the request log')
  assert.ok(!JSON.stringify(logged).includes('YWJj'), 'the request log has no file')
})

test('PUT replaces, by JSON or by a form, and is safe to repeat with a key', async () => {
  const path = `/v1/note-files/${await sent(ada.client, letters)}`
  const put = (options: object): Promise<Reply> => ada.client.request('PUT', path, options)
  assert.deepEqual((await put({ body: { title: 'B' } })).body.title, 'B')
  const form = { raw: 'title=C', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  assert.equal((await put(form)).body.title, 'C')
  const headers = { 'idempotency-key': 'title' }
  assert.equal((await put({ body: { title: 'D' }, headers })).status, 200)
  const again = await put({ body: { title: 'D' }, headers })
  assert.deepEqual([again.status, again.headers['idempotent-replayed']], [200, 'true'])
})

test('a form without a key is refused where no key is taken in forms', async () => {
  const options = { raw: 'title=C&client_secret=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  assert.equal((await world.stranger.request('PUT', '/v1/note-files/x', options)).status, 401)
})

test('a text is answered as plain text, and refused in JSON', async () => {
  const path = `/v1/note-files/${await sent(ada.client, letters)}`
  const title = await ada.client.get(`${path}/title`)
  assert.deepEqual([title.status, title.text], [200, 'A'])
  assert.equal(title.headers['content-type'], 'text/plain; charset=utf-8')
  assert.deepEqual(await refusal(ada.client.get('/v1/note-files/x/title')), [404, 'NOT_FOUND'])
})

test('204 has no body, also when it is said again', async () => {
  const path = `/v1/note-files/${await sent(ada.client, letters)}`
  const headers = { 'idempotency-key': 'drop' }
  for (const replayed of [undefined, 'true']) {
    const dropped = await ada.client.delete(path, { headers })
    assert.deepEqual([dropped.status, dropped.text, dropped.headers['content-type']], [204, '', undefined])
    assert.equal(dropped.headers['idempotent-replayed'], replayed)
  }
  assert.equal((await ada.client.get(path)).status, 404)
})

test('a hook is given the bytes of its body, whatever they are called, and answers in many ways', async () => {
  const raw = Buffer.from([0xff, 0, 0x7b, 0x20, 0x20])
  const sha = createHash('sha256').update(raw).digest('hex')
  for (const type of ['application/json', 'text/xml', 'application/x-www-form-urlencoded', 'nonsense']) {
    const heard = await called('', raw, { 'content-type': type })
    assert.deepEqual([heard.status, heard.text], [200, `END ${sha}`], type)
    assert.equal(heard.headers['content-type'], 'text/plain; charset=utf-8')
  }
  assert.deepEqual((await called('?as=json', raw)).body, { carrier: 'safi', bytes: 5 })
  const led = await called('?as=redirect', raw)
  assert.deepEqual([led.status, led.headers.location], [303, 'https://example.com/s%C3%B8k'])
  const nothing = await called('?as=nothing', raw)
  assert.deepEqual([nothing.status, nothing.text], [204, ''])
  const part = await called('?as=file', raw, { range: 'bytes=1-' })
  assert.deepEqual([part.status, part.text], [200, 'abc'], 'only GET has ranges')
  await assert.rejects(called('?as=cut', raw))
  assert.equal((await called('?as=stored', raw)).text, 'CON Karibu')
  assert.deepEqual(await readFile(join(folderOf(world.app), 'call')), raw)
})

test('a download that ends before its promised length is cut off, not taken for whole', async () => {
  await assert.rejects(called('?as=short', Buffer.from('x')))
})

test('a hook refuses a wrong signature, a large body and other methods, in JSON', async () => {
  const wrong = await world.stranger.request('POST', '/notes/calls/safi', {
    raw: 'x',
    headers: { 'x-signature': '00' },
  })
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'UNAUTHORIZED'])
  const large = await called('', Buffer.alloc(maxHookBytes + 1))
  assert.deepEqual([large.status, large.body.error.code], [413, 'PAYLOAD_TOO_LARGE'])
  assert.match(large.body.error.details, new RegExp(String(maxHookBytes)))
  assert.equal((await world.stranger.get('/notes/calls/safi')).status, 404)
})

test('a hook is limited as it says, and guessing at its secret is limited by address', async () => {
  const strict = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  try {
    const raw = 'x'
    const signature = createHmac('sha256', hookSecret).update(raw).digest('hex')
    const call = (carrier: string, given: string) =>
      strict.stranger.request('POST', `/notes/calls/${carrier}`, { raw, headers: { 'x-signature': given } })
    const statuses = new Set<number>()
    for (let count = 0; count < 31; count++) statuses.add((await call('one', signature)).status)
    assert.deepEqual([...statuses], [200, 429])
    const last = await call('one', signature)
    assert.deepEqual([last.body.error.code, last.body.error.limit], ['RATE_LIMITED', 30])
    assert.ok(Number(last.headers['retry-after']) > 0)
    assert.equal((await call('two', signature)).status, 200, 'another carrier is not held up')
    const guesses = await Promise.all(Array.from({ length: 60 }, (_, at) => call(`guess${at}`, '00')))
    assert.ok(guesses.some(({ status }) => status === 429))
    assert.equal((await call('three', signature)).status, 200, 'whoever has the secret is let in all the same')
  } finally {
    await strict.stop()
  }
})

function called(query: string, raw: Buffer, headers: Record<string, string> = {}): Promise<Reply> {
  const signature = createHmac('sha256', hookSecret).update(raw).digest('hex')
  return world.stranger.request('POST', `/notes/calls/safi${query}`, {
    raw,
    headers: { 'x-signature': signature, ...headers },
  })
}

function caOf(): string {
  return world.node.caFile ? readFileSync(world.node.caFile, 'utf8') : ''
}

/** A reply whose body is bytes, and no text. */
function fetched(path: string): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${world.node.url}${path}`,
      { ca: caOf(), headers: { authorization: `Bearer ${ada.key}` } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
        )
      },
    )
    asked.on('error', reject)
    asked.end()
  })
}
