// SPDX-License-Identifier: Apache-2.0
// The certificate the server shows: the operator's own (PAMOJA_TLS_CERT, PAMOJA_TLS_KEY), or one issued by a local CA
// that is made on first start. The certificates are encoded here (RFC 5280), because OpenSSL in strict mode, which
// Python 3.13 uses by default, asks for key identifiers that small certificate packages leave out.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { hostname as machineName } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { errorCode } from '../../kernel/error-code.ts'

export interface ServerIdentity {
  key: string
  /** One certificate or a chain, leaf first, in PEM. */
  cert: string
  /** What a client has to trust, when this is the local CA; null for a certificate of the operator's. */
  caFile: string | null
}

const dayMs = 24 * 60 * 60 * 1000
const caLifetimeDays = 3650
/** Browsers refuse server certificates that live longer than 398 days. */
const leafLifetimeDays = 397
const renewalDays = 30
/** A client whose clock is a little behind must not find the certificate "not yet valid". */
const clockSkewMs = 60 * 60 * 1000
const watchIntervalMs = 2000

/**
 * Reads the configured certificate, or the local one in `dir`, which is made when missing and re-issued by the same CA
 * when it is about to expire or the machine has another name.
 */
export async function serverIdentity(options: {
  dir: string
  certFile?: string
  keyFile?: string
  hostname?: string
  now: Date
}): Promise<ServerIdentity> {
  const { certFile, keyFile } = options
  if (certFile && keyFile) return { ...readConfigured({ certFile, keyFile }), caFile: null }
  if (certFile) throw new Error('PAMOJA_TLS_CERT is set, so PAMOJA_TLS_KEY must name the private key that fits it.')
  if (keyFile) throw new Error('PAMOJA_TLS_KEY is set, so PAMOJA_TLS_CERT must name the certificate that fits it.')
  return localIdentity(options.dir, options.hostname ?? machineName(), options.now)
}

/**
 * Follows the configured files by reading them every two seconds: unlike file system events this also notices swapped
 * symbolic links and network drives. A pair is judged once two readings in a row agree, so that a file in the middle
 * of being written is rarely seen at all. A pair that does not work is reported once and the old one stays in use.
 */
export function watchIdentity(
  options: { certFile: string; keyFile: string; intervalMs?: number },
  onChange: (identity: { key: string; cert: string }) => void,
  onProblem: (problem: Error) => void,
): () => void {
  let judged = snapshot(options)
  let previous = judged
  const timer = setInterval(() => {
    const current = snapshot(options)
    const isSettled = current === previous
    previous = current
    if (!isSettled || current === judged) return
    judged = current
    try {
      onChange(readConfigured(options))
    } catch (problem) {
      onProblem(problem instanceof Error ? problem : new Error(String(problem)))
    }
  }, options.intervalMs ?? watchIntervalMs)
  return () => clearInterval(timer)
}

/** The text of both files, or of the reason why they cannot be read: whatever tells one state from another. */
function snapshot(files: { certFile: string; keyFile: string }): string {
  try {
    return readFileSync(files.certFile, 'utf8') + readFileSync(files.keyFile, 'utf8')
  } catch (problem) {
    return String(problem)
  }
}

function readConfigured(files: { certFile: string; keyFile: string }): { key: string; cert: string } {
  const cert = readNamed('PAMOJA_TLS_CERT', files.certFile)
  const key = readNamed('PAMOJA_TLS_KEY', files.keyFile)
  const certificate = parsed(() => new X509Certificate(cert))
  if (!certificate) throw new Error(`PAMOJA_TLS_CERT names ${files.certFile}, which is not a certificate in PEM form.`)
  const privateKey = parsed(() => createPrivateKey(key))
  if (!privateKey) {
    throw new Error(
      `PAMOJA_TLS_KEY names ${files.keyFile}, which is not a private key in PEM form without a passphrase.`,
    )
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(
      `PAMOJA_TLS_KEY names ${files.keyFile}, which is not the private key of the certificate in ${files.certFile}.`,
    )
  }
  // Only this reads the whole chain, as the TLS server will.
  if (!parsed(() => createSecureContext({ cert, key }))) {
    throw new Error(`PAMOJA_TLS_CERT names ${files.certFile}, whose certificate chain cannot be used for TLS.`)
  }
  return { key, cert }
}

function readNamed(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (problem) {
    const code = errorCode(problem)
    const reason =
      code === 'ENOENT' ? 'does not exist' : code === 'EACCES' ? 'this user may not read' : `cannot be read (${code})`
    throw new Error(`${variable} names ${file}, which ${reason}.`, { cause: problem })
  }
}

/**
 * Private keys are made once and never replaced, certificates are derived from them. That is why two processes that
 * start at the same moment in one directory end up with identities a client of either accepts.
 */
async function localIdentity(dir: string, hostname: string, now: Date): Promise<ServerIdentity> {
  const caFile = join(dir, 'ca.pem')
  const leafFile = join(dir, 'server.pem')
  const names = serverNames(hostname)
  try {
    await mkdir(dir, { recursive: true })
    const key = await keptKey(join(dir, 'server-key.pem'))
    const presentCa = parsedCertificate(await readIfPresent(caFile))
    const presentLeaf = parsedCertificate(await readIfPresent(leafFile))
    if (presentCa && presentLeaf && stillGood(presentLeaf, key, presentCa, names, now)) {
      return { key: pem(key), cert: presentLeaf.toString(), caFile }
    }
    const caKey = await keptKey(join(dir, 'ca-key.pem'))
    const caIsGood = presentCa?.checkPrivateKey(caKey) && lasts(presentCa, renewalDays, now)
    const ca = presentCa && caIsGood ? presentCa : issueCa(caKey, now)
    if (ca !== presentCa) await place(caFile, ca.toString(), 0o644, 'replace')
    const cert = issueLeaf(key, ca, caKey, names, now).toString()
    await place(leafFile, cert, 0o644, 'replace')
    return { key: pem(key), cert, caFile }
  } catch (problem) {
    const code = errorCode(problem)
    if (code === '') throw problem
    throw new Error(
      `The local certificate in ${dir} cannot be read or written (${code}): start as the user who owns that directory, or set PAMOJA_TLS_CERT and PAMOJA_TLS_KEY.`,
      { cause: problem },
    )
  }
}

function serverNames(hostname: string): string[] {
  const isDnsName = hostname.length <= 253 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(hostname)
  return isDnsName && hostname !== 'localhost' ? ['localhost', hostname] : ['localhost']
}

async function keptKey(file: string): Promise<KeyObject> {
  const present = await readIfPresent(file)
  if (present === null) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const isOurs = await place(file, pem(privateKey), 0o600, 'keep')
    return isOurs ? privateKey : keptKey(file)
  }
  const key = parsed(() => createPrivateKey(present))
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new Error(`${file} is not an EC P-256 private key: remove it and start again to have a new one made.`)
  }
  return key
}

function stillGood(leaf: X509Certificate, key: KeyObject, ca: X509Certificate, names: string[], now: Date): boolean {
  return (
    leaf.checkPrivateKey(key) &&
    leaf.verify(ca.publicKey) &&
    lasts(leaf, renewalDays, now) &&
    lasts(ca, renewalDays, now) &&
    names.every((name) => leaf.checkHost(name) !== undefined)
  )
}

function lasts(certificate: X509Certificate, days: number, now: Date): boolean {
  const from = new Date(certificate.validFrom).getTime()
  const to = new Date(certificate.validTo).getTime()
  return from <= now.getTime() && to - now.getTime() >= days * dayMs
}

async function readIfPresent(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (problem) {
    if (errorCode(problem) === 'ENOENT') return null
    throw problem
  }
}

/** Puts a whole file in its place at once; with 'keep', one that is already there stays and the answer is false. */
async function place(file: string, text: string, mode: number, existing: 'keep' | 'replace'): Promise<boolean> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (existing === 'replace') await rename(temporary, file)
    else await link(temporary, file)
    return true
  } catch (problem) {
    if (existing === 'keep' && errorCode(problem) === 'EEXIST') return false
    throw problem
  } finally {
    await rm(temporary, { force: true })
  }
}

function parsedCertificate(text: string | null): X509Certificate | null {
  return text === null ? null : parsed(() => new X509Certificate(text))
}

function parsed<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const oid = {
  commonName: Buffer.from('0603550403', 'hex'),
  ecdsaWithSha256: Buffer.from('06082a8648ce3d040302', 'hex'),
  serverAuth: Buffer.from('06082b06010505070301', 'hex'),
  subjectKeyIdentifier: Buffer.from('0603551d0e', 'hex'),
  keyUsage: Buffer.from('0603551d0f', 'hex'),
  subjectAltName: Buffer.from('0603551d11', 'hex'),
  basicConstraints: Buffer.from('0603551d13', 'hex'),
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
}

const caName = 'Pamoja local CA'
const loopbackAddresses = [Buffer.from([127, 0, 0, 1]), Buffer.concat([Buffer.alloc(15), Buffer.from([1])])]

function issueCa(caKey: KeyObject, now: Date): X509Certificate {
  return issue({
    subject: caName,
    publicKey: createPublicKey(caKey),
    issuerKey: caKey,
    notBefore: new Date(now.getTime() - clockSkewMs),
    notAfter: new Date(now.getTime() + caLifetimeDays * dayMs),
    extensions: [
      // A certificate authority that signs server certificates only: no further authorities below it.
      critical(oid.basicConstraints, der(tag.sequence, der(tag.boolean, [0xff]), der(tag.integer, [0]))),
      critical(oid.keyUsage, der(tag.bitString, [2, 0b0000_0100])), // keyCertSign is bit 5
    ],
  })
}

function issueLeaf(key: KeyObject, ca: X509Certificate, caKey: KeyObject, names: string[], now: Date): X509Certificate {
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

/** Every certificate here is issued in the name of the local CA, its own included. */
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
