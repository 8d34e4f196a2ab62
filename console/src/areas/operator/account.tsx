// SPDX-License-Identifier: Apache-2.0
// One account as the operator sees it: what it is and has, putting money into it, a key of its own, and its records.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { operatorCreateApiKey, operatorCreditAccount, operatorGetAccount, operatorGetUsage } from '#sdk/operations.ts'
import type { OperatorAccountDetail } from '#sdk/schemas.ts'
import { api, currentEnvironment, type Environment } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Choice, Field, problemOf } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Ago, Card, Facts, Figures, NewKey, Nothing, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { ListPage } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, country, money, shortId, words } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { AccountForms } from './account-forms.tsx'
import { accountLists, accountPlace, deliveriesOf } from './account-lists.ts'
import { OpenedThing } from './opened.tsx'
import { type Thing, thingIn, things } from './things.ts'

interface AccountProps {
  id: string
}

/** Pages below the account's own: a list of it, and what a row of that list opens. */
export function AccountPages({ id, inner: list, deeper: [inner = '', delivery = ''] }: PageProps) {
  const lists = accountLists(id)
  const found = Object.hasOwn(lists, list) ? lists[list] : undefined
  if (!list) return <AccountPage id={id} />
  if (!found || (inner && list !== 'webhooks' && !thingIn(list)))
    return (
      <Nothing title={t('There is no such page')} isPage>
        {t('Use the navigation to find pages.')}
      </Nothing>
    )
  const crumbs = <Crumbs id={id} {...(inner ? { list, title: found.title } : {})} />
  const thing = thingIn(list)
  if (inner && thing) return <ThingPage id={inner} thing={thing(id, inner)} crumbs={crumbs} />
  if (delivery) return <ThingPage id={delivery} thing={things.deliveries(id, inner, delivery)} crumbs={crumbs} />
  return <ListPage {...(inner ? deliveriesOf(id, inner) : found)}>{crumbs}</ListPage>
}

function Crumbs({ id, list, title }: { id: string; list?: string; title?: string }) {
  return (
    <nav class="crumbs" aria-label={t('Breadcrumbs')}>
      <Link to="/operator/accounts">{t('Accounts')}</Link>
      <Icon name="right" />
      <Link to={accountPlace(id)} class="mono">
        {shortId(id)}
      </Link>
      {list && title && (
        <>
          <Icon name="right" />
          <Link to={`${accountPlace(id)}/${list}`}>{t(title)}</Link>
        </>
      )}
    </nav>
  )
}

function ThingPage({ id, thing, crumbs }: { id: string; thing: Thing; crumbs: ComponentChildren }) {
  const environment = currentEnvironment()
  const { value, error, reload } = useLoad<unknown>(id, () => thing.read({ environment }))
  return (
    <div class="page">
      {crumbs}
      <PageHead title={id} />
      {error && <Problem error={error} retry={reload} />}
      {!value && !error && <Waiting />}
      {value !== null && <OpenedThing id={id} timeline={thing.timeline} environment={environment} body={value} />}
    </div>
  )
}

function AccountPage({ id }: AccountProps) {
  const account = useLoad(id, () => operatorGetAccount(api, { id }))
  return (
    <Opened record={account}>
      {(value) => (
        <Detail
          in={['/operator/accounts', 'Accounts']}
          id={id}
          title={value.name}
          state={value.status}
          path={operatorGetAccount.at({ id })}
          raw={value}
        >
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Plan'), value.plan],
                [t('Country'), country(value.country)],
                [t('Created'), <Ago at={value.created_at} />],
              ]}
            />
          </Card>
          <Card title={t('Records')}>
            <p class="row">
              {Object.entries(accountLists(id)).map(([list, { title }]) => (
                <Link key={list} to={`${accountPlace(id)}/${list}`} class="btn small">
                  {t(title)}
                </Link>
              ))}
            </p>
          </Card>
          <Balances account={value} />
          <Used id={id} />
          <Credit account={value} onDone={account.reload} />
          <FirstKey id={id} />
          <AccountForms account={value} onDone={account.reload} />
        </Detail>
      )}
    </Opened>
  )
}

function Balances({ account: { wallets } }: { account: OperatorAccountDetail }) {
  return (
    <Card title={t('Balances')}>
      {wallets.length === 0 && <p class="soft">{t('Nothing yet')}</p>}
      {wallets.length > 0 && (
        <Figures
          names={['Environment', 'Balance', 'Reserved', 'Available']}
          rows={wallets.map(({ environment, currency, balance, held, available }) => ({
            name: words(environment),
            key: `${environment} ${currency}`,
            figures: [balance, held, available].map((value) => money(value, currency)),
          }))}
        />
      )}
    </Card>
  )
}

/** What the account asked for and paid in the last thirty days, by area. */
function Used({ id }: AccountProps) {
  const environment = currentEnvironment()
  const { value, error, reload } = useLoad(`usage ${id}`, () =>
    operatorGetUsage(api, { account_id: id, query: { environment, group_by: ['area'] } }),
  )
  const spent = (area: string | null): string =>
    value?.spend
      .filter((one) => one.area === area)
      .map(({ cost, currency }) => money(cost, currency))
      .join(', ') || '–'
  return (
    <Card title={t('Usage, the last 30 days')}>
      {error && <Problem error={error} retry={reload} />}
      {value?.rows.length === 0 && <p class="soft">{t('Nothing yet')}</p>}
      {value && value.rows.length > 0 && (
        <Figures
          names={['Area', 'Requests', 'Refused', 'Cost']}
          rows={value.rows.map(({ area, requests, errors }) => ({
            name: words(area ?? ''),
            key: area ?? '',
            figures: [count(requests), count(errors), spent(area)],
          }))}
        />
      )}
    </Card>
  )
}

/** Fields that a refusal is about where it does not name one itself. */
const fieldOfCode = { UNSUPPORTED_CURRENCY: 'currency', AMOUNT_TOO_HIGH: 'amount', DUPLICATE_REFERENCE: 'reference' }

function Credit({ account, onDone }: { account: OperatorAccountDetail; onDone(): unknown }) {
  const [amount, setAmount] = useState('')
  const [currency, setCurrency] = useState(account.currency)
  const [environment, setEnvironment] = useState<Environment>(currentEnvironment)
  const [reference, setReference] = useState('')
  const [done, setDone] = useState<string | null>(null)
  const { run, error } = useDoing()
  const submit = (event: Event): void => {
    event.preventDefault()
    setDone(null)
    run(async () => {
      const made = await operatorCreditAccount(api, {
        id: account.id,
        body: { amount, currency, environment, reference },
      })
      setDone(t('{amount} was credited.', { amount: money(made.amount, made.currency) }))
      setAmount('')
      setReference('')
      onDone()
    })
  }
  const problem = (field: string) => problemOf(error, field, fieldOfCode)
  const isOfField = ['amount', 'currency', 'reference'].some((field) => problem(field) !== undefined)
  return (
    <Card title={t('Credit the wallet')}>
      {error && !isOfField && <Problem error={error} />}
      {done && (
        <div class="callout good" role="status">
          <p>{done}</p>
        </div>
      )}
      <form class="form in-line" onSubmit={submit}>
        <Choice
          label={t('Environment')}
          value={environment}
          among={['test', 'live']}
          isRequired
          onChange={(wanted) => setEnvironment(wanted === 'live' ? 'live' : 'test')}
        />
        <Field label={t('Amount')} value={amount} onInput={setAmount} required problem={problem('amount')} />
        <Field label={t('Currency')} value={currency} onInput={setCurrency} required problem={problem('currency')} />
        <Field
          label={t('Reference')}
          value={reference}
          onInput={setReference}
          required
          hint={t('Such as the reference of the bank transfer; credited only once')}
          problem={problem('reference')}
        />
        <button type="submit" class="btn primary">
          {t('Add credit')}
        </button>
      </form>
    </Card>
  )
}

/** The secret is shown to the operator once, who hands it on. */
function FirstKey({ id }: AccountProps) {
  const [name, setName] = useState(t('First live key'))
  const [made, setMade] = useState<string | null>(null)
  const { run, error } = useDoing()
  const make = (event: Event): void => {
    event.preventDefault()
    run(async () => setMade((await operatorCreateApiKey(api, { id, body: { name, environment: 'live' } })).key))
  }
  const problem = problemOf(error, 'name')
  return (
    <Card title={t('Live key')}>
      {error && problem === undefined && <Problem error={error} />}
      {made && <NewKey secret={made} />}
      <form class="form in-line" onSubmit={make}>
        <Field label={t('Name')} value={name} onInput={setName} required problem={problem} />
        <button type="submit" class="btn primary">
          {t('Create live key')}
        </button>
      </form>
    </Card>
  )
}
