// SPDX-License-Identifier: Apache-2.0
// Faces, liveness and scans as a customer meets them, and what happens when the engines are hurt.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { computeOf } from '../../src/areas/identity/engines/engines.ts'
import { root } from '../../src/platform/program/root.ts'
import { type Account, startWorld, type World } from '../world.ts'

let world: World
let ada: Account

before(async () => {
  world = await startWorld({ PAMOJA_ENGINE_PROCESSES: 1 })
  ada = await world.account({ balance: 10_000 })
})
after(() => world.stop())

const match = (body: object) => ada.client.post('/v1/identity/face-match', body)
const live = (body: object) => ada.client.post('/v1/identity/liveness', body)

test('one person matches, another does not, and strict says so by its status', async () => {
  const same = await match({ image_a: 'sandbox:face_a', image_b: 'sandbox:face_a2' })
  assert.equal(same.status, 200, same.text)
  assert.equal(same.body.match, true)
  assert.ok(same.body.similarity_score > 0.58 && same.body.confidence > 90)
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
  const { status, body } = await ada.client.post('/v1/identity/scan-document', {
    document_front: 'sandbox:passport_bad_mrz',
    include_text: true,
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.document_type, body.country, body.mrz.valid], ['passport', 'KE', false])
  assert.deepEqual(body.mrz.errors, ['numberCheck', 'compositeCheck'])
  assert.equal(body.fields.last_name.value, 'WANJIKU')
  assert.match(body.text, /REPUBLIC OF KENYA/)
  const types = await ada.client.get('/v1/identity/document-types?country=ZAF')
  assert.ok(
    types.body.data.some(
      (row: { document_type: string; verified: boolean }) => row.document_type === 'national_id' && row.verified,
    ),
  )
  const all = await ada.client.get('/v1/identity/document-types')
  assert.equal(new Set(all.body.data.map((row: { country: string }) => row.country)).size, 54)
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
