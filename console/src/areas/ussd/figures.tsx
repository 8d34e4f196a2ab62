// SPDX-License-Identifier: Apache-2.0
// Figures of USSD: how many dialled, where they went and where they left.
import { ussdAnalytics } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Columns } from '../../kit/chart.tsx'
import { Card, Figures, FiguresRow, Nothing, PageHead, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, date, percent } from '../../kit/words.ts'
import { t } from '../../words.ts'

export function UssdFigures() {
  const figures = useLoad('ussd figures', () => ussdAnalytics(api))
  const { value } = figures
  // The API tells these out of 100.
  const rate = (share: number | null | undefined): string =>
    share === null || share === undefined ? '–' : percent(share / 100)
  const series = value?.series ?? []
  return (
    <div class="page">
      <PageHead title="USSD statistics" />
      {figures.error && <Problem error={figures.error} retry={figures.reload} />}
      <FiguresRow
        error={figures.error}
        figures={[
          [t('Sessions'), value && count(value.sessions ?? 0)],
          [t('Completed'), value && rate(value.completion_rate)],
          [t('Failed'), value && rate(value.error_rate)],
          [t('Duration'), value && `${count(value.avg_duration ?? 0)} s`],
        ]}
      />
      {series.length > 0 && (
        <Card title="Day by day">
          <Columns
            label={t('Day by day')}
            labels={series.map(({ at }) => date(at))}
            series={[
              {
                name: t('Sessions'),
                total: count(value?.sessions ?? 0),
                values: series.map(({ sessions }) => sessions),
              },
            ]}
          />
        </Card>
      )}
      {value && value.sessions === 0 && <Nothing title={t('No sessions in these days')} icon="hash" />}
      {(value?.popular_paths ?? []).length > 0 && (
        <Card title="Most used paths">
          <Figures
            names={['Path', 'Sessions']}
            rows={(value?.popular_paths ?? []).map((one) => ({
              key: one.path,
              name: <span class="mono">{one.path}</span>,
              figures: [count(one.count)],
            }))}
          />
        </Card>
      )}
      {(value?.drop_off ?? []).length > 0 && (
        <Card title="Drop-off screens">
          <Figures
            names={['Screen', 'Sessions', 'Share']}
            rows={(value?.drop_off ?? []).map((one) => ({
              key: `${one.step} ${one.screen}`,
              name: <span dir="auto">{one.screen}</span>,
              figures: [count(one.sessions), percent(one.rate / 100)],
            }))}
          />
        </Card>
      )}
    </div>
  )
}
