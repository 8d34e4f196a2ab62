// SPDX-License-Identifier: Apache-2.0
// USSD on a handset: a code is dialled, the screen is answered, and the session is hung up.
import { useState } from 'preact/hooks'
import { sandboxUssdCancel, sandboxUssdDial, sandboxUssdInput } from '#sdk/operations.ts'
import type { UssdHandsetScreen as Shown } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Problem } from '../../kit/kit.tsx'
import { Line, Screen } from '../../phone/screen.tsx'
import { t } from '../../words.ts'

interface Turn {
  said: string
  shown: Shown
}

const maxTurns = 50

export function Ussd({ number }: { number: string }) {
  const [turns, setTurns] = useState<Turn[]>([])
  const [error, setError] = useState<Error | null>(null)
  const last = turns.at(-1)
  const session_id = last?.shown.session_id ?? ''
  const isOpen = last?.shown.action === 'continue'
  const add = (said: string) => (shown: Shown) => setTurns((before) => [...before, { said, shown }].slice(-maxTurns))
  const dial = (shortcode: string) => sandboxUssdDial(api, { body: { phone: number, shortcode } }).then(add(shortcode))
  const input = (text: string) => sandboxUssdInput(api, { body: { session_id, input: text } }).then(add(text))
  const hangUp = (): void => {
    sandboxUssdCancel(api, { body: { session_id } }).then(add(t('Hang up')), setError)
  }
  return (
    <>
      <Screen label={t('USSD on {number}', { number })} newest={turns.length}>
        {turns.length === 0 && <p class="soft">{t('Dial a code, such as *384#.')}</p>}
        {turns.map(({ said, shown }, i) => (
          <div key={i} class="turn">
            <p class="bubble written mono">{said}</p>
            {shown.message !== null && <pre class="bubble received">{shown.message}</pre>}
            {shown.action === 'end' && <p class="soft">{t('The session has ended.')}</p>}
          </div>
        ))}
        {error && <Problem error={error} />}
      </Screen>
      {isOpen ? (
        <>
          <Line key="answer" label={t('Answer the screen')} action="Answer" onSend={input} />
          <button type="button" class="btn small" onClick={hangUp}>
            {t('Hang up')}
          </button>
        </>
      ) : (
        <Line key="dial" label={t('Code to dial')} action="Dial" mode="tel" initial="*384#" onSend={dial} />
      )}
    </>
  )
}
