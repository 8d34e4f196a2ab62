// SPDX-License-Identifier: Apache-2.0
// A handset of the sandbox: one number, and an app for each channel. It drives the sandbox only, and shows what a handset has:
// what is still on its way is not on it.
import type { VNode } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { Mail } from '../areas/email/mail-app.tsx'
import { Chat } from '../areas/messenger/chat-app.tsx'
import { Money } from '../areas/payments/money-app.tsx'
import { Texts } from '../areas/sms/texts-app.tsx'
import { Ussd } from '../areas/ussd/ussd-app.tsx'
import { Calls } from '../areas/voice/calls-app.tsx'
import { type PhoneLine, usePhoneLine } from '../areas/voice/phone-line.ts'
import { Icon, type IconName } from '../kit/icons.tsx'
import { PageHead } from '../kit/kit.tsx'
import { Link } from '../place.tsx'
import { t } from '../words.ts'
import { NetworkButton } from './network.tsx'
import { calling, keepPhoneNumber, phoneNumber } from './number.ts'

const keptPhones = 'pamoja-phones'
const maxPhones = 6
const numberForm = /^\+[1-9]\d{6,14}$/

const apps: readonly [name: string, sign: IconName, show: (number: string, line: PhoneLine) => VNode][] = [
  ['Texts', 'message', (number) => <Texts number={number} />],
  ['Money', 'coins', (number) => <Money number={number} />],
  ['USSD', 'hash', (number) => <Ussd number={number} />],
  ['Chat', 'chat', (number) => <Chat number={number} />],
  ['Calls', 'call', (number, line) => <Calls number={number} line={line} />],
  ['Mail', 'mail', () => <Mail />],
]

const callsApp = apps.findIndex(([name]) => name === 'Calls')

/** What stands in the room beside the page. */
export function Phone({ onClose }: { onClose(): void }) {
  const [number, setNumber] = useState(phoneNumber)
  const choose = (wanted: string): void => {
    keepPhoneNumber(wanted)
    setNumber(wanted)
  }
  return (
    <>
      <header>
        <h2>{t('Phone')}</h2>
        <Link to="/phones" class="btn quiet small push">
          <Icon name="plus" /> {t('More phones')}
        </Link>
        <button type="button" class="btn quiet square small" onClick={onClose} title={t('Close the phone')}>
          <Icon name="x" />
          <span class="hidden">{t('Close the phone')}</span>
        </button>
      </header>
      <Handset number={number} onNumber={choose} />
    </>
  )
}

function Handset({ number, onNumber }: { number: string; onNumber(number: string): void }) {
  const [typed, setTyped] = useState(number)
  const [app, setApp] = useState(0)
  const line = usePhoneLine(number, () => setApp(callsApp))
  useEffect(() => calling.listen(() => number === phoneNumber() && setApp(callsApp)), [number])
  const id = useId()
  const choose = (wanted: string): void => {
    setTyped(wanted)
    if (numberForm.test(wanted)) onNumber(wanted)
  }
  const shown = apps[app]
  return (
    <div class="handset">
      <header>
        <label for={id} class="hidden">
          {t('Number of the phone')}
        </label>
        <input
          id={id}
          class="mono"
          dir="ltr"
          inputMode="tel"
          value={typed}
          aria-invalid={!numberForm.test(typed)}
          onInput={(event) => choose(event.currentTarget.value)}
        />
      </header>
      <div class="app-room" key={`${number} ${app}`}>
        {shown?.[2](number, line)}
      </div>
      <nav class="apps" aria-label={t('Apps of {number}', { number })}>
        {apps.map(([name, sign], i) => (
          <button key={name} type="button" aria-pressed={i === app} onClick={() => setApp(i)}>
            <Icon name={sign} />
            {t(name)}
          </button>
        ))}
      </nav>
    </div>
  )
}

/** Many handsets side by side. */
export function Phones() {
  const [numbers, setNumbers] = useState(keptNumbers)
  const change = (wanted: string[]): void => {
    localStorage.setItem(keptPhones, JSON.stringify(wanted))
    setNumbers(wanted)
  }
  const next = `+2547110000${String(30 + numbers.length).padStart(2, '0')}`
  return (
    <div class="page">
      <PageHead title="Phones" note="side by side">
        <NetworkButton />
        <button
          type="button"
          class="btn primary"
          disabled={numbers.length >= maxPhones}
          onClick={() => change([...numbers, next])}
        >
          {t('Another phone')}
        </button>
      </PageHead>
      <div class="phones">
        {numbers.map((number, i) => (
          <section key={i} aria-label={t('Phone {number}', { number })}>
            <Handset number={number} onNumber={(wanted) => change(numbers.with(i, wanted))} />
            {numbers.length > 1 && (
              <button type="button" class="btn small" onClick={() => change(numbers.toSpliced(i, 1))}>
                {t('Remove {number}', { number })}
              </button>
            )}
          </section>
        ))}
      </div>
    </div>
  )
}

function keptNumbers(): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(keptPhones) ?? '')
    const numbers = Array.isArray(found) ? found.filter((one) => typeof one === 'string' && numberForm.test(one)) : []
    if (numbers.length > 0) return numbers.slice(0, maxPhones)
  } catch {
    // Nothing was kept, or nothing that can be read.
  }
  return [phoneNumber(), '+254711000004']
}
