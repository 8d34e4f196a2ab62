// SPDX-License-Identifier: Apache-2.0
// First run: five steps that tick themselves off by what happens, not by a click. Once begun it is the page until its last step is
// done or it is closed, and never comes back by itself.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { smsList, webhooksList } from '#sdk/operations.ts'
import { api, may, type Session } from '../../api.ts'
import { Icon } from '../../kit/icons.tsx'
import { PageHead } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { TextForm } from '../sms/text-form.tsx'

/** How far an account is with it, as kept on this device. */
const kept = (account: string): string => `pamoja-first-run ${account}`

/** Whether the steps are shown: to whoever has sent nothing yet, and from then on until they are over. */
export function isFirstRun(account: string, hasSent: boolean): boolean {
  const state = localStorage.getItem(kept(account))
  return hasSent ? state === 'begun' : state !== 'over'
}

/** What has happened so far. */
async function progress(): Promise<{
  sent: string | null
  isDelivered: boolean
  isAnswered: boolean
  hasHook: boolean
}> {
  const [out, arrived, back, hooks] = await Promise.all([
    smsList(api, { query: { direction: 'outbound', limit: 1 } }),
    smsList(api, { query: { status: 'delivered', limit: 1 } }),
    smsList(api, { query: { direction: 'inbound', limit: 1 } }),
    may('webhooks:read') ? webhooksList(api, { query: { limit: 1 } }) : { data: [] },
  ])
  return {
    sent: out.data[0]?.message_id ?? null,
    isDelivered: arrived.data.length > 0,
    isAnswered: back.data.length > 0,
    hasHook: hooks.data.length > 0,
  }
}

export function FirstRun({ account: { id, name }, onClose }: { account: Session['account']; onClose(): void }) {
  const done = useLoad('progress', progress)
  const [text, setText] = useState(t('Habari! This is my first text with Pamoja.'))
  useLive('sms. webhook', done.reload)
  const now = done.value
  const isOver = now?.sent && now.isDelivered && now.isAnswered && now.hasHook
  useEffect(() => localStorage.setItem(kept(id), isOver ? 'over' : 'begun'), [isOver])
  const close = (): void => {
    localStorage.setItem(kept(id), 'over')
    onClose()
  }
  return (
    <div class="page">
      <PageHead
        title={t('Karibu, {name}', { name })}
        note={t('Five steps, about three minutes. Nothing is sent to real phones, and nothing is charged.')}
      >
        <button type="button" class={isOver ? 'btn primary' : 'btn quiet'} onClick={close}>
          {t('Show the overview')}
        </button>
      </PageHead>
      <ol class="card steps">
        <Step isDone title={t('You are in')} words={t('Your data stays on this installation.')} />
        <Step
          isDone={now?.sent !== null && now !== null}
          title={t('Send your first text')}
          words={t('To the phone beside this page.')}
        >
          {!now?.sent && <TextForm message={text} onMessage={setText} onSent={() => void done.reload()} />}
        </Step>
        <Step
          isDone={now?.isDelivered ?? false}
          title={t('See it arrive')}
          words={t('The text arrives on the phone. Its timeline shows every step, down to the bytes.')}
        >
          {now?.sent && (
            <Link to={`/messages/${now.sent}`} class="btn small">
              {t('Open the timeline')}
            </Link>
          )}
        </Step>
        <Step
          isDone={now?.isAnswered ?? false}
          title={t('Reply to it')}
          words={t('Write back on the phone. The reply is listed with your messages.')}
        />
        <Step
          isDone={now?.hasHook ?? false}
          title={t('Send events to your server')}
          words={t(
            'Webhooks deliver replies and receipts to your server; a test URL that records them is one click away.',
          )}
        >
          <Link to="/webhooks" class="btn small">
            {t('Webhooks')}
          </Link>{' '}
          <Link to="/keys" class="btn small">
            {t('Keys')}
          </Link>
        </Step>
      </ol>
    </div>
  )
}

function Step({
  isDone,
  title,
  words,
  children,
}: {
  isDone: boolean
  title: string
  words: string
  children?: ComponentChildren
}) {
  return (
    <li class={isDone ? 'step done' : 'step'}>
      <span class="tick">
        <Icon name={isDone ? 'check' : 'right'} />
        <span class="hidden">{isDone ? t('Done') : t('To do')}</span>
      </span>
      <div>
        <h2>{title}</h2>
        <p class="soft">{words}</p>
        {children}
      </div>
    </li>
  )
}
