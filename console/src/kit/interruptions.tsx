// SPDX-License-Identifier: Apache-2.0
// Boxes over the page for what comes between a request and its answer: signing in again, the password once more, a countdown,
// and the line that says that the server cannot be reached. Whatever was typed stays below.
import { useEffect, useState } from 'preact/hooks'
import { ofConsole, type Session } from '../api.ts'
import { PasswordForm } from '../areas/accounts/sign-in.tsx'
import { type Interruption, interruption, isReachable, readsAgainMs } from '../asking.ts'
import { t } from '../words.ts'
import { Dialog } from './dialogs.tsx'
import { Icon } from './icons.tsx'
import { CopyId } from './kit.tsx'

export function Interruptions({ session }: { session: Session }) {
  const now = interruption.use()
  const canReach = isReachable.use()
  const untilMs = readsAgainMs.use()
  return (
    <>
      {!canReach && (
        <div class="over-page" role="alert">
          <Icon name="no-signal" />
          {t('The server cannot be reached. Reconnecting…')}
        </div>
      )}
      {canReach && untilMs !== null && <ReadsAgain key={untilMs} untilMs={untilMs} />}
      {now?.is === 'too many' && <TooMany key={now.untilMs} now={now} />}
      {now && now.is !== 'too many' && <SignInAgain now={now} session={session} />}
    </>
  )
}

function SignInAgain({ now: { is, doing, goOn, giveUp }, session }: { now: Interruption; session: Session }) {
  const isOut = is === 'signed out'
  const leave = (): void => {
    giveUp()
    if (isOut) void ofConsole('POST', 'logout', {}).finally(() => window.location.reload())
  }
  const enter = (entered: Session): void => {
    if (entered.member.id !== session.member.id) window.location.reload()
    else goOn()
  }
  const title = isOut ? t('Sign in to continue') : t('Your password again')
  return (
    <Dialog label={title} onClose={isOut ? () => undefined : giveUp} class="slim">
      <h2>{title}</h2>
      <p class="soft">
        {isOut ? t('Your session has ended. Your input is kept.') : t('This is asked again after ten minutes.')}{' '}
        {doing && t('“{doing}” continues afterwards.', { doing })}
      </p>
      <PasswordForm email={session.member.email} action={t('Continue')} onSignedIn={enter}>
        <p class="mono">{session.member.email}</p>
      </PasswordForm>
      <button type="button" class="btn quiet" onClick={leave}>
        {isOut ? t('Sign out and leave') : t('Not now')}
      </button>
    </Dialog>
  )
}

/** Time that is left until a moment, in milliseconds, counted down. */
function useLeft(untilMs: number): number {
  const [leftMs, setLeftMs] = useState(() => untilMs - Date.now())
  useEffect(() => {
    const timer = setInterval(() => setLeftMs(untilMs - Date.now()), 250)
    return () => clearInterval(timer)
  }, [])
  return leftMs
}

const secondsOf = (leftMs: number): number => Math.max(0, Math.ceil(leftMs / 1_000))

/** Says why nothing comes, and when it will. */
function ReadsAgain({ untilMs }: { untilMs: number }) {
  const seconds = secondsOf(useLeft(untilMs))
  return (
    <div class="over-page">
      <Icon name="hourglass" />
      <span role="status" class="hidden">
        {t('Too many at once')}
      </span>
      <span aria-hidden="true">{t('Too many requests: continues in {seconds} s', { seconds })}</span>
    </div>
  )
}

function TooMany({ now: { untilMs, doing, words, requestId, goOn, giveUp } }: { now: Interruption }) {
  const leftMs = useLeft(untilMs ?? 0)
  const [wholeMs] = useState(Math.max(1, leftMs))
  useEffect(() => {
    if (leftMs <= 0) goOn()
  }, [leftMs <= 0])
  const seconds = secondsOf(leftMs)
  return (
    <Dialog label={t('Too many at once')} onClose={giveUp} class="slim">
      <header>
        <Icon name="hourglass" class="big warn" />
        <h2>{t('Too many at once, {seconds} s to wait', { seconds })}</h2>
      </header>
      <p class="soft">
        {words}{' '}
        {doing
          ? t('Nothing is lost: “{doing}” continues automatically.', { doing })
          : t('Nothing is lost; it continues automatically.')}
      </p>
      <progress max={wholeMs} value={wholeMs - leftMs} aria-label={t('Time to wait')} />
      {requestId && <CopyId id={requestId} />}
      <footer>
        <button type="button" class="btn" onClick={giveUp}>
          {t('Do not send')}
        </button>
        <button type="button" class="btn" disabled>
          {t('Sends in {seconds} s', { seconds })}
        </button>
      </footer>
    </Dialog>
  )
}
