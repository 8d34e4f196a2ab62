// SPDX-License-Identifier: Apache-2.0
// Media as a customer uploads and fetches it: it is what it claims to be, within its size, comes back whole or in ranges, and
// is gone after 30 days. Where an object store is set, it is there.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { refusal } from '../client.ts'
import { lookInto } from '../looking.ts'
import { accepted, becomes, png, upload, writes } from '../messaging.ts'
import { type ObjectStore, startObjectStore } from '../object-store.ts'
import { startReceiver } from '../receiver.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let store: ObjectStore
let ada: Account

before(async () => {
  store = await startObjectStore()
  world = await startWorld(store.settings)
  ada = await world.account({ balance: 100 })
})
after(async () => {
  await world.stop()
  await store.stop()
})

const pdf = Buffer.from(`%PDF-1.7\n${'x'.repeat(200_000)}\n%%EOF`)

test('a link that gives no file fails with 131052, and one that does is fetched and sent', async () => {
  const receiver = await startReceiver()
  after(() => receiver.stop())
  receiver.answer(({ url }, response) => void response.writeHead(url === '/there.png' ? 200 : 404).end('png'))
  const to = '+254711000011'
  await writes(ada, to)
  const image = (path: string) => accepted(ada, { to, type: 'image', image: { link: receiver.url(path) } })
  const gone = await becomes(ada, await image('/gone.png'), 'failed')
  assert.equal(String(gone.errors[0].code), '131052')
  await becomes(ada, await image('/there.png'), 'read')
  assert.deepEqual(receiver.received.map(({ url }) => url).sort(), ['/gone.png', '/there.png'])
})

test('media comes back as it was, whole and in ranges, and its id is sent', async () => {
  const { status, body } = await upload(ada, pdf, 'application/pdf', { name: 'bill 7.pdf' })
  assert.equal(status, 201, JSON.stringify(body))
  const { media_id, expires_at, ...rest } = body.data
  assert.match(media_id, /^media_/)
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 30 * 86_400_000) < 120_000)
  assert.deepEqual(rest, {
    type: 'application/pdf',
    sha256: createHash('sha256').update(pdf).digest('hex'),
    file_size: pdf.length,
    filename: 'bill 7.pdf',
  })
  const whole = await ada.client.get(`/v1/messenger/media/${media_id}`)
  assert.equal(whole.text, pdf.toString())
  const { headers } = whole
  assert.equal(headers['content-type'], 'application/pdf')
  assert.equal(headers['content-length'], String(pdf.length))
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.match(headers['content-disposition'] ?? '', /^attachment/)
  const part = await ada.client.get(`/v1/messenger/media/${media_id}`, { headers: { range: 'bytes=65530-65545' } })
  assert.deepEqual([part.status, part.text], [206, pdf.toString('latin1', 65_530, 65_546)])
  assert.equal(part.headers['content-range'], `bytes 65530-65545/${pdf.length}`)
  const same = await ada.client.get(`/v1/messenger/media/${media_id}`, {
    headers: { 'if-none-match': headers.etag ?? '' },
  })
  assert.equal(same.status, 304)
  const info = await ada.client.get(`/v1/messenger/media/${media_id}/info`)
  assert.equal(info.body.data.file_size, pdf.length)
  await writes(ada, '+254711000001')
  const id = await accepted(ada, {
    to: '+254711000001',
    type: 'document',
    document: { id: media_id, filename: 'b.pdf' },
  })
  await becomes(ada, id, 'read')
})

test('a template shows uploaded media by its id, and none that it may not', async () => {
  const template = {
    ...{ name: 'with_picture', language: 'en', category: 'UTILITY' },
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Hello {{1}}.' },
    ],
  }
  assert.equal((await ada.client.post('/v1/messenger/templates', template)).status, 201)
  const { body } = await upload(ada, png, 'image/png')
  const { body: bill } = await upload(ada, pdf, 'application/pdf')
  const use = (image: object, text: object = { text: 'Ada' }) => ({
    to: '+254711000001',
    type: 'template',
    template: {
      ...{ name: 'with_picture', language: 'en' },
      components: [
        { type: 'header', parameters: [{ type: 'image', image }] },
        { type: 'body', parameters: [{ type: 'text', ...text }] },
      ],
    },
  })
  await becomes(ada, await accepted(ada, use({ id: body.data.media_id })), 'read')
  const wrong: [object, number, string][] = [
    [use({ id: 'media_1' }), 422, '131053'],
    [use({ id: bill.data.media_id }), 422, '131053'],
    [use({}), 422, 'VALIDATION_ERROR'],
    [use({ link: 'http://example.com/a.png' }), 422, 'VALIDATION_ERROR'],
    [use({ id: body.data.media_id }, {}), 422, 'VALIDATION_ERROR'],
  ]
  for (const [message, status, code] of wrong)
    assert.deepEqual(await refusal(ada.client.post('/v1/messenger/messages', message)), [status, code])
})

test('nobody else reads it, and nobody after it was deleted or its 30 days are over', async () => {
  const eve = await world.account()
  const { body } = await upload(ada, png, 'image/png')
  const path = `/v1/messenger/media/${body.data.media_id}`
  assert.deepEqual(await refusal(eve.client.get(path)), [404, 'NOT_FOUND'])
  assert.equal((await ada.client.delete(path)).status, 204)
  assert.deepEqual(await refusal(ada.client.get(path)), [404, 'MEDIA_EXPIRED'])
  const bob = await world.account()
  const { body: old } = await upload(bob, png, 'image/png')
  await bob.client.post('/v1/sandbox/clock', { advance_seconds: 30 * 86_400 + 60 })
  assert.deepEqual(await refusal(bob.client.get(`/v1/messenger/media/${old.data.media_id}`)), [404, 'MEDIA_EXPIRED'])
  const image = { to: '+254711000001', type: 'image', image: { id: old.data.media_id } }
  assert.deepEqual(await refusal(bob.client.post('/v1/messenger/messages', image)), [422, '131053'])
  assert.deepEqual(await refusal(bob.client.get('/v1/messenger/media/media_1')), [404, 'NOT_FOUND'])
})

const ole = (name: string): Buffer => {
  const file = Buffer.alloc(2048)
  file.write('d0cf11e0a1b11ae1', 0, 'hex')
  file.writeUInt16LE(9, 30)
  file.writeUInt32LE(1, 48)
  file.write(`${name}\0`, 1024, 'utf16le')
  return file
}

const box = (name: string, ...inside: Buffer[]): Buffer => {
  const content = Buffer.concat(inside)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, content])
}

const track = (kind: string, codec: string): Buffer => {
  const entry = box(codec, Buffer.alloc(70))
  const description = box('stsd', Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), entry]))
  const handler = box('hdlr', Buffer.concat([Buffer.alloc(8), Buffer.from(kind), Buffer.alloc(12)]))
  return box('trak', box('mdia', handler, box('minf', box('stbl', description))))
}

const movie = (brand: string, ...codecs: [string, string][]): Buffer =>
  Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0`)),
    box('mdat', randomBytes(5_000)),
    box('moov', ...codecs.map(([kind, codec]) => track(kind, codec))),
  ])

const zip = (...names: string[]): Buffer => {
  const entries = names.map((name) => {
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50)
    entry.writeUInt16LE(name.length, 28)
    return Buffer.concat([entry, Buffer.from(name)])
  })
  const start = Buffer.from(`504b0304${'00'.repeat(30)}`, 'hex')
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(start.length, 16)
  return Buffer.concat([start, directory, end])
}

const office = 'application/vnd.openxmlformats-officedocument'

test('each type that is taken is taken, and told from the others by its bytes', async () => {
  const good: [string, Buffer][] = [
    ['image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
    ['image/png', png],
    ['video/mp4', movie('isom', ['vide', 'avc1'], ['soun', 'mp4a'])],
    ['video/3gpp', movie('3gp5', ['vide', 'avc1'])],
    ['audio/aac', Buffer.from('fff15080000000', 'hex')],
    ['audio/mpeg', Buffer.from('fffb9064000000', 'hex')],
    ['audio/amr', Buffer.from('#!AMR\n123')],
    ['audio/ogg', Buffer.from('OggS\0\0aaaaOpusHead')],
    ['application/pdf', pdf],
    ['application/msword', ole('WordDocument')],
    ['application/vnd.ms-excel', ole('Workbook')],
    ['application/vnd.ms-powerpoint', ole('PowerPoint Document')],
    [`${office}.wordprocessingml.document`, zip('[Content_Types].xml', 'word/document.xml')],
    [`${office}.spreadsheetml.sheet`, zip('[Content_Types].xml', 'xl/workbook.xml')],
    [`${office}.presentationml.presentation`, zip('[Content_Types].xml', 'ppt/presentation.xml')],
    ['text/plain', Buffer.from('Habari ya asubuhi ☀')],
  ]
  for (const [type, content] of good) {
    const { status, body } = await upload(ada, content, type, { typeFirst: type.startsWith('image') })
    assert.deepEqual([status, body.data?.type], [201, type], JSON.stringify(body))
  }
})

test('what is not what it says, is harmful, too large or empty is refused with the reason', async () => {
  const bad: [string, Buffer, RegExp][] = [
    ['image/jpeg', png, /image\/jpeg.*image\/png/],
    ['image/gif', Buffer.from('GIF89a'), /not taken/],
    ['image/png', Buffer.alloc(0), /empty/],
    ['image/png', Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]), /may have 5242880/],
    ['video/mp4', movie('isom', ['vide', 'hev1']), /hev1, not H\.264/],
    ['video/mp4', movie('isom', ['vide', 'avc1'], ['soun', 'Opus']), /Opus, not AAC/],
    ['video/mp4', box('ftyp', Buffer.from('isom\0\0\0\0')), /without its index/],
    ['audio/ogg', Buffer.from('OggS\0\0aaaavorbis'), /without Opus/],
    ['text/plain', Buffer.from('<!doctype html><html>'), /web page/],
    ['text/plain', Buffer.from('MZ\x90\x00'), /program/],
    ['text/plain', Buffer.from([0x41, 0, 0x42]), /no type/],
    ['application/pdf', zip('word/a.txt'), /archive/],
    ['application/msword', ole('Anything'), /office file/],
  ]
  for (const [type, content, words] of bad) {
    const { status, body } = await upload(ada, content, type)
    assert.deepEqual([status, body.error?.code], [422, '131053'], JSON.stringify(body))
    assert.match(body.error.details, words)
  }
})

test('an upload that is cut in the middle leaves nothing', async () => {
  const database = lookInto(world)
  await database.connect()
  const count = async (): Promise<number> => {
    const { rows } = await database.query(`select count(*)::int as n from platform.files where state = 'arriving'`)
    return rows[0].n
  }
  const boundary = 'cut'
  const url = new URL(world.node.url)
  const socket = connect({ host: 'localhost', port: Number(url.port), rejectUnauthorized: false })
  socket.on('error', () => undefined)
  socket.write(
    `POST /v1/messenger/media HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ada.key}\r\n` +
      `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: 1000000\r\n\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7 ${'x'.repeat(300_000)}`,
  )
  await eventually(async () => (await count()) === 1, 'the upload to begin')
  socket.destroy()
  await eventually(async () => (await count()) === 0, 'the upload to be forgotten')
  await database.end()
})
