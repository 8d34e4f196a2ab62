// SPDX-License-Identifier: Apache-2.0
// Navigation: groups that fold and are kept as they were left, badges that say what they count, who the account is; and five tabs
// at the bottom of a phone.
import { useEffect, useState } from 'preact/hooks'
import { may, type Session } from './api.ts'
import { type Badge, type Entry, groups, operatorGroups } from './area.tsx'
import { Icon } from './kit/icons.tsx'
import { Menu } from './kit/menu.tsx'
import { words } from './kit/words.ts'
import { isFollowing } from './live.ts'
import type { PhoneSwitch } from './phone/switch.tsx'
import { go, Link, usePlace } from './place.tsx'
import { entries as all } from './router.tsx'
import { counts } from './waiting.ts'
import { t } from './words.ts'

const kept = 'pamoja-folded'

const isOperators = ({ to }: Entry): boolean => to.startsWith('/operator')

/** Entries that the member's role may open, in the order of their groups. */
export function visibleEntries(session: Session, isOperating: boolean): readonly Entry[] {
  const place: readonly string[] = isOperating ? operatorGroups : groups
  return all
    .filter(
      (entry) =>
        (isOperating ? isOperators(entry) : !isOperators(entry)) &&
        (!isOperators(entry) || session.member.operator) &&
        (!entry.scope || isOperating || may(entry.scope)),
    )
    .sort((a, b) => place.indexOf(a.group) - place.indexOf(b.group))
}

/** A record belongs to its list. */
function isAt(path: string, to: string): boolean {
  return path === to || (to !== '/' && to !== '/operator' && path.startsWith(`${to}/`))
}

/** Folded until the member opens them: sixty names at once are no overview. */
const foldedAtFirst = ['Chat', 'Email', 'USSD', 'Calls', 'Verification', 'People', 'Connect']

function keptFolds(): readonly string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(kept) ?? '')
    return Array.isArray(found) ? found.map(String) : foldedAtFirst
  } catch {
    return foldedAtFirst
  }
}

interface NavigationProps {
  session: Session
  isOpen: boolean
  isOperating: boolean
  entries: readonly Entry[]
}

export function Navigation({ session, isOpen, isOperating, entries }: NavigationProps) {
  const { path } = usePlace()
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set(keptFolds()))
  const isConnected = isFollowing.use()
  useEffect(() => document.querySelector('#pages [aria-current]')?.scrollIntoView({ block: 'nearest' }), [path])
  const fold = (group: string, isFolded: boolean): void => {
    const next = new Set(folded)
    if (isFolded) next.add(group)
    else next.delete(group)
    localStorage.setItem(kept, JSON.stringify([...next]))
    setFolded(next)
  }
  return (
    <nav id="pages" class={isOpen ? 'nav open' : 'nav'} aria-label={t('Pages')}>
      <AccountMenu session={session} isOperating={isOperating} />
      {(isOperating ? operatorGroups : groups).map((group) => {
        const own = entries.filter((entry) => entry.group === group)
        if (own.length === 0) return null
        if (group === '') return <Entries key={group} entries={own} path={path} />
        const isHere = own.some(({ to }) => isAt(path, to))
        return (
          <details
            key={group}
            class="nav-group"
            open={isHere || !folded.has(group)}
            onToggle={(event) => {
              if (!isHere) fold(group, !event.currentTarget.open)
            }}
          >
            <summary>
              <Icon name="down" />
              {t(group)}
              <GroupBadge entries={own} />
            </summary>
            <Entries entries={own} path={path} />
          </details>
        )
      })}
      {may('events:read') && (
        <p class="foot" role="status">
          <span class={isConnected ? 'dot good' : 'dot bad'} aria-hidden="true" />
          {isConnected ? t('Live, connected') : t('Not connected; trying again')}
        </p>
      )}
    </nav>
  )
}

function Entries({ entries, path }: { entries: readonly Entry[]; path: string }) {
  return (
    <ul>
      {entries.map(({ to, name, icon, badge }) => (
        <li key={to}>
          <Link to={to} isCurrent={isAt(path, to)} title={t(name)}>
            <Icon name={icon} />
            <span class="word">{t(name)}</span>
            {badge && <BadgeView badge={badge} />}
          </Link>
        </li>
      ))}
    </ul>
  )
}

function BadgeView({ badge: { count, words: what, tone = 'warn' } }: { badge: Badge }) {
  const number = counts.use()[count] ?? 0
  if (number === 0) return null
  const told = t(what, { count: number })
  return (
    <span class={`count ${tone}`} title={told} aria-hidden="true">
      {told}
    </span>
  )
}

/** Sum of a folded group, in the worst colour. */
function GroupBadge({ entries }: { entries: readonly Entry[] }) {
  const now = counts.use()
  const waiting = entries.filter(({ badge }) => badge && (now[badge.count] ?? 0) > 0)
  if (waiting.length === 0) return null
  const sum = waiting.reduce((all, { badge }) => all + (now[badge?.count ?? ''] ?? 0), 0)
  const tone = waiting.some(({ badge }) => badge?.tone === 'bad') ? 'bad' : 'warn'
  return <span class={`count ${tone}`}>{sum}</span>
}

/** Two letters that stand for a name. */
export function initials(name: string): string {
  const parts = name.split(/[\s@._-]+/).filter(Boolean)
  return `${parts[0]?.[0] ?? '?'}${parts[1]?.[0] ?? ''}`.toUpperCase()
}

function AccountMenu({ session: { account, member }, isOperating }: { session: Session; isOperating: boolean }) {
  const name = isOperating ? t('Pamoja, operator') : account.name
  const choose = (to: string, close: () => void) => (): void => {
    close()
    go(to)
  }
  return (
    <Menu
      label={t('Your accounts')}
      class="btn account"
      button={
        <>
          <span class="letters">{isOperating ? 'OP' : initials(account.name)}</span>
          <span class="word cut">{name}</span>
          <Icon name="updown" />
        </>
      }
    >
      {(close) => (
        <>
          <p class="menu-title">{t('Your accounts')}</p>
          <button type="button" class="menu-item" onClick={choose('/', close)} aria-pressed={!isOperating}>
            <span class="letters">{initials(account.name)}</span>
            <span>
              {account.name}
              <small>
                {words(member.role)} · {account.country}
              </small>
            </span>
          </button>
          {member.operator && (
            <button type="button" class="menu-item" onClick={choose('/operator', close)} aria-pressed={isOperating}>
              <span class="letters">OP</span>
              <span>
                {t('Operator')}
                <small>{t('This installation')}</small>
              </span>
            </button>
          )}
        </>
      )}
    </Menu>
  )
}

const maxTabs = 4

interface TabsProps {
  entries: readonly Entry[]
  isNavOpen: boolean
  onMore(): void
  phone?: PhoneSwitch
}

/** Tabs at the bottom of a phone: what is used most, the phone in test, and everything else. */
export function Tabs({ entries, isNavOpen, onMore, phone }: TabsProps) {
  const { path } = usePlace()
  const shown = entries.filter(({ key }) => key !== undefined).slice(0, phone ? maxTabs - 1 : maxTabs)
  return (
    <nav class="tabbar" aria-label={t('Most used')}>
      {shown.map(({ to, name, icon, badge }) => (
        <Link key={to} to={to} isCurrent={isAt(path, to)}>
          <Icon name={icon} />
          {t(name)}
          {badge && <TabBadge badge={badge} />}
        </Link>
      ))}
      {phone && (
        <button type="button" aria-pressed={phone.isOpen} onClick={phone.toggle}>
          <Icon name="mobile" />
          {t('Phone')}
        </button>
      )}
      <button type="button" aria-expanded={isNavOpen} aria-controls="pages" onClick={onMore}>
        <Icon name={isNavOpen ? 'x' : 'menu'} />
        {t('More')}
      </button>
    </nav>
  )
}

function TabBadge({ badge: { count, tone = 'warn' } }: { badge: Badge }) {
  const number = counts.use()[count] ?? 0
  return number === 0 ? null : <span class={`count ${tone}`}>{number}</span>
}
