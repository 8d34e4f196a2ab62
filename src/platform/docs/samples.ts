// SPDX-License-Identifier: Apache-2.0
// Request samples: curl, and calls of the SDKs for Node, Python and PHP; each a whole program.
import { type Html, html, json } from '../web/html.ts'
import { nodeSample, type Place, phpSample, pythonSample, type SdkCall } from './sdk-samples.ts'

export interface Sample {
  method: string
  /** Path and query below `/api`, with `$name` for values of the reader, which are variables of their environment. */
  address: string
  /** Kind of the reply; a file and a stream are printed as they arrive. */
  gives?: SdkCall['gives']
  /** Variable that holds the key. */
  key?: 'KEY' | 'OPERATOR'
  headers?: readonly string[]
  body?: unknown
  /** Parts of a multipart body. */
  parts?: readonly string[]
  /** The same as a call of an SDK; without it there is curl alone. */
  call?: SdkCall
}

/** Samples in all languages that apply. */
export function samplesOf(place: Place, sample: Sample): readonly (readonly [language: string, code: Html])[] {
  const curl = ['curl', curlCommand(place, sample)] as const
  const { call } = sample
  if (!call) return [curl]
  return [
    curl,
    ['Node', nodeSample(place, call)],
    ['Python', pythonSample(place, call)],
    ['PHP', phpSample(place, call)],
  ]
}

export function curlCommand(
  { url, caFile }: Place,
  { method, address, gives, key = 'KEY', headers = [], body, parts = [] }: Sample,
): Html {
  const target = `${url}/api${address}`
  const quoted = /[$?&]/.test(target) ? `"${target}"` : target
  const usual = body === undefined && parts.length === 0 ? 'GET' : 'POST'
  const lines = [
    html`<span class="f">curl</span>${gives === 'stream' && ' -N'}${gives === 'file' && ' -OJ'}${method === usual ? '' : ` -X ${method}`} ${quoted}`,
    ...(caFile ? [html`  --cacert ${caFile}`] : []),
    html`  -H <span class="s">"Authorization: Bearer $${key}"</span>`,
    ...parts.map((part) => html`  -F <span class="s">"${part}"</span>`),
    ...headers.map((header) => html`  -H <span class="s">"${header}"</span>`),
    ...(body === undefined
      ? []
      : [
          html`  -H <span class="s">"Content-Type: application/json"</span>`,
          html`  -d '${json(JSON.stringify(body, null, 2).replaceAll("'", "'\\''").replaceAll('\n', '\n  '))}'`,
        ]),
  ]
  return html`${lines.map((line, i) => (i < lines.length - 1 ? html`${line} \\\n` : line))}`
}
