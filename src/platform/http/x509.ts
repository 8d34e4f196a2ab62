// SPDX-License-Identifier: Apache-2.0
// X.509 certificates of the local CA, encoded here (RFC 5280), because OpenSSL's strict mode, the default in Python
// 3.13, requires key identifiers that small certificate packages omit.
import { createHash, createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { dayMs, hourMs } from '../../kernel/time.ts'

/** CA lifetime; the CA is renewed with the same key before it expires. */
const caLifetimeDays = 825
/** Browsers refuse server certificates that live longer than 398 days. */
const leafLifetimeDays = 397
/** Tolerance for clients whose clock is behind. */
const clockSkewMs = hourMs

const oid = {
  commonName: Buffer.from('0603550403', 'hex'),
  ecdsaWithSha256: Buffer.from('06082a8648ce3d040302', 'hex'),
  serverAuth: Buffer.from('06082b06010505070301', 'hex'),
  subjectKeyIdentifier: Buffer.from('0603551d0e', 'hex'),
  keyUsage: Buffer.from('0603551d0f', 'hex'),
  subjectAltName: Buffer.from('0603551d11', 'hex'),
  basicConstraints: Buffer.from('0603551d13', 'hex'),
  nameConstraints: Buffer.from('0603551d1e', 'hex'),
  authorityKeyIdentifier: Buffer.from('0603551d23', 'hex'),
  extendedKeyUsage: Buffer.from('0603551d25', 'hex'),
}

const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  ipAddress: 0x87,
  keyIdentifier: 0x80,
  version: 0xa0,
  extensions: 0xa3,
  permittedSubtrees: 0xa0,
}

const caName = 'Pamoja local CA'
const loopbackAddresses = [Buffer.from([127, 0, 0, 1]), Buffer.concat([Buffer.alloc(15), Buffer.from([1])])]

/** Networks of the loopback addresses, with their masks. */
const loopbackNetworks = [
  Buffer.from([127, 0, 0, 0, 255, 0, 0, 0]),
  Buffer.concat([Buffer.alloc(15), Buffer.from([1]), Buffer.alloc(16, 0xff)]),
]

/** Name constraints: the CA is valid for this machine only, so a stolen key cannot impersonate others. */
function onlyFor(names: readonly string[]): Buffer {
  const subtrees = [
    ...names.map((name) => der(tag.dnsName, Buffer.from(name, 'ascii'))),
    ...loopbackNetworks.map((network) => der(tag.ipAddress, network)),
  ].map((base) => der(tag.sequence, base))
  return critical(oid.nameConstraints, der(tag.sequence, der(tag.permittedSubtrees, ...subtrees)))
}

/** Whether a CA covers exactly these names. */
export function isFor(ca: X509Certificate, names: readonly string[]): boolean {
  return ca.raw.includes(onlyFor(names))
}

/** Certificate of a CA; without names it is for any, as in the sandbox, which alone trusts its own. */
export function issueCa(caKey: KeyObject, names: readonly string[] | null, now: Date): X509Certificate {
  return issue({
    subject: caName,
    publicKey: createPublicKey(caKey),
    issuerKey: caKey,
    notBefore: new Date(now.getTime() - clockSkewMs),
    notAfter: new Date(now.getTime() + caLifetimeDays * dayMs),
    extensions: [
      // CA for server certificates only: no intermediate CAs.
      critical(oid.basicConstraints, der(tag.sequence, der(tag.boolean, [0xff]), der(tag.integer, [0]))),
      critical(oid.keyUsage, der(tag.bitString, [2, 0b0000_0100])), // keyCertSign is bit 5
      ...(names ? [onlyFor(names)] : []),
    ],
  })
}

export function issueLeaf(
  key: KeyObject,
  ca: X509Certificate,
  caKey: KeyObject,
  names: string[],
  now: Date,
): X509Certificate {
  const caEnd = new Date(ca.validTo).getTime()
  return issue({
    subject: 'localhost',
    publicKey: createPublicKey(key),
    issuerKey: caKey,
    notBefore: new Date(now.getTime() - clockSkewMs),
    notAfter: new Date(Math.min(now.getTime() + leafLifetimeDays * dayMs, caEnd)),
    extensions: [
      critical(oid.basicConstraints, der(tag.sequence)),
      critical(oid.keyUsage, der(tag.bitString, [7, 0b1000_0000])), // digitalSignature is bit 0
      extension(oid.extendedKeyUsage, der(tag.sequence, oid.serverAuth)),
      extension(
        oid.subjectAltName,
        der(
          tag.sequence,
          ...names.map((name) => der(tag.dnsName, Buffer.from(name, 'ascii'))),
          ...loopbackAddresses.map((address) => der(tag.ipAddress, address)),
        ),
      ),
    ],
  })
}

/** Issues a certificate in the name of the local CA, including its own. */
function issue(certificate: {
  subject: string
  publicKey: KeyObject
  issuerKey: KeyObject
  notBefore: Date
  notAfter: Date
  extensions: Buffer[]
}): X509Certificate {
  const issuerIdentifier = keyIdentifier(createPublicKey(certificate.issuerKey))
  const toBeSigned = der(
    tag.sequence,
    der(tag.version, der(tag.integer, [2])),
    der(tag.integer, serialNumber()),
    der(tag.sequence, oid.ecdsaWithSha256),
    name(caName),
    der(tag.sequence, time(certificate.notBefore), time(certificate.notAfter)),
    name(certificate.subject),
    certificate.publicKey.export({ type: 'spki', format: 'der' }),
    der(
      tag.extensions,
      der(
        tag.sequence,
        ...certificate.extensions,
        extension(oid.subjectKeyIdentifier, der(tag.octetString, keyIdentifier(certificate.publicKey))),
        extension(oid.authorityKeyIdentifier, der(tag.sequence, der(tag.keyIdentifier, issuerIdentifier))),
      ),
    ),
  )
  const signature = sign('sha256', toBeSigned, certificate.issuerKey)
  return new X509Certificate(
    der(tag.sequence, toBeSigned, der(tag.sequence, oid.ecdsaWithSha256), der(tag.bitString, [0], signature)),
  )
}

/** RFC 7093 method 1: the first 160 bits of the SHA-256 of the public point, the last 65 octets of a P-256 key. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha256').update(point).digest().subarray(0, 20)
}

/** A serial number must be positive and have no leading zero octet. */
function serialNumber(): Buffer {
  const serial = randomBytes(16)
  serial.writeUInt8((serial.readUInt8(0) & 0x3f) | 0x40, 0)
  return serial
}

function name(commonName: string): Buffer {
  return der(
    tag.sequence,
    der(tag.set, der(tag.sequence, oid.commonName, der(tag.utf8String, Buffer.from(commonName)))),
  )
}

/** RFC 5280 4.1.2.5: two-digit years until 2049, four digits from 2050. */
function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return date.getUTCFullYear() < 2050
    ? der(tag.utcTime, Buffer.from(digits.slice(2)))
    : der(tag.generalizedTime, Buffer.from(digits))
}

function critical(id: Buffer, value: Buffer): Buffer {
  return der(tag.sequence, id, der(tag.boolean, [0xff]), der(tag.octetString, value))
}

function extension(id: Buffer, value: Buffer): Buffer {
  return der(tag.sequence, id, der(tag.octetString, value))
}

/** Tag, length, content. Lengths above 65,535 do not occur in a certificate of ours. */
function der(type: number, ...parts: (Buffer | number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part))))
  const size = content.length
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([type, ...length]), content])
}
