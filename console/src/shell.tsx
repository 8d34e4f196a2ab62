// SPDX-License-Identifier: Apache-2.0
// Frame of every page: the top with search, test clock and environment, the navigation, the page itself, the phone beside it in
// test, and on a phone five tabs at the bottom.
import { useEffect, useState } from 'preact/hooks'
import { currentEnvironment, type Environment, may, type Session, useEnvironment } from './api.ts'
import { useShortcuts } from './keyboard.tsx'
import { Dialogs } from './kit/dialogs.tsx'
import { Interruptions } from './kit/interruptions.tsx'
import { later } from './later.tsx'
import { follow } from './live.ts'
import { Navigation, Tabs, visibleEntries } from './navigation.tsx'
import { calling } from './phone/number.ts'
import { go, usePlace } from './place.tsx'
import { AbovePages, PageAt } from './router.tsx'
import { Search } from './search.tsx'
import { titleAccount } from './title.ts'
import { Top } from './top.tsx'
import { useWaiting } from './waiting.ts'
import { t } from './words.ts'

const KeyboardHelp = later(() => import('./keyboard-help.tsx').then((all) => all.KeyboardHelp))
const Phone = later(() => import('./phone/phone.tsx').then((all) => all.Phone))

/** What stands over the page. */
type Over = 'search' | 'keys' | null

const roomForPhone = '(min-width: 75rem)'

export function Shell({ session }: { session: Session }) {
  const { path } = usePlace()
  const isOperating = path.startsWith('/operator')
  const [environment, setEnvironment] = useState<Environment>(currentEnvironment)
  const [isPhoneOpen, setIsPhoneOpen] = useState(() => window.matchMedia(roomForPhone).matches)
  const [isNavOpen, setIsNavOpen] = useState(false)
  const [over, setOver] = useState<Over>(null)
  titleAccount(session.account.name)
  useEffect(() => setIsNavOpen(false), [path])
  const mayFollow = may('events:read')
  useEffect(() => (mayFollow ? follow() : undefined), [environment, mayFollow])
  useEffect(() => {
    document.documentElement.dataset.env = isOperating ? 'operator' : environment
  }, [environment, isOperating])
  const change = (wanted: Environment): void => {
    useEnvironment(wanted)
    setEnvironment(wanted)
  }
  useWaiting(environment, isOperating)
  const mayPhone = environment === 'test' && may('sandbox:write') && !isOperating
  const hasPhone = mayPhone && isPhoneOpen && path !== '/phones'
  // The phone stands beside the page only where there is room for both.
  useEffect(() => {
    const room = window.matchMedia(roomForPhone)
    const follow = (): void => setIsPhoneOpen(room.matches)
    room.addEventListener('change', follow)
    return () => room.removeEventListener('change', follow)
  }, [])
  useEffect(() => calling.listen(() => setIsPhoneOpen(true)), [])
  const entries = visibleEntries(session, isOperating)
  // Whose role has no overview begins at the desk, or with the first page that it has.
  const first = (entries.find(({ to }) => to === '/desk') ?? entries[0])?.to ?? '/'
  useEffect(() => {
    if (path === '/' && !may('account:read')) go(first)
  }, [path, first])
  useShortcuts({
    search: () => setOver('search'),
    help: () => setOver('keys'),
    phone: () => setIsPhoneOpen(!isPhoneOpen),
    environment: () => change(environment === 'test' ? 'live' : 'test'),
    close: () => setIsNavOpen(false),
    send: () => may('sms:write') && go('/send'),
    entries,
  })
  return (
    <div class={hasPhone ? 'app with-phone' : 'app'}>
      <a class="skip" href="#main">
        {t('Skip to the page')}
      </a>
      <Top
        session={session}
        environment={environment}
        onEnvironment={change}
        isOperating={isOperating}
        {...(mayPhone ? { phone: { isOpen: isPhoneOpen, toggle: () => setIsPhoneOpen(!isPhoneOpen) } } : {})}
        onSearch={() => setOver('search')}
        onKeys={() => setOver('keys')}
      />
      <Navigation session={session} isOpen={isNavOpen} isOperating={isOperating} entries={entries} />
      {/* Whatever a page keeps is of one environment. */}
      <main id="main" class="content" key={`${environment} ${path}`} tabIndex={-1}>
        <AbovePages session={session} />
        <PageAt session={session} />
      </main>
      {hasPhone && (
        <aside class="dock" aria-label={t('Phone')}>
          <Phone onClose={() => setIsPhoneOpen(false)} />
        </aside>
      )}
      <Tabs
        entries={entries}
        isNavOpen={isNavOpen}
        onMore={() => setIsNavOpen(!isNavOpen)}
        {...(mayPhone ? { phone: { isOpen: isPhoneOpen, toggle: () => setIsPhoneOpen(!isPhoneOpen) } } : {})}
      />
      {over === 'search' && <Search entries={entries} onClose={() => setOver(null)} />}
      {over === 'keys' && <KeyboardHelp entries={entries} onClose={() => setOver(null)} />}
      <Dialogs />
      <Interruptions session={session} />
    </div>
  )
}
