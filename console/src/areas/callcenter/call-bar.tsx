// SPDX-License-Identifier: Apache-2.0
// The call as it stands above every page but the desk: it rings, is answered, and is not out of sight while an agent answers a text.
import { useEffect, useRef } from 'preact/hooks'
import type { Session } from '../../api.ts'
import { useDoing } from '../../kit/doing.ts'
import { Icon } from '../../kit/icons.tsx'
import { Problem } from '../../kit/kit.tsx'
import { allowSound } from '../../kit/sound.ts'
import { go, Link, usePlace } from '../../place.tsx'
import { sentenceOf } from '../../refusals.ts'
import { t } from '../../words.ts'
import { ask, type DeskNow, desk, type Offer, resumeWork, tellDesk, whoIn } from './connection.ts'
import { useKeys } from './keys.ts'
import { clockOf, Since } from './states.tsx'
import { monitor } from './supervise.ts'

export function CallBar({ session }: { session: Session }) {
  const now = desk.use()
  const { path } = usePlace()
  const doing = useDoing()
  useEffect(() => void resumeWork(session.member).catch((error: Error) => tellDesk(sentenceOf(error))), [])
  const heard = monitor.use()
  const { call, offer, agent, link, told } = now
  // The microphone of a supervisor who only listens is not heard.
  if (path === '/desk' || (offer?.isListening && heard?.mode === 'listen')) return null
  if (offer && !offer.isAsked && call.state === 'ringing') return <Ringing now={now} offer={offer} hasKeys={false} />
  if (call.state !== 'connected' && call.state !== 'on_hold' && told === null) return null
  return (
    <section class={`call-bar${link === 'lost' ? ' warn' : ''}`} aria-label={t('Call now')}>
      <Icon name={link === 'lost' ? 'no-signal' : 'headset'} />
      <p class="grow" role={told ? 'alert' : undefined}>
        {told ?? (
          <>
            <b dir="auto">{offer ? whoIn(offer) : t('Call in progress')}</b>{' '}
            {call.state === 'on_hold' ? t('On hold: the caller hears music') : agent && <Since at={agent.since} />}
          </>
        )}
      </p>
      {doing.error && <Problem error={doing.error} />}
      {call.state === 'connected' && (
        <button
          type="button"
          class="btn small"
          aria-pressed={call.muted}
          onClick={() => doing.run(() => ask({ type: 'call.mute', mute: !call.muted }))}
        >
          <Icon name="mic" />
          {t('Mute')}
        </button>
      )}
      <Link to="/desk" class="btn small">
        {call.state === 'none' ? t('Desk') : t('Back to the call')}
      </Link>
    </section>
  )
}

/** A call that rings, with who calls and why. Keys are the desk's: on another page they may mean something else. */
export function Ringing({ now, offer, hasKeys }: { now: DeskNow; offer: Offer; hasKeys: boolean }) {
  const doing = useDoing()
  const answer = (): void => {
    allowSound()
    doing.run(async () => {
      await ask({ type: 'call.accept' })
      if (!hasKeys) go('/desk')
    })
  }
  const reject = (): void => doing.run(() => ask({ type: 'call.reject' }))
  useKeys(hasKeys ? { Enter: answer, Escape: reject } : {})
  const button = useRef<HTMLButtonElement>(null)
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!document.activeElement?.matches('input, textarea, select')) button.current?.focus()
    return box.current ? keptAbove(box.current) : undefined
  }, [])
  const who = whoIn(offer)
  const { call, customer } = offer.context
  const menu = call?.ivr_path.map(({ digit, label }) => [digit, label].filter(Boolean).join(' ')).join(', ')
  const by = now.transfer?.from_name
  return (
    <dialog
      ref={box}
      open
      class="ringing"
      role="alertdialog"
      tabIndex={-1}
      aria-label={t('{name} is calling', { name: who })}
    >
      <span class="ring-sign" aria-hidden="true">
        <Icon name="call" />
      </span>
      <div class="grow">
        <p class="big">{t('{name} is calling', { name: who })}</p>
        <p class="soft">
          {[
            by ? t('handed over by {name}', { name: by }) : null,
            offer.queue?.name,
            customer?.name ? customer.phone : null,
            menu ? t('pressed {keys}', { keys: menu }) : null,
            call ? t('waited {time}', { time: clockOf(call.wait_seconds) }) : null,
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {doing.error && <Problem error={doing.error} />}
      </div>
      <button type="button" class="btn large" disabled={doing.isBusy} onClick={reject}>
        <Icon name="x" />
        {t('Not now')} {hasKeys && <kbd>Esc</kbd>}
      </button>
      <button ref={button} type="button" class="btn primary large" disabled={doing.isBusy} onClick={answer}>
        <Icon name="call" />
        {t('Answer')} <kbd>↵</kbd>
      </button>
    </dialog>
  )
}

/** Keeps a box above any other that is open over the page: nothing behind that one could be pressed. */
function keptAbove(box: HTMLDialogElement): () => void {
  const lift = (): void => {
    if (box.matches(':modal') || !document.querySelector('dialog:modal')) return
    box.close()
    box.showModal()
    // Letters that are typed into the other box press nothing here.
    box.focus()
  }
  const stay = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') event.preventDefault()
  }
  lift()
  box.addEventListener('keydown', stay)
  // Whatever opens takes the focus.
  document.addEventListener('focusin', lift)
  return () => {
    document.removeEventListener('focusin', lift)
    // The focus goes back to where it was.
    if (box.matches(':modal')) box.close()
  }
}
