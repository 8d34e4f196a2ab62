// SPDX-License-Identifier: Apache-2.0
// The console begins: who is signed in decides between the sign-in form and the shell with its pages.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import './style/tokens.css'
import './style/kit.css'
import './style/table.css'
import './style/over.css'
import './style/chart.css'
import './style/shell.css'
import './style/handset.css'
import './style/timeline.css'
import './style/calls.css'
import './style/inbox.css'
import { currentSession, type Session } from './api.ts'
import { SignIn } from './areas/accounts/sign-in.tsx'
import { Problem, Waiting } from './kit/kit.tsx'
import { tellTimesIn } from './kit/words.ts'
import { later } from './later.tsx'
import { Shell } from './shell.tsx'
import { applyTheme } from './theme.ts'
import { loadWords } from './words.ts'

const Join = later(() => import('./areas/team/join.tsx').then((all) => all.Join))
const Reset = later(() => import('./areas/accounts/reset.tsx').then((all) => all.Reset))
const Security = later(() => import('./areas/team/security.tsx').then((all) => all.Security))

type State = { is: 'asking' } | { is: 'out' } | { is: 'in'; session: Session } | { is: 'broken'; error: Error }

function Console() {
  const [state, setState] = useState<State>({ is: 'asking' })
  const enter = (session: Session): void => {
    tellTimesIn(session.account.timezone)
    setState({ is: 'in', session })
  }
  const ask = (): void => {
    currentSession().then(
      (session) => (session ? enter(session) : setState({ is: 'out' })),
      (error: Error) => setState({ is: 'broken', error }),
    )
  }
  useEffect(ask, [])
  if (isResetting) return <Reset />
  if (state.is === 'asking') return <Waiting />
  if (state.is === 'broken') return <Problem error={state.error} retry={ask} />
  if (state.is === 'in' && lacksFactor(state.session))
    return (
      <main class="content alone">
        <Security session={state.session} onDone={ask} />
      </main>
    )
  if (state.is === 'in') return <Shell session={state.session} />
  return isInvited ? <Join onSignedIn={enter} /> : <SignIn onSignedIn={enter} />
}

const isInvited = window.location.pathname === '/console/join'
const isResetting = window.location.pathname === '/console/reset'
const lacksFactor = ({ member }: Session): boolean => member.totp_required && !member.totp_enabled

applyTheme()
const place = document.getElementById('console')
if (place) void loadWords().then(() => render(<Console />, place))
