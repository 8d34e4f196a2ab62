// SPDX-License-Identifier: Apache-2.0
// QR code of Fayda, the identity card of Ethiopia, version 4: photograph:DLT:name:V:4:G:sex:A:number:D:birth:SIGN:signature. The
// issuer publishes no description: several public readers agree on this one, and on the key, which they took from the issuer's own
// scanner (id.et/scanId; SHA-256 of it 803dcd26057edc1423a5b9655f03c945b84a146be28caa754bc460a3fea6624a). The signature is RS256 over
// all that stands before `:SIGN:`, as a detached JWS (RFC 7515, appendix F).
import { createPublicKey, verify } from 'node:crypto'
import { fullName } from './visual-zone.ts'
import type { DocumentFields } from './zone-fields.ts'

/** Public key of the issuer (SPKI, base64). */
const published =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAxMWfApFZBq/qIotUjrkYbdyXQcHOUgZsqZy3QUcXr50t+DfwYKkSfMnTZFHekptAWA4HM5upav6xqFuP+3PiKmajY2Imkl60bF4Bt9qcch74jPSObH/1CE0xs75dqLb+CfoTG1+i4n3Fz5cN9MxpEGE7pmvIdYtaAUCoKA/cjQ5QY426ttp4EQcnh5vmyr1e7ur9LjqVVsurfefxlsR+sRfB2RFuaEGrLO/75UeUSY2x1nTHzOvycWYaCve1YfunHkXA8JvUy73+b33ixIgwQuqUkOuyKhytFr5l6N1gfjTvOOysclCH5o8jy7KyzgyK17kHXPAaKuxYXH9pGtAF0wIDAQAB'

const form = /^[^:]*(?::image\/webp;base64,[^:]*)?:DLT:(?<name>[^:]+):(?<pairs>.*):SIGN:(?<signature>[^:]*)$/s

/** True for a code in the form of Fayda's, signed or not. */
export function isFayda(text: string): boolean {
  return form.test(text)
}

/** True for a code that the issuer signed, of any version. */
export function isFaydaSigned(text: string, key: string = published): boolean {
  const { signature } = form.exec(text)?.groups ?? {}
  return signature !== undefined && isSigned(text.slice(0, text.lastIndexOf(':SIGN:')), signature, key)
}

/** Fields of a code; null for other texts, other versions, and where the issuer did not sign it. */
export function faydaFields(text: string, key: string = published): Partial<DocumentFields> | null {
  const { name, pairs } = form.exec(text)?.groups ?? {}
  if (!name || !pairs || !isFaydaSigned(text, key)) return null
  const parts = pairs.split(':')
  const value = (label: string) => {
    const at = parts.findIndex((part, i) => i % 2 === 0 && part === label)
    return at < 0 ? null : (parts[at + 1]?.trim() ?? null)
  }
  if (value('V') !== '4') return null
  const [, year, month, day] = /^(\d{4})\/(\d\d)\/(\d\d)$/.exec(value('D') ?? '') ?? []
  return {
    ...fullName(name),
    document_number: value('A')?.replaceAll(' ', '') ?? null,
    sex: /^[MF]$/.exec(value('G') ?? '')?.[0] ?? null,
    date_of_birth: year ? `${year}-${month}-${day}` : null,
  }
}

function isSigned(content: string, jws: string, key: string): boolean {
  const [header, inside, signature] = jws.split('.')
  if (header !== rs256 || inside !== '' || !signature) return false
  const issuer = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
  const signed = Buffer.from(`${header}.${Buffer.from(content).toString('base64url')}`)
  return verify('RSA-SHA256', signed, issuer, Buffer.from(signature, 'base64url'))
}

const rs256 = Buffer.from('{"alg":"RS256"}').toString('base64url')
