// SPDX-License-Identifier: Apache-2.0
// One request: what was asked, what was answered, and by which key or member.
import type { ComponentChildren } from 'preact'
import { logsGet } from '#sdk/operations.ts'
import type { RequestLogEntry } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { Raw } from '../../kit/detail.tsx'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { shortId } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { statusText } from './lists.ts'

export const RequestPage = recordPage<RequestLogEntry>({
  in: ['/requests', 'Requests'],
  get: (request_id) => logsGet(api, { request_id }),
  at: (request_id) => logsGet.at({ request_id }),
  title: ({ method, path }) => `${method} ${path}`,
  state: ({ status }) => (status < 400 ? 'completed' : 'failed'),
  facts: [
    { name: 'Status', field: 'status', text: statusText },
    { name: 'Time', field: 'at', as: 'time' },
    { name: 'Duration', field: 'duration_ms', text: (value) => `${Math.round(Number(value))} ms` },
    { name: 'Operation', field: 'operation', as: 'mono' },
    { name: 'Key', field: 'key_name', show: keyOf },
    { name: 'Member', field: 'member.name', orField: 'member.id' },
    { name: 'From', field: 'ip', as: 'mono' },
    { name: 'Warning', field: 'warning' },
  ],
  more: ({ request_body, response_body }) => (
    <>
      <Raw title={t('Request')} value={pretty(request_body)} isOpen />
      <Raw title={t('Answered')} value={pretty(response_body)} isOpen />
    </>
  ),
})

/** Key of the request; a link for whoever may read keys. */
function keyOf({ key_id: id, key_name: name }: Row): ComponentChildren {
  if (!id) return null
  const shown = textOf(name ?? shortId(textOf(id)))
  return may('keys:read') ? <Link to={`/keys/${textOf(id)}`}>{shown}</Link> : shown
}

function pretty(body: string | null): string {
  if (body === null || body === '') return t('Empty')
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
