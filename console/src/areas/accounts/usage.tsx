// SPDX-License-Identifier: Apache-2.0
// Usage and limits: what was asked and spent, and how much of each limit is left.
import { usageGet } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Card, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, money, words } from '../../kit/words.ts'
import { t } from '../../words.ts'

/** Areas whose name in the API is no word that people use. */
function areaName(area: string | null): string {
  if (area === 'apiKeys') return t('Keys')
  if (area === 'auditLog') return t('Audit log')
  if (area === 'callcenter') return t('Call centre')
  if (area === 'none') return t('No such route')
  return words(area ?? '')
}

export function UsagePage() {
  const { value, error, reload } = useLoad('usage', () => usageGet(api, { query: { group_by: ['area'] } }))
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  return (
    <div class="page">
      <PageHead title={t('Usage and limits')} note={t('the last 30 days')} />
      <Card title={t('Requests')}>
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">{t('Area')}</th>
              <th scope="col" class="number">
                {t('Requests')}
              </th>
              <th scope="col" class="number">
                {t('Refused')}
              </th>
            </tr>
          </thead>
          <tbody>
            {value.rows.map(({ area, requests, errors }) => (
              <tr key={area}>
                <td>{areaName(area)}</td>
                <td class="number">{count(requests)}</td>
                <td class="number">{count(errors)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
      <Card title={t('Cost')}>
        <dl class="facts">
          {value.spend.map(({ area, country, currency, cost }) => (
            <div key={`${area} ${country} ${currency}`}>
              <dt>{[areaName(area), country].filter(Boolean).join(', ')}</dt>
              <dd>{money(cost, currency)}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <Card title={t('Limits')}>
        <ul class="lines">
          {value.limits.map(({ policy, limit, remaining, window }) => (
            <li key={policy}>
              <span class="strong">{policy}</span>
              <span>
                <meter min={0} max={limit} value={limit - remaining} aria-label={policy} />{' '}
                {t('{left} of {limit} left in {seconds} s', {
                  left: count(remaining),
                  limit: count(limit),
                  seconds: window,
                })}
              </span>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  )
}
