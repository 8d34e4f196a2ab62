// SPDX-License-Identifier: Apache-2.0
// Guides: the pages of docs/, its decisions, its runbooks, examples/ and the changelog, as pages of the site.
import { readdirSync, readFileSync } from 'node:fs'
import { root } from '../program/root.ts'
import type { Html } from '../web/html.ts'
import { type Guide, guideOf } from './markdown.ts'
import type { Place } from './sdk-samples.ts'

export interface GuidePage {
  /** Path after /docs/guides/ */
  readonly name: string
  readonly guide: Guide
}

/** Order of the first guides; the others follow by name. */
const order = [
  'api',
  'sdks',
  'cli',
  'mcp',
  'examples',
  'sandbox',
  'console',
  'webhooks',
  'sms',
  'ussd',
  'messenger',
  'email',
  'voice',
  'callcenter',
  'callcenter-desk',
  'callcenter-menus',
  'callcenter-reports',
  'identity',
  'payments',
  'payment-links',
  'cards',
  'refunds',
  'payouts',
  'wallet',
  'fraud',
  'customers',
  'billing',
  'subscriptions',
  'operating',
  'scale',
  'providers',
  'glossary',
]

/** Cache: the guides come with the program. */
let known: readonly GuidePage[] | undefined
export function guides(): readonly GuidePage[] {
  known ??= readAll()
  return known
}

const pictureTypes: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg' }

export function pictures(): { name: string; type: string }[] {
  return filesIn('docs/').flatMap((name) => {
    const type = pictureType(name)
    return type === undefined ? [] : [{ name, type }]
  })
}

function pictureType(name: string): string | undefined {
  return pictureTypes[name.slice(name.lastIndexOf('.') + 1)]
}

export function picture(name: string): Buffer {
  return readFileSync(new URL(`docs/${name}`, root))
}

/** A guide as it applies here: the files name the address and the directory of a first start. */
export function appliedTo({ url, home, caFile }: Place, { html }: Html): Html {
  const trusted = caFile === null ? html.replaceAll('--cacert .pamoja/tls/ca.pem ', '') : html
  const path = home.startsWith('$') ? home : `./${home}`
  const at = trusted.replaceAll('https://localhost:8443', () => url)
  return { html: at.replaceAll(/(\.\/)?(?<!\w)\.pamoja\b/g, (_all, here) => (here ? path : home)) }
}

function readAll(): GuidePage[] {
  const sources = new Map<string, string>()
  for (const name of filesIn('docs/')) if (name.endsWith('.md')) sources.set(name.slice(0, -3), `docs/${name}`)
  for (const folder of ['decisions', 'runbooks'])
    for (const name of filesIn(`docs/${folder}/`))
      if (name.endsWith('.md')) sources.set(`${folder}/${name.slice(0, -3)}`, `docs/${folder}/${name}`)
  if (filesIn('examples/').includes('README.md')) sources.set('examples', 'examples/README.md')
  if (filesIn('./').includes('CHANGELOG.md')) sources.set('changelog', 'CHANGELOG.md')
  const names = [...sources.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return names.map((name) => {
    const file = sources.get(name) ?? ''
    const guide = guideOf(readFileSync(new URL(file, root), 'utf8'), (address) => linkIn(file, address, sources))
    return { name, guide }
  })
}

function rank(name: string): number {
  const place = order.indexOf(name)
  return name.includes('/') ? order.length + 1 : place === -1 ? order.length : place
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(new URL(folder, root)).sort()
  } catch {
    // An installation without the files has no guides.
    return []
  }
}

/**
 * Link between files turned into one between pages. Files that are not pages are not linked: only a checkout has them.
 */
function linkIn(file: string, address: string, sources: ReadonlyMap<string, string>): string | null {
  if (address.startsWith('#')) return address
  if (/^[a-z]+:/.test(address)) return null
  const { pathname, hash } = new URL(address, `file:///${file}`)
  const target = pathname.slice(1)
  if (pictureType(target)) return `/docs/guides/${target.slice('docs/'.length)}`
  const found = [...sources].find(([, source]) => source === target)
  return found ? `/docs/guides/${found[0]}${hash}` : null
}
