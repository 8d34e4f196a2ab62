// SPDX-License-Identifier: Apache-2.0
// Frame of pages for people without an account: payers, readers of texts. One document without pictures or cookies, and
// without scripts unless it asks for one. Its inline style is allowed by hash, and no other.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { HookAnswer } from '../api/hook.ts'
import { root } from '../program/root.ts'
import { type Brand, inkOn, logoOf, markColor } from './brand.ts'
import { breakable, type Html, html } from './html.ts'
import { directionOf, type Language, languageNames, languages, wordsIn } from './language.ts'
import { pageTexts } from './texts.ts'

const assets = new URL('src/platform/web/', root)

export function webAsset(name: 'colours.css' | 'page.css' | 'icon.svg'): string {
  return readFileSync(new URL(name, assets), 'utf8')
}

const style = dense(webAsset('colours.css') + webAsset('page.css'))
const styleHash = createHash('sha256').update(style).digest('base64')

export interface Page {
  readonly title: string
  /** Language of its texts, where there is a choice; English otherwise. */
  readonly language?: Language
  /** Sender's name at the top. */
  readonly from?: string
  /** Sender's brand. */
  readonly brand?: Brand
  /** Test mode. */
  readonly isTest?: boolean
  /** Automatic refresh, to this page or another. */
  readonly next?: { readonly seconds: number; readonly path?: string }
  readonly content: Html
  /** Script of the few pages that cannot do without, such as one that uses the camera: its address, and its own style. */
  readonly script?: { readonly src: string; readonly style: string }
  /** Origin of the one site that may show the page in a frame; none unless given. */
  readonly framedBy?: string | null
}

/** Form targets (CSP); a form that redirects to another site cannot be limited to this one. */
type Forms = 'none' | 'here' | 'anywhere'

export function page(status: number, content: Page, forms: Forms = 'none'): HookAnswer {
  return { status, headers: pageHeaders(forms, content), body: written(content) }
}

/** Style of the account's brand colour. */
function ownStyle(brand: Brand): string {
  const color = markColor(brand)
  return color === null ? '' : `.from i{background:${color};color:${inkOn(color)}}main{border-top:4px solid ${color}}`
}

function hashOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}

function pageHeaders(forms: Forms, { brand = {}, script, framedBy }: Page): Readonly<Record<string, string>> {
  const own = [ownStyle(brand), ...(script ? [dense(script.style)] : [])].filter((one) => one !== '')
  const styles = [`'sha256-${styleHash}'`, ...own.map(hashOf)].join(' ')
  const runs = "script-src 'self'; connect-src 'self'; media-src blob:; img-src data: blob:;"
  const pictures = script ? ` ${runs}` : logoOf(brand) === null ? '' : ' img-src data:;'
  const action = { none: "; form-action 'none'", here: "; form-action 'self'", anywhere: '' }[forms]
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src ${styles};${pictures} base-uri 'none'; frame-ancestors ${framedBy ?? "'none'"}${action}`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    'cache-control': 'no-store',
  }
}

/** Notice: status, a sentence, and links. */
export function notice(kind: keyof typeof signs, title: string, content: Html): Html {
  return html`${signs[kind]}<h1>${title}</h1>${content}`
}

const signs = {
  good: html`<svg class="good" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m8 12.5 2.8 2.8L16.2 9.5"/></svg>`,
  bad: html`<svg class="bad" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m9 9 6 6m0-6-6 6"/></svg>`,
  waiting: html`<svg class="soft" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="M12 6.5V12l3.5 2"/></svg>`,
} as const

function written({ title, language, from, brand = {}, isTest = false, next, content, script }: Page): string {
  const own = ownStyle(brand)
  const say = wordsIn(pageTexts, language ?? 'en')
  const path = next?.path === undefined ? '' : `; url=${next.path}`
  return html`<!doctype html>
<html lang="${language ?? 'en'}" dir="${directionOf(language ?? 'en')}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="color-scheme" content="light dark">${next !== undefined && html`<meta http-equiv="refresh" content="${next.seconds}${path}">`}
<title>${title}</title><style>${{ html: style }}</style>${own !== '' && html`<style>${{ html: own }}</style>`}${script !== undefined && html`<style>${{ html: dense(script.style) }}</style><script src="${script.src}" defer></script>`}</head>
<body><main>
${isTest && html`<p class="test">${say('test')}</p>`}
${from !== undefined && html`<p class="from">${markOf(from, brand)}${from}</p>`}
${content}
${language !== undefined && html`<nav aria-label="${say('languages')}">${languages.map((other) => choice(other, language))}</nav>`}
</main></body></html>
`.html
}

/** Logo of an account, or its first letter. */
function markOf(name: string, brand: Brand): Html {
  const logo = logoOf(brand)
  return logo === null
    ? html`<i aria-hidden="true">${initialOf(name)}</i>`
    : html`<img src="${logo}" alt="" width="32" height="32">`
}

/** Link to this page in another language; the current one is plain text. */
function choice(other: Language, language: Language): Html {
  const name = languageNames[other]
  return other === language
    ? html`<span aria-current="true">${name}</span> `
    : html`<a href="?lang=${other}" lang="${other}" hreflang="${other}" rel="nofollow">${name}</a> `
}

function initialOf(name: string): string {
  const [first = '·'] = name.trim()
  return first.toUpperCase()
}

/** Minified CSS. */
function dense(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .trim()
}

/** Page in place of a redirect by a link in a test message, which says where it would lead. */
export function testLink(url: string): Page {
  const { href, host } = new URL(url)
  const content = html`<h1>A link of a test message</h1>
    <p>Sent in earnest, it leads to ${host} at once. Here it is only shown:</p>
    <p><a href="${href}" rel="noreferrer nofollow">${breakable(href)}</a></p>`
  return { title: 'A test link', isTest: true, content }
}
