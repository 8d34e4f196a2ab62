// SPDX-License-Identifier: Apache-2.0
// One message: what it says, its timeline down to the octets, and what it cost.
import { smsGet, smsTimeline } from '#sdk/operations.ts'
import type { SmsMessage } from '#sdk/schemas.ts'
import { thingAt } from '../../api.ts'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { CopyCurl, Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

export function MessagePage({ id }: { id: string }) {
  const { value, error, reload } = useLoad(id, () => thingAt<SmsMessage>(smsGet.at({ id })))
  useLive('sms.', reload)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const title =
    value.direction === 'inbound' ? t('From {name}', { name: value.from }) : t('To {name}', { name: value.to })
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/messages">{t('Messages')}</Link> / <span class="mono">{value.message_id}</span>
      </p>
      <PageHead title={title}>
        <Pill state={value.status} />
        <CopyCurl path={smsGet.at({ id })} />
      </PageHead>
      {value.error && (
        <div class="callout bad">
          <p>{value.error}</p>
          <p class="mono soft">{value.error_code}</p>
        </div>
      )}
      <Card title={t('Text')}>
        <p class="text">{value.message ?? t('The text has been erased.')}</p>
      </Card>
      <Timeline path={smsTimeline.at({ id })} live="sms." />
      <Card title={t('Details')}>
        <Facts
          rows={[
            [t('From'), value.from],
            [t('To'), <span class="mono">{value.to}</span>],
            [t('Cost'), money(value.cost, value.currency)],
            [t('Parts'), `${value.segments}, ${value.encoding}`],
            [t('Country and network'), [value.country, value.network].filter(Boolean).join(', ') || '–'],
            [t('Attempts'), String(value.attempts)],
            [t('Reference'), value.reference],
          ]}
        />
      </Card>
    </div>
  )
}
