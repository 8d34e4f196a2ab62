// SPDX-License-Identifier: Apache-2.0
// Frame of every page: the top with the environment, the navigation, the page itself, and the phone beside it in test.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { currentEnvironment, type Environment, may, ofConsole, type Session, useEnvironment } from './api.ts'
import { Keys } from './areas/accounts/keys.tsx'
import { Requests } from './areas/accounts/requests.tsx'
import { Sessions } from './areas/accounts/sessions.tsx'
import { UsagePage } from './areas/accounts/usage.tsx'
import { AccountPages } from './areas/operator/account.tsx'
import { operatorLists } from './areas/operator/lists.ts'
import { OperatorHome } from './areas/operator/operator.tsx'
import { Overview } from './areas/overview/overview.tsx'
import { AskForPayment } from './areas/payments/ask.tsx'
import { PaymentPage } from './areas/payments/payment.tsx'
import { Payments } from './areas/payments/payments.tsx'
import { PayoutPage } from './areas/payments/payout.tsx'
import { RulePage } from './areas/payments/rule.tsx'
import { MessagePage } from './areas/sms/message.tsx'
import { Messages } from './areas/sms/messages.tsx'
import { Send } from './areas/sms/send.tsx'
import { Security } from './areas/team/security.tsx'
import { Team } from './areas/team/team.tsx'
import { Deliveries } from './areas/webhooks/deliveries.tsx'
import { DeliveryPage } from './areas/webhooks/delivery.tsx'
import { Webhooks } from './areas/webhooks/webhooks.tsx'
import { Mark, Nothing } from './kit/kit.tsx'
import { ListPage } from './kit/list-page.tsx'
import { lists } from './lists.ts'
import { follow } from './live.ts'
import { Phone, Phones } from './phone/phone.tsx'
import { Link, usePlace } from './place.tsx'
import { Search } from './search.tsx'
import { switchTheme } from './theme.ts'
import { chooseLanguage, currentLanguage, languages, t } from './words.ts'

/** `scope` is what the page takes; without it, it is everybody's. */
type Entry = readonly [path: string, name: string, scope?: string]

const navigation: readonly [group: string, pages: readonly Entry[]][] = [
  ['', [['/', 'Overview']]],
  [
    'Talk',
    [
      ['/messages', 'Messages', 'sms:read'],
      ['/send', 'Send a text', 'sms:write'],
      ['/chats', 'Chats', 'messenger:read'],
      ['/emails', 'Emails', 'email:read'],
      ['/ussd', 'USSD sessions', 'ussd:read'],
      ['/senders', 'Senders', 'sms:read'],
    ],
  ],
  [
    'Money',
    [
      ['/payments', 'Payments', 'payments:read'],
      ['/ask', 'Ask for a payment', 'payments:write'],
      ['/refunds', 'Refunds', 'payments:read'],
      ['/payouts', 'Payouts', 'payouts:read'],
      ['/disputes', 'Disputes', 'payments:read'],
      ['/wallet', 'Wallet and ledger', 'wallet:read'],
      ['/invoices', 'Invoices', 'billing:read'],
      ['/subscriptions', 'Subscriptions', 'billing:read'],
      ['/rules', 'Fraud rules', 'fraud:read'],
      ['/identity', 'Identity checks', 'identity:read'],
    ],
  ],
  [
    'Build',
    [
      ['/webhooks', 'Webhooks', 'webhooks:read'],
      ['/events', 'Events', 'events:read'],
      ['/requests', 'Requests', 'logs:read'],
      ['/keys', 'Keys', 'keys:read'],
      ['/usage', 'Usage and limits', 'account:read'],
      ['/phones', 'Phones', 'sandbox:write'],
    ],
  ],
  [
    'People',
    [
      ['/team', 'Team', 'team:read'],
      ['/security', 'Second factor'],
      ['/sessions', 'Sessions'],
      ['/audit', 'Audit log', 'account:read'],
    ],
  ],
]

const operatorNavigation: readonly [group: string, pages: readonly Entry[]] = [
  'Installation',
  [
    ['/operator', 'Installation'],
    ...Object.entries(operatorLists).map(([path, { title }]): Entry => [`/operator/${path}`, title]),
  ],
]

/** First part of the path -> the page; the second part is an id, a third one the id of something inside. */
const pages: Readonly<Record<string, (id: string, session: Session, inner: string) => VNode>> = {
  '': (_id, session) => <Overview session={session} />,
  messages: (id) => (id ? <MessagePage id={id} /> : <Messages />),
  send: () => <Send />,
  payments: (id) => (id ? <PaymentPage id={id} /> : <Payments />),
  ask: (_id, session) => <AskForPayment currency={session.account.currency} />,
  webhooks: (id, _session, inner) =>
    inner ? <DeliveryPage webhook={id} id={inner} /> : id ? <Deliveries id={id} /> : <Webhooks />,
  requests: () => <Requests />,
  keys: (_id, session) => <Keys email={session.member.email} />,
  sessions: () => <Sessions />,
  usage: () => <UsagePage />,
  phones: () => <Phones />,
  team: (_id, session) => <Team email={session.member.email} />,
  security: (_id, session) => <Security session={session} />,
}

function pageOf(first: string, id: string, inner: string, deeper: readonly string[], session: Session): VNode {
  const { email, operator } = session.member
  const [, , scope] = navigation.flatMap(([, entries]) => entries).find(([path]) => path === `/${first}`) ?? []
  if (scope && !may(scope))
    return (
      <Nothing title={t('Your role does not open this page')}>{t('An owner of the account can change that.')}</Nothing>
    )
  if (first === 'rules' && id) return <RulePage id={id} />
  if (first === 'payouts' && id) return <PayoutPage id={id} />
  const list = Object.hasOwn(lists, first) ? lists[first] : undefined
  if (list) return <ListPage {...list} email={email} />
  const page = Object.hasOwn(pages, first) ? pages[first] : undefined
  if (page) return page(id, session, inner)
  if (first === 'operator' && operator) {
    const [list = '', record = ''] = deeper
    if (id === 'accounts' && inner) return <AccountPages id={inner} email={email} list={list} inner={record} />
    const found = Object.hasOwn(operatorLists, id) ? operatorLists[id] : undefined
    if (found) return <ListPage {...found} email={email} />
    if (!id) return <OperatorHome />
  }
  return <Nothing title={t('There is no such page')}>{t('The navigation leads to what there is.')}</Nothing>
}

export function Shell({ session }: { session: Session }) {
  const { path } = usePlace()
  const [environment, setEnvironment] = useState<Environment>(currentEnvironment)
  const [isConnected, setIsConnected] = useState(true)
  const [isPhoneOpen, setIsPhoneOpen] = useState(() => window.innerWidth >= 1200)
  const [isNavOpen, setIsNavOpen] = useState(false)
  useEffect(() => setIsNavOpen(false), [path])
  useEscape(isNavOpen, () => setIsNavOpen(false))
  const isNarrow = useNarrow()
  const mayFollow = may('events:read')
  useEffect(() => (mayFollow ? follow(setIsConnected) : undefined), [environment, mayFollow])
  useEffect(() => {
    document.documentElement.dataset.env = environment
  }, [environment])
  const [, first = '', id = '', inner = '', ...deeper] = path.split('/')
  const [isSearching, setIsSearching] = useState(false)
  useShortcut(() => setIsSearching(true))
  const groups = groupsOf(session)
  const change = (wanted: Environment): void => {
    useEnvironment(wanted)
    setEnvironment(wanted)
  }
  const mayPhone = environment === 'test' && may('sandbox:write')
  const hasPhone = mayPhone && isPhoneOpen && first !== 'phones'
  return (
    <div class={hasPhone ? 'app with-phone' : 'app'}>
      <a class="skip" href="#main">
        {t('Skip to the page')}
      </a>
      <Top
        environment={environment}
        onEnvironment={change}
        hasPhone={mayPhone}
        isPhoneOpen={isPhoneOpen}
        onPhone={() => setIsPhoneOpen(!isPhoneOpen)}
        onSearch={() => setIsSearching(true)}
        isNavOpen={isNavOpen}
        onNav={() => setIsNavOpen(!isNavOpen)}
        email={session.member.email}
        isNarrow={isNarrow}
      />
      {isSearching && <Search pages={groups.flatMap(([, entries]) => entries)} onClose={() => setIsSearching(false)} />}
      <nav id="pages" class={isNavOpen ? 'nav open' : 'nav'} aria-label={t('Pages')}>
        <p class="account">{session.account.name}</p>
        {groups.map(([group, entries]) => (
          <div key={group}>
            {group && <h2>{t(group)}</h2>}
            <ul>
              {entries.map(([to, name]) => (
                <li key={to}>
                  <Link to={to} isCurrent={isAt(path, to)}>
                    {t(name)}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        {mayFollow && (
          <p class="foot" role="status">
            {isConnected ? t('Live, connected') : t('Not connected; trying again')}
          </p>
        )}
        {isNarrow && (
          <div class="settings">
            <LanguageChoice />
            <ThemeAndLeave email={session.member.email} />
          </div>
        )}
      </nav>
      {/* Whatever a page keeps is of one environment. */}
      <main id="main" class="content" key={`${environment} ${path}`} tabIndex={-1}>
        {pageOf(first, id, inner, deeper, session)}
      </main>
      {hasPhone && <Phone />}
    </div>
  )
}

/** Pages that the member's role may open. */
function groupsOf(session: Session): readonly (readonly [group: string, pages: readonly Entry[]])[] {
  const allowed = navigation
    .map(([group, entries]) => [group, entries.filter(([, , scope]) => !scope || may(scope))] as const)
    .filter(([, entries]) => entries.length > 0)
  return session.member.operator ? [...allowed, operatorNavigation] : allowed
}

/** A record belongs to its list; lists of the operator are not below their overview. */
function isAt(path: string, to: string): boolean {
  return path === to || (to !== '/' && to !== '/operator' && path.startsWith(`${to}/`))
}

/** Ctrl K and Command K anywhere; the slash where nothing is typed into. */
function useShortcut(then: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      const isWanted = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping)
      if (!isWanted) return
      event.preventDefault()
      then()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}

/** Windows as narrow as a phone, as in style/shell.css: the top keeps what is needed at once, the rest is in the menu. */
const narrow = window.matchMedia('(max-width: 47.99rem)')

function useNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(narrow.matches)
  useEffect(() => {
    const change = (): void => setIsNarrow(narrow.matches)
    narrow.addEventListener('change', change)
    return () => narrow.removeEventListener('change', change)
  }, [])
  return isNarrow
}

function useEscape(isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [isOpen])
}

interface TopProps {
  environment: Environment
  onEnvironment(environment: Environment): void
  hasPhone: boolean
  isPhoneOpen: boolean
  onPhone(): void
  onSearch(): void
  /** Whether the navigation is open; on a phone it is shown when it is asked for. */
  isNavOpen: boolean
  onNav(): void
  email: string
  isNarrow: boolean
}

function Top(props: TopProps) {
  const { environment, onEnvironment, hasPhone, isPhoneOpen, onPhone, onSearch, isNavOpen, onNav, email, isNarrow } =
    props
  return (
    <header class="top">
      <button type="button" class="btn quiet to-nav" aria-expanded={isNavOpen} aria-controls="pages" onClick={onNav}>
        <Icon path={isNavOpen ? 'M6 6l12 12M18 6L6 18' : 'M4 7h16M4 12h16M4 17h16'} />
        <span class="word">{t('Pages')}</span>
      </button>
      <Link to="/" class="brand">
        <Mark />
        <span class="word">Pamoja</span>
      </Link>
      <div class="right">
        <button type="button" class="btn quiet" onClick={onSearch} aria-keyshortcuts="Control+K">
          <Icon path="M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14M16 16l4.5 4.5" />
          <span class="word">{t('Search')}</span>
        </button>
        {!isNarrow && <LanguageChoice />}
        <fieldset class="segments env">
          <legend class="hidden">{t('Environment')}</legend>
          {(['test', 'live'] as const).map((one) => (
            <button
              key={one}
              type="button"
              data-value={one}
              aria-pressed={environment === one}
              onClick={() => onEnvironment(one)}
            >
              {one === 'test' ? t('Test') : t('Live')}
            </button>
          ))}
        </fieldset>
        {hasPhone && (
          <button type="button" class="btn quiet" aria-pressed={isPhoneOpen} onClick={onPhone}>
            <Icon path="M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM11 18h2" />
            <span class="word">{t('Phone')}</span>
          </button>
        )}
        {!isNarrow && <ThemeAndLeave email={email} />}
      </div>
    </header>
  )
}

/** Drawing in place of a word where there is no room for it; the word stays for those who listen. */
function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}

// What is rarely changed: in the top, and on a phone at the end of the menu.

function LanguageChoice() {
  return (
    <>
      <label class="hidden" for="language">
        {t('Language')}
      </label>
      <select
        id="language"
        class="btn quiet"
        value={currentLanguage()}
        onChange={(event) => chooseLanguage(event.currentTarget.value)}
      >
        {Object.entries(languages).map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
    </>
  )
}

function ThemeAndLeave({ email }: { email: string }) {
  const leave = (): void => {
    void ofConsole('POST', 'logout', {}).then(() => window.location.reload())
  }
  return (
    <>
      <button type="button" class="btn quiet" onClick={switchTheme}>
        {t('Light or dark')}
      </button>
      <button type="button" class="btn quiet" onClick={leave} title={email}>
        {t('Sign out')}
      </button>
    </>
  )
}
