// SPDX-License-Identifier: Apache-2.0
// Frame of every page: the top with the environment, the navigation, the page itself, and the phone beside it in test.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { currentEnvironment, type Environment, type Session, signOut, useEnvironment } from './api.ts'
import { Keys } from './areas/accounts/keys.tsx'
import { Requests } from './areas/accounts/requests.tsx'
import { Sessions } from './areas/accounts/sessions.tsx'
import { Overview } from './areas/overview/overview.tsx'
import { PaymentPage } from './areas/payments/payment.tsx'
import { Payments } from './areas/payments/payments.tsx'
import { MessagePage } from './areas/sms/message.tsx'
import { Messages } from './areas/sms/messages.tsx'
import { Phone } from './areas/sms/phone.tsx'
import { Send } from './areas/sms/send.tsx'
import { Deliveries } from './areas/webhooks/deliveries.tsx'
import { Webhooks } from './areas/webhooks/webhooks.tsx'
import { Mark, Nothing } from './kit/kit.tsx'
import { follow } from './live.ts'
import { Link, usePlace } from './place.tsx'
import { switchTheme } from './theme.ts'

const navigation: readonly [group: string, pages: readonly [path: string, name: string][]][] = [
  ['', [['/', 'Overview']]],
  [
    'Talk',
    [
      ['/messages', 'Messages'],
      ['/send', 'Send a text'],
    ],
  ],
  ['Money', [['/payments', 'Payments']]],
  [
    'Build',
    [
      ['/webhooks', 'Webhooks'],
      ['/requests', 'Requests'],
      ['/keys', 'Keys'],
      ['/sessions', 'Sessions'],
    ],
  ],
]

/** First part of the path -> the page; the second part is an id. */
const pages: Readonly<Record<string, (id: string, session: Session) => VNode>> = {
  '': (_id, session) => <Overview account={session.account} />,
  messages: (id) => (id ? <MessagePage id={id} /> : <Messages />),
  send: () => <Send />,
  payments: (id) => (id ? <PaymentPage id={id} /> : <Payments />),
  webhooks: (id) => (id ? <Deliveries id={id} /> : <Webhooks />),
  requests: () => <Requests />,
  keys: (_id, session) => <Keys email={session.member.email} />,
  sessions: () => <Sessions />,
}

export function Shell({ session }: { session: Session }) {
  const { path } = usePlace()
  const [environment, setEnvironment] = useState<Environment>(currentEnvironment)
  const [isConnected, setIsConnected] = useState(true)
  const [isPhoneOpen, setIsPhoneOpen] = useState(() => window.innerWidth >= 1200)
  useEffect(() => follow(setIsConnected), [environment])
  useEffect(() => {
    document.documentElement.dataset.env = environment
  }, [environment])
  const [, first = '', id = ''] = path.split('/')
  const page = Object.hasOwn(pages, first) ? pages[first] : undefined
  const change = (wanted: Environment): void => {
    useEnvironment(wanted)
    setEnvironment(wanted)
  }
  const hasPhone = environment === 'test' && isPhoneOpen
  return (
    <div class={hasPhone ? 'app with-phone' : 'app'}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Top
        email={session.member.email}
        environment={environment}
        onEnvironment={change}
        isPhoneOpen={isPhoneOpen}
        onPhone={() => setIsPhoneOpen(!isPhoneOpen)}
      />
      <nav class="nav" aria-label="Pages">
        <p class="account">{session.account.name}</p>
        {navigation.map(([group, entries]) => (
          <div key={group}>
            {group && <h2>{group}</h2>}
            <ul>
              {entries.map(([to, name]) => (
                <li key={to}>
                  <Link to={to} isCurrent={`/${first}` === to}>
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <p class="foot" role="status">
          {isConnected ? 'Live, connected' : 'Not connected; trying again'}
        </p>
      </nav>
      {/* Whatever a page keeps is of one environment. */}
      <main id="main" class="content" key={`${environment} ${path}`} tabIndex={-1}>
        {page ? (
          page(id, session)
        ) : (
          <Nothing title="There is no such page">The navigation leads to what there is.</Nothing>
        )}
      </main>
      {hasPhone && <Phone />}
    </div>
  )
}

interface TopProps {
  email: string
  environment: Environment
  onEnvironment(environment: Environment): void
  isPhoneOpen: boolean
  onPhone(): void
}

function Top({ email, environment, onEnvironment, isPhoneOpen, onPhone }: TopProps) {
  const leave = (): void => {
    void signOut().then(() => window.location.reload())
  }
  return (
    <header class="top">
      <Link to="/" class="brand">
        <Mark />
        Pamoja
      </Link>
      <div class="right">
        <fieldset class="segments env">
          <legend class="hidden">Environment</legend>
          {(['test', 'live'] as const).map((one) => (
            <button
              key={one}
              type="button"
              data-value={one}
              aria-pressed={environment === one}
              onClick={() => onEnvironment(one)}
            >
              {one === 'test' ? 'Test' : 'Live'}
            </button>
          ))}
        </fieldset>
        {environment === 'test' && (
          <button type="button" class="btn quiet" aria-pressed={isPhoneOpen} onClick={onPhone}>
            Phone
          </button>
        )}
        <button type="button" class="btn quiet" onClick={switchTheme}>
          Light or dark
        </button>
        <button type="button" class="btn quiet" onClick={leave} title={email}>
          Sign out
        </button>
      </div>
    </header>
  )
}
