// SPDX-License-Identifier: Apache-2.0
// Checks of a received message, as the mail catcher shows them: DKIM (RFC 6376, 8463), SPF (RFC 7208, the mechanisms that
// name addresses) and DMARC (RFC 7489). They judge what our own mail looks like to a receiver; they guard no mailbox.
import { createHash, createPublicKey, type KeyObject, verify as verifyWith } from 'node:crypto'
import { isIP } from 'node:net'
import { fieldOf, type HeaderField, parseHeader } from '../mime/header.ts'
import { fieldsToSign, relaxedBodyHash, relaxedField, simpleBodyHash } from './canonical.ts'

/** Texts of a name; an empty list when there are none. Rejects when the DNS cannot be asked. */
export interface TextLookup {
  txt(name: string): Promise<string[]>
  addresses(name: string): Promise<string[]>
  exchanges(name: string): Promise<string[]>
}

export interface DkimVerdict {
  result: 'pass' | 'fail' | 'permerror' | 'temperror'
  domain: string
  selector: string
  algorithm: string
  reason: string | null
}

const maxSignatures = 8

export async function verifyDkim(message: Buffer, dns: TextLookup): Promise<DkimVerdict[]> {
  const { fields, bodyAt } = parseHeader(message)
  const signatures = fields.filter(({ name }) => name.toLowerCase() === 'dkim-signature').slice(0, maxSignatures)
  return Promise.all(signatures.map((field) => verifyOne(field, fields, message.subarray(bodyAt), dns)))
}

async function verifyOne(
  signature: HeaderField,
  fields: readonly HeaderField[],
  body: Buffer,
  dns: TextLookup,
): Promise<DkimVerdict> {
  const tags = parseTags(signature.value)
  const about = { domain: tags.get('d') ?? '', selector: tags.get('s') ?? '', algorithm: tags.get('a') ?? '' }
  const [headerForm = 'simple', bodyForm = 'simple'] = (tags.get('c') ?? 'simple/simple').split('/')
  const permerror = (reason: string): DkimVerdict => ({ ...about, result: 'permerror', reason })
  if (headerForm !== 'relaxed') return permerror('only relaxed headers are verified here')
  const hash = bodyForm === 'relaxed' ? relaxedBodyHash(body) : simpleBodyHash(body)
  if (hash !== tags.get('bh')) return { ...about, result: 'fail', reason: 'the body is not what was signed' }
  let published: string | undefined
  try {
    published = (await dns.txt(`${about.selector}._domainkey.${about.domain}`)).find((text) => /(^|;)\s*p=/.test(text))
  } catch {
    return { ...about, result: 'temperror', reason: 'the key cannot be looked up' }
  }
  if (published === undefined) return permerror('no key is published')
  const key = publicKeyOf(parseTags(published))
  if (!key) return permerror('the published key cannot be read')
  const names = (tags.get('h') ?? '').split(':').map((name) => name.trim())
  const unsigned = {
    name: signature.name,
    raw: signature.raw.replace(/\r\n$/, '').replace(/(\bb=)[^;]*$|(;\s*b=)[^;]*(?=;)/, '$1$2'),
  }
  const base = Buffer.from(fieldsToSign(fields, names) + relaxedField(unsigned))
  const given = Buffer.from(tags.get('b') ?? '', 'base64')
  const isRsa = about.algorithm === 'rsa-sha256'
  const data = isRsa ? base : createHash('sha256').update(base).digest()
  const isRight = verifyWith(isRsa ? 'sha256' : null, data, key, given)
  return isRight
    ? { ...about, result: 'pass', reason: null }
    : { ...about, result: 'fail', reason: 'the signature is wrong' }
}

const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex')

function publicKeyOf(tags: ReadonlyMap<string, string>): KeyObject | null {
  const bytes = Buffer.from(tags.get('p') ?? '', 'base64')
  try {
    const der = tags.get('k') === 'ed25519' ? Buffer.concat([ed25519Prefix, bytes]) : bytes
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

/** Value of the TXT record that publishes a key. */
export function dkimRecord(key: KeyObject): string {
  const der = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' })
  return key.asymmetricKeyType === 'ed25519'
    ? `v=DKIM1; k=ed25519; p=${der.subarray(ed25519Prefix.length).toString('base64')}`
    : `v=DKIM1; k=rsa; p=${der.toString('base64')}`
}

function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>()
  for (const one of text.split(';')) {
    const at = one.indexOf('=')
    if (at > 0) tags.set(one.slice(0, at).trim(), one.slice(at + 1).replace(/\s+/g, ''))
  }
  return tags
}

export interface SpfVerdict {
  result: 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'temperror' | 'permerror'
  domain: string
}

const maxLookups = 10

/** Whether a domain lets an address send for it. */
export async function verifySpf(domain: string, address: string, dns: TextLookup): Promise<SpfVerdict> {
  try {
    return { domain, result: await spf(domain, address.replace(/^::ffff:/, ''), dns, { left: maxLookups }) }
  } catch {
    return { domain, result: 'temperror' }
  }
}

type SpfResult = SpfVerdict['result']
const qualifiers: Readonly<Record<string, SpfResult>> = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' }

async function spf(domain: string, address: string, dns: TextLookup, budget: { left: number }): Promise<SpfResult> {
  const record = (await dns.txt(domain)).find((text) => /^v=spf1(\s|$)/i.test(text))
  if (record === undefined) return 'none'
  for (const term of record.split(/\s+/).slice(1)) {
    const [, sign = '+', name = '', value = ''] = /^([+?~-])?(\w+)(?:[:=](.+))?$/.exec(term) ?? []
    if (['include', 'a', 'mx', 'redirect'].includes(name) && --budget.left < 0) return 'permerror'
    if (name === 'redirect') return spf(value, address, dns, budget)
    if (await matches(name, value || domain, address, dns, budget)) return qualifiers[sign] ?? 'neutral'
  }
  return 'neutral'
}

async function matches(
  name: string,
  value: string,
  address: string,
  dns: TextLookup,
  budget: { left: number },
): Promise<boolean> {
  switch (name) {
    case 'all':
      return true
    case 'ip4':
    case 'ip6':
      return isWithin(address, value)
    case 'a':
      return (await dns.addresses(value)).includes(address)
    case 'mx':
      for (const exchange of (await dns.exchanges(value)).slice(0, 10))
        if ((await dns.addresses(exchange)).includes(address)) return true
      return false
    case 'include':
      return (await spf(value, address, dns, budget)) === 'pass'
    default:
      return false
  }
}

function isWithin(address: string, range: string): boolean {
  const [base = '', bits] = range.split('/')
  if (isIP(address) !== 4 || isIP(base) !== 4 || bits === undefined) return address === base
  const number = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(bits))
  return Math.floor(number(address) / size) === Math.floor(number(base) / size)
}

export interface DmarcVerdict {
  result: 'pass' | 'fail' | 'none' | 'temperror'
  policy: string | null
  domain: string
}

/** Whether the visible sender is the one that DKIM or SPF vouches for (relaxed alignment). */
export async function verifyDmarc(
  message: Buffer,
  dkim: readonly DkimVerdict[],
  spfVerdict: SpfVerdict,
  dns: TextLookup,
): Promise<DmarcVerdict> {
  const from = fieldOf(parseHeader(message).fields, 'from') ?? ''
  const domain = (/@([^\s<>@]+?)>?\s*$/.exec(from)?.[1] ?? '').toLowerCase()
  let record: string | undefined
  try {
    for (const name of [domain, organisation(domain)])
      record ??= (await dns.txt(`_dmarc.${name}`)).find((text) => /^v=DMARC1/.test(text))
  } catch {
    return { result: 'temperror', policy: null, domain }
  }
  const isAligned = (other: string) => organisation(other) === organisation(domain)
  const isPass =
    dkim.some((one) => one.result === 'pass' && isAligned(one.domain)) ||
    (spfVerdict.result === 'pass' && isAligned(spfVerdict.domain))
  const policy = record === undefined ? null : (parseTags(record).get('p') ?? null)
  if (record === undefined) return { result: 'none', policy, domain }
  return { result: isPass ? 'pass' : 'fail', policy, domain }
}

/** The last two labels: near enough to the organisational domain for a sandbox without the public suffix list. */
function organisation(domain: string): string {
  return domain.toLowerCase().split('.').slice(-2).join('.')
}
