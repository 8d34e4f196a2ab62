// SPDX-License-Identifier: Apache-2.0
// One account as the operator sees it: what it is and has, putting money into it, a key of its own, and its records.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  operatorCreateApiKey,
  operatorCreditAccount,
  operatorGetAccount,
  operatorGetMessage,
  operatorGetPayment,
  operatorGetPayout,
} from '#sdk/operations.ts'
import type { OperatorAccountDetail } from '#sdk/schemas.ts'
import { api, currentEnvironment, type Environment, thingAt } from '../../api.ts'
import {
  Card,
  Choice,
  Facts,
  Field,
  Figures,
  NewKey,
  Nothing,
  PageHead,
  Pill,
  Problem,
  problemOf,
  Waiting,
} from '../../kit/kit.tsx'
import { ListPage, useConfirmed } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment, money, words } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { accountLists, accountPlace, deliveriesOf } from './account-lists.ts'
import { OpenedThing } from './opened.tsx'

interface AccountProps {
  id: string
  email: string
}

/** Paths of the records that have a page, by the list that leads to it. */
const things: Readonly<Record<string, (account_id: string, id: string) => string>> = {
  messages: (account_id, id) => operatorGetMessage.at({ account_id, id }),
  payments: (account_id, payment_id) => operatorGetPayment.at({ account_id, payment_id }),
  payouts: (account_id, payout_id) => operatorGetPayout.at({ account_id, payout_id }),
}

/** Pages below the account's own: a list of it, and what a row of that list opens. */
export function AccountPages({ id, email, list, inner }: AccountProps & { list: string; inner: string }) {
  const lists = accountLists(id)
  const found = Object.hasOwn(lists, list) ? lists[list] : undefined
  if (!list) return <AccountPage id={id} email={email} />
  if (!found || (inner && list !== 'webhooks' && !Object.hasOwn(things, list)))
    return <Nothing title={t('There is no such page')}>{t('The navigation leads to what there is.')}</Nothing>
  const crumbs = <Crumbs id={id} {...(inner ? { list, title: found.title } : {})} />
  const thing = things[list]
  if (inner && thing) return <ThingPage id={inner} path={thing(id, inner)} crumbs={crumbs} />
  return (
    <ListPage {...(inner ? deliveriesOf(id, inner) : found)} email={email}>
      {crumbs}
    </ListPage>
  )
}

function Crumbs({ id, list, title }: { id: string; list?: string; title?: string }) {
  return (
    <p class="crumbs">
      <Link to="/operator/accounts">{t('Accounts')}</Link> /{' '}
      <Link to={accountPlace(id)} class="mono">
        {id}
      </Link>
      {list && title && (
        <>
          {' '}
          / <Link to={`${accountPlace(id)}/${list}`}>{t(title)}</Link>
        </>
      )}
    </p>
  )
}

function ThingPage({ id, path, crumbs }: { id: string; path: string; crumbs: ComponentChildren }) {
  const environment = currentEnvironment()
  const { value, error, reload } = useLoad(path, () => thingAt<unknown>(path, { environment }))
  return (
    <div class="page">
      {crumbs}
      <PageHead title={id} />
      {error && <Problem error={error} retry={reload} />}
      {!value && !error && <Waiting />}
      {value !== null && <OpenedThing id={id} path={path} environment={environment} body={value} hasTimeline />}
    </div>
  )
}

function AccountPage({ id, email }: AccountProps) {
  const { value, error, reload } = useLoad(id, () => operatorGetAccount(api, { id }))
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/operator/accounts">{t('Accounts')}</Link> / <span class="mono">{value.id}</span>
      </p>
      <PageHead title={value.name}>
        <Pill state={value.status} />
      </PageHead>
      <Card title={t('Details')}>
        <Facts
          rows={[
            [t('Id'), <span class="mono">{value.id}</span>],
            [t('Plan'), value.plan],
            [t('Country'), value.country],
            [t('Since'), moment(value.created_at)],
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
      <Credit account={value} email={email} onDone={reload} />
      <FirstKey id={id} email={email} />
    </div>
  )
}

function Balances({ account: { wallets } }: { account: OperatorAccountDetail }) {
  return (
    <Card title={t('Balances')}>
      {wallets.length === 0 && <p class="soft">{t('Nothing yet')}</p>}
      {wallets.length > 0 && (
        <Figures
          names={['Environment', 'Balance', 'Set aside', 'Can be spent']}
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

/** Fields that a refusal is about where it does not name one itself. */
const fieldOfCode = { UNSUPPORTED_CURRENCY: 'currency', AMOUNT_TOO_HIGH: 'amount', DUPLICATE_REFERENCE: 'reference' }

function Credit({ account, email, onDone }: { account: OperatorAccountDetail; email: string; onDone(): void }) {
  const [amount, setAmount] = useState('')
  const [currency, setCurrency] = useState(account.currency)
  const [environment, setEnvironment] = useState<Environment>(currentEnvironment)
  const [reference, setReference] = useState('')
  const [done, setDone] = useState<string | null>(null)
  const { run, error, confirming } = useConfirmed(email)
  const submit = (event: Event): void => {
    event.preventDefault()
    setDone(null)
    run(async () => {
      const made = await operatorCreditAccount(api, {
        id: account.id,
        body: { amount, currency, environment, reference },
      })
      setDone(t('{amount} was put in.', { amount: money(made.amount, made.currency) }))
      setAmount('')
      setReference('')
      onDone()
    })
  }
  const problem = (field: string) => problemOf(error, field, fieldOfCode)
  const isOfField = ['amount', 'currency', 'reference'].some((field) => problem(field) !== undefined)
  return (
    <Card title={t('Put money into it')}>
      {error && !isOfField && <Problem error={error} />}
      {confirming}
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
          hint={t('Such as that of the bank transfer; it credits once')}
          problem={problem('reference')}
        />
        <button type="submit" class="btn primary">
          {t('Put it in')}
        </button>
      </form>
    </Card>
  )
}

/** The secret is shown to the operator once, who hands it on. */
function FirstKey({ id, email }: AccountProps) {
  const [name, setName] = useState(t('First live key'))
  const [made, setMade] = useState<string | null>(null)
  const { run, error, confirming } = useConfirmed(email)
  const make = (event: Event): void => {
    event.preventDefault()
    run(async () => setMade((await operatorCreateApiKey(api, { id, body: { name, environment: 'live' } })).key))
  }
  const problem = problemOf(error, 'name')
  return (
    <Card title={t('Live key')}>
      {error && problem === undefined && <Problem error={error} />}
      {confirming}
      {made && <NewKey secret={made} />}
      <form class="form in-line" onSubmit={make}>
        <Field label={t('Name')} value={name} onInput={setName} required problem={problem} />
        <button type="submit" class="btn primary">
          {t('Make a live key')}
        </button>
      </form>
    </Card>
  )
}
