// SPDX-License-Identifier: Apache-2.0
// Reader of mail in the sandbox: loads pictures, follows links, or unsubscribes with one click by the header (RFC
// 8058).
import { request } from 'node:https'
import { fieldOf } from '../protocols/mime/header.ts'
import { parseMessage, partOf, textOf } from '../protocols/mime/parse.ts'

const timeoutMs = 5_000
const maxLinks = 50
const userAgent = 'Mozilla/5.0 (Linux; Android 14; SandboxPhone) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36'

export type Reading = 'open' | 'click' | 'unsubscribe'

export async function readAs(reading: Reading, content: Buffer, ca: string | undefined): Promise<void> {
  const message = parseMessage(content)
  const part = partOf(message, 'text/html')
  const html = part ? textOf(content, part) : ''
  if (reading === 'unsubscribe') {
    const url = /<(https:[^>]+)>/.exec(fieldOf(message.fields, 'list-unsubscribe') ?? '')?.[1]
    if (url) await call('POST', url, ca, 'List-Unsubscribe=One-Click')
    return
  }
  const pictures = [...html.matchAll(/<img\b[^>]*\bsrc="(https:[^"]+)"/gi)].map(([, url = '']) => plainUrl(url))
  for (const url of pictures.slice(0, maxLinks)) await call('GET', url, ca)
  if (reading === 'click') for (const url of linksIn(html).slice(0, maxLinks)) await call('GET', url, ca)
}

/** Addresses that the html links to. */
export function linksIn(html: string): string[] {
  return [...html.matchAll(/<a\b[^>]*\bhref="(https?:[^"]+)"/gi)].map(([, url = '']) => plainUrl(url))
}

function plainUrl(url: string): string {
  return url.replaceAll('&amp;', '&').replaceAll('&#x3d;', '=').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
}

/** Redirects are not followed: where a link leads is no part of the sandbox. */
function call(method: 'GET' | 'POST', url: string, ca: string | undefined, body?: string): Promise<void> {
  return new Promise((resolve) => {
    if (!url.startsWith('https:')) return resolve()
    const outgoing = request(url, {
      method,
      headers: { 'user-agent': userAgent, ...(body ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) },
      timeout: timeoutMs,
      ...(ca === undefined ? {} : { ca }),
    })
    outgoing.on('response', (answer) => answer.resume().once('close', () => resolve()))
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('error', () => resolve())
    outgoing.end(body)
  })
}
