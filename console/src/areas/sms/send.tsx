// SPDX-License-Identifier: Apache-2.0
// Send a text: the form, what it will cost, and on to the message.
import { useId, useState } from 'preact/hooks'
import { smsSend } from '#sdk/operations.ts'
import { api, currentEnvironment } from '../../api.ts'
import { Card, Field, PageHead, Problem } from '../../kit/kit.tsx'
import { phoneNumber } from '../../phone/number.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

export function Send() {
  const [to, setTo] = useState(() => (currentEnvironment() === 'test' ? phoneNumber() : ''))
  const [from, setFrom] = useState('PAMOJA')
  const [message, setMessage] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const id = useId()
  const send = (event: Event): void => {
    event.preventDefault()
    setIsBusy(true)
    setError(null)
    smsSend(api, { body: { to, from, message } })
      .then(({ message_id }) => go(`/messages/${message_id}`), setError)
      .finally(() => setIsBusy(false))
  }
  return (
    <div class="page narrow">
      <PageHead title="Send a text" />
      {error && <Problem error={error} />}
      <Card title="A text to one number">
        <form class="form" onSubmit={send}>
          <Field label="To" value={to} onInput={setTo} required hint="With the country, such as +254711000001" />
          <Field label="From" value={from} onInput={setFrom} required hint="A sender of yours, or a number" />
          <div class="field">
            <label for={id}>{t('Text')}</label>
            <textarea
              id={id}
              rows={4}
              required
              maxLength={1530}
              value={message}
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          </div>
          <button type="submit" class="btn primary" disabled={isBusy}>
            {t('Send the text')}
          </button>
        </form>
      </Card>
    </div>
  )
}
