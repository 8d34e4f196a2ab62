// SPDX-License-Identifier: Apache-2.0
// One fraud rule, and what it would have done to what was checked before.
import { useState } from 'preact/hooks'
import { fraudBacktestRule, fraudGetRule } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Card, Facts, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, words } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { conditionsText } from './conditions.ts'

export function RulePage({ id }: { id: string }) {
  const { value, error, reload } = useLoad(id, () => fraudGetRule(api, { rule_id: id }))
  const [found, setFound] = useState<Readonly<Record<string, unknown>> | null>(null)
  const [refused, setRefused] = useState<Error | null>(null)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const test = (): void => {
    setRefused(null)
    fraudBacktestRule(api, { rule_id: id, body: {} }).then(setFound, setRefused)
  }
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/rules">{t('Fraud rules')}</Link> / <span class="mono">{value.rule_id}</span>
      </p>
      <PageHead title={value.name}>
        <button type="button" class="btn primary" onClick={test}>
          {t('Test it on the past')}
        </button>
      </PageHead>
      {refused && <Problem error={refused} />}
      {found && (
        <Card title={t('What it would have done')}>
          <Facts
            rows={Object.entries(found).map(([name, what]) => [
              words(name),
              typeof what === 'number' ? count(what) : typeof what === 'string' ? what : JSON.stringify(what),
            ])}
          />
        </Card>
      )}
      <Card title={t('Details')}>
        <Facts
          rows={[
            [t('Does'), words(value.action)],
            [t('When'), conditionsText(value.conditions, value.match)],
            [t('Description'), value.description],
            [t('In force'), value.enabled ? t('Yes') : t('No')],
            [t('Only noted'), value.dry_run ? t('Yes') : t('No')],
            [t('Hits, 24 hours'), count(value.hits_24h)],
          ]}
        />
        <pre class="text mono">{JSON.stringify(value.conditions, null, 2)}</pre>
      </Card>
    </div>
  )
}
