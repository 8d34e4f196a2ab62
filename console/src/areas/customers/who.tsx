// SPDX-License-Identifier: Apache-2.0
// Who a conversation is with: the customer, what they want to hear, and the last things that happened.
import { customersGet, customersTimeline } from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import { Facts, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { date } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { Consents, Happening } from './customer.tsx'
import { Tags } from './lists.tsx'

const happenings = 'sms. messenger. email. call. ussd. payment. refund. invoice. customer.'

export function Who({ id }: { id: string | null }) {
  if (id === null || !may('customers:read')) return <aside class="inbox-who" />
  return <Known id={id} />
}

function Known({ id }: { id: string }) {
  const own = { customer_id: id }
  const customer = useLoad(id, () => customersGet(api, own))
  const story = useLoad(`story ${id}`, () => customersTimeline(api, { ...own, query: { limit: 8 } }))
  const { value } = customer
  useLive(happenings, story.reload, { about: value?.phones[0] ?? value?.emails[0] ?? id })
  return (
    <aside class="inbox-who" aria-label={t('Customer')}>
      <header>
        <strong class="cut">
          {value ? (
            <Link to={`/customers/${id}`}>{value.name ?? value.phones[0] ?? t('Customer')}</Link>
          ) : (
            t('Customer')
          )}
        </strong>
      </header>
      {!value && <Waiting lines={5} />}
      {value && (
        <div class="stack">
          <Facts
            rows={[
              ['Phone', value.phones[0] && <bdi dir="ltr">{value.phones[0]}</bdi>],
              ['Email', value.emails[0] && <bdi dir="ltr">{value.emails[0]}</bdi>],
              ['Customer since', date(value.created_at)],
              ...(value.tags.length > 0
                ? [['Tags', <Tags key="tags" tags={value.tags} />] satisfies [string, unknown]]
                : []),
            ]}
          />
          <Consents customer={value} onDone={customer.reload} />
          <h2>{t('Timeline')}</h2>
          <ol class="story happenings">
            {story.value?.data.map((entry) => (
              <Happening key={`${entry.type} ${entry.id}`} entry={entry} />
            ))}
          </ol>
        </div>
      )}
    </aside>
  )
}
