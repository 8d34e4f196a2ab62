// SPDX-License-Identifier: Apache-2.0
// Faces, liveness and scans as a customer meets them, and what happens when the engines are hurt.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import { build } from 'esbuild'
import sharp from 'sharp'
import { Type } from 'typebox'
import { identity } from '../../src/areas/identity/area.ts'
import { computeOf } from '../../src/areas/identity/engines/engines.ts'
import { measureFrames } from '../../src/areas/identity/engines/tasks.ts'
import { judgeActive } from '../../src/areas/identity/faces/active-liveness.ts'
import { Compute } from '../../src/platform/compute.ts'
import { root } from '../../src/platform/program/root.ts'
import { accessibilityProblems, openBrowser, withoutChromium } from '../chromium.ts'
import { type Reply, refusal } from '../client.ts'
import { patienceMs } from '../eventually.ts'
import { type Account, doChores, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let ada: Account

before(async () => {
  world = await startWorld({ PAMOJA_ENGINE_PROCESSES: 1 })
  ada = await world.account({ balance: 10_000 })
})
after(() => world.stop())

const match = (body: object) => ada.client.post('/v1/identity/face-match', body)
const live = (body: object) => ada.client.post('/v1/identity/liveness', body)
/** Scan of a document, asked for again while the machine is too crowded to answer in the time that a request may take. */
const scan = (body: object): Promise<Reply> =>
  eventually(async () => {
    const reply = await ada.client.post('/v1/identity/scan-document', body)
    return reply.body?.error?.code === 'PROVIDER_UNAVAILABLE' ? null : reply
  }, 'the engines to have time for a scan')

const specimen = (name: string) => readFileSync(new URL(`src/areas/identity/specimens/${name}.jpg`, root))

/** Picture drawn by an SVG. */
const drawn = (width: number, height: number, content: string): Promise<Buffer> =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`))
    .jpeg()
    .toBuffer()

/** Specimen of a face on which a screen shines. */
const lit = (name: string, colour: string): Promise<Buffer> =>
  drawn(
    480,
    480,
    `<defs><radialGradient id="l"><stop offset="0.5" stop-color="${colour}" stop-opacity="0.12"/><stop offset="1" stop-color="${colour}" stop-opacity="0"/></radialGradient></defs>
    <image width="480" height="480" href="data:image/jpeg;base64,${specimen(name).toString('base64')}"/><ellipse cx="240" cy="250" rx="200" ry="230" fill="url(#l)"/>`,
  )

const passportAt = (place: string) =>
  `<image ${place} href="data:image/jpeg;base64,${specimen('passport_ke').toString('base64')}"/>`

test('one person matches, another does not, and strict says so by its status', async () => {
  const same = await match({ image_a: 'sandbox:face_a', image_b: 'sandbox:face_a2' })
  assert.equal(same.status, 200, same.text)
  assert.equal(same.body.match, true)
  assert.ok(same.body.similarity_score > 0.7 && same.body.confidence > 90)
  const other = await match({ source_image: 'sandbox:face_a', target_image: 'sandbox:face_b' })
  assert.deepEqual([other.status, other.body.match], [200, false])
  const strict = await match({ image_a: 'sandbox:face_a', image_b: 'sandbox:face_b', strict: true })
  assert.deepEqual([strict.status, strict.body.error.code], [422, 'FACE_MISMATCH'])
  assert.equal(strict.body.error.similarity_score, other.body.similarity_score)
  const nobody = await match({ image_a: 'sandbox:face_a', image_b: 'sandbox:no_face' })
  assert.deepEqual(
    [nobody.status, nobody.body.error.code, nobody.body.error.image],
    [422, 'NO_FACE_DETECTED', 'image_b'],
  )
  assert.equal((await match({ image_a: 'sandbox:face_a', image_b: 'sandbox:face_b', threshold: 0.3 })).status, 422)
})

test('a challenge is passed by whoever does what it asks, once, in time', async () => {
  const challenge = await live({ method: 'active' })
  assert.equal(challenge.status, 201, challenge.text)
  assert.equal(new Set(challenge.body.steps).size, 3)
  const { challenge_id } = challenge.body
  const passed = await live({ method: 'active', challenge_id, frames: 'sandbox:frames_live' })
  assert.deepEqual([passed.status, passed.body.passed], [200, true], passed.text)
  assert.deepEqual(
    passed.body.steps.map(({ step }: { step: string }) => step),
    challenge.body.steps,
  )
  assert.ok(passed.body.confidence >= 70 && passed.body.confidence <= 99, passed.text)
  const again = await live({ method: 'active', challenge_id, frames: 'sandbox:frames_live' })
  assert.deepEqual([again.status, again.body.error.code], [409, 'CHALLENGE_USED'])
  const second = (await live({ method: 'active' })).body.challenge_id
  const still = await live({ method: 'active', challenge_id: second, frames: 'sandbox:frames_still' })
  assert.deepEqual([still.status, still.body.passed, still.body.signals.frames_distinct], [200, false, false])
  const third = (await live({ method: 'active' })).body.challenge_id
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 121 })
  const late = await live({ method: 'active', challenge_id: third, frames: 'sandbox:frames_live' })
  assert.deepEqual([late.status, late.body.error.code], [422, 'CHALLENGE_EXPIRED'])
})

test('one picture is screened, and never trusted more than 80', async () => {
  const passive = await live({ method: 'passive', selfie: 'sandbox:face_a' })
  assert.equal(passive.status, 200, passive.text)
  assert.ok(passive.body.confidence <= 80)
  const strict = (await live({ method: 'active' })).body.challenge_id
  const failed = await live({ method: 'active', challenge_id: strict, frames: 'sandbox:frames_still', strict: true })
  assert.deepEqual([failed.status, failed.body.error.code], [422, 'LIVENESS_FAILED'])
})

test('a scan reads what is there and decides nothing', async () => {
  const { status, body } = await scan({
    document_front: 'sandbox:passport_bad_mrz',
    include_text: true,
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.document_type, body.country, body.mrz.valid], ['passport', 'KE', false])
  assert.deepEqual(body.mrz.errors, ['numberCheck', 'compositeCheck'])
  assert.equal(body.fields.last_name.value, 'WANJIKU')
  assert.match(body.text, /REPUBLIC OF KENYA/)
  // Print close above the zone, which looks like a line of it, on a page that was held sideways.
  const whole = passportAt('width="1250" height="880"')
  const print = `<svg y="702" width="1000" height="51" viewBox="0 809 1000 51">${whole}</svg>`
  const held = await drawn(880, 1_250, `<g transform="translate(880 0) rotate(90)">${whole}${print}</g>`)
  const turned = await scan({ document_front: held.toString('base64') })
  assert.deepEqual([turned.body.mrz?.format, turned.body.mrz?.valid], ['TD3', true], turned.text)
  assert.equal(turned.body.fields.document_number.value, 'AK0123456')
  const types = await ada.client.get('/v1/identity/document-types?country=ZAF')
  assert.ok(
    types.body.data.some(
      (row: { document_type: string; verified: boolean }) => row.document_type === 'national_id' && row.verified,
    ),
  )
  const all = await ada.client.get('/v1/identity/document-types')
  assert.equal(new Set(all.body.data.map((row: { country: string }) => row.country)).size, 54)
})

test('a card without a zone is read however it is held: its face says which way, and tilted lines are straightened', async () => {
  const card = `<image width="1250" height="790" href="data:image/jpeg;base64,${specimen('id_za').toString('base64')}"/>`
  for (const angle of [180, 90, -8]) {
    const table = '<rect width="1500" height="1500" fill="#654"/>'
    const held = `${table}<g transform="translate(125 355) rotate(${angle} 625 395)">${card}</g>`
    const picture = (await drawn(1_500, 1_500, held)).toString('base64')
    const { body } = await scan({ document_front: picture })
    const read = ['last_name', 'document_number', 'date_of_birth'].map((name) => body.fields?.[name]?.value)
    assert.deepEqual(read, ['WANJIKU', '9002150123088', '1990-02-15'], `${angle}: ${JSON.stringify(body)}`)
  }
})

/** Browser of a person at the page of a capture session. */
class Person {
  readonly #path: string
  #cookie = ''
  #marks = 0

  constructor(url: string) {
    this.#path = new URL(url).pathname
  }

  async ask(method: string, path: string, sent: { body?: unknown; raw?: Buffer } = {}): Promise<Reply> {
    const headers = {
      ...(this.#cookie ? { cookie: this.#cookie } : {}),
      ...(sent.raw ? { 'content-type': 'a/b' } : {}),
    }
    const reply = await world.stranger.request(method, `${this.#path}${path}`, { ...sent, headers })
    this.#cookie = reply.headers['set-cookie']?.split(';')[0] ?? this.#cookie
    return reply
  }

  agree(browser = 'a'.repeat(32)): Promise<Reply> {
    return this.ask('POST', '/agree', { body: { browser } })
  }

  /** Sends a picture in parts; returns its name. */
  async send(bytes: Buffer, partBytes = 131_072): Promise<string> {
    const name = `picture${String(this.#marks++).padStart(2, '0')}-${bytes.length}`
    for (let at = 0; at < bytes.length; ) {
      const raw = bytes.subarray(at, at + partBytes)
      const { status, body, text } = await this.ask('PUT', `/pictures/${name}?offset=${at}`, { raw })
      assert.equal(status, 200, text)
      at = body.offset
    }
    return name
  }
}

async function askedBySession(body: object = {}) {
  const made = await ada.client.post('/v1/identity/sessions', { country: 'KE', document_types: ['passport'], ...body })
  assert.equal(made.status, 201, made.text)
  return made.body
}

const sessionAt = async (id: string) => (await ada.client.get(`/v1/identity/sessions/${id}`)).body

/** Events of a session, oldest first. */
async function toldOf(id: string): Promise<string[]> {
  const { body } = await ada.client.get(`/v1/events?resource_id=${id}`)
  return body.data.map(({ event }: { event: string }) => event).toReversed()
}

test('a person shows a passport and a living face on the hosted page, over a poor network', async () => {
  const session = await askedBySession({ external_id: 'cust-7', redirect_url: 'https://shop.example.com/done' })
  assert.deepEqual([session.status, session.tries_left, session.external_id], ['created', 3, 'cust-7'])
  assert.match(session.qr, /^data:image\/svg\+xml;base64,/)
  const amina = new Person(session.url)
  const page = await amina.ask('GET', '?lang=sw')
  assert.match(page.text, /<html lang="sw" dir="ltr">.*Thibitisha utambulisho wako/s)
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'.*script-src 'self'/)
  const script = await world.stranger.get('/verify/capture.js')
  assert.ok(Buffer.byteLength(page.text) + Buffer.byteLength(script.text) < 60_000, 'all that the page loads')
  assert.equal((await sessionAt(session.session_id)).status, 'created', 'a preview of the link opens nothing')
  assert.equal((await amina.ask('POST', '/open')).body.status, 'opened')

  // The answer was lost: the same browser asks again.
  assert.equal((await amina.agree()).status, 200)
  assert.equal((await amina.agree()).body.status, 'capturing')
  const thief = new Person(session.url)
  assert.deepEqual(await refusal(thief.agree('b'.repeat(32))), [409, 'INVALID_STATE'])
  assert.equal((await thief.ask('GET', '/state')).body.status, 'elsewhere')
  assert.deepEqual(await refusal(thief.ask('POST', '/challenge')), [403, 'FORBIDDEN'])

  const passport = specimen('passport_ke')
  const name = `picture99-${passport.length}`
  const part = (at: number, bytes: number) =>
    amina.ask('PUT', `/pictures/${name}?offset=${at}`, { raw: passport.subarray(at, at + bytes) })
  assert.equal((await part(0, 50_000)).body.offset, 50_000)
  assert.equal((await part(0, 50_000)).body.offset, 50_000, 'a part that comes twice counts once')
  assert.equal((await part(90_000, 1_000)).body.offset, 50_000, 'and one that comes too early is asked for later')
  const early = { document_type: 'passport', country: 'KE', document_front: name }
  assert.deepEqual(await refusal(amina.ask('POST', '/submit', { body: early })), [409, 'CONFLICT'])
  for (let at = 50_000; at < passport.length; at += 100_000) await part(at, 100_000)
  assert.equal((await amina.ask('GET', `/pictures/${name}`)).body.offset, passport.length)

  const { challenge_id, steps, lights } = (await amina.ask('POST', '/challenge')).body
  assert.deepEqual([lights.length, lights[0]], [4, 'white'])
  const shown = ['frontal_1', ...steps.flatMap((step: string, i: number) => [step, `frontal_${i + 2}`])]
  const frames = []
  for (const [i, file] of shown.entries())
    frames.push({
      // The screen shines on the face, and hardly on what is behind.
      picture: await amina.send(i % 2 === 0 ? await lit(`frame_${file}`, lights[i / 2]) : specimen(`frame_${file}`)),
      step: file.startsWith('frontal') ? 'frontal' : file,
      at_ms: i * 700,
    })
  const liveness = { challenge_id, frames }
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 5 })
  const submitted = await amina.ask('POST', '/submit', { body: { ...early, selfie: frames[0]?.picture, liveness } })
  assert.equal(submitted.status, 200, submitted.text)
  const done = await eventually(async () => {
    const now = await sessionAt(session.session_id)
    return now.status === 'submitted' ? null : now
  }, 'the verdict')
  assert.deepEqual([done.status, done.url, done.tries_left], ['verified', null, 2], JSON.stringify(done))
  const record = (await ada.client.get(`/v1/identity/verification/${done.verification_id}?include=images`)).body
  assert.deepEqual([record.status, record.liveness.method, record.consent.language], ['verified', 'active', 'en'])
  assert.equal(record.liveness.light, 'seen')
  assert.deepEqual(Object.keys(record.images).toSorted(), ['document_front', 'portrait', 'selfie'])
  assert.deepEqual(await toldOf(session.session_id), [
    'identity.session.opened',
    'identity.session.submitted',
    'identity.session.completed',
  ])
  const { body: listed } = await ada.client.get('/v1/identity/sessions?external_id=cust-7&status=verified')
  assert.deepEqual(
    listed.data.map(({ session_id }: { session_id: string }) => session_id),
    [session.session_id],
  )
})

test('pictures that cannot be judged are asked for again; a session is cancelled, or over when its time is', async () => {
  const session = await askedBySession({ checks: [], expires_in: 3_600 })
  const person = new Person(session.url)
  await person.agree()
  const empty = await drawn(900, 600, '<rect width="900" height="600" fill="#777"/>')
  const sent = { document_type: 'passport', country: 'KE', document_front: await person.send(empty) }
  const poor = await person.ask('POST', '/submit', { body: sent })
  assert.deepEqual(
    [poor.status, poor.body.error.code, poor.body.error.image],
    [422, 'IMAGE_QUALITY_LOW', 'document_front'],
  )
  assert.deepEqual(poor.body.error.regions, [], 'nothing of it is worse than the rest')
  assert.equal((await sessionAt(session.session_id)).tries_left, 3, 'that costs no try')
  const wrong = { ...sent, document_type: 'national_id' }
  assert.deepEqual(await refusal(person.ask('POST', '/submit', { body: wrong })), [422, 'INVALID_DOCUMENT_TYPE'])
  const path = `/v1/identity/sessions/${session.session_id}`
  assert.equal((await ada.client.post(`${path}/cancel`)).body.status, 'cancelled')
  assert.deepEqual(await refusal(ada.client.post(`${path}/cancel`)), [409, 'INVALID_STATE'])
  assert.equal((await person.ask('GET', '/state')).body.status, 'cancelled')

  const bea = await world.account({ balance: 100 })
  const late = (await bea.client.post('/v1/identity/sessions', { expires_in: 60, phone: '+254711000001' })).body
  const [text] = (await bea.client.get('/v1/sms')).body.data
  assert.ok(text.message.includes(late.url), 'the link was sent')
  await bea.client.post('/v1/sandbox/clock', { advance_seconds: 61 })
  const at = `/v1/identity/sessions/${late.session_id}`
  assert.equal((await bea.client.get(at)).body.status, 'expired')
  await doChores(world.app, identity.chores)
  const { body: told } = await bea.client.get(`/v1/events?resource_id=${late.session_id}`)
  assert.deepEqual(
    told.data.map(({ event }: { event: string }) => event),
    ['identity.session.expired'],
  )
  assert.deepEqual(await refusal(ada.client.get(at)), [404, 'NOT_FOUND'])
})

test('the hosted page takes a passport with the camera by itself and a face from a file', {
  skip: withoutChromium(),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pamoja-camera-'))
  const table = '<rect width="1280" height="720" fill="#654"/>'
  const frame = await drawn(1_280, 720, table + passportAt('x="190" y="43" width="900" height="634"'))
  writeFileSync(join(folder, 'desk.mjpeg'), Buffer.concat([frame, frame]))
  const camera = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream']
  const browser = await openBrowser([...camera, `--use-file-for-fake-video-capture=${join(folder, 'desk.mjpeg')}`])
  try {
    const { url, session_id } = await askedBySession({ checks: ['face_match'] })
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 390, height: 844 } })
    const page = await context.newPage()
    await page.goto(url)
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('button', { name: 'I agree, begin' }).click()
    await page.getByRole('heading', { name: 'Can everything be read?' }).waitFor({ timeout: patienceMs(60_000) })
    await page.getByRole('button', { name: 'Use this picture' }).click()
    await page.getByRole('heading', { name: 'Your face' }).waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.locator('input[type=file]').setInputFiles({
      ...{ name: 'me.jpg', mimeType: 'image/jpeg' },
      buffer: specimen('face_a2'),
    })
    await page.getByRole('button', { name: 'Use this picture' }).click()
    await page.getByRole('heading', { name: 'Done, thank you' }).waitFor({ timeout: patienceMs(120_000) })
    assert.equal((await sessionAt(session_id)).status, 'verified')
  } finally {
    await browser.close()
    rmSync(folder, { recursive: true })
  }
})

const stepNames = ['turn_left', 'turn_right', 'nod', 'blink', 'smile', 'open_mouth']

/** Script of a camera before which a person does what the page says, and on whose face its light falls. */
const person = (pictures: Readonly<Record<string, string>>): string => `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 480, height: 480 })
  const pen = canvas.getContext('2d')
  const images = Object.entries(${JSON.stringify(pictures)}).map(([name, src]) => ({ name, image: Object.assign(new Image(), { src }) }))
  let frame = 0
  const paint = () => {
    const place = document.querySelector('#capture')
    const view = document.querySelector('.view.face')
    if (!place || !view) return
    const { texts } = JSON.parse(place.dataset.capture)
    const said = view.querySelector('.hint')?.textContent
    const step = images.find(({ name }) => texts[name] === said)?.name ?? 'frontal_' + (1 + Math.floor(frame / 15) % 4)
    pen.drawImage(images.find(({ name }) => name === step).image, 0, 0, 480, 480)
    const light = pen.createRadialGradient(240, 250, 100, 240, 250, 220)
    light.addColorStop(0, /rgb\\([^)]*\\)/.exec(view.style.boxShadow)?.[0] ?? '#fff')
    light.addColorStop(1, 'rgba(0, 0, 0, 0)')
    Object.assign(pen, { globalAlpha: 0.12, fillStyle: light })
    pen.fillRect(0, 0, 480, 480)
    // No two frames of a camera are alike.
    Object.assign(pen, { globalAlpha: 1, fillStyle: '#333' })
    pen.fillRect(80 + ((frame++ * 7) % 320), 470, 6, 6)
  }
  setInterval(paint, 100)
  // The stream is late on a busy machine: a picture of it is one of what the camera sees now.
  const draw = CanvasRenderingContext2D.prototype.drawImage
  CanvasRenderingContext2D.prototype.drawImage = function (source, ...rest) {
    if (!(source instanceof HTMLVideoElement)) return draw.call(this, source, ...rest)
    paint()
    draw.call(this, canvas, ...rest)
  }
  navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(10)
})()`

test('a person on the hosted page follows the steps before the camera, in the light of the screen', {
  skip: withoutChromium(),
}, async () => {
  const browser = await openBrowser()
  try {
    const { url, session_id } = await askedBySession()
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 390, height: 844 } })
    const page = await context.newPage()
    const shown = [...stepNames, 'frontal_1', 'frontal_2', 'frontal_3', 'frontal_4']
    const dataUrl = (name: string) => `data:image/jpeg;base64,${specimen(`frame_${name}`).toString('base64')}`
    await page.addInitScript({ content: person(Object.fromEntries(shown.map((name) => [name, dataUrl(name)]))) })
    const told: string[] = []
    await page.exposeFunction('tell', (message: string) => told.push(JSON.parse(message).status))
    await page.addInitScript({ content: 'window.ReactNativeWebView = { postMessage: (said) => tell(said) }' })
    await page.goto(url)
    await page.getByRole('button', { name: 'I agree, begin' }).click()
    const passport = { name: 'passport.jpg', mimeType: 'image/jpeg', buffer: specimen('passport_ke') }
    await page.locator('input[type=file]').setInputFiles(passport)
    await page.getByRole('button', { name: 'Use this picture' }).click()
    await page.getByRole('button', { name: 'Begin' }).click()
    const done = await eventually(async () => {
      const now = await sessionAt(session_id)
      return now.tries_left < 3 && now.status !== 'submitted' ? now : null
    }, 'the verdict')
    const { liveness } = (await ada.client.get(`/v1/identity/verification/${done.verification_id}`)).body
    const said = JSON.stringify([done.failure_reasons, liveness])
    assert.deepEqual([done.status, liveness.light], ['verified', 'seen'], said)
    await eventually(async () => told.length >= 3, 'an app with a web view to be told')
    assert.deepEqual(told.slice(0, 3), ['created', 'capturing', 'submitted'])
  } finally {
    await browser.close()
  }
})

test('a site of the account shows the page by the SDK, in a frame or a window, and no other site can', {
  skip: withoutChromium(),
}, async () => {
  const shop = 'https://shop.example.com'
  const built = await build({
    entryPoints: [fileURLToPath(new URL('sdk/typescript/src/capture.ts', root))],
    ...{ bundle: true, format: 'iife', globalName: 'sdk', write: false },
  })
  const script = `${built.outputFiles[0]?.text}
    const told = []
    const open = (url, container) => {
      const { ended, close } = sdk.openCapture(url, { container, onStatus: (status) => told.push(status) })
      ended.then((end) => (document.title = end))
      return close
    }`
  const body = `<!doctype html><title>shop</title><div id="box" style="height:900px"></div><button>Verify</button><script>${script}</script>`
  // Browsers let no public site show a page of this machine, where the tests run.
  const browser = await openBrowser(['--disable-features=LocalNetworkAccessChecks'])
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 480, height: 900 } })
    await context.route(/example\.com/, (route) => route.fulfill({ contentType: 'text/html', body }))
    const page = await context.newPage()
    await page.goto(`${shop}/verify`)
    const session = await askedBySession({ checks: [], redirect_url: `${shop}/done` })
    // A page of another origin says that somebody is verified.
    await page.evaluate(`open(${JSON.stringify(session.url)}, document.querySelector('#box'))`)
    await page.evaluate(`window.postMessage({ source: 'pamoja.identity', status: 'verified' }, '*')`)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: 'I agree, begin' }).click()
    const passport = { name: 'passport.jpg', mimeType: 'image/jpeg', buffer: specimen('passport_ke') }
    await frame.locator('input[type=file]').setInputFiles(passport)
    await frame.getByRole('button', { name: 'Use this picture' }).click()
    await frame.getByRole('heading', { name: 'Done, thank you' }).waitFor({ timeout: patienceMs(120_000) })
    await page.waitForFunction(`document.title === 'verified'`)
    assert.deepEqual(await page.evaluate('told'), ['created', 'capturing', 'submitted', 'verified'])
    assert.equal(await frame.locator('a.button').count(), 0, 'the site goes on by itself')
    assert.equal((await sessionAt(session.session_id)).status, 'verified')

    const other = await askedBySession({ checks: [], redirect_url: `${shop}/done` })
    await page.goto(`${shop}/verify`)
    await page.evaluate(`document.querySelector('button').onclick = () => open(${JSON.stringify(other.url)})`)
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button').click()])
    await popup.getByRole('button', { name: 'I agree, begin' }).click()
    await page.waitForFunction(`told.includes('capturing')`)
    await popup.close()
    await page.waitForFunction(`document.title === 'closed'`)

    for (const [site, url] of [
      ['https://evil.example.com', other.url],
      [shop, (await askedBySession({ checks: [] })).url],
      [shop, (await askedBySession({ checks: [], redirect_url: 'https://*.example.com/' })).url],
    ]) {
      await page.goto(`${site}/verify`)
      const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
      await page.evaluate(`void open(${JSON.stringify(url)}, document.querySelector('#box'))`)
      await refused
      assert.deepEqual(await page.evaluate('told'), [])
    }
  } finally {
    await browser.close()
  }
})

test('a site goes to the page by the SDK, and knows by its address whose session came back', {
  skip: withoutChromium(),
}, async () => {
  const shop = 'https://shop.example.com'
  const built = await build({
    entryPoints: [fileURLToPath(new URL('sdk/typescript/src/capture.ts', root))],
    ...{ bundle: true, format: 'iife', globalName: 'sdk', write: false },
  })
  const body = `<!doctype html><title>shop</title><button>Verify</button><script>${built.outputFiles[0]?.text}</script>`
  const browser = await openBrowser()
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 480, height: 900 } })
    await context.route(/shop\.example\.com/, (route) => route.fulfill({ contentType: 'text/html', body }))
    const page = await context.newPage()
    await page.goto(`${shop}/verify`)
    assert.equal(await page.evaluate('sdk.returnedSession()'), null, 'a visit of its own')
    const session = await askedBySession({ checks: [], redirect_url: `${shop}/done?order=17#top` })
    await page.evaluate(
      `document.querySelector('button').onclick = () => sdk.goToCapture(${JSON.stringify(session.url)})`,
    )
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.waitForURL(session.url)
    await page.getByRole('button', { name: 'I agree, begin' }).click()
    const passport = { name: 'passport.jpg', mimeType: 'image/jpeg', buffer: specimen('passport_ke') }
    await page.locator('input[type=file]').setInputFiles(passport)
    await page.getByRole('button', { name: 'Use this picture' }).click()
    await page.getByRole('heading', { name: 'Done, thank you' }).waitFor({ timeout: patienceMs(120_000) })
    await page.locator('a.button').click()
    await page.waitForURL(`${shop}/done?**`)
    const returned = await page.evaluate(
      '({ id: sdk.returnedSession(), search: location.search, hash: location.hash })',
    )
    const { session_id } = session
    assert.deepEqual(returned, { id: session_id, search: `?order=17&session_id=${session_id}`, hash: '#top' })
    assert.equal((await sessionAt(session_id)).status, 'verified')
    const elsewhere = `sdk.returnedSession('https://other.example.com/x?a=1&session_id=ids_1')`
    assert.equal(await page.evaluate(elsewhere), 'ids_1')
  } finally {
    await browser.close()
  }
})

test('every step is seen in the light of each colour of the screen', async () => {
  for (const colour of ['red', 'green', 'blue']) {
    const shown = ['frontal_1', ...stepNames.flatMap((step, i) => [step, `frontal_${1 + ((i + 1) % 4)}`])]
    const frames = await Promise.all(shown.map((name, i) => lit(`frame_${name}`, i === 0 ? 'white' : colour)))
    const asked = { owner: tenantOf(ada).account, isUrgent: false }
    const measured = await computeOf(world.app).run(measureFrames, { frames }, asked)
    const timed = measured.frames.map((frame, i) => ({
      ...{ frame, atMs: i * 700, step: i % 2 === 0 ? 'frontal' : (stepNames[(i - 1) / 2] ?? '') },
    }))
    const lights = ['white', ...stepNames.map(() => colour)]
    const { steps, signals } = judgeActive({ steps: stepNames, lights, withinMs: null }, timed)
    const unseen = steps.filter(({ passed }) => !passed)
    assert.deepEqual([unseen, signals.light, signals.same_person], [[], 'seen', true], colour)
  }
})

test('an upload can stand for a picture, and only in its own account', async () => {
  const file = readFileSync(new URL('src/areas/identity/specimens/face_a.jpg', root))
  const head =
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
  const raw = Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--x--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const sent = await ada.client.post('/v1/identity/media', undefined, { raw, headers })
  assert.equal(sent.status, 201, sent.text)
  const used = await match({ image_a: sent.body.media_id, image_b: 'sandbox:face_a2' })
  assert.equal(used.body.match, true, used.text)
  const bea = await world.account({ balance: 10_000 })
  const stolen = await bea.client.post('/v1/identity/face-match', {
    image_a: sent.body.media_id,
    image_b: 'sandbox:face_a2',
  })
  assert.equal(stolen.status, 422)
})

test('an engine that is killed in the middle is replaced, and the request is answered', async () => {
  const asked = match({ image_a: 'sandbox:face_a', image_b: 'sandbox:face_a2' })
  for (let i = 0; i < 200 && computeOf(world.app).estimatedWaitMs() === 0; i++)
    await new Promise((resolve) => setImmediate(resolve))
  for (const pid of computeOf(world.app).pids()) process.kill(pid, 'SIGKILL')
  const { status, body } = await asked
  assert.deepEqual([status, body.match], [200, true])
})

test('a hundred damaged pictures are refused or judged, and none is answered 500', async () => {
  const whole = readFileSync(new URL('src/areas/identity/specimens/face_b.jpg', root))
  const picture = await sharp(whole).resize(96, 96).jpeg().toBuffer()
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const damaged = () => {
    const bytes = Buffer.from(picture.subarray(0, random(3) ? picture.length : 20 + random(picture.length - 20)))
    for (let k = 0; k < 1 + random(30); k++) bytes[random(bytes.length)] = random(256)
    return bytes.toString('base64')
  }
  for (let i = 0; i < 100; i += 4) {
    const pairs = Array.from({ length: 4 }, () => match({ image_a: damaged(), image_b: damaged() }))
    for (const { status, text } of await Promise.all(pairs)) assert.ok([200, 422].includes(status), `${status} ${text}`)
  }
})

/** Test card of a television: eight bars, and below them the same the other way round. */
function colourBars(): Promise<string> {
  const tones = ['#fff', '#ff0', '#0ff', '#0f0', '#f0f', '#f00', '#00f', '#000']
  const row = (y: number, height: number, colours: readonly string[]) =>
    colours.map((fill, i) => `<rect x="${i * 160}" y="${y}" width="160" height="${height}" fill="${fill}"/>`).join('')
  const svg = `<svg width="1280" height="720">${row(0, 504, tones)}${row(504, 216, [...tones].reverse())}</svg>`
  return sharp(Buffer.from(svg))
    .jpeg()
    .toBuffer()
    .then((bytes) => bytes.toString('base64'))
}

test('a picture that is neither a face nor a document is said to be none, and costs nothing', async () => {
  const bars = await colourBars()
  // Three lines of ordinary text, which look a little like the lines of a card.
  const lines = [120, 170, 220].map(
    (y) =>
      `<text x="60" y="${y}" font-family="DejaVu Sans Mono" font-size="34" textLength="1120">The quick brown fox jumps over ${y} lazy dogs and sleeps</text>`,
  )
  const letter = await drawn(1_250, 700, `<rect width="1250" height="700" fill="#fff"/>${lines.join('')}`)
  const balance = async () => (await ada.client.get('/v1/wallet/balance')).text
  const before = await balance()
  for (const pair of [
    { image_a: bars, image_b: 'sandbox:face_a' },
    { image_a: 'sandbox:face_a', image_b: bars },
  ])
    assert.deepEqual(await refusal(match(pair)), [422, 'NO_FACE_DETECTED'])
  assert.deepEqual(await refusal(live({ method: 'passive', selfie: bars })), [422, 'NO_FACE_DETECTED'])
  for (const document_front of [bars, letter.toString('base64'), 'sandbox:face_a'])
    assert.deepEqual(await refusal(scan({ document_front })), [422, 'DOCUMENT_UNREADABLE'])
  assert.equal(await balance(), before)
})

/** Picture of one colour, which takes a few kilobytes however large it is. */
function emptyPng(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.writeUInt8(8, 8)
  const rows = deflateSync(Buffer.alloc((width + 1) * height))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

test('a picture has at most as many pixels as are looked at, told by its header', async () => {
  const bomb = emptyPng(6_300, 6_300).toString('base64')
  assert.deepEqual(await refusal(match({ image_a: bomb, image_b: 'sandbox:face_a' })), [422, 'IMAGE_TOO_LARGE'])
})

test('one account fills its share of the engines’ queue and no more; others come in their turn, live before test', async () => {
  const bea = await world.account({ balance: 10_000 })
  const pair = { image_a: 'sandbox:no_face', image_b: 'sandbox:no_face' }
  const [engine] = computeOf(world.app).pids()
  assert.ok(engine)
  process.kill(engine, 'SIGSTOP')
  const passport = { document_type: 'passport', country: 'KE', document_front: 'sandbox:passport_ke', wait: 1 }
  const unseen = await ada.client.post('/v1/identity/verify-id', passport)
  assert.equal(unseen.status, 503, 'after `wait` there is an answer, though nobody looked at the picture')
  const crowd = Array.from({ length: 40 }, () => match(pair))
  const refused = await Promise.race(crowd)
  assert.equal(refused.status, 503, 'what is beyond the share is refused at once')
  const order: string[] = []
  const told = (name: string) => (reply: Reply) => {
    order.push(name)
    return reply
  }
  const others = crowd.map((one) => one.then(told('ada')))
  // A second task of hers would wait longer once the first is in the queue.
  const ahead = () => computeOf(world.app).estimatedWaitMs({ owner: tenantOf(bea).account, isUrgent: false })
  const before = ahead()
  const neighbour = bea.client.post('/v1/identity/face-match', pair).then(told('bea'))
  await eventually(async () => ahead() > before, 'the neighbour’s to wait')
  process.kill(engine, 'SIGCONT')
  assert.equal((await neighbour).status, 422)
  const taken = (await Promise.all(others)).filter(({ status }) => status === 422).length
  assert.ok(taken >= 1 && taken <= 20, `${taken} of one account were taken`)
  assert.ok(order.length - order.indexOf('bea') > taken / 2, order.join())
})

test('however many accounts ask in test, what is live has room in the queue', async () => {
  const program = new URL('dist/src/areas/identity/engines/program.js', root)
  const compute = new Compute({ program, processes: 1, maxWaitMs: 1e9, maxWaiting: 8, log: world.app.log })
  const nothing = { name: 'nothing', timeoutMs: 60_000, answer: Type.Unknown() }
  const crowd = Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => compute.run(nothing, {}, { owner: `${i}`, isUrgent: false })),
  )
  await compute.run(nothing, {}, { owner: '0', isUrgent: true })
  const taken = (await crowd).filter(({ status }) => status === 'fulfilled').length
  await compute.stop()
  assert.equal(taken, 7, 'one that runs and six of eight places')
})

test('an engine that has nothing to do ends and gives its memory back, and the next task starts another', async () => {
  const program = new URL('dist/src/areas/identity/engines/program.js', root)
  const bounds = { processes: 1, maxWaitMs: 1e9, maxWaiting: 8, idleMs: 1 }
  const compute = new Compute({ program, ...bounds, log: world.app.log })
  const looked = () => compute.run(measureFrames, { frames: [specimen('face_b')] })
  await looked()
  await eventually(async () => compute.pids().length === 0, 'the idle engine to end')
  assert.equal((await looked()).frames[0]?.faces.length, 1)
  compute.stop()
})

test('when too much waits, a request is told when to come back', async () => {
  const [engine] = computeOf(world.app).pids()
  assert.ok(engine)
  // A process that stands still, as on a machine that has no time for it: everything waits from here on.
  process.kill(engine, 'SIGSTOP')
  const asked = Array.from({ length: 90 }, () => match({ image_a: 'sandbox:no_face', image_b: 'sandbox:no_face' }))
  await Promise.race(asked)
  process.kill(engine, 'SIGCONT')
  const many = await Promise.all(asked)
  const refused = many.filter(({ status }) => status === 503)
  assert.ok(refused.length > 0, 'all 90 were taken')
  assert.equal(refused[0]?.body.error.code, 'PROVIDER_UNAVAILABLE')
  assert.ok(refused.every(({ headers }) => Number(headers['retry-after']) >= 1))
  assert.ok(many.every(({ status }) => status === 503 || status === 422))
})
