// SPDX-License-Identifier: Apache-2.0
// The phone beside every page: texts that arrived on a handset of the sandbox, and a box to answer them. It drives the sandbox
// only, and shows what a handset has: what is still on its way is not on it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { list, post } from '../../api.ts'
import { Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import type { HandsetText } from '../../records.ts'

const kept = 'pamoja-phone'
const numberForm = /^\+[1-9]\d{6,14}$/

/** Number of the handset that the reader last looked at. */
export function phoneNumber(): string {
  return localStorage.getItem(kept) ?? '+254711000001'
}

export function Phone() {
  const [number, setNumber] = useState(phoneNumber)
  const [typed, setTyped] = useState(number)
  const choose = (wanted: string): void => {
    setTyped(wanted)
    if (!numberForm.test(wanted)) return
    localStorage.setItem(kept, wanted)
    setNumber(wanted)
  }
  return (
    <aside class="dock" aria-label="Phone">
      <div class="handset">
        <header>
          <label for="phone-number" class="hidden">
            Number of the phone
          </label>
          <input
            id="phone-number"
            class="mono"
            inputMode="tel"
            value={typed}
            aria-invalid={!numberForm.test(typed)}
            onInput={(event) => choose(event.currentTarget.value)}
          />
        </header>
        <Texts key={number} number={number} />
      </div>
    </aside>
  )
}

function Texts({ number }: { number: string }) {
  const ask = () => list<HandsetText>('/v1/sandbox/sms/handset', { phone: number, limit: '50' })
  const { value, error, reload } = useLoad(number, ask)
  useLive('sms.', reload)
  const texts = [...(value?.rows ?? [])].reverse()
  const last = texts.findLast(({ direction }) => direction === 'received')
  const end = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when there is another text
  useEffect(() => end.current?.scrollTo?.(0, end.current.scrollHeight), [texts.length])
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div class="screen" role="log" aria-label={`Texts on ${number}`} ref={end} tabIndex={0}>
        {error && <Problem error={error} retry={reload} />}
        {value && texts.length === 0 && <p class="soft">No texts yet. What you send to this number arrives here.</p>}
        {texts.map((text) => (
          <Bubble key={text.message_id} text={text} />
        ))}
      </div>
      <Reply number={number} to={last?.from ?? null} onSent={reload} />
    </>
  )
}

function Bubble({ text: { message_id, direction, from, to, message, at } }: { text: HandsetText }) {
  const isReceived = direction === 'received'
  return (
    <div class={`bubble ${direction}`}>
      <p class="who">{isReceived ? from : `To ${to}`}</p>
      <p class="text">{message ?? 'Erased'}</p>
      <p class="when">
        <Link to={`/messages/${message_id}`}>
          {clockTime(at)} {isReceived ? <span title="Arrived">✓✓</span> : <span title="Sent">✓</span>}
          <span class="hidden">{isReceived ? 'arrived, open the message' : 'sent, open the message'}</span>
        </Link>
      </p>
    </div>
  )
}

/** Answers whoever wrote last. */
function Reply({ number, to, onSent }: { number: string; to: string | null; onSent(): void }) {
  const [message, setMessage] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const reply = (event: Event): void => {
    event.preventDefault()
    setError(null)
    post('/v1/sandbox/sms/inbound', { from: number, to, message }).then(() => {
      setMessage('')
      onSent()
    }, setError)
  }
  return (
    <form class="reply" onSubmit={reply}>
      {error && <Problem error={error} />}
      <label for="phone-reply" class="hidden">
        Reply from the phone
      </label>
      <input
        id="phone-reply"
        placeholder={to === null ? 'Nobody to answer yet' : `Answer ${to}`}
        disabled={to === null}
        required
        value={message}
        onInput={(event) => setMessage(event.currentTarget.value)}
      />
      <button type="submit" class="btn primary" disabled={to === null}>
        Reply
      </button>
    </form>
  )
}
