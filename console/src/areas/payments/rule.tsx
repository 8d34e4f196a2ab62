// SPDX-License-Identifier: Apache-2.0
// One fraud rule: changing, switching and removing it, and what it would have done to what was checked in the last days.
import { useState } from 'preact/hooks'
import { fraudBacktestRule, fraudChangeRule, fraudGetRule, fraudRemoveRule } from '#sdk/operations.ts'
import type { FraudBacktest, FraudRule } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Choice } from '../../kit/fields.tsx'
import { Card, FiguresRow, Problem } from '../../kit/kit.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count, words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { conditionsText } from './conditions.ts'
import { changeRule } from './forms.ts'

export const RulePage = recordPage<FraudRule>({
  in: ['/rules', 'Fraud rules'],
  get: (id) => fraudGetRule(api, { rule_id: id }),
  at: (id) => fraudGetRule.at({ rule_id: id }),
  title: ({ name }) => name,
  note: ({ description }) => description,
  state: ({ enabled, dry_run }) => (enabled ? (dry_run ? 'dry_run' : 'active') : 'disabled'),
  facts: [
    { name: 'Action', field: 'action', as: 'words' },
    {
      name: 'When',
      field: 'conditions',
      text: (conditions, { match }) => conditionsText(conditions, match),
    },
    { name: 'Applies to', field: 'applies_to', as: 'words' },
    { name: 'Order', field: 'priority', as: 'count' },
    { name: 'Hits, 24 hours', field: 'hits_24h', as: 'count' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: (rule) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'fraud:write',
      asks: removing(rule.name, t('Payments from now on are not checked by this rule.')),
      run: async () => {
        await fraudRemoveRule(api, { rule_id: rule.rule_id })
        go('/rules')
      },
    },
    {
      name: rule.enabled ? 'Disable' : 'Enable',
      scope: 'fraud:write',
      run: () => fraudChangeRule(api, { rule_id: rule.rule_id, body: { enabled: !rule.enabled } }),
    },
    { name: 'Change', icon: 'pencil', isMain: true, scope: 'fraud:write', form: changeRule(rule) },
  ],
  more: (rule) => <Past key={JSON.stringify(rule.conditions)} rule={rule} />,
})

const periods: Readonly<Record<string, string>> = { 7: t('Last 7 days'), 30: t('Last 30 days'), 90: t('Last 90 days') }
const dayMs = 86_400_000

/** What the rule would have done, had it been there. */
function Past({ rule: { rule_id } }: { rule: FraudRule }) {
  const [days, setDays] = useState('30')
  const [found, setFound] = useState<FraudBacktest | null>(null)
  const { run, error, isBusy } = useDoing()
  const test = (): void =>
    run(async () => {
      const start_date = new Date(Date.now() - Number(days) * dayMs).toISOString()
      setFound(await fraudBacktestRule(api, { rule_id, body: { start_date } }))
    })
  return (
    <Card title="Backtest result">
      {error && <Problem error={error} />}
      <div class="form in-line">
        <Choice
          label="Period"
          value={days}
          among={Object.keys(periods)}
          names={periods}
          isRequired
          onChange={(next) => {
            setDays(next)
            setFound(null)
          }}
        />
        <button type="button" class="btn primary" disabled={isBusy} onClick={test}>
          {t('Backtest')}
        </button>
      </div>
      {found && (
        <div role="status">
          <p class="strong">
            {t('It matches {matched} of {checked} checks and would have changed {changed} decisions.', {
              matched: count(found.matched),
              checked: count(found.checked),
              changed: count(found.changed),
            })}
          </p>
          {found.matched > 0 && (
            <>
              <p class="soft">{t('Original decisions:')}</p>
              <FiguresRow
                figures={Object.entries(found.decisions).map(([decision, times]) => [words(decision), count(times)])}
              />
            </>
          )}
          {found.unknown_velocity > 0 && (
            <p class="soft">
              {t('{count} checks without velocity data are excluded.', {
                count: count(found.unknown_velocity),
              })}
            </p>
          )}
          {!found.complete && <p class="soft">{t('Only the oldest 100,000 checks were evaluated.')}</p>}
        </div>
      )}
    </Card>
  )
}
