// SPDX-License-Identifier: Apache-2.0
// Page of a capture session: one document with its texts in one language; the script in page/ does the rest.
import { readFileSync } from 'node:fs'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { root } from '../../../platform/program/root.ts'
import { html } from '../../../platform/web/html.ts'
import { type Language, wordsIn } from '../../../platform/web/language.ts'
import { secretName } from '../../../platform/web/secret-name.ts'
import type { Page } from '../../../platform/web/shell.ts'
import { catalogue } from '../catalogue.ts'
import { maxCaptureBytes, partBytes, type Visit } from './capture.ts'
import { qrOf, sessionPath } from './session.ts'
import { captureTexts } from './texts.ts'

const style = readFileSync(new URL('src/areas/identity/sessions/page/capture.css', root), 'utf8')

/** Documents that are no picture of a person with a face: taken only where the account asks for them. */
const onlyWhenAsked = ['proof_of_address']
const withFace = ['face_match', 'liveness_detection', 'duplicate_check']

export function pageOf(
  app: App,
  { row, tenant }: Visit,
  language: Language,
  { state, notice }: { state: object; notice: string | null },
): Page {
  const say = wordsIn(captureTexts, language)
  const { account_name: account, brand, checks, redirect_url } = row
  const path = `${sessionPath}/${secretName(row)}`
  const names = Object.keys(captureTexts) as (keyof typeof captureTexts)[]
  const data = {
    path,
    state,
    notice,
    texts: Object.fromEntries(names.map((name) => [name, say(name, { account })])),
    countries: countriesOf(row, language),
    needsFace: checks.some((check) => withFace.includes(check)),
    needsLiveness: checks.includes('liveness_detection'),
    partBytes,
    maxBytes: maxCaptureBytes,
    qr: qrOf(`${app.publicUrl}${path}`),
    leadsTo: redirect_url && landing(redirect_url, row.id),
    tells: siteOf(row),
  }
  const content = html`<div id="capture" data-capture="${JSON.stringify(data)}"><h1>${say('title')}</h1>
<noscript><p class="problem">${say('noScript')}</p></noscript></div>`
  return {
    title: say('title'),
    language,
    from: account,
    brand,
    isTest: tenant.environment === 'test',
    content,
    script: { src: `${sessionPath}/capture.js`, style },
    framedBy: siteOf(row),
  }
}

/** Origin of the account's site, which may show the page in a frame and is told how far it is: that of `redirect_url`. */
export function siteOf({ redirect_url }: Pick<Visit['row'], 'redirect_url'>): string | null {
  const { origin } = new URL(redirect_url ?? 'none:')
  return plainOrigin.test(origin) ? origin : null
}

/** No other signs: hosts of URLs may have some that mean more in a policy, such as `*` and `;`. */
const plainOrigin = /^https?:\/\/(\[[\da-f:]+\]|[a-z\d.-]+)(:\d+)?$/

/** Where the account wants the person to land. */
function landing(url: string, session: string): string {
  const there = new URL(url)
  there.searchParams.set('session_id', idOf('identitySession', session))
  return there.href
}

/** Documents to choose from, by country. */
function countriesOf({ country, document_types }: Visit['row'], language: Language) {
  const nameOf = new Intl.DisplayNames([language], { type: 'region' })
  const taken = catalogue.filter(
    (entry) =>
      (country === null || entry.country === country) &&
      (document_types?.includes(entry.type) ?? !onlyWhenAsked.includes(entry.type)),
  )
  const codes = [...new Set(taken.map((entry) => entry.country))]
  return codes
    .map((code) => ({
      code,
      name: nameOf.of(code) ?? code,
      types: taken
        .filter((entry) => entry.country === code)
        .map(({ type, helpsBack }) => [type, helpsBack ? 2 : 1] as const),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, language))
}
