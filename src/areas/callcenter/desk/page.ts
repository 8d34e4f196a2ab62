// SPDX-License-Identifier: Apache-2.0
// Desk page: an agent signs in and answers calls in the browser. Its files contain no account data; the token stays in
// the tab.
import { readFileSync } from 'node:fs'
import type { Hook } from '../../../platform/api/hook.ts'
import { fileHook } from '../../../platform/http/static-files.ts'
import { root } from '../../../platform/program/root.ts'
import { webAsset } from '../../../platform/web/shell.ts'

const assets = new URL('src/areas/callcenter/desk/page/', root)

/** No inline script or style, and no requests to other origins. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const file = (path: string, type: string, make: () => string) =>
  fileHook('callcenter.deskPage', { path, type, contentSecurityPolicy, make })

export const deskHooks: readonly Hook[] = [
  file('/desk', 'text/html', () => asset('desk.html')),
  file('/desk/desk.css', 'text/css', () => webAsset('colours.css') + asset('desk.css')),
  file('/desk/desk.js', 'text/javascript', () => asset('desk.js')),
]

function asset(name: string): string {
  return readFileSync(new URL(name, assets), 'utf8')
}
