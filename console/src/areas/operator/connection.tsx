// SPDX-License-Identifier: Apache-2.0
// Pages of a connection: its list, the form that connects one, and its own page with its test, its settings and what can be done.
import { useEffect, useState } from 'preact/hooks'
import { operatorTestPaymentProvider } from '#sdk/operations.ts'
import type { ConnectionTest } from '#sdk/schemas.ts'
import { api, pageAt, thingAt } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { bodyOf, fieldFor, filledBy } from '../../kit/declared.ts'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { say } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { FormFields } from '../../kit/form.tsx'
import { Card, Facts, FiguresRow, NewKey, Nothing, PageHead, Pill, Problem } from '../../kit/kit.tsx'
import { ListPage, type Row, textOf, valueAt } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, country, words } from '../../kit/words.ts'
import { filterBy, go, Link, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'
import { type Asked, type Connection, connections, stateOf } from './connections.ts'

const placeOf = ({ slug }: Connection): string => `/operator/${slug}`
const at = ({ path }: Asked, id: string): string => path.replace(/\{\w+\}/, encodeURIComponent(id))

async function send({ method, path }: Asked, id: string, body?: object): Promise<Row> {
  const answer = await api.send(method, at({ method, path }, id), { body })
  const { data }: { data: Row } = await answer.json()
  return data
}

/** Pages below /operator/<slug>: the list, `new`, and one connection. */
export function ConnectionPages({ id }: PageProps) {
  const { path } = usePlace()
  const kind = connections.find((one) => path.split('/').includes(one.slug))
  if (!kind)
    return (
      <Nothing title={t('There is no such page')} isPage>
        {t('Use the navigation to find pages.')}
      </Nothing>
    )
  if (!id) return <ConnectionList kind={kind} />
  return id === 'new' ? <Connect kind={kind} /> : <ConnectionPage kind={kind} id={id} />
}

function ConnectionList({ kind }: { kind: Connection }) {
  const { title, connect, icon, advice, keyField, list, columns, change } = kind
  const place = placeOf(kind)
  return (
    <ListPage
      title={title}
      icon={icon}
      path={list.path}
      keyField={keyField}
      open={[`${place}/`, keyField]}
      columns={columns.map((column) =>
        column.field === '~state' ? { ...column, show: (row: Row) => <Pill state={stateOf(row) ?? 'new'} /> } : column,
      )}
      links={[{ to: `${place}/new`, name: connect }]}
      none={{ title: 'Nothing is connected yet', advice, to: `${place}/new`, action: connect }}
      actions={
        change
          ? [
              {
                name: 'Resume',
                shows: ({ enabled }) => enabled === false,
                run: (row) => send(change, textOf(row[keyField]), { enabled: true }),
              },
              {
                name: 'Pause',
                shows: ({ enabled }) => enabled === true,
                asks: (row) => pausing(kind, textOf(row[keyField])),
                run: (row) => send(change, textOf(row[keyField]), { enabled: false }),
              },
            ]
          : []
      }
    />
  )
}

function pausing({ paused }: Connection, name: string) {
  return {
    title: t('Pause {name}?', { name }),
    consequences: [...paused.map((one) => t(one)), t('It can be resumed at any time.')],
    action: t('Pause {name}', { name }),
    keep: t('Let it run'),
  }
}

/** The form begins with a preset, which fills in what is usual and hides the rest. */
function Connect({ kind }: { kind: Connection }) {
  const { presets, fields, create, connect, title, keyField, shownOnce, test } = kind
  const [chosen, setChosen] = useState(presets[0]?.name ?? '')
  const [secret, setSecret] = useState<string | null>(null)
  const preset = presets.find(({ name }) => name === chosen)
  const own = fields.filter((field) => preset?.only?.(field) ?? true)
  const shown = own.filter(({ name }) => name !== 'kind')
  const main = (name: string): boolean => preset?.main.includes(name) ?? true
  const sorted = [...shown].sort((a, b) => rank(preset?.main, a.name) - rank(preset?.main, b.name))
  return (
    <div class="page">
      <nav class="crumbs" aria-label={t('Breadcrumbs')}>
        <Link to={placeOf(kind)}>{t(title)}</Link>
      </nav>
      <PageHead title={connect} />
      {secret && <NewKey secret={secret} />}
      {presets.length > 1 && (
        <fieldset class="tiles">
          <legend class="hidden">{t('Preset')}</legend>
          {presets.map(({ name }) => (
            <label key={name} class="tile">
              <input type="radio" name="preset" checked={name === chosen} onChange={() => setChosen(name)} />
              {words(name)}
            </label>
          ))}
        </fieldset>
      )}
      <Card title={t('Settings')}>
        <p class="soft">{t('Filled in from the preset. The connection is tested once it is created.')}</p>
        <FormFields
          key={chosen}
          initial={preset?.values ?? {}}
          form={{
            title: connect,
            action: 'Connect',
            fields: sorted.map((field) =>
              fieldFor(
                {
                  ...field,
                  isRequired:
                    field.isRequired || (preset?.main.includes(field.name) === true && field.needs !== undefined),
                },
                { isMore: !main(field.name) },
              ),
            ),
            make: async (filled) => {
              const made = await send(create, '', bodyOf(fields, filled))
              const shownNow = shownOnce === undefined ? '' : textOf(made[shownOnce])
              if (shownNow === '') go(`${placeOf(kind)}/${textOf(made[keyField])}${test ? '?test=now' : ''}`)
              say(t('Done: {name}', { name: t(connect) }))
              return shownNow || null
            },
          }}
          onMade={setSecret}
        />
      </Card>
    </div>
  )
}

const rank = (order: readonly string[] = [], name: string): number =>
  order.includes(name) ? order.indexOf(name) : order.length

/** One connection; a kind without a page of its own in the API is found in its list. */
async function read({ get, list, keyField }: Connection, id: string): Promise<Row> {
  if (get) return thingAt<Row>(at(get, id))
  const { data } = await pageAt<Row>(list.path, {})
  const found = data.find((row) => row[keyField] === id)
  if (!found) throw new Error(t('There is no such page'))
  return found
}

function ConnectionPage({ kind, id }: { kind: Connection; id: string }) {
  const record = useLoad(`${kind.slug} ${id}`, () => read(kind, id))
  const { test, change, remove, title, get, list, figures } = kind
  const testing = useDoing()
  const [result, setResult] = useState<ConnectionTest | null>(null)
  const tried = (asked: Asked): void =>
    testing.run(async () => {
      setResult(null)
      const answer = await api.send(operatorTestPaymentProvider.method, at(asked, id))
      const { data }: { data: ConnectionTest } = await answer.json()
      setResult(data)
      await record.reload()
    })
  const { query } = usePlace()
  const isNew = test !== undefined && query.get('test') === 'now'
  useEffect(() => {
    if (!isNew) return
    filterBy({})
    tried(test)
  }, [isNew])
  return (
    <Opened record={record}>
      {(value) => (
        <Detail
          in={[placeOf(kind), title]}
          id={id}
          title={textOf(value.name ?? '') || `${words(textOf(value.provider))} ${textOf(value.country)}`}
          state={stateOf(value)}
          deeds={deedsOf(kind, id, value)}
          onDone={record.reload}
          path={get ? at(get, id) : list.path}
          raw={value}
        >
          {typeof value.last_error === 'string' && (
            <div class="callout bad">
              <p>{value.last_error}</p>
            </div>
          )}
          {figures && (
            <FiguresRow
              figures={figures.map(([name, field]) => [t(name), count(Number(valueAt(value, field) ?? 0))])}
            />
          )}
          {test && (
            <Card
              title={t('Connection')}
              action={
                <button type="button" class="btn primary" disabled={testing.isBusy} onClick={() => tried(test)}>
                  {testing.isBusy ? t('Testing…') : t('Test the connection')}
                </button>
              }
            >
              {testing.error && <Problem error={testing.error} />}
              {result ? (
                <Steps result={result} />
              ) : (
                <p class="soft">{t('Tests the name, TLS, sign-in and response. Free of charge.')}</p>
              )}
            </Card>
          )}
          <Settings kind={kind} value={value} />
          {change && (
            <Change
              key={textOf(value.updated_at)}
              kind={kind}
              id={id}
              value={value}
              change={change}
              onDone={record.reload}
            />
          )}
        </Detail>
      )}
    </Opened>
  )

  function deedsOf({ paused }: Connection, name: string, { enabled }: Row): readonly Deed[] {
    const pause: Deed[] =
      change && typeof enabled === 'boolean'
        ? [
            enabled
              ? {
                  name: 'Pause',
                  icon: 'pause',
                  asks: pausing(kind, name),
                  run: () => send(change, id, { enabled: false }),
                }
              : { name: 'Resume', icon: 'play', run: () => send(change, id, { enabled: true }) },
          ]
        : []
    const removing: Deed = {
      name: 'Remove',
      isDanger: true,
      icon: 'trash',
      asks: {
        title: t('Remove {name}?', { name }),
        consequences: [
          ...kind.removed.map((one) => t(one)),
          ...(paused.length > 0 ? [t('It cannot be restored.')] : []),
        ],
        type: name,
        action: t('Remove {name}', { name }),
        keep: t('Keep it'),
      },
      run: () => send(remove, id),
      leadsTo: placeOf(kind),
    }
    return [...pause, removing]
  }
}

/** What a test found, step by step. */
function Steps({ result: { is_good, steps } }: { result: ConnectionTest }) {
  return (
    <div role="status">
      <p class="strong">{is_good ? t('The connection works.') : t('The connection does not work.')}</p>
      <ol class="lines">
        {steps.map(({ name, status, detail, remedy, duration_ms }) => (
          <li key={name}>
            <div>
              <p class="strong">{t(stepWords[name] ?? name)}</p>
              <p class={status === 'skipped' ? 'soft' : ''} dir="auto">
                {detail}
              </p>
              {remedy && <p>{t(remedy)}</p>}
            </div>
            <span>
              <Pill state={stepLooks[status]} word={words(status)} />{' '}
              {status === 'skipped' ? '' : `${count(duration_ms)} ms`}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}

const stepLooks = { passed: 'succeeded', failed: 'failed', skipped: 'off' } as const

const stepWords: Readonly<Record<string, string>> = {
  name: 'Name of the host',
  connection: 'Connection',
  tls: 'TLS',
  sign_in: 'Sign-in',
  answer: 'Answer',
}

function Settings({ kind: { fields }, value }: { kind: Connection; value: Row }) {
  const shown = filledBy(fields, value)
  const rows = fields
    .filter(({ name, isLong, as }) => shown[name] !== undefined && !isLong && as !== 'json')
    .map(
      ({ name, as }) =>
        [
          words(name),
          name === 'country'
            ? country(shown[name] ?? '')
            : as === 'flag' || as === 'choice'
              ? words(shown[name] ?? '')
              : shown[name],
        ] as const,
    )
  return (
    <Card title={t('Settings')}>
      <Facts rows={rows.map(([label, text]) => [label, text])} />
    </Card>
  )
}

/** Every setting that can be changed; a secret is kept unless another is written. */
function Change({
  kind: { fields },
  id,
  value,
  change,
  onDone,
}: {
  kind: Connection
  id: string
  value: Row
  change: Asked
  onDone(): unknown
}) {
  const provider = textOf(value.provider)
  const fixed = ['name', 'kind', 'provider', 'environment', ...(provider ? ['country'] : []), 'enabled']
  const own = fields.filter(({ name, needs, pays }) => {
    if (fixed.includes(name)) return false
    if (needs) return needs.includes(provider) || pays?.includes(provider) === true
    return value.kind === 'http' ? ['password', 'profile', 'rate', 'window'].includes(name) : name !== 'profile'
  })
  const before = filledBy(own, value)
  return (
    <details class="card making">
      <summary>{t('Change the settings')}</summary>
      <FormFields
        initial={before}
        form={{
          title: 'Change the settings',
          action: 'Save the changes',
          fields: own.map((field, i) => fieldFor(field, { isMore: i >= 8 && !field.isSecret, isChange: true })),
          make: async (filled) => {
            await send(change, id, bodyOf(own, filled, before))
            say(t('Done: {name}', { name: t('Change the settings') }))
            return null
          },
        }}
        onMade={onDone}
      />
    </details>
  )
}
