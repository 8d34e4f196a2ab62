// SPDX-License-Identifier: Apache-2.0
// Figures of email: how many arrived, were opened and clicked, day by day, and what happened last.
import { PamojaError } from '#sdk/client.ts'
import {
  emailAnalytics,
  emailDeleteTrackingWebhook,
  emailGetTrackingWebhook,
  emailListEvents,
} from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import { Columns } from '../../kit/chart.tsx'
import { DeedButton } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Card, Facts, FiguresRow, Nothing, PageHead, Problem } from '../../kit/kit.tsx'
import { created, type ListOf, ListRecords, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, date, percent } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { tellOfEmail } from './forms.ts'

const events: ListOf = {
  title: 'Events',
  icon: 'bolt',
  path: emailListEvents.at(),
  keyField: 'id',
  columns: [
    { ...created, field: 'payload.timestamp' },
    { name: 'Event', field: 'event', as: 'words', priority: 1, card: 'title' },
    { name: 'Email', field: 'payload.recipient', priority: 1, card: 'sub', grows: true },
  ],
}

export function EmailFigures() {
  const figures = useLoad('email figures', () => emailAnalytics(api, { query: { group_by: 'day' } }))
  const told = useLoad('email webhook', () => emailGetTrackingWebhook(api).catch(() => null))
  const { value } = figures
  if (figures.error instanceof PamojaError && figures.error.code === 'WEBHOOK_NOT_CONFIGURED')
    return (
      <div class="page">
        <PageHead title="Email statistics" note="the last 30 days" />
        <Nothing title="No figures yet" icon="chart">
          <p class="soft">{t('Set an event webhook to count opens and clicks.')}</p>
          {may('email:write') && (
            <DeedButton
              deed={{ name: 'Event webhook', icon: 'hook', isMain: true, form: tellOfEmail }}
              onDone={figures.reload}
            />
          )}
        </Nothing>
      </div>
    )
  return (
    <div class="page">
      <PageHead title="Email statistics" note="the last 30 days" />
      {figures.error && <Problem error={figures.error} retry={figures.reload} />}
      <FiguresRow
        error={figures.error}
        figures={[
          [t('Sent'), value && count(value.sent)],
          [t('Delivered'), value && percent(value.deliverability_rate / 100)],
          [t('Opened'), value && percent(value.open_rate / 100)],
          [t('Clicked'), value && percent(value.click_rate / 100)],
          [t('Bounced'), value && count(value.bounced)],
        ]}
      />
      {value && value.series.length > 0 && (
        <Card title="Day by day">
          <Columns
            label={t('Day by day')}
            labels={value.series.map(({ key }) => (key ? date(key) : '–'))}
            series={[
              {
                name: t('Delivered'),
                total: count(value.delivered),
                values: value.series.map(({ delivered }) => delivered),
              },
              { name: t('Opened'), total: count(value.opened), values: value.series.map(({ opened }) => opened) },
            ]}
          />
        </Card>
      )}
      {told.value && (
        <Card
          title="Event webhook"
          action={
            <DeedButton
              deed={{
                name: 'Remove',
                isDanger: true,
                asks: removing(told.value.url, t('The webhook no longer receives email events.')),
                run: () => emailDeleteTrackingWebhook(api),
              }}
              onDone={told.reload}
            />
          }
        >
          <Facts
            rows={[
              ['Address', told.value.url],
              ['Events', textOf(told.value.events)],
            ]}
          />
        </Card>
      )}
      <Card title="Events">
        <ListRecords list={events} />
      </Card>
    </div>
  )
}
