// SPDX-License-Identifier: Apache-2.0
// Verifications as a customer meets them, with the real engines on the specimens of the sandbox.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { prepareZXingModule, writeBarcode } from 'zxing-wasm/writer'
import { identity } from '../../src/areas/identity/area.ts'
import { dueReviews } from '../../src/areas/identity/verify/store.ts'
import { buckets, idOf, uuidOf } from '../../src/kernel/ids.ts'
import { root } from '../../src/platform/program/root.ts'
import { type Reply, refusal } from '../client.ts'
import { lookInto } from '../looking.ts'
import { type Account, doChores, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account

before(async () => {
  world = await startWorld({ PAMOJA_ENGINE_PROCESSES: 1 })
  ada = await world.account({ balance: 10_000 })
})
after(() => world.stop())

const passport = { document_type: 'passport', country: 'KE', document_front: 'sandbox:passport_ke' }

async function verify(body: object, account = ada) {
  const reply = await account.client.post('/v1/identity/verify-id', { ...passport, wait: 25, ...body })
  return reply.status === 201 ? { ...reply, body: await decided(reply, account) } : reply
}

/** The record once nothing is to come by itself; the machine may be slower than the longest wait. */
async function decided({ body }: Reply, account = ada) {
  return eventually(async () => {
    const read = await account.client.get(`/v1/identity/verification/${body.verification_id}`)
    return read.body.stage === 'queued' || read.body.stage === 'processing' ? null : read.body
  }, 'the verdict')
}

const codes = (body: { failure_reasons: { code: string }[] }) => body.failure_reasons.map(({ code }) => code)

/** The first verification, of whose audit further tests are about. */
let shown: { verification_id: string }

test('a passport with the photograph of its holder is verified', async () => {
  const { status, body } = await verify({
    selfie: 'sandbox:face_a2',
    // Of phone and email nothing is asked here.
    subject: {
      ...{ first_name: 'Amina', last_name: 'Wanjiku', date_of_birth: '1990-02-15', external_id: 'u-1' },
      ...{ phone: '+254700000004', email: 'a@mailinator.com' },
    },
    reference: 'cust-1',
    metadata: { shop: 7, b: 'of two names' },
  })
  assert.equal(status, 201)
  shown = body
  assert.deepEqual([body.status, body.stage, codes(body)], ['verified', 'done', []], JSON.stringify(body))
  assert.deepEqual(body.results, {
    document_authentic: true,
    face_match: true,
    liveness_passed: true,
    overall_risk: 'low',
  })
  assert.deepEqual([body.risk_assessment.flags, body.consent], [['liveness_passive_only'], null])
  assert.equal(body.document.document_number, 'AK0123456')
  assert.equal(body.document.last_name, 'WANJIKU')
  assert.equal(body.document.expiry_date, '2031-02-14')
  assert.equal(body.liveness.method, 'passive')
  assert.ok(body.liveness.confidence <= 80)
  assert.equal(JSON.stringify(body.metadata), '{"shop":7,"b":"of two names"}', 'in their order')
  const audit = await ada.client.get(`/v1/identity/audit/${body.verification_id}`)
  assert.equal(audit.body.chain_valid, true)
  const actions = audit.body.data.map((entry: { action: string }) => entry.action)
  assert.deepEqual(actions.slice(0, 3), ['verification.created', 'verification.claimed', 'status.changed'])
  const listed = await ada.client.get('/v1/identity/verifications?reference=cust-1')
  assert.equal(listed.body.data.length, 1)
  assert.equal(listed.body.data[0].document, undefined)
})

test('an altered digit, an altered print, another person and an expired date end as they must', async () => {
  const digit = await verify({ document_front: 'sandbox:passport_bad_mrz' })
  assert.deepEqual([digit.body.status, codes(digit.body).includes('MRZ_INVALID')], ['rejected', true], digit.text)
  assert.equal(digit.body.results.document_authentic, false)
  const print = await verify({ document_front: 'sandbox:passport_altered' })
  assert.deepEqual([print.body.status, codes(print.body)], ['rejected', ['DATA_MISMATCH']], print.text)
  const person = await verify({ selfie: 'sandbox:face_b' })
  assert.deepEqual([person.body.status, codes(person.body)], ['rejected', ['FACE_MISMATCH']], person.text)
  assert.equal(person.body.results.face_match, false)
  const old = await verify({ document_front: 'sandbox:passport_expired' })
  assert.deepEqual([old.body.status, codes(old.body)], ['expired', ['DOCUMENT_EXPIRED']], old.text)
})

test('pictures that cannot be judged are refused at once, and nothing is stored', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const cases: [object, number, string][] = [
    [{ document_front: 'sandbox:passport_blurred' }, 422, 'IMAGE_QUALITY_LOW'],
    [{ selfie: 'sandbox:no_face' }, 422, 'NO_FACE_DETECTED'],
    [{ document_front: Buffer.from('%PDF-1.7 and some more text').toString('base64') }, 422, 'VALIDATION_ERROR'],
    [
      { document_front: `data:image/png;base64,${Buffer.from('GIF89a, not a picture').toString('base64')}` },
      422,
      'VALIDATION_ERROR',
    ],
    [{ document_front: png.toString('base64') }, 422, 'VALIDATION_ERROR'],
    [{ document_front: bomb().toString('base64') }, 422, 'IMAGE_TOO_LARGE'],
    [{ document_front: polyglot('<script>alert(1)</script>') }, 422, 'VALIDATION_ERROR'],
    [{ document_front: polyglot('%PDF-1.4 1 0 obj') }, 422, 'VALIDATION_ERROR'],
    [{ document_front: 'https://example.com/a.jpg' }, 422, 'VALIDATION_ERROR'],
    [{ document_type: 'library_card' }, 422, 'INVALID_DOCUMENT_TYPE'],
    [{ country: 'GH', document_type: 'national_id', document_front: 'sandbox:id_gh_front' }, 422, 'VALIDATION_ERROR'],
    [{ checks: ['face_match'] }, 422, 'VALIDATION_ERROR'],
  ]
  const before = (await ada.client.get('/v1/identity/verifications')).body.data.length
  for (const [body, status, code] of cases) {
    const answer = await ada.client.post('/v1/identity/verify-id', { ...passport, ...body })
    assert.deepEqual([answer.status, answer.body.error?.code], [status, code], `${JSON.stringify(body)} ${answer.text}`)
  }
  assert.equal((await ada.client.get('/v1/identity/verifications')).body.data.length, before)
})

/** A PNG whose header asks for 60,000 x 60,000 pixels. */
function bomb(): Buffer {
  const header = Buffer.alloc(25)
  header.writeUInt32BE(13, 0)
  header.write('IHDR', 4, 'latin1')
  header.writeUInt32BE(60_000, 8)
  header.writeUInt32BE(60_000, 12)
  header.set([8, 2, 0, 0, 0], 16)
  header.writeUInt32BE(crc(header.subarray(4, 21)), 21)
  const rest = Buffer.from('0000000a49444154789c6300010000050001', 'hex')
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), header, rest])
}

/** Begins as a JPEG and goes on as something else. */
function polyglot(rest: string): string {
  return Buffer.concat([Buffer.from('ffd8ffe000104a4649460001', 'hex'), Buffer.from(rest.repeat(40))]).toString(
    'base64',
  )
}

function crc(bytes: Buffer): number {
  let value = ~0
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return ~value >>> 0
}

test('cards are read on both sides, and numbers by the rules of their country', async () => {
  const ghana = await verify({
    country: 'GHA',
    document_type: 'national_id',
    document_front: 'sandbox:id_gh_front',
    document_back: 'sandbox:id_gh_back',
  })
  assert.equal(ghana.body.status, 'verified', ghana.text)
  assert.equal(ghana.body.document.mrz.format, 'TD1')
  const southAfrica = await verify({ country: 'ZA', document_type: 'national_id', document_front: 'sandbox:id_za' })
  assert.equal(southAfrica.body.status, 'verified', southAfrica.text)
  const results = Object.fromEntries(
    southAfrica.body.checks.map((c: { check: string; result: string }) => [c.check, c.result]),
  )
  assert.deepEqual([results.number_checksum, results.number_embeds_birth_date_sex], ['pass', 'pass'])
  // The back of a smart card, whose barcode says the same, and one that says another birth date.
  const number = southAfrica.body.document.document_number
  const back = (birth: string) =>
    `WANJIKU|AMINA NJERI|F|RSA|${number}|${birth}|RSA|CITIZEN|15 FEB 2021|30129|108123456|0`
  const smart = await verify({
    ...{ country: 'ZA', document_type: 'national_id', document_front: 'sandbox:id_za' },
    document_back: await barcode(back('15 FEB 1990')),
  })
  assert.equal(smart.body.status, 'verified', JSON.stringify(smart.body))
  const { sources } = smart.body.document
  assert.deepEqual([sources.last_name, sources.document_number, sources.issue_date], ['barcode', 'barcode', 'barcode'])
  assert.equal(smart.body.readings.barcode.date_of_birth, '1990-02-15')
  const forged = await verify({
    ...{ country: 'ZA', document_type: 'national_id', document_front: 'sandbox:id_za' },
    document_back: await barcode(back('16 FEB 1990')),
  })
  assert.ok(forged.body.status !== 'verified', JSON.stringify(forged.body))
  const asLicence = await verify({ document_type: 'drivers_license', document_front: 'sandbox:id_za', wait: 25 })
  assert.deepEqual([asLicence.body.status, asLicence.body.stage], ['pending', 'awaiting_review'], asLicence.text)
})

/** Picture of the back of a card with a PDF417. */
async function barcode(text: string): Promise<string> {
  const wasm = readFileSync(new URL('node_modules/zxing-wasm/dist/writer/zxing_writer.wasm', root))
  await prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer }, fireImmediately: true })
  const { svg } = await writeBarcode(text, { format: 'PDF417', scale: 3 })
  const bars = svg.slice(svg.indexOf('<svg')).replace('<svg', '<svg x="125" y="200" preserveAspectRatio="xMinYMin"')
  const card = `<svg xmlns="http://www.w3.org/2000/svg" width="1250" height="790"><rect width="1250" height="790" fill="#d8e2dc"/>${bars}</svg>`
  const picture = await sharp(Buffer.from(card)).jpeg().toBuffer()
  return picture.toString('base64')
}

/** Account with one verification, which is left as it is. */
let paid: { account: Account; id: string }

test('a verification is paid with its verdict, and nothing else is', async () => {
  const fay = await world.account({ balance: 100 })
  const wallet = async () => (await fay.client.get('/v1/wallet/balance')).body.balances[0]
  const before = await wallet()
  const refused = await fay.client.post('/v1/identity/verify-id', {
    ...passport,
    selfie: 'sandbox:no_face',
  })
  assert.equal(refused.status, 422)
  assert.deepEqual(await wallet(), before)
  // A small picture that can be read is not refused for its size.
  const small = await sharp(readFileSync(new URL('src/areas/identity/specimens/passport_ke.jpg', root)))
    .resize(640, 451)
    .jpeg()
    .toBuffer()
  const { body } = await verify({ document_front: small.toString('base64') }, fay)
  paid = { account: fay, id: body.verification_id }
  assert.deepEqual([body.status, body.currency, body.cost > 0], ['verified', 'KES', true])
  const after = await wallet()
  assert.equal(Math.round((before.available - after.available) * 1e6), Math.round(body.cost * 1e6))
  const scan = await fay.client.post('/v1/identity/scan-document', { document_front: 'sandbox:passport_ke' })
  assert.equal(scan.body.cost > 0, true, scan.text)
  const scored = await fay.client.post('/v1/identity/risk-score', { phone: '+254711000001' })
  assert.equal(scored.body.cost > 0, true)
  const left = await wallet()
  assert.equal(
    Math.round((after.available - left.available) * 1e6),
    Math.round((scan.body.cost + scored.body.cost) * 1e6),
  )
  const { body: moved } = await fay.client.get('/v1/wallet/transactions?type=usage_identity')
  assert.deepEqual(
    moved.data.map(({ source }: { source: { id: string } }) => source.id),
    [scored.body.risk_id, scan.body.scan_id, body.verification_id],
  )
  const poor = await world.account()
  for (const [path, asked] of [
    ['verify-id', passport],
    ['scan-document', { document_front: 'sandbox:passport_ke' }],
    ['face-match', { image_a: 'sandbox:face_a', image_b: 'sandbox:face_a2' }],
    ['liveness', { method: 'passive', selfie: 'sandbox:face_a' }],
    ['risk-score', { phone: '+254711000001' }],
  ] as const) {
    const answer = await poor.client.post(`/v1/identity/${path}`, asked)
    assert.deepEqual([answer.status, answer.body.error.code], [402, 'INSUFFICIENT_BALANCE'], path)
  }
  assert.equal((await poor.client.get('/v1/identity/verifications')).body.data.length, 0)
})

const asked = (document_number: string, account = ada) =>
  verify({ checks: ['document_verification', 'registry_lookup'], document_number }, account)

test('a picture that is no document is rejected as such, never a low risk, and costs nothing', async () => {
  const joy = await world.account({ balance: 100 })
  const none = { document_front: 'sandbox:face_a', document_type: 'national_id', country: 'KE' }
  const { body } = await verify(none, joy)
  const { status, results, risk_assessment, cost } = body
  assert.deepEqual([status, results.overall_risk, cost], ['rejected', 'high', 0], JSON.stringify(body))
  assert.ok(codes(body).includes('DOCUMENT_UNREADABLE') && risk_assessment.flags.includes('NO_DOCUMENT'))
  // Nor does it tell what a registry says of a number.
  const checks = ['document_verification', 'registry_lookup']
  const looked = await verify({ ...none, checks, document_number: '99990000' }, joy)
  assert.equal(looked.body.status, 'rejected', looked.text)
  assert.ok(!codes(looked.body).some((code: string) => code.startsWith('REGISTRY')), looked.text)
  const [{ available, held }] = (await joy.client.get('/v1/wallet/balance')).body.balances
  assert.deepEqual([available, held], [100, 0])
})

test('the registry answers as the typed number says', async () => {
  const unknown = (await asked('99990000')).body
  assert.deepEqual([codes(unknown), unknown.results.overall_risk], [['REGISTRY_NOT_FOUND'], 'high'])
  assert.deepEqual(codes((await asked('99990001')).body), ['REGISTRY_MISMATCH'])
  assert.equal((await asked('99990007')).body.stage, 'awaiting_review')
  assert.equal((await asked('AK0123456')).body.status, 'verified')
})

test('a registry that is down is waited for a day, or said to be down at once', async () => {
  const gus = await world.account({ balance: 100 })
  const { body } = await asked('99990003', gus)
  assert.deepEqual([body.status, body.stage], ['pending', 'awaiting_registry'], JSON.stringify(body))
  const held = (await gus.client.get('/v1/wallet/balance')).body.balances[0]
  assert.equal(held.held, body.cost, JSON.stringify(held))
  await gus.client.post('/v1/sandbox/clock', { advance_seconds: 25 * 3_600 })
  const read = await eventually(async () => {
    const answer = await gus.client.get(`/v1/identity/verification/${body.verification_id}`)
    return answer.body.stage === 'awaiting_review' ? answer.body : null
  }, 'a person is asked')
  assert.equal(read.status, 'pending')
  await gus.client.patch('/v1/identity/policy', { registry_on_outage: 'fail' })
  const failed = await asked('99990003', gus)
  assert.deepEqual([failed.status, failed.body.error?.code], [503, 'REGISTRY_UNAVAILABLE'], failed.text)
  assert.ok(Number(failed.headers['retry-after']) > 0)
})

test('an operator connects a registry, which is asked in its own words; the token is never shown', async () => {
  const body = { name: 'immigration', country: 'KE', url: 'https://registry.example.com/v1', token: 'very-secret' }
  const made = await world.operator.post('/v1/operator/identity/registries', body)
  assert.equal(made.status, 201, made.text)
  assert.equal((await world.operator.post('/v1/operator/identity/registries', body)).status, 409)
  const listed = await world.operator.get('/v1/operator/identity/registries')
  assert.equal(listed.text.includes('immigration') && !listed.text.includes('very-secret'), true)
  assert.equal((await world.operator.delete(`/v1/operator/identity/registries/${made.body.id}`)).status, 204)
  assert.equal((await world.operator.delete(`/v1/operator/identity/registries/${made.body.id}`)).status, 404)
})

test('whoever is on the blocklist is rejected, whatever a person decides', async () => {
  const hal = await world.account({ balance: 100 })
  const blocked = await hal.client.post('/v1/identity/blocklist', {
    kind: 'document',
    value: 'ak-0123456',
    reason: 'forged',
  })
  assert.equal(blocked.status, 201, blocked.text)
  assert.equal(blocked.text.includes('0123456'), false)
  assert.equal((await hal.client.post('/v1/identity/blocklist', { kind: 'document', value: 'AK0123456' })).status, 409)
  const { body } = await verify({}, hal)
  assert.deepEqual([body.status, codes(body)], ['rejected', ['BLOCKLISTED']])
  assert.equal(body.risk_assessment.risk_score, 100)
  await hal.client.patch('/v1/identity/policy', { four_eyes: false })
  const approved = await hal.client.post(`/v1/identity/verification/${body.verification_id}/review`, {
    decision: 'approve',
    reason: 'a friend',
  })
  assert.deepEqual([approved.status, approved.body.error.code], [409, 'INVALID_STATE'])
  assert.equal((await hal.client.delete(`/v1/identity/blocklist/${blocked.body.id}`)).status, 204)
  assert.equal((await hal.client.get('/v1/identity/blocklist')).body.data.length, 0)
  await hal.client.post('/v1/identity/blocklist', { kind: 'phone', value: '+254 711 000 001' })
  const scored = await hal.client.post('/v1/identity/risk-score', { phone: '+254711000001' })
  assert.deepEqual([scored.body.risk_score, scored.body.flags.includes('subject_blocklisted')], [100, true])
})

test('a face that was verified before under another name waits for a person; other accounts are not looked at', async () => {
  const ivy = await world.account({ balance: 100 })
  const checks = ['document_verification', 'face_match', 'duplicate_check']
  const person = (external_id: string) => ({ checks, selfie: 'sandbox:face_a', subject: { external_id } })
  assert.equal((await verify(person('one'), ivy)).body.status, 'verified')
  const second = await verify(person('two'), ivy)
  assert.deepEqual([second.body.status, second.body.stage], ['pending', 'awaiting_review'])
  assert.ok(second.body.risk_assessment.flags.includes('duplicate_face'))
  assert.ok(second.body.risk_assessment.flags.includes('duplicate_document'))
  const others = await ivy.client.get(`/v1/identity/verifications?person_of=${second.body.verification_id}`)
  assert.deepEqual([others.body.data.length, others.body.data[0].status], [1, 'verified'], 'the same document')
  const other = await world.account({ balance: 100 })
  assert.equal((await verify(person('three'), other)).body.status, 'verified')
})

test('a face too little alike for a match is still found among those that were verified before', async () => {
  const eve = await world.account({ balance: 100 })
  const checks = ['document_verification', 'face_match', 'duplicate_check']
  const person = (external_id: string, selfie: string) => ({ checks, selfie, subject: { external_id } })
  assert.equal((await verify(person('one', 'sandbox:face_a'), eve)).body.status, 'verified')
  const coarse = await sharp(readFileSync(new URL('src/areas/identity/specimens/face_a2.jpg', root)))
    .jpeg({ quality: 4 })
    .toBuffer()
  const selfie = coarse.toString('base64')
  const compared = await eve.client.post('/v1/identity/face-match', { image_a: 'sandbox:face_a', image_b: selfie })
  const { match, similarity_score: similarity } = compared.body
  assert.ok(!match && similarity > 0.58 && similarity < 0.7, compared.text)
  const second = await verify(person('two', selfie), eve)
  assert.ok(second.body.risk_assessment.flags.includes('duplicate_face'), JSON.stringify(second.body))
})

test('a person decides what is in doubt, and four eyes see an override', async () => {
  const bea = await world.account({ balance: 10_000 })
  const doubtful = { country: 'KE', document_type: 'national_id', document_front: 'sandbox:id_za' }
  const { body } = await verify(doubtful, bea)
  assert.deepEqual([body.status, body.stage], ['pending', 'awaiting_review'], JSON.stringify(body))
  const path = `/v1/identity/verification/${body.verification_id}/review`
  const noReason = await bea.client.post(path, { decision: 'approve' })
  assert.equal(noReason.status, 422)
  const rejected = await bea.client.post(path, { decision: 'reject', reason: 'not a Kenyan card' })
  assert.deepEqual([rejected.body.status, codes(rejected.body).at(-1)], ['rejected', 'REVIEW_REJECTED'])
  const alone = await bea.client.post(path, { decision: 'approve', reason: 'after all' })
  assert.equal(alone.status, 403, alone.text)
  const twice = await bea.client.post(path, { decision: 'reject', reason: 'again' })
  assert.deepEqual([twice.status, twice.body.error.code], [409, 'INVALID_STATE'])
  await bea.client.patch('/v1/identity/policy', { four_eyes: false })
  const approved = await bea.client.post(path, { decision: 'approve', reason: 'after all' })
  assert.equal(approved.body.status, 'verified')
  assert.deepEqual(approved.body.doubt, body.doubt)
  const rejectedByMachine = (await verify({ document_front: 'sandbox:passport_bad_mrz' }, bea)).body
  const at = `/v1/identity/verification/${rejectedByMachine.verification_id}/review`
  assert.equal((await bea.client.post(at, { decision: 'approve', reason: 'seen at the desk' })).body.status, 'verified')
  const { body: figures } = await bea.client.get('/v1/identity/reviews/figures')
  assert.deepEqual(figures.overturned, { approved: 1, rejected: 0 })
  assert.deepEqual([figures.verdicts, figures.overturned_percent, figures.doubts.approved], [1, 100, 1])
  assert.deepEqual(figures.doubts.by_check, [{ check: body.doubt.check, approved: 1, rejected: 0 }])
})

test('a check that is erased before anybody decided it waits for nobody any more', async () => {
  const lea = await world.account({ balance: 10_000 })
  const doubtful = { country: 'KE', document_type: 'national_id', document_front: 'sandbox:id_za' }
  const { body } = await verify(doubtful, lea)
  const waiting = async () => {
    const { body: page } = await lea.client.get('/v1/identity/verifications?stage=awaiting_review')
    const { body: counts } = await lea.client.get('/v1/account/waiting')
    const count = counts.counts.identity_to_review
    return [page.data.length, count]
  }
  assert.deepEqual(await waiting(), [1, 1])
  assert.equal((await lea.client.delete(`/v1/identity/verification/${body.verification_id}`)).status, 200)
  assert.deepEqual(await waiting(), [0, 0])
  await lea.client.post('/v1/sandbox/clock', { advance_seconds: 8 * 86_400 })
  const due = await world.app.db.query(dueReviews, { buckets, now: new Date(), most: 500 })
  assert.ok(!due.some(({ id }) => id === uuidOf('verification', body.verification_id)))
})

test('a reviewer sees the pictures for a minute, and deciding, the audit and erasing take scopes of their own', async () => {
  const kay = await world.account({ balance: 10_000 })
  const { body } = await verify({ selfie: 'sandbox:face_a' }, kay)
  const path = `/v1/identity/verification/${body.verification_id}`
  const keyWith = async (...scopes: string[]) => {
    const { body: key } = await kay.client.post('/v1/api-keys', { name: scopes.join(), scopes })
    return world.stranger.as(key.key)
  }
  const writer = await keyWith('identity:write')
  assert.equal('images' in (await writer.get(path)).body, false)
  const decision = { decision: 'reject', reason: 'seen elsewhere' }
  const audit = `/v1/identity/audit/${body.verification_id}`
  for (const refused of [
    await writer.get(`${path}?include=images`),
    await writer.get(`${path}/image?name=selfie`),
    await writer.post(`${path}/review`, decision),
    await writer.get(audit),
    await writer.delete(path),
  ])
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'FORBIDDEN'])
  assert.equal((await writer.get(`${path}?include=faces`)).status, 400)
  const reviewer = await keyWith('identity:read', 'identity:review', 'identity:audit', 'identity:erase')
  const { images } = (await reviewer.get(`${path}?include=images`)).body
  assert.deepEqual(Object.keys(images).toSorted(), ['document_front', 'portrait', 'selfie'])
  const shown = await world.stranger.get(images.selfie.slice(images.selfie.indexOf('/files/')))
  assert.deepEqual([shown.status, shown.headers['content-type']], [200, 'image/jpeg'])
  const seen = await reviewer.get(`${path}/image?name=selfie`)
  assert.deepEqual(
    [seen.status, seen.headers['content-type'], seen.headers['cache-control']],
    [200, 'image/jpeg', 'no-store'],
  )
  assert.deepEqual(await refusal(reviewer.get(`${path}/image?name=document_back`)), [404, 'NOT_FOUND'])
  const record = (await reviewer.get(path)).body
  assert.deepEqual(record.pictures, ['document_front', 'portrait', 'selfie'])
  const portrait = await reviewer.get(`${path}/image?name=portrait`)
  assert.deepEqual([portrait.status, portrait.headers['content-type']], [200, 'image/jpeg'])
  assert.deepEqual([record.readings.zone.last_name, record.readings.print.last_name], ['WANJIKU', 'WANJIKU'])
  const zone = record.regions.find(({ name }: { name: string }) => name === 'zone')
  assert.ok(zone.image === 'document_front' && zone.box[1] > 0.8 && zone.box[2] > 0.85, JSON.stringify(zone))
  const actions = (await reviewer.get(audit)).body.data.map(({ action }: { action: string }) => action)
  assert.deepEqual(
    actions.filter((action: string) => action === 'image.viewed'),
    ['image.viewed', 'image.viewed', 'image.viewed'],
  )
  assert.equal((await reviewer.post(`${path}/review`, decision)).body.status, 'rejected')
  assert.equal((await reviewer.delete(path)).status, 200)
  assert.deepEqual((await reviewer.get(`${path}?include=images`)).body.images, {})
})

test('a record under legal hold stays; an erased one cannot be read again, not even from a raw copy of the database', async () => {
  const person = { first_name: 'Amina', last_name: 'Wanjiku', external_id: 'erase-me' }
  const { body } = await verify({ subject: person, selfie: 'sandbox:face_a', reference: 'erased-ref' })
  const db = lookInto(world)
  await db.connect()
  const hold = (isHeld: boolean) =>
    db.query('update identity.verifications set is_held = $1 where id = $2', [
      isHeld,
      uuidOf('verification', body.verification_id),
    ])
  const path = `/v1/identity/verification/${body.verification_id}`
  await hold(true)
  for (const kept of ['/v1/identity/subjects/erase-me', path])
    assert.deepEqual(await refusal(ada.client.delete(kept)), [409, 'LEGAL_HOLD'])
  assert.equal((await ada.client.get(path)).body.reference, 'erased-ref')
  await hold(false)
  const erased = await ada.client.delete(`/v1/identity/subjects/erase-me`)
  assert.equal(erased.status, 200, erased.text)
  const read = await ada.client.get(path)
  assert.deepEqual([read.body.document, read.body.status, read.body.reference], [null, body.status, null])
  const query = 'select v::text as text from identity.verifications v where account_id = $1 and erased_at is not null'
  const { rows } = await db.query(query, [uuidOf('account', ada.id)])
  await db.end()
  assert.equal(rows.length, 1)
  for (const secret of [
    'WANJIKU',
    'Wanjiku',
    'AK0123456',
    'erase-me',
    'erased-ref',
    Buffer.from('WANJIKU').toString('hex'),
  ])
    assert.equal(rows[0].text.includes(secret), false, secret)
  const audit = await ada.client.get(`/v1/identity/audit/${body.verification_id}`)
  assert.equal(audit.body.data.at(-1).action, 'record.erased')
  assert.equal(audit.body.chain_valid, true)
})

test('time expires documents and erases pictures', async () => {
  await paid.account.client.post('/v1/sandbox/clock', { advance_seconds: 40 * 86_400 })
  await doChores(world.app, identity.chores)
  const audit = await paid.account.client.get(`/v1/identity/audit/${paid.id}`)
  assert.ok(
    audit.body.data.some((entry: { action: string }) => entry.action === 'images.erased'),
    audit.text,
  )
})

test('an audit is read page by page, each of which is held to the one before', async () => {
  const { body } = await ada.client.post('/v1/identity/phone/send-otp', { phone: '+254711000190' })
  for (const code of ['000001', '000002', '123456'])
    await ada.client.post('/v1/identity/phone/verify-otp', { otp_id: body.otp_id, code })
  const path = `/v1/identity/audit/${body.otp_id}?limit=3`
  const first = await ada.client.get(path)
  const second = await ada.client.get(`${path}&cursor=${first.body.next_cursor}`)
  const actions = [...first.body.data, ...second.body.data].map(({ action }: { action: string }) => action)
  assert.deepEqual(actions, ['otp.sent', 'otp.attempt_failed', 'otp.attempt_failed', 'otp.verified'])
  assert.deepEqual(
    [first.body.chain_valid, second.body.chain_valid, second.body.next_cursor],
    [true, true, null],
    second.text,
  )
})

test('an audit holds while entries are added to it', async () => {
  const at = `/v1/identity/audit/${shown.verification_id}`
  const added = `/v1/identity/verification/${shown.verification_id}?include=images`
  const read = await Promise.all(
    Array.from({ length: 24 }, async (_, i) => (i % 2 === 0 ? ada.client.get(added) : ada.client.get(at))),
  )
  const held = read.flatMap(({ body }) => (body.chain_valid === undefined ? [] : [body.chain_valid]))
  assert.deepEqual(held, Array(12).fill(true))
})

test('a changed audit entry is found out', async () => {
  const { body } = await ada.client.post('/v1/identity/risk-score', { email: 'x@mailinator.com', account_id: 'a' })
  const db = lookInto(world)
  await db.connect()
  await db.query(`update identity.audit set details = '{"risk_score": 0}' where resource_id = $1`, [body.risk_id])
  await db.end()
  const audit = await ada.client.get(`/v1/identity/audit/${body.risk_id}`)
  assert.equal(audit.body.chain_valid, false)
  const other = await world.account({ balance: 10_000 })
  assert.equal((await other.client.get(`/v1/identity/audit/${body.risk_id}`)).status, 404)
})

test('entries that were taken from the end of an audit are missed, also after others were added', async () => {
  const path = `/v1/identity/audit/${shown.verification_id}`
  const held = async () => (await ada.client.get(path)).body.chain_valid
  assert.equal(await held(), true)
  const db = lookInto(world)
  await db.connect()
  await db.query(
    `delete from identity.audit a where resource_id = $1
        and sequence = (select max(sequence) from identity.audit where resource_id = $1)`,
    [shown.verification_id],
  )
  await db.end()
  assert.equal(await held(), false)
  await ada.client.get(`/v1/identity/verification/${shown.verification_id}?include=images`)
  await ada.client.delete(`/v1/identity/verification/${shown.verification_id}`)
  assert.equal(await held(), false)
})

test('a chain from before, without a key, is taken over as it is and goes on with one', async () => {
  const { body } = await ada.client.post('/v1/identity/phone/send-otp', { phone: '+254711000191' })
  const id = body.otp_id
  const db = lookInto(world)
  await db.connect()
  // As the release before wrote it, and as the migration leaves it.
  const { rows } = await db.query('select * from identity.audit where resource_id = $1 order by sequence', [id])
  let previous: string | null = null
  for (const row of rows) {
    const entry = { entry_id: idOf('audit', row.id), sequence: row.sequence, timestamp: row.at.toISOString() }
    const rest = { action: row.action, actor: row.actor, details: row.details }
    const text: string = `${previous ?? ''}${sorted({ ...entry, ...rest })}`
    const hash: string = `sha256:${createHash('sha256').update(text).digest('hex')}`
    await db.query('update identity.audit set previous_hash = $1, hash = $2 where id = $3', [previous, hash, row.id])
    previous = hash
  }
  await db.query(
    `update identity.audit_heads set number = 0, opened = '', seal = '', last_hash = $1 where resource_id = $2`,
    [previous, id],
  )
  const held = async () => (await ada.client.get(`/v1/identity/audit/${id}`)).body
  assert.equal((await held()).chain_valid, true)
  await ada.client.post('/v1/identity/phone/verify-otp', { otp_id: id, code: '000001' })
  const after = await held()
  assert.equal(after.chain_valid, true)
  assert.match(after.data.at(-1).hash, /^hmac-sha256:[0-9a-f]{64}$/)
  const { rows: heads } = await db.query('select number, seal from identity.audit_heads where resource_id = $1', [id])
  assert.ok(heads[0].number > 0 && heads[0].seal !== '')
  await db.end()
})

/** JSON with sorted keys. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${sorted(one)}`).join()}}`
}

test('the risk is explained flag by flag', async () => {
  const { body } = await ada.client.post('/v1/identity/risk-score', {
    phone: '+254700000004',
    email: 'a@mailinator.com',
    account_id: 'u1',
  })
  assert.deepEqual(body.flags, ['sim_swap_recent', 'email_disposable'])
  assert.equal(body.risk_score, Math.round(100 * (1 - 0.55 * 0.7)))
  assert.equal(body.risk_level, 'high')
  for (let i = 0; i < 6; i++)
    await ada.client.post('/v1/identity/risk-score', { device: { device_id: 'd' }, account_id: `v${i}` })
  const many = await ada.client.post('/v1/identity/risk-score', { device: { device_id: 'd' }, account_id: 'v7' })
  assert.deepEqual(many.body.flags, ['device_velocity_high'])
})

test('a risk score looks at the age, at the name on the document and at codes that nobody confirmed', async () => {
  const eli = await world.account({ balance: 10_000 })
  const score = async (body: object) => (await eli.client.post('/v1/identity/risk-score', body)).body
  const child = { date_of_birth: '2015-06-01' }
  assert.deepEqual((await score({ subject: child })).flags, [], 'any age unless the policy says otherwise')
  assert.equal((await eli.client.patch('/v1/identity/policy', { minimum_age: 18 })).status, 200)
  const young = await score({ subject: child, event: 'login', metadata: { shop: 7 } })
  assert.deepEqual([young.flags, young.risk_score, young.metadata], [['age_under_minimum'], 50, { shop: 7 }])
  assert.ok(young.unavailable_signals.includes('impossible_travel'))
  const audit = await eli.client.get(`/v1/identity/audit/${young.risk_id}`)
  assert.deepEqual(audit.body.data[0].details, {
    event: 'login',
    flags: ['age_under_minimum'],
    policy_version: 1,
    risk_score: 50,
  })
  const wrong = await eli.client.post('/v1/identity/risk-score', { subject: { date_of_birth: '1.6.2015' } })
  assert.deepEqual([wrong.status, wrong.body.error.code], [422, 'VALIDATION_ERROR'])

  const { verification_id } = (await verify({}, eli)).body
  const same = await score({ verification_id, subject: { first_name: 'Amina', last_name: 'Wanjiku' } })
  assert.deepEqual(same.flags, [])
  const other = await score({ verification_id, subject: { last_name: 'Otieno', date_of_birth: '1990-02-15' } })
  assert.deepEqual([other.flags, other.risk_score], [['name_mismatch'], 30])
  assert.match(other.factors[0].detail, /date_of_birth equal/)
  const abroad = await score({ verification_id, phone: '+233241234567' })
  assert.deepEqual(abroad.flags, ['phone_country_mismatch'], 'the document is of Kenya')

  const phone = '+254711000077'
  assert.deepEqual((await score({ phone })).flags, [], 'no code was sent')
  const sent = await eli.client.post('/v1/identity/phone/send-otp', { phone })
  assert.deepEqual((await score({ phone })).flags, [], 'it may still be typed')
  await eli.client.post('/v1/sandbox/clock', { advance_seconds: 1_000 })
  assert.deepEqual((await score({ phone })).flags, ['otp_unverified'], sent.text)
})

test('a verification with the check risk_score counts phone and email, and waits for a person when they look bad', async () => {
  const subject = { phone: '+254700000004', email: 'a@mailinator.com', external_id: 'u-9' }
  const scored = await verify({ subject, checks: ['risk_score'] })
  const { flags, risk_level } = scored.body.risk_assessment
  assert.deepEqual([flags, risk_level], [['sim_swap_recent', 'email_disposable'], 'high'])
  assert.equal(scored.body.stage, 'awaiting_review')
})

test('who shares a phone is known for a day, and forgotten with the person', async () => {
  const una = await world.account({ balance: 10_000 })
  const db = lookInto(world)
  await db.connect()
  const account = [uuidOf('account', una.id)]
  const seen = async () => (await db.query('select from identity.sightings where account_id = $1', account)).rowCount
  const phone = '+254711000088'
  await verify({ subject: { phone, external_id: 'seen-1' }, checks: ['risk_score'] }, una)
  await una.client.post('/v1/identity/risk-score', { phone, account_id: 'seen-2' })
  assert.equal(await seen(), 2)
  assert.equal((await una.client.delete('/v1/identity/subjects/seen-1')).status, 200)
  await doChores(world.app, identity.chores)
  assert.equal(await seen(), 1, 'the other was seen today')
  await db.query(`update identity.sightings set seen_at = seen_at - interval '25 hours' where account_id = $1`, account)
  await doChores(world.app, identity.chores)
  assert.equal(await seen(), 0)
  await db.end()
})

test('the consent of a person is kept as it was given, until the record is erased', async () => {
  const refused = await ada.client.post('/v1/identity/verify-id', { ...passport, consent: { granted: false } })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'CONSENT_REQUIRED'])
  const dated = await ada.client.post('/v1/identity/verify-id', {
    ...passport,
    consent: { granted: true, granted_at: 'yesterday' },
  })
  assert.deepEqual([dated.status, dated.body.error.code], [422, 'VALIDATION_ERROR'])
  const notice = { privacy_notice_url: 'https://example.com/privacy/3', language: 'sw' }
  const { body } = await verify({ consent: { granted: true, granted_at: '2026-03-01T12:00:00+03:00', ...notice } })
  assert.deepEqual(body.consent, { granted: true, granted_at: '2026-03-01T09:00:00.000Z', ...notice })
  const details = async () => (await ada.client.get(`/v1/identity/audit/${body.verification_id}`)).body.data[0].details
  assert.equal((await details()).consent_granted_at, '2026-03-01T09:00:00.000Z')
  const path = `/v1/identity/verification/${body.verification_id}`
  assert.equal((await ada.client.delete(path)).status, 200)
  assert.equal((await ada.client.get(path)).body.consent, null)
  const { consent, consent_granted_at } = await details()
  assert.deepEqual([consent, consent_granted_at], [true, '2026-03-01T09:00:00.000Z'], 'that they agreed stays known')
})
