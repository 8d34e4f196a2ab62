// SPDX-License-Identifier: Apache-2.0
// People who were asked to show a document and their face on a hosted page.
import {
  identityCancelSession,
  identityCreateSession,
  identityGetSession,
  identityListSessions,
} from '#sdk/operations.ts'
import type { IdentitySession } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { CopyText } from '../../kit/detail.tsx'
import type { FormOf } from '../../kit/form.tsx'
import { Card } from '../../kit/kit.tsx'
import { created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { shortId } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

const askSomebody: FormOf = {
  title: 'New verification link',
  action: 'Create link',
  fields: [
    { name: 'country', label: 'Country', hint: 'Two letters, such as KE' },
    { name: 'external_id', label: 'External id' },
    { name: 'phone', label: 'Send to phone' },
    { name: 'email', label: 'Or send to email' },
  ],
  async make({ country, external_id, phone, email }) {
    const { session_id } = await identityCreateSession(api, { body: { country, external_id, phone, email } })
    go(`/identity-sessions/${session_id}`)
    return null
  },
}

export const sessions: ListOf = {
  title: 'Verification links',
  icon: 'link',
  path: identityListSessions.at(),
  keyField: 'session_id',
  open: ['/identity-sessions/', 'session_id'],
  live: 'identity.session.',
  sorts: true,
  deeds: [{ name: 'New verification link', icon: 'plus', isMain: true, scope: 'identity:write', form: askSomebody }],
  columns: [
    created,
    {
      ...{ name: 'External id', field: 'external_id', priority: 1, card: 'title', grows: true },
      text: (value, row) => textOf(value ?? shortId(textOf(row.session_id))),
    },
    { name: 'Until', field: 'expires_at', as: 'time', priority: 3 },
    state,
  ],
  filters: [{ name: 'external_id', label: 'External id' }],
  none: {
    title: 'No verification links',
    advice: 'A link opens a page that captures a document and a face on any phone.',
  },
}

export const SessionPage = recordPage<IdentitySession>({
  in: ['/identity-sessions', 'Verification links'],
  get: (id) => identityGetSession(api, { session_id: id }),
  at: (id) => identityGetSession.at({ session_id: id }),
  live: 'identity.session.',
  title: ({ external_id, session_id }) => external_id ?? shortId(session_id),
  state: ({ status }) => status,
  facts: [
    { name: 'Check', field: 'verification_id' },
    { name: 'Checks', field: 'checks', as: 'words' },
    { name: 'Attempts left', field: 'tries_left', as: 'count' },
    { name: 'Opened', field: 'opened_at', as: 'time' },
    { name: 'Submitted', field: 'submitted_at', as: 'time' },
    { name: 'Until', field: 'expires_at', as: 'time' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  more: ({ url }) =>
    url === null ? null : (
      <Card title="Capture page" action={<CopyText text={url} />}>
        <p>
          <a href={url} target="_blank" rel="noreferrer" class="mono">
            {url}
          </a>
        </p>
      </Card>
    ),
  deeds: ({ session_id, url }) =>
    url === null
      ? []
      : [
          {
            name: 'Cancel',
            isDanger: true,
            scope: 'identity:write',
            asks: {
              title: t('Cancel this link?'),
              consequences: [t('The page then shows that the session has ended.')],
              action: t('Cancel the link'),
              keep: t('Keep it'),
            },
            run: () => identityCancelSession(api, { session_id }),
          },
        ],
})
