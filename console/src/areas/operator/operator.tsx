// SPDX-License-Identifier: Apache-2.0
// Overview for operators: one search over all accounts, and nodes, queues, carriers and providers at a glance.
import { useState } from 'preact/hooks'
import { operatorListSmsBinds, operatorSearch, operatorSystem } from '#sdk/operations.ts'
import type { FoundThing, System } from '#sdk/schemas.ts'
import { api, thingAt } from '../../api.ts'
import { Card, Field, Figures, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, moment } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { OpenedThing } from './opened.tsx'

export function OperatorHome() {
  const system = useLoad('system', () => operatorSystem(api))
  const carriers = useLoad('binds', () => operatorListSmsBinds(api))
  return (
    <div class="page">
      <PageHead title={t('Installation')} {...(system.value ? { note: system.value.version } : {})}>
        <button type="button" class="btn" onClick={system.reload}>
          {t('Look again')}
        </button>
      </PageHead>
      <OperatorSearch />
      {system.error && <Problem error={system.error} retry={system.reload} />}
      {!system.value && !system.error && <Waiting />}
      {carriers.value && (
        <Card title={t('Carriers')} action={<Link to="/operator/carriers">{t('All carriers')}</Link>}>
          {carriers.value.data.length === 0 && <p class="soft">{t('Nothing yet')}</p>}
          <p class="row">
            {carriers.value.data.map(({ name, is_up }) => (
              <span key={name}>
                <span class="mono">{name}</span> <Pill state={is_up ? 'active' : 'failed'} />
              </span>
            ))}
          </p>
        </Card>
      )}
      {system.value && <Nodes system={system.value} />}
    </div>
  )
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
              <span class="soft">{t('seen {time}', { time: moment(node.seen_at) })}</span>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={t('Queues')} action={<Link to="/operator/failed">{t('Failed work')}</Link>}>
        <Figures
          names={['Queue', 'Due', 'Running', 'For later', 'Failed']}
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
    <Card title={t('Find anything of any account')}>
      <search>
        <form class="form in-line" onSubmit={search}>
          <Field label={t('Id, number, reference or receipt')} value={text} onInput={setText} required />
          <button type="submit" class="btn primary">
            {t('Find')}
          </button>
        </form>
      </search>
      {error && <Problem error={error} />}
      {found?.length === 0 && <p class="soft">{t('Nobody has anything like that.')}</p>}
      <ul class="lines" aria-label={t('Found')}>
        {found?.map((one) => (
          <li key={one.id}>
            <div>
              <p class="strong mono">{one.id}</p>
              <p class="soft">
                {one.kind}, {one.account_name}, {one.environment}, {moment(one.created_at)}
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
          path={pathOf(opened.found)}
          environment={opened.found.environment}
          body={opened.body}
          hasTimeline={['message', 'payment', 'payout'].includes(opened.found.kind)}
        />
      )}
    </Card>
  )
}
