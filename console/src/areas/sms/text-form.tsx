// SPDX-License-Identifier: Apache-2.0
// Form of one text: to whom, from which of the account's senders, and how many letters, parts and how much it is, as one types.
import { useEffect, useState } from 'preact/hooks'
import { smsEstimate, smsSend } from '#sdk/operations.ts'
import type { SmsEstimate } from '#sdk/schemas.ts'
import { api, currentEnvironment } from '../../api.ts'
import { OneOf } from '../../kit/choose.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, problemOf, TextField } from '../../kit/fields.tsx'
import { Problem } from '../../kit/kit.tsx'
import { senders } from '../../kit/known.ts'
import { count, money } from '../../kit/words.ts'
import { phoneNumber } from '../../phone/number.ts'
import { t } from '../../words.ts'

const typingMs = 300
const maxLetters = 1_530

interface TextFormProps {
  message: string
  onMessage(message: string): void
  onSent(messageId: string): void
}

export function TextForm({ message, onMessage, onSent }: TextFormProps) {
  const [to, setTo] = useState(() => (currentEnvironment() === 'test' ? phoneNumber() : ''))
  const [from, setFrom] = useState('PAMOJA')
  const { error, isBusy, run } = useDoing()
  const estimate = useEstimate({ to, from, message })
  const send = (event: Event): void => {
    event.preventDefault()
    run(async () => onSent((await smsSend(api, { body: { to, from, message } })).message_id))
  }
  const problem = (field: string) => problemOf(error, field, fieldOfCode)
  const isOfField = ['to', 'from', 'message'].some((field) => problem(field) !== undefined)
  return (
    <form class="form" onSubmit={send}>
      {error && !isOfField && <Problem error={error} />}
      <Field
        label="To"
        type="phone"
        value={to}
        onInput={setTo}
        required
        hint="With the country, such as +254711000001"
        problem={problem('to')}
      />
      <OneOf
        label="From"
        known={senders}
        isOpen
        required
        hint="Your sender id or number"
        value={from}
        onInput={setFrom}
        problem={problem('from')}
      />
      <TextField
        label="Text"
        value={message}
        onInput={onMessage}
        required
        maxLength={maxLetters}
        hint={estimateWords(estimate, message)}
        problem={problem('message')}
      />
      <button type="submit" class="btn primary" disabled={isBusy}>
        {t('Send the text')}
      </button>
    </form>
  )
}

/** Fields that a refusal is about where it does not name one itself. */
const fieldOfCode = { INVALID_PHONE: 'to', SENDER_NOT_APPROVED: 'from', INVALID_SENDER: 'from' }

/** What the server says the text would be, asked when typing stops. */
function useEstimate(asked: { to: string; from: string; message: string }): SmsEstimate | null {
  const [estimate, setEstimate] = useState<SmsEstimate | null>(null)
  const key = JSON.stringify(asked)
  useEffect(() => {
    if (asked.message === '' || asked.to === '') return setEstimate(null)
    let isCurrent = true
    const timer = setTimeout(() => {
      smsEstimate(api, { body: asked }).then(
        (told) => isCurrent && setEstimate(told),
        () => isCurrent && setEstimate(null),
      )
    }, typingMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key])
  return estimate
}

function estimateWords(estimate: SmsEstimate | null, message: string): string {
  if (estimate === null) return t('{count} letters', { count: count(message.length) })
  const { length, units_left, segments, cost, currency, non_gsm } = estimate
  const told = t('Letters: {count}, {left} left in this part. Parts: {parts}. Price: {price}', {
    ...{ count: count(length), left: count(units_left), parts: count(segments), price: money(cost, currency) },
  })
  return non_gsm.length > 0
    ? `${told}. ${t('Shorter segments because of {letters}', { letters: non_gsm.slice(0, 5).join(' ') })}`
    : told
}
