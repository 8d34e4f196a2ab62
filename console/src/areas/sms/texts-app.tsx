// SPDX-License-Identifier: Apache-2.0
// Texts on a handset: received ones, and a line to answer the last sender.
import { sandboxHandset, sandboxSmsInbound } from '#sdk/operations.ts'
import type { HandsetText } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Line, Screen } from '../../phone/screen.tsx'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'

export function Texts({ number }: { number: string }) {
  const ask = () => sandboxHandset(api, { query: { phone: number, limit: 50 } })
  const { value, error, reload } = useLoad(number, ask)
  useLive('sms.', reload, { about: number })
  const texts = [...(value?.data ?? [])].reverse()
  const last = texts.findLast(({ direction }) => direction === 'received')
  const to = last?.from ?? null
  const reply = (message: string) =>
    sandboxSmsInbound(api, { body: { from: number, to: to ?? '', message } }).then(reload)
  return (
    <>
      <Screen label={t('Texts on {number}', { number })} newest={texts.length}>
        {error && <Problem error={error} retry={reload} />}
        {value && texts.length === 0 && (
          <p class="soft">{t('No texts yet. What you send to this number arrives here.')}</p>
        )}
        {texts.map((text) => (
          <Bubble key={text.message_id} text={text} />
        ))}
      </Screen>
      <Line
        label={t('Reply from the phone')}
        action="Reply"
        placeholder={to === null ? t('No text to answer yet') : t('Answer {name}', { name: to })}
        disabled={to === null}
        onSend={reply}
      />
    </>
  )
}

function Bubble({ text: { message_id, direction, from, to, message, at } }: { text: HandsetText }) {
  const isReceived = direction === 'received'
  return (
    <div class={`bubble ${direction}`}>
      <p class="who">{isReceived ? from : t('To {name}', { name: to })}</p>
      <p class="text" dir="auto">
        {message ?? t('Erased')}
      </p>
      <p class="when">
        <Link to={`/messages/${message_id}`}>
          {clockTime(at)} {isReceived ? <span title={t('Arrived')}>✓✓</span> : <span title={t('Sent')}>✓</span>}
          <span class="hidden">{isReceived ? t('arrived, open the message') : t('sent, open the message')}</span>
        </Link>
      </p>
    </div>
  )
}
