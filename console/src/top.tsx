// SPDX-License-Identifier: Apache-2.0
// Top of every page: search as a box, the test clock as soon as it is off, test or live, the phone, and the reader's own menu.
import { useState } from 'preact/hooks'
import { sandboxAdvanceClock, sandboxResetClock } from '#sdk/operations.ts'
import { api, type Environment, may, ofConsole, type Session } from './api.ts'
import { complain, say } from './kit/dialogs.tsx'
import { Icon } from './kit/icons.tsx'
import { LanguageChoice, Mark } from './kit/kit.tsx'
import { Menu } from './kit/menu.tsx'
import { date, isoDay, moment, momentOfDay, nowMs, words } from './kit/words.ts'
import { initials } from './navigation.tsx'
import { PhoneButton, type PhoneSwitch } from './phone/switch.tsx'
import { Link } from './place.tsx'
import { chooseTheme, currentTheme, type Theme, themes } from './theme.ts'
import { clockAhead, keepClock } from './waiting.ts'
import { t } from './words.ts'

interface TopProps {
  session: Session
  environment: Environment
  onEnvironment(environment: Environment): void
  isOperating: boolean
  phone?: PhoneSwitch
  onSearch(): void
  onKeys(): void
}

export function Top({ session, environment, onEnvironment, isOperating, phone, onSearch, onKeys }: TopProps) {
  return (
    <header class="top">
      <Link to="/" class="brand" title="Pamoja">
        <Mark />
        <span class="word">Pamoja</span>
      </Link>
      <button type="button" class="btn find" onClick={onSearch} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span class="word">{t('Number, name, reference, id…')}</span>
        <span class="hidden">{t('Search everything')}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="right">
        {isOperating ? (
          <span class="operating">
            <Icon name="server" /> <span class="word">{t('Operator')}</span>
          </span>
        ) : (
          environment === 'test' && may('sandbox:read') && <TestClock />
        )}
        <EnvironmentSwitch environment={environment} onEnvironment={onEnvironment} />
        {phone && <PhoneButton phone={phone} />}
        <button type="button" class="btn quiet square help" onClick={onKeys} title={t('Keyboard')}>
          <kbd>?</kbd>
          <span class="hidden">{t('Keyboard')}</span>
        </button>
        <UserMenu session={session} onKeys={onKeys} />
      </div>
    </header>
  )
}

function EnvironmentSwitch({
  environment,
  onEnvironment,
}: {
  environment: Environment
  onEnvironment(wanted: Environment): void
}) {
  return (
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
          <Icon name={one === 'test' ? 'flask' : 'bolt'} />
          {one === 'test' ? t('Test') : t('Live')}
        </button>
      ))}
    </fieldset>
  )
}

const hourSeconds = 3_600
const daySeconds = 24 * hourSeconds
const steps: readonly [name: string, seconds: number][] = [
  ['+1 hour', hourSeconds],
  ['+1 day', daySeconds],
  ['+1 month', 30 * daySeconds],
]

/** How far the clock is ahead, in the largest unit: `+40 d`. */
function aheadWords(seconds: number): string {
  if (seconds >= daySeconds) return t('+{count} d', { count: Math.round(seconds / daySeconds) })
  return seconds >= hourSeconds
    ? t('+{count} h', { count: Math.round(seconds / hourSeconds) })
    : t('+{count} min', { count: Math.max(1, Math.round(seconds / 60)) })
}

function TestClock() {
  const ahead = clockAhead.use()
  const isOff = ahead !== 0
  if (!isOff && !may('sandbox:write')) return null
  return (
    <div class={isOff ? 'clock off' : 'clock'}>
      <Menu
        label={t('Test clock')}
        class="clock-chip"
        isWide
        button={
          <>
            <Icon name="clock" />
            {isOff && (
              <>
                <span class="word">{t('Test clock')}</span> <b>{date(new Date(nowMs()).toISOString())}</b>{' '}
                {aheadWords(ahead)}
              </>
            )}
          </>
        }
      >
        {(close) => <ClockPanel ahead={ahead} close={close} />}
      </Menu>
      {isOff && may('sandbox:write') && (
        <button type="button" class="clock-reset" onClick={resetClock}>
          {t('Reset')}
        </button>
      )}
    </div>
  )
}

function resetClock(): void {
  sandboxResetClock(api).then(({ offset_seconds }) => {
    keepClock(offset_seconds)
    say(t('Test time is the real time'))
  }, complain)
}

function ClockPanel({ ahead, close }: { ahead: number; close(): void }) {
  const [until, setUntil] = useState('')
  const move = (seconds: number): void => {
    sandboxAdvanceClock(api, { body: { advance_seconds: seconds } }).then(({ now, offset_seconds }) => {
      keepClock(offset_seconds)
      say(t('The test clock is at {time}', { time: moment(String(now)) }))
      close()
    }, complain)
  }
  const toDate = (event: Event): void => {
    event.preventDefault()
    move(Math.round((Date.parse(momentOfDay(until)) - nowMs()) / 1_000))
  }
  return (
    <>
      <p class="strong">
        {ahead === 0 ? t('Test time is the real time') : t('Test time is ahead by {time}', { time: aheadWords(ahead) })}
      </p>
      <p class="soft">
        {t('Test clock of the account: {time}. Renewals, schedules and retries follow it.', {
          time: moment(new Date(nowMs()).toISOString()),
        })}
      </p>
      {may('sandbox:write') && (
        <>
          <div class="menu-row">
            {steps.map(([name, seconds]) => (
              <button key={name} type="button" class="btn small" onClick={() => move(seconds)}>
                {t(name)}
              </button>
            ))}
          </div>
          <form class="menu-row" onSubmit={toDate}>
            <label>
              {t('To a day')}{' '}
              <input
                type="date"
                required
                min={isoDay(nowMs() + daySeconds * 1_000)}
                value={until}
                onInput={(event) => setUntil(event.currentTarget.value)}
              />
            </label>
            <button type="submit" class="btn small">
              {t('Move')}
            </button>
          </form>
          {ahead !== 0 && (
            <div class="menu-links">
              <button
                type="button"
                onClick={() => {
                  resetClock()
                  close()
                }}
              >
                <Icon name="undo" /> {t('Back to the real time')}
              </button>
            </div>
          )}
        </>
      )}
    </>
  )
}

function UserMenu({ session: { member, account }, onKeys }: { session: Session; onKeys(): void }) {
  const [theme, setTheme] = useState<Theme>(currentTheme)
  const leave = (): void => {
    void ofConsole('POST', 'logout', {}).then(() => window.location.assign('/console'))
  }
  const wear = (wanted: Theme): void => {
    chooseTheme(wanted)
    setTheme(wanted)
  }
  return (
    <Menu
      label={t('Your menu')}
      class="letters round"
      isWide
      button={<span aria-hidden="true">{initials(member.name || member.email)}</span>}
    >
      {() => (
        <>
          <div class="menu-head">
            <span class="letters round">{initials(member.name || member.email)}</span>
            <div>
              <p class="strong">{member.name || member.email}</p>
              <p class="soft">
                {member.email} · {words(member.role)}
              </p>
            </div>
          </div>
          <div class="menu-row">
            <span>{t('Theme')}</span>
            <div class="segments push">
              {themes.map((one) => (
                <button key={one} type="button" aria-pressed={theme === one} onClick={() => wear(one)}>
                  {words(one)}
                </button>
              ))}
            </div>
          </div>
          <div class="menu-row">
            <LanguageChoice />
          </div>
          <div class="menu-row">
            <span>{t('Time zone of times')}</span>
            <span class="push soft">{account.timezone}</span>
          </div>
          <div class="menu-links">
            <Link to="/security">
              <Icon name="shield" /> {t('Two-factor sign-in')}
            </Link>
            <Link to="/sessions">
              <Icon name="desktop" /> {t('Sessions')}
            </Link>
            {may('team:read') && (
              <Link to="/team">
                <Icon name="users" /> {t('Team')}
              </Link>
            )}
            {member.operator && (
              <Link to="/operator">
                <Icon name="server" /> {t('Operator of this installation')}
              </Link>
            )}
            <button type="button" onClick={onKeys}>
              <Icon name="keypad" /> {t('Keyboard')} <kbd class="push">?</kbd>
            </button>
            <button type="button" onClick={leave}>
              <Icon name="leave" /> {t('Sign out')}
            </button>
          </div>
        </>
      )}
    </Menu>
  )
}
