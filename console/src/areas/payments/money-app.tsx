// SPDX-License-Identifier: Apache-2.0
// Mobile money on a handset: the prompt that asks for the PIN, and the outcome of earlier ones. A switch decides
// whether this payer waits for a person, or answers by its number as others do.
import { useState } from 'preact/hooks'
import {
  sandboxAnswerPrompt,
  sandboxChangePaymentBehaviour,
  sandboxListPrompts,
  sandboxPaymentBehaviour,
} from '#sdk/operations.ts'
import type { SandboxPrompt as Prompt } from '#sdk/schemas.ts'
import { api, ownName } from '../../api.ts'
import { Pill, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime, money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Line, Screen } from '../../phone/screen.tsx'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'

export function Money({ number }: { number: string }) {
  const ask = () => sandboxListPrompts(api, { query: { phone: number, limit: 20 } })
  const { value, error, reload } = useLoad(number, ask)
  useLive('payment.', reload, { about: number })
  const prompts = [...(value?.data ?? [])].reverse()
  const waiting = prompts.findLast(({ status }) => status === 'waiting')
  return (
    <>
      <Screen label={t('Payments on {number}', { number })} newest={prompts.length}>
        <ByHand number={number} />
        {error && <Problem error={error} retry={reload} />}
        {value && prompts.length === 0 && (
          <p class="soft">{t('No payments yet. What you ask this number to pay appears here.')}</p>
        )}
        {prompts.map((prompt) => (
          <Shown key={prompt.payment_id} prompt={prompt} />
        ))}
      </Screen>
      {waiting && <Ask key={waiting.payment_id} prompt={waiting} onAnswered={reload} />}
    </>
  )
}

function Shown({ prompt: { payment_id, status, amount, currency, reference, asked_at } }: { prompt: Prompt }) {
  return (
    <div class="bubble received">
      <p class="who">{money(amount, currency)}</p>
      <p class="text">{reference}</p>
      <p class="when">
        <Link to={`/payments/${payment_id}`}>{clockTime(asked_at)}</Link> <Pill state={status} />
      </p>
    </div>
  )
}

/** Prompt that the network shows over everything else on the phone. */
function Ask({ prompt, onAnswered }: { prompt: Prompt; onAnswered(): void }) {
  const { payment_id, provider, amount, currency, reference, description } = prompt
  const [error, setError] = useState<Error | null>(null)
  const answer = (body: { decision: 'approve' | 'refuse'; pin?: string }) =>
    sandboxAnswerPrompt(api, { payment_id, body }).then(onAnswered)
  return (
    <div class="prompt" role="dialog" aria-label={t('Payment to approve')}>
      <p>
        {t('Pay {amount} to {whom}?', {
          amount: money(amount, currency),
          whom: ownName() || provider,
        })}
      </p>
      {(description || reference) && (
        <p class="soft" dir="auto">
          {description || reference}
        </p>
      )}
      <Line
        label={t('PIN')}
        action="Approve"
        mode="numeric"
        isSecret
        onSend={(pin) => answer({ decision: 'approve', pin })}
      />
      {error && <Problem error={error} />}
      <button type="button" class="btn" onClick={() => answer({ decision: 'refuse' }).catch(setError)}>
        {t('Refuse')}
      </button>
      <p class="hint">{t('Any PIN except 0000 is accepted.')}</p>
    </div>
  )
}

function ByHand({ number }: { number: string }) {
  const { value, error, reload } = useLoad('by-hand', () => sandboxPaymentBehaviour(api))
  const [refused, setRefused] = useState<Error | null>(null)
  const numbers = value?.by_hand ?? []
  /** What was just chosen, until the server has answered. */
  const [chosen, setChosen] = useState<{ number: string; isOn: boolean } | null>(null)
  const isOn = chosen?.number === number ? chosen.isOn : numbers.includes(number) || numbers.includes('*')
  const change = (): void => {
    setChosen({ number, isOn: !isOn })
    const others = numbers.filter((one) => one !== number && one !== '*')
    const by_hand = isOn ? others : [...others, number]
    sandboxChangePaymentBehaviour(api, { body: { by_hand } }).then(reload, setRefused)
  }
  if (error ?? refused) return <Problem error={error ?? refused ?? new Error()} retry={reload} />
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} disabled={!value} onChange={change} />
      {t('This phone asks for the PIN')}
    </label>
  )
}
