// SPDX-License-Identifier: Apache-2.0
// One message and its history: what happened to it, when, and how long that took.
import { get } from '../../api.ts'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import type { SmsMessage } from '../../records.ts'

export function MessagePage({ id }: { id: string }) {
  const { value, error, reload } = useLoad(id, () => get<SmsMessage>(`/v1/sms/${encodeURIComponent(id)}`))
  useLive('sms.', reload)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/messages">Messages</Link> / <span class="mono">{value.message_id}</span>
      </p>
      <PageHead title={value.direction === 'inbound' ? `From ${value.from}` : `To ${value.to}`}>
        <Pill state={value.status} />
      </PageHead>
      {value.error && (
        <div class="callout bad">
          <p>{value.error}</p>
          <p class="mono soft">{value.error_code}</p>
        </div>
      )}
      <Card title="Text">
        <p class="text">{value.message ?? 'The text has been erased.'}</p>
      </Card>
      <Card title="What happened">
        <History message={value} />
      </Card>
      <Card title="Details">
        <Facts
          rows={[
            ['From', value.from],
            ['To', <span class="mono">{value.to}</span>],
            ['Cost', money(value.cost, value.currency)],
            ['Parts', `${value.segments}, ${value.encoding}`],
            ['Country and network', [value.country, value.network].filter(Boolean).join(', ') || '–'],
            ['Attempts', String(value.attempts)],
            ['Reference', value.reference],
          ]}
        />
      </Card>
    </div>
  )
}

function History({ message: { timeline } }: { message: SmsMessage }) {
  const start = new Date(timeline[0]?.at ?? 0).getTime()
  return (
    <ol class="history">
      {timeline.map(({ status, at, error_code, carrier_code }) => (
        <li key={`${status} ${at}`} class={status}>
          <span class="strong">{words(status)}</span>
          <span class="soft">{[error_code, carrier_code].filter(Boolean).join(', ')}</span>
          <time dateTime={at} title={moment(at)} class="mono">
            {after(new Date(at).getTime() - start, at)}
          </time>
        </li>
      ))}
    </ol>
  )
}

function after(ms: number, at: string): string {
  if (ms === 0) return moment(at)
  return ms < 10_000 ? `+${ms} ms` : `+${Math.round(ms / 1000)} s`
}
