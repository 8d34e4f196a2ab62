// SPDX-License-Identifier: Apache-2.0
// DKIM signatures (RFC 6376; RFC 8463 for Ed25519), relaxed/relaxed. RSA takes milliseconds of a core, so that signing
// happens in the thread pool of Node, never on the event loop; what is hashed is hashed once for all keys of a message.
import { createHash, type KeyObject, sign as signWith } from 'node:crypto'
import { headerField, parseHeader } from '../mime/header.ts'
import { fieldsToSign, relaxedBodyHash, relaxedField } from './canonical.ts'

export interface SigningKey {
  readonly domain: string
  readonly selector: string
  readonly algorithm: 'rsa-sha256' | 'ed25519-sha256'
  readonly privateKey: KeyObject
}

/** Fields that are signed where a message has them. From is named once more than there are, so that none can be added. */
const signed = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'Reply-To',
  'MIME-Version',
  'Content-Type',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
]

/** The signatures of a message, as fields to put before it. */
export async function dkimSignatures(message: Buffer, keys: readonly SigningKey[], atMs: number): Promise<string> {
  const { fields, bodyAt } = parseHeader(message)
  const present = new Set(fields.map(({ name }) => name.toLowerCase()))
  const names = [...signed.filter((name) => present.has(name.toLowerCase())), 'From']
  const bodyHash = relaxedBodyHash(message.subarray(bodyAt))
  const header = fieldsToSign(fields, names)
  const signatures = await Promise.all(
    keys.map(async (key) => {
      const tags = [
        'v=1',
        `a=${key.algorithm}`,
        'c=relaxed/relaxed',
        `d=${key.domain}`,
        `s=${key.selector}`,
        `t=${Math.floor(atMs / 1000)}`,
        `h=${names.join(':')}`,
        `bh=${bodyHash}`,
        'b=',
      ].join('; ')
      const unsigned = headerField('DKIM-Signature', tags)
      const base = header + relaxedField({ name: 'DKIM-Signature', raw: unsigned.slice(0, -2) })
      const signature = await signatureOf(Buffer.from(base), key)
      return `${unsigned.slice(0, -2)}${folded(signature.toString('base64'))}\r\n`
    }),
  )
  return signatures.join('')
}

function folded(signature: string): string {
  return signature.replace(/.{1,70}/g, '\r\n $&')
}

function signatureOf(base: Buffer, { algorithm, privateKey }: SigningKey): Promise<Buffer> {
  const [hash, data] =
    algorithm === 'rsa-sha256' ? ['sha256', base] : [null, createHash('sha256').update(base).digest()]
  return new Promise((resolve, reject) => {
    signWith(hash, data, privateKey, (error, signature) => (error ? reject(error) : resolve(signature)))
  })
}
