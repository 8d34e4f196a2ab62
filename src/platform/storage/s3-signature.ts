// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4, in headers.
import { createHash, createHmac } from 'node:crypto'

export interface S3Credentials {
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
}

export interface S3Request {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Hex SHA-256 of the body. */
  readonly bodyHash: string
}

/** SHA-256 of an empty body. */
export const emptyHash = createHash('sha256').digest('hex')

/** Request headers with the signature. */
export function signed(
  { method, url, headers, bodyHash }: S3Request,
  { accessKey, secretKey, region }: S3Credentials,
  nowMs: number,
): Record<string, string> {
  const moment = new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const day = moment.slice(0, 8)
  const all: Record<string, string> = { ...headers, 'x-amz-content-sha256': bodyHash, 'x-amz-date': moment }
  const toSign: [string, string][] = [...Object.entries(all), ['host', url.host]]
  toSign.sort(([a], [b]) => (a < b ? -1 : 1))
  const names = toSign.map(([name]) => name).join(';')
  const canonical = [
    method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...toSign.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', moment, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${secretKey}`))
  const signature = hmac(key, text).toString('hex')
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Path segments encoded by RFC 3986; an encoded path stays unchanged. */
function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((segment) => strictly(decodeURIComponent(segment)))
    .join('/')
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${strictly(name)}=${strictly(value)}`)
    .sort()
    .join('&')
}

function strictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
