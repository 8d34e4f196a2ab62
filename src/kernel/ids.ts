// SPDX-License-Identifier: Apache-2.0
// Public ids: a prefix that names the kind, `_`, and the 26 Crockford base32 characters of a UUIDv7. The database stores
// the UUID; customers see the text. Both sort by time, so lists page on them and big tables are partitioned by them.
import { randomFillSync } from 'node:crypto'

/** Kind of thing -> prefix. The only place that knows it. */
const prefixes = {
  account: 'acc',
  apiKey: 'key',
  audit: 'aud',
  blacklistEntry: 'blk',
  businessHours: 'bh',
  call: 'call',
  campaign: 'cmp',
  cardToken: 'tok',
  conference: 'conf',
  conversation: 'conv',
  customer: 'cus',
  customerImport: 'imp',
  customerNote: 'note',
  delivery: 'dlv',
  dispute: 'dsp',
  email: 'em',
  emailBulk: 'emb',
  emailDomain: 'dom',
  emailTemplate: 'tmpl',
  event: 'evt',
  faceMatch: 'fmt',
  fraudRule: 'frl',
  hold: 'hold',
  hook: 'hook',
  hookRequest: 'hkr',
  identityBlock: 'idb',
  identityMedia: 'imd',
  identitySession: 'ids',
  invoice: 'inv',
  ivr: 'ivr',
  job: 'job',
  liveness: 'liv',
  media: 'media',
  member: 'mbr',
  messengerChannel: 'mch',
  messengerMessage: 'mmsg',
  messengerTemplate: 'tpl',
  monitor: 'mon',
  node: 'node',
  otp: 'otp',
  participant: 'par',
  passkey: 'psk',
  payment: 'pay',
  paymentAttempt: 'pat',
  paymentLink: 'plink',
  paymentStatement: 'stm',
  payout: 'po',
  payoutBatch: 'pob',
  plan: 'plan',
  price: 'prc',
  play: 'ply',
  prompt: 'prm',
  queue: 'que',
  recording: 'rec',
  refund: 're',
  registry: 'reg',
  replay: 'rpl',
  reportSchedule: 'rsch',
  request: 'req',
  riskCheck: 'rsk',
  routingRule: 'rule',
  scan: 'scn',
  segment: 'seg',
  session: 'ses',
  smppCredential: 'smpp',
  sms: 'sms',
  smsBatch: 'smb',
  smsInbound: 'smi',
  smsRoute: 'smr',
  smsSender: 'snd',
  smtpCredential: 'smtp',
  statementLine: 'stl',
  subscription: 'sub',
  suppression: 'sup',
  transaction: 'txn',
  transfer: 'trf',
  ussdGateway: 'usg',
  ussdMenu: 'usn',
  ussdMessage: 'usm',
  ussdSession: 'uss',
  verification: 'ver',
  voicemail: 'vm',
  wallet: 'wal',
  walletTransaction: 'wtx',
  webhook: 'wh',
} as const satisfies Record<string, string>

export type Kind = keyof typeof prefixes
export type Id<K extends Kind> = `${(typeof prefixes)[K]}_${string}`

/** Makes a new id. Ids of one process are strictly increasing, also within one millisecond. */
export function newId<K extends Kind>(kind: K, atMs: number): Id<K> {
  return `${prefixes[kind]}_${base32(nextUuidBytes(atMs))}` as const
}

/** Makes a new id in both its forms. */
export function newIdAndUuid<K extends Kind>(kind: K, atMs: number): { id: Id<K>; uuid: string } {
  const bytes = nextUuidBytes(atMs)
  return { id: `${prefixes[kind]}_${base32(bytes)}` as const, uuid: uuidText(bytes) }
}

/** Makes a UUIDv7 for a row that customers never name. */
export function newUuid(atMs: number): string {
  return uuidText(nextUuidBytes(atMs))
}

/** Makes a UUID that sorts by another time than now, such as one that an account's clock shows; ids after it are of now again. */
export function newUuidOf(shownMs: number, nowMs: number): string {
  return firstUuidAt(shownMs).slice(0, 13) + newUuid(nowMs).slice(13)
}

/** Paired id of a UUID, with its last bit flipped, so that either leads to the other: for an event published under two names. */
export function twinOf(uuid: string): string {
  return uuid.slice(0, 35) + (Number.parseInt(uuid.slice(35), 16) ^ 1).toString(16)
}

/** The UUID inside a public id, or null when the text is not an id of that kind. */
export function uuidOf(kind: Kind, id: string): string | null {
  const prefix = prefixes[kind]
  if (id.length !== prefix.length + 1 + 26 || !id.startsWith(prefix) || id[prefix.length] !== '_') return null
  const bytes = parseBase32(id, prefix.length + 1)
  return bytes && uuidText(bytes)
}

/** The public id of a stored UUID, or of the 32 digits of one. */
export function idOf<K extends Kind>(kind: K, uuid: string): Id<K> {
  const bytes = Buffer.allocUnsafe(16)
  if (!writeUuid(bytes, 0, uuid) && bytes.write(uuid, 'hex') !== 16) throw new Error(`not a UUID: ${uuid}`)
  return `${prefixes[kind]}_${base32(bytes)}` as const
}

const lastUuidMs = 2 ** 48 - 1

/** The smallest UUIDv7 of a moment: every id made earlier sorts before it. No id was made before 1970, nor after the 48 bits. */
export function firstUuidAt(atMs: number): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(Math.min(Math.max(atMs, 0), lastUuidMs), 0, 6)
  bytes[6] = 0x70
  bytes[8] = 0x80
  return uuidText(bytes)
}

/** Creation time of a UUIDv7. */
export function timeOfUuid(uuid: string): Date {
  return new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16))
}

/** Creation time of an id of any kind, in milliseconds; null when the text is no id. Its first 48 bits are the time. */
export function msOfId(id: string): number | null {
  const from = id.length - 26
  if (from < 2 || id[from - 1] !== '_') return null
  let ms = 0
  for (let i = from; i < from + 10; i++) {
    const value = values[id.charCodeAt(i)] ?? -1
    if (value < 0) return null
    ms = ms * 32 + value
  }
  return ms
}

/** Null UUID, which sorts before every other. */
export const nilUuid = '00000000-0000-0000-0000-000000000000'

/** Tenants are spread over this many buckets; the bucket leads every tenant key (and is what a cluster shards by). */
export const bucketCount = 256

/** All buckets, for queries over every tenant. */
export const buckets: readonly number[] = Array.from({ length: bucketCount }, (_, bucket) => bucket)

/** The bucket of an account: a hash of its UUID. A UUIDv7 ends in random bits, so its last byte serves as the hash. */
export function bucketOf(accountUuid: string): number {
  return Number.parseInt(accountUuid.slice(-2), 16) % bucketCount
}

const pool = Buffer.alloc(8192)
let poolOffset = pool.length
let lastMs = 0
let counter = 0
/** Buffer of the latest id. Callers read it before the next id is made, so that none needs its own. */
const made = Buffer.alloc(16)

/** RFC 9562 UUIDv7, with a 12-bit counter in rand_a (seeded low) so that ids of one millisecond keep their order. */
function nextUuidBytes(atMs: number): Buffer {
  if (poolOffset + 10 > pool.length) {
    randomFillSync(pool)
    poolOffset = 0
  }
  for (let i = 6; i < 16; i++) made[i] = pool[poolOffset++] ?? 0
  if (atMs > lastMs) {
    lastMs = atMs
    counter = made.readUInt16BE(6) & 0x3ff
  } else if (++counter > 0xfff) {
    lastMs++
    counter = 0
  }
  made.writeUIntBE(lastMs, 0, 6)
  made.writeUInt16BE(0x7000 | counter, 6)
  made[8] = ((made[8] ?? 0) & 0x3f) | 0x80
  return made
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const values = new Int8Array(128).fill(-1)
for (let i = 0; i < alphabet.length; i++) {
  values[alphabet.charCodeAt(i)] = i
  values[alphabet.toUpperCase().charCodeAt(i)] = i
}

const codes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0))

/** 128 bits as 26 characters, most significant first (the first character holds only 3 bits). */
function base32(b: Buffer): string {
  // The five bits of a character in the middle, which begin in one byte and may end in the next.
  const c = (n: number): number => {
    const bit = n * 5 - 2
    const two = ((b[bit >>> 3] ?? 0) << 8) | (b[(bit >>> 3) + 1] ?? 0)
    return codes[(two >>> (11 - (bit & 7))) & 31] ?? 0
  }
  // biome-ignore format: one line each would be many
  return String.fromCharCode(
    codes[(b[0] ?? 0) >>> 5] ?? 0,
    c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9), c(10), c(11), c(12), c(13), c(14), c(15), c(16), c(17), c(18), c(19), c(20), c(21), c(22), c(23), c(24),
    codes[(b[15] ?? 0) & 31] ?? 0,
  )
}

function parseBase32(text: string, from: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(16)
  let bits = 0
  let held = -2
  let at = 0
  for (let i = from; i < from + 26; i++) {
    const value = values[text.charCodeAt(i)] ?? -1
    if (value < 0 || (i === from && value > 7)) return null
    bits = (bits << 5) | value
    held += 5
    if (held >= 8) {
      held -= 8
      bytes[at++] = (bits >>> held) & 255
      bits &= (1 << held) - 1
    }
  }
  return bytes
}

const hex = '0123456789abcdef'
const high = Uint8Array.from({ length: 256 }, (_, byte) => hex.charCodeAt(byte >>> 4))
const low = Uint8Array.from({ length: 256 }, (_, byte) => hex.charCodeAt(byte & 15))

/** Value of a hex digit by its character code; other characters have 256, which fits no byte. */
const hexValues = new Uint16Array(128).fill(256)
for (let i = 0; i < hex.length; i++) {
  hexValues[hex.charCodeAt(i)] = i
  hexValues[hex.toUpperCase().charCodeAt(i)] = i
}
const dash = '-'.charCodeAt(0)

/** Writes the 16 bytes of a UUID; false when the text is none. */
export function writeUuid(out: Buffer, at: number, text: string): boolean {
  if (text.length !== 36) return false
  for (let i = 0, end = at; i < 36; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (text.charCodeAt(i) !== dash) return false
      i++
    }
    const byte = ((hexValues[text.charCodeAt(i)] ?? 256) << 4) | (hexValues[text.charCodeAt(i + 1)] ?? 256)
    if (byte > 255) return false
    out[end++] = byte
  }
  return true
}

/**
 * The first 16 bytes as a UUID. From character codes, since a text put together of pieces is made whole where it is first
 * read: 0.06 µs, not 0.3.
 */
export function uuidText(b: Buffer): string {
  const h = (i: number): number => high[b[i] ?? 0] ?? 0
  const l = (i: number): number => low[b[i] ?? 0] ?? 0
  // biome-ignore format: a line is a group of the UUID
  return String.fromCharCode(
    h(0), l(0), h(1), l(1), h(2), l(2), h(3), l(3), 45,
    h(4), l(4), h(5), l(5), 45,
    h(6), l(6), h(7), l(7), 45,
    h(8), l(8), h(9), l(9), 45,
    h(10), l(10), h(11), l(11), h(12), l(12), h(13), l(13), h(14), l(14), h(15), l(15),
  )
}
