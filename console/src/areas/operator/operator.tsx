// SPDX-License-Identifier: Apache-2.0
// Overview for operators: one search over all accounts, and nodes, queues, carriers and providers at a glance.
import { useEffect, useState } from 'preact/hooks'
import {
  operatorListPaymentProviders,
  operatorListSmsBinds,
  operatorListUssdSmppGateways,
  operatorListVoiceTrunks,
  operatorSearch,
  operatorSystem,
  operatorTraffic,
} from '#sdk/operations.ts'
import type { FoundThing, InstallationTraffic, System } from '#sdk/schemas.ts'
import { api, currentEnvironment, thingAt } from '../../api.ts'
import { Spark } from '../../kit/chart.tsx'
import { Field } from '../../kit/fields.tsx'
import { Card, Figures, FiguresRow, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { ListRecords } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { ago, count, country as nameOfCountry, words } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { kindOf } from '../../search.tsx'
import { counts } from '../../waiting.ts'
import { t } from '../../words.ts'
import { NeedsYou } from '../overview/overview.tsx'
import { changeOf, labelsOf, type Range, Ranges, TrafficAreas } from '../overview/traffic.tsx'
import { failed as failedJobs } from './lists.ts'
import { OpenedThing } from './opened.tsx'

export function OperatorHome() {
  const system = useLoad('system', () => operatorSystem(api))
  const links = useLoad('connections', connections)
  const [range, setRange] = useState<Range>('day')
  const traffic = useLoad(range, () => operatorTraffic(api, { query: { range, environment: currentEnvironment() } }), {
    keeps: true,
  })
  const now = counts.use()
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return
      void system.reload()
      void links.reload()
    }, everyMs)
    const slow = setInterval(() => void (document.hidden || traffic.reload()), countedMs)
    return () => {
      clearInterval(timer)
      clearInterval(slow)
    }
  }, [])
  const queues = system.value?.queues ?? []
  const oldest = Math.max(0, ...queues.map(({ oldest_seconds }) => oldest_seconds))
  const rate = links.value?.reduce((sum, one) => sum + (one.rate ?? 0), 0) ?? null
  const failed = queues.reduce((sum, one) => sum + one.failed, 0)
  const ledger = system.value?.ledger
  return (
    <div class="page">
      <PageHead title="Overview" note={nodesText(system.value?.nodes.length ?? 0)}>
        <Ranges range={range} onChoose={setRange} />
      </PageHead>
      {system.error && <Problem error={system.error} retry={system.reload} />}
      <FiguresRow
        error={system.error}
        figures={[
          [t('Texts a second'), rate === null ? null : count(Math.round(rate)), null, '/operator/carriers'],
          [t('Oldest in a queue'), system.value && `${oldest.toFixed(1)} s`],
          [t('Failed jobs'), system.value && count(failed), null, '/operator/failed'],
          [t('Discrepancies'), count(now.discrepancies_open ?? 0), null, '/operator/discrepancies'],
          [
            t('Ledger'),
            ledger ? (ledger.problems === 0 ? t('Balanced') : t('{count} problems', { count: ledger.problems })) : null,
            ledger &&
              (ledger.checked_at ? t('checked {time}', { time: ago(ledger.checked_at) }) : t('not checked yet')),
          ],
        ]}
      />
      <div class="cols side">
        <Card
          title={t('Traffic of all accounts')}
          action={<span class="soft push">{words(currentEnvironment())}</span>}
        >
          {traffic.error && <Problem error={traffic.error} retry={traffic.reload} />}
          {traffic.value ? <AllTraffic traffic={traffic.value} range={range} /> : <Waiting lines={6} />}
        </Card>
        <NeedsYou isOperating />
      </div>
      <Card title={t('Carriers, providers, trunks')}>
        {links.error && <Problem error={links.error} retry={links.reload} />}
        {links.value?.length === 0 && <p class="soft">{t('Nothing is connected yet. Begin with a carrier.')}</p>}
        <ul class="health">
          {links.value?.map(({ key, name, state, words: told, to, carried }) => (
            <li key={key}>
              <Link to={to}>{name}</Link>
              <Pill state={state} />
              {carried && traffic.value && (
                <Spark values={carriedBy(traffic.value, carried)} tone={state === 'down' ? 'bad' : 'h1'} />
              )}
              <small>{told}</small>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={t('Failed jobs')} action={<Link to="/operator/failed">{t('Show all')}</Link>}>
        <ListRecords list={failedJobs} turn={failed} onTurn={() => void system.reload()} most={shownJobs} />
      </Card>
      <OperatorSearch />
      {system.value && <Nodes system={system.value} />}
    </div>
  )
}

const everyMs = 10_000
/** Failed jobs on this page; the others are on a page of their own. */
const shownJobs = 5
/** The server counts once a minute. */
const countedMs = 60_000

type Carried = Pick<InstallationTraffic['connections'][number], 'channel' | 'name'> & { readonly environment?: string }

/** What a connection carried, slot by slot; several of one provider and environment are one line. */
function carriedBy({ channels, connections: all }: InstallationTraffic, wanted: Carried): number[] {
  const own = all.filter(
    ({ channel, name, environment }) =>
      wanted.channel.split(' ').includes(channel) &&
      name === wanted.name &&
      (wanted.environment === undefined || environment === wanted.environment),
  )
  return (channels[0]?.values ?? []).map((_, i) => own.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
}

function AllTraffic({ traffic, range }: { traffic: InstallationTraffic; range: Range }) {
  const { channels, counted_until } = traffic
  const change = changeOf(channels)
  return (
    <>
      <TrafficAreas channels={channels} labels={labelsOf(traffic, channels[0]?.values.length ?? 0, range)} />
      <p class="soft">
        {change && `${change} · `}
        {counted_until && t('counted {time}', { time: ago(counted_until) })}
      </p>
    </>
  )
}

const nodesText = (nodes: number): string => (nodes === 1 ? t('1 node') : t('{count} nodes', { count: nodes }))

interface Connected {
  key: string
  name: string
  state: string
  words: string
  to: string
  rate?: number
  /** What its line shows, where records say over what they went. */
  carried?: Carried
}

/** Everything that the installation is connected to, with its state and why. */
async function connections(): Promise<Connected[]> {
  const [binds, providers, trunks, networks] = await Promise.all([
    operatorListSmsBinds(api),
    operatorListPaymentProviders(api),
    operatorListVoiceTrunks(api),
    operatorListUssdSmppGateways(api),
  ])
  const stateOf = (enabled: boolean, isUp: boolean): string => (enabled ? (isUp ? 'up' : 'down') : 'disabled')
  return [
    ...binds.data.map(({ name, enabled, is_up, last_error, current_rate, pending }) => ({
      ...{ key: `sms ${name}`, name, state: stateOf(enabled, is_up), to: `/operator/carriers/${name}` },
      words:
        last_error ?? t('{rate} a second, {count} waiting', { rate: count(current_rate ?? 0), count: count(pending) }),
      rate: current_rate ?? 0,
      carried: { channel: 'sms', name },
    })),
    ...providers.data.map(({ id, provider, enabled, status, country, environment }) => ({
      ...{ key: `money ${id}`, name: words(provider), to: `/operator/providers/${id}` },
      state: enabled ? status : 'disabled',
      words: [nameOfCountry(country), words(environment)].join(' · '),
      carried: { channel: 'payments payouts', name: provider, environment },
    })),
    ...trunks.data.map(({ name, enabled, is_up, last_error, calls, max_calls }) => ({
      ...{ key: `calls ${name}`, name, state: stateOf(enabled, is_up), to: `/operator/trunks/${name}` },
      words: last_error ?? t('{count} of {most} calls', { count: count(calls), most: count(max_calls) }),
    })),
    ...networks.data.map(({ name, enabled, is_up, last_error, prefixes }) => ({
      ...{ key: `ussd ${name}`, name, state: stateOf(enabled, is_up), to: `/operator/ussd-networks/${name}` },
      words: last_error ?? prefixes.join(', '),
      carried: { channel: 'ussd', name },
    })),
  ]
}

function Nodes({ system: { nodes, queues } }: { system: System }) {
  return (
    <>
      <Card title={t('Nodes')}>
        <ul class="lines">
          {nodes.map((node) => (
            <li key={node.id}>
              <div>
                <p class="strong">{node.host}</p>
                <p class="soft">
                  {node.version}, {node.roles.join(', ')}
                </p>
              </div>
              <span class="soft">{t('seen {time}', { time: ago(node.seen_at) })}</span>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={t('Queues')} action={<Link to="/operator/failed">{t('Failed jobs')}</Link>}>
        <Figures
          names={['Queue', 'Due', 'Running', 'Scheduled', 'Failed']}
          rows={queues.map(({ lane, due, running, scheduled, failed }) => ({
            name: <span class="mono">{lane}</span>,
            key: lane,
            figures: [due, running, scheduled, failed].map(count),
          }))}
        />
      </Card>
    </>
  )
}

/** Kinds of records that have a timeline. */
const hasTimeline = /^(message|payment|payout|call|ussd.session)$/

const pathOf = ({ path }: FoundThing): string => path.replace(/^\/api/, '').replace(/\?.*/, '')

/** An id, a number, a reference or a receipt, of whichever account. */
function OperatorSearch() {
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly FoundThing[] | null>(null)
  const [opened, setOpened] = useState<{ found: FoundThing; body: unknown } | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const search = (event: Event): void => {
    event.preventDefault()
    setError(null)
    setOpened(null)
    operatorSearch(api, { query: { q: text.trim() } }).then(({ data }) => setFound(data), setError)
  }
  const open = (one: FoundThing): void => {
    setError(null)
    thingAt<unknown>(pathOf(one), { environment: one.environment }).then(
      (body) => setOpened({ found: one, body }),
      setError,
    )
  }
  return (
    <Card title={t('Search all accounts')}>
      <search>
        <form class="form in-line" onSubmit={search}>
          <Field label={t('Id, number, reference or receipt')} value={text} onInput={setText} required />
          <button type="submit" class="btn primary">
            {t('Find')}
          </button>
        </form>
      </search>
      {error && <Problem error={error} />}
      {found?.length === 0 && <p class="soft">{t('No records found.')}</p>}
      <ul class="lines" aria-label={t('Found')}>
        {found?.map((one) => (
          <li key={one.id}>
            <div>
              <p class="strong mono">{one.id}</p>
              <p class="soft">
                {t(kindOf(one.kind)[0])}, {one.account_name}, {words(one.environment)}, {ago(one.created_at)}
              </p>
            </div>
            <div class="row">
              {one.status && <Pill state={one.status} />}
              <button type="button" class="btn small" onClick={() => open(one)}>
                {t('Open {id}', { id: one.id })}
              </button>
            </div>
          </li>
        ))}
      </ul>
      {opened && (
        <OpenedThing
          id={opened.found.id}
          timeline={hasTimeline.test(opened.found.kind) ? `${pathOf(opened.found)}/timeline` : undefined}
          environment={opened.found.environment}
          body={opened.body}
        />
      )}
    </Card>
  )
}
