// SPDX-License-Identifier: Apache-2.0
// Server certificate: the operator's (PAMOJA_TLS_CERT, PAMOJA_TLS_KEY), or one issued by a local CA that is created on
// first start.
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { hostname as machineName } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { errorCode } from '../../kernel/error-code.ts'
import { dayMs } from '../../kernel/time.ts'
import { placeFile, readIfPresent } from '../program/atomic-files.ts'
import { isFor, issueCa, issueLeaf } from './x509.ts'

export interface ServerIdentity {
  key: string
  /** Certificate or chain, leaf first, in PEM. */
  cert: string
  /** CA file to trust for the local CA; null for the operator's certificate. */
  caFile: string | null
}

const renewalDays = 30
const watchIntervalMs = 2000

/**
 * Loads the configured certificate, or the local one in `dir`. The local one is created when missing, and reissued by
 * the same CA when it is about to expire or the host name changed.
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
 * Polls the configured files every two seconds: unlike file system events this notices swapped symbolic links and
 * network drives. A pair is used once two reads agree, so that half-written files are rarely seen. An invalid pair is
 * logged once and the old one stays in use.
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

/** Content of both files, or the read error, for comparison. */
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
  // Only this parses the whole chain, as the TLS server will.
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
 * Local identity. Private keys are created once and never replaced, and certificates are derived from them; so two
 * processes that start at once in one directory get compatible identities.
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
    const caIsGood = presentCa?.checkPrivateKey(caKey) && lasts(presentCa, renewalDays, now) && isFor(presentCa, names)
    const ca = presentCa && caIsGood ? presentCa : issueCa(caKey, names, now)
    if (ca !== presentCa) await placeFile(caFile, ca.toString(), 0o644, 'replace')
    const cert = issueLeaf(key, ca, caKey, names, now).toString()
    await placeFile(leafFile, cert, 0o644, 'replace')
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
    const isOurs = await placeFile(file, pem(privateKey), 0o600, 'keep')
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
    isFor(ca, names) &&
    names.every((name) => leaf.checkHost(name) !== undefined)
  )
}

function lasts(certificate: X509Certificate, days: number, now: Date): boolean {
  const from = new Date(certificate.validFrom).getTime()
  const to = new Date(certificate.validTo).getTime()
  return from <= now.getTime() && to - now.getTime() >= days * dayMs
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
