// SPDX-License-Identifier: Apache-2.0
// DANE for SMTP (RFC 6698, 7671, 7672): TLSA records, and whether a server's certificates match them. Of the usages, 2 (an
// authority of the server's choice) and 3 (the server's own certificate) count; 0 and 1 are not for mail (RFC 7672 §3.1.3).
import { createHash, X509Certificate } from 'node:crypto'

interface Tlsa {
  readonly usage: 2 | 3
  /** 0: the whole certificate; 1: its public key. */
  readonly selector: 0 | 1
  /** 0: as it is; 1: its SHA-256; 2: its SHA-512. */
  readonly matching: 0 | 1 | 2
  readonly data: Buffer
}

const digests = { 1: 'sha256', 2: 'sha512' } as const
const digestBytes = { 1: 32, 2: 64 } as const

/** Records that can be used, from values such as `3 1 1 8d02…`. Of a usage and selector the strongest digest counts alone. */
export function usableTlsa(values: readonly string[]): Tlsa[] {
  const usable = values.flatMap((value) => {
    const record = parseTlsa(value)
    return record ? [record] : []
  })
  return usable.filter(
    ({ usage, selector, matching }) =>
      matching !== 1 ||
      !usable.some((other) => other.usage === usage && other.selector === selector && other.matching === 2),
  )
}

function parseTlsa(value: string): Tlsa | null {
  const [, usage, selector, matching, hex = ''] = /^([23]) ([01]) ([012]) ((?:[0-9a-f]{2})+)$/i.exec(value) ?? []
  const data = Buffer.from(hex, 'hex')
  const record = {
    usage: usage === '2' ? (2 as const) : (3 as const),
    selector: selector === '0' ? (0 as const) : (1 as const),
    matching: matching === '0' ? (0 as const) : matching === '1' ? (1 as const) : (2 as const),
    data,
  }
  if (usage === undefined || data.length === 0) return null
  return record.matching === 0 || data.length === digestBytes[record.matching] ? record : null
}

/**
 * Problem of a server's certificates, its own first; null when a record matches. The server's own certificate (usage 3) needs
 * neither a name nor a date; one of an authority (usage 2) must be valid now and for one of the names.
 */
export function daneProblem(
  records: readonly Tlsa[],
  chain: readonly X509Certificate[],
  names: readonly string[],
  now: Date,
): string | null {
  try {
    return problemOf(records, chain, names, now)
  } catch {
    return 'its certificate cannot be read'
  }
}

function problemOf(
  records: readonly Tlsa[],
  chain: readonly X509Certificate[],
  names: readonly string[],
  now: Date,
): string | null {
  const [own] = chain
  if (!own) return 'the server has no certificate'
  if (records.some((record) => record.usage === 3 && matches(record, own))) return null
  const authorities = records.filter(({ usage }) => usage === 2)
  if (authorities.length === 0) return 'its certificate does not match its TLSA records'
  const path = pathTo(authorities, chain)
  if (!path) return 'neither its certificate nor an authority of it matches its TLSA records'
  const problem = path.map((one, i) => linkProblem(one, path[i + 1], i, now)).find((one) => one !== null)
  if (problem) return problem
  const isNamed = names.some((name) => own.checkHost(name, strict) !== undefined)
  return isNamed ? null : `its certificate is not for ${names.join(' or ')}`
}

/** Certificates from the server's own up to the first authority that a record names. */
function pathTo(records: readonly Tlsa[], chain: readonly X509Certificate[]): X509Certificate[] | null {
  const place = chain.findIndex((one, i) => i > 0 && records.some((record) => matches(record, one)))
  if (place > 0) return chain.slice(0, place + 1)
  // The authority itself may be in the DNS instead of in the chain (RFC 7671 §5.2.2).
  const last = chain.at(-1)
  for (const { selector, matching, data } of records) {
    const authority = selector === 0 && matching === 0 ? certificateOf(data) : null
    if (authority && last?.checkIssued(authority)) return [...chain, authority]
  }
  return null
}

/** Problem of one certificate of a path and of its issuer's signature; the last one is trusted for its record. */
function linkProblem(
  one: X509Certificate,
  issuer: X509Certificate | undefined,
  place: number,
  now: Date,
): string | null {
  const isDue = new Date(one.validFrom) <= now && now <= new Date(one.validTo)
  if (!isDue) return 'a certificate of its chain has expired, or is not valid yet'
  if (place > 0 && !one.ca) return 'a certificate of its chain is no authority'
  if (place > 0 && place - 1 > longestPath(one)) return 'an authority of its chain may not have others under it'
  // To judge by such constraints is more than is done here, so none of their authorities are believed.
  if (place > 0 && one.raw.includes(nameConstraints)) return 'an authority of its chain is for some names only'
  if (issuer && !(one.checkIssued(issuer) && one.verify(issuer.publicKey)))
    return 'a certificate of its chain is not signed by the next'
  return null
}

/** Names are those that the certificate has for servers; a wildcard is a whole label. */
const strict = { subject: 'never', partialWildcards: false } as const
const nameConstraints = Buffer.from('0603551d1e', 'hex')
const basicConstraints = Buffer.from('0603551d13', 'hex')

/** Number of authorities that an authority may have under it (RFC 5280 §4.2.1.9). */
function longestPath({ raw }: X509Certificate): number {
  const at = raw.indexOf(basicConstraints)
  // OID, perhaps `critical`, OCTET STRING, SEQUENCE, `cA` true, perhaps INTEGER.
  const rest = at < 0 ? '' : raw.toString('hex', at + basicConstraints.length, at + basicConstraints.length + 16)
  const [, length] = /^(?:0101ff)?04..30..0101ff0201(..)/.exec(rest) ?? []
  return length === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(length, 16)
}

function matches({ selector, matching, data }: Tlsa, certificate: X509Certificate): boolean {
  const whole = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
  return data.equals(matching === 0 ? whole : createHash(digests[matching]).update(whole).digest())
}

function certificateOf(data: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(data)
  } catch {
    return null
  }
}
