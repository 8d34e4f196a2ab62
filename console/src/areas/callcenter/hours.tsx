// SPDX-License-Identifier: Apache-2.0
// Business hours: the week, the holidays, and the queues that keep them.
import { callcenterGetBusinessHours } from '#sdk/operations.ts'
import type { BusinessHours } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Card, Facts } from '../../kit/kit.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { date, locale } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { placeName } from './choose.tsx'
import { changeHours, days, intervalsText } from './forms.tsx'
import { useNames } from './names.ts'

export const HoursPage = recordPage<BusinessHours>({
  in: ['/hours', 'Business hours'],
  get: (business_hours_id) => callcenterGetBusinessHours(api, { business_hours_id }),
  at: (business_hours_id) => callcenterGetBusinessHours.at({ business_hours_id }),
  title: ({ name }) => name,
  state: ({ open_now }) => (open_now ? 'open' : 'closed'),
  facts: [
    { name: 'Time zone', field: 'timezone' },
    { name: 'Until', field: 'next_change_at', as: 'time' },
  ],
  deeds: (own) => [{ name: 'Change', icon: 'pencil', scope: 'callcenter:write', form: changeHours(own) }],
  more: (own) => <Week hours={own} />,
})

/** A day of every year. */
function dayOfYear(day: string): string {
  const shown = new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return `${shown.format(new Date(day))}, ${t('every year')}`
}

function Week({ hours: { weekly, holidays = [], queue_ids, closed_action } }: { hours: BusinessHours }) {
  const names = useNames()
  return (
    <div class="two">
      <Card title="Week">
        <Facts rows={days.map(([day, name]) => [name, intervalsText(weekly[day]) || t('Closed')])} />
      </Card>
      <Card title="Holidays">
        <Facts
          rows={[
            ...holidays.map((one): [string, string] => [
              [one.every_year ? dayOfYear(one.date) : date(one.date), one.name].filter(Boolean).join(', '),
              intervalsText(one.intervals) || t('Closed'),
            ]),
            [t('Queues'), queue_ids.map((id) => names.queues[id] ?? id).join(', ') || '–'],
            [t('Destination outside business hours'), closed_action ? placeName(closed_action, names) : '–'],
          ]}
        />
      </Card>
    </div>
  )
}
