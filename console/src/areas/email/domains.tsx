// SPDX-License-Identifier: Apache-2.0
// Domains that email is sent from: the records that their DNS needs, each with its state, and a check.
import {
  emailDeleteDomain,
  emailGetDomain,
  emailListDomains,
  emailRotateDkim,
  emailVerifyDomain,
} from '#sdk/operations.ts'
import type { EmailDomain } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { CopyText } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Card, Pill } from '../../kit/kit.tsx'
import { type ListOf, state } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { dnsRecord, newDomain } from './forms.ts'

export const domains: ListOf = {
  title: 'Domains',
  icon: 'globe',
  path: emailListDomains.at(),
  keyField: 'id',
  open: ['/domains/', 'id'],
  deeds: [
    { name: 'Record of the sandbox DNS', icon: 'globe', scope: 'sandbox:write', form: dnsRecord },
    { name: 'Add a domain', icon: 'plus', isMain: true, scope: 'email:write', form: newDomain },
  ],
  columns: [
    { name: 'Domain', field: 'domain', priority: 1, card: 'title', grows: true },
    { name: 'Checked', field: 'last_checked_at', as: 'time', priority: 2, card: 'end' },
    { name: 'Error', field: 'last_error', priority: 3, card: 'sub' },
    state,
  ],
  none: { title: 'No domains', advice: 'Add a domain, publish its DNS records and press Check.' },
}

export const DomainPage = recordPage<EmailDomain>({
  in: ['/domains', 'Domains'],
  get: (id) => emailGetDomain(api, { id }),
  at: (id) => emailGetDomain.at({ id }),
  title: ({ domain }) => domain,
  state: ({ status }) => status,
  facts: [
    { name: 'Checked', field: 'last_checked_at', as: 'time' },
    { name: 'Error', field: 'last_error' },
    { name: 'DKIM selector', field: 'dkim_selector', as: 'mono' },
  ],
  deeds: ({ id, domain }) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'email:write',
      asks: removing(domain, t('Emails from it are refused from now on.')),
      run: async () => {
        await emailDeleteDomain(api, { id })
        go('/domains')
      },
    },
    {
      name: 'Rotate DKIM key',
      icon: 'key',
      scope: 'email:write',
      asks: {
        title: t('Rotate the DKIM key of {name}?', { name: domain }),
        consequences: [t('Add its record to your DNS; the old key is used until then.')],
        action: t('Rotate DKIM key'),
        isDanger: false,
      },
      run: () => emailRotateDkim(api, { id }),
    },
    {
      name: 'Check',
      icon: 'check',
      isMain: true,
      scope: 'email:write',
      run: () => emailVerifyDomain(api, { id }),
    },
  ],
  more: ({ records }) => (
    <Card title="DNS records">
      <ul class="lines">
        {records.map(({ type, name, value, purpose, required, status, found }) => (
          <li key={`${type} ${name}`} class="record-line">
            <Pill state={status} /> <span class="strong">{words(purpose)}</span>{' '}
            {!required && <span class="soft">{t('optional')}</span>}
            <span class="mono whole" dir="ltr">
              {type} {name}
            </span>
            <span class="mono whole" dir="ltr">
              {value}
            </span>
            {found !== undefined && (
              <span class="soft whole" dir="ltr">
                {t('Found: {what}', { what: found })}
              </span>
            )}
            <CopyText text={value} />
          </li>
        ))}
      </ul>
    </Card>
  ),
})
