// SPDX-License-Identifier: Apache-2.0
// Calls of a handset: one that rings or is under way, with keys to press and what the phone heard, and earlier ones.
import { useState } from 'preact/hooks'
import {
  sandboxVoiceAnswer,
  sandboxVoiceCalls,
  sandboxVoiceHangup,
  sandboxVoiceHeard,
  sandboxVoiceHeardText,
  sandboxVoiceInbound,
  sandboxVoiceInput,
} from '#sdk/operations.ts'
import type { Call } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Icon } from '../../kit/icons.tsx'
import { Pill, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { useLevel } from '../../kit/microphone.ts'
import { clockTime } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Line, Screen } from '../../phone/screen.tsx'
import { t } from '../../words.ts'
import type { PhoneLine } from './phone-line.ts'

const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#']

export function Calls({ number, line }: { number: string; line: PhoneLine }) {
  const ask = () => sandboxVoiceCalls(api, { query: { phone: number, limit: 20 } })
  const { value, error, reload } = useLoad(number, ask)
  useLive('call.', reload, { about: number })
  const calls = [...(value?.data ?? [])].reverse()
  const active = calls.findLast(({ ended_at }) => ended_at === null)
  const call = (to: string) => sandboxVoiceInbound(api, { body: { from: number, to } }).then(reload)
  return (
    <>
      <LiveSound line={line} />
      <Screen label={t('Calls on {number}', { number })} newest={calls.length}>
        {error && <Problem error={error} retry={reload} />}
        {value && calls.length === 0 && (
          <p class="soft">{t('No calls yet. Call this number, or call one of yours.')}</p>
        )}
        {calls.map((one) => (
          <div key={one.call_id} class={`bubble ${one.direction === 'inbound' ? 'written' : 'received'}`}>
            <p class="who">{one.direction === 'inbound' ? t('To {name}', { name: one.to }) : one.from}</p>
            <p class="when">
              {clockTime(one.started_at)} <Pill state={one.status} />
            </p>
            {/* biome-ignore lint/a11y/useMediaCaption: what a test phone heard has no captions */}
            {one.status !== 'ringing' && <audio controls preload="none" src={heardAt(one)} />}
            {one.ended_at !== null && <HeardWords call_id={one.call_id} />}
          </div>
        ))}
      </Screen>
      {active ? (
        <InCall key={active.call_id} call={active} onDone={reload} />
      ) : (
        <Line label={t('Number to call')} action="Call" mode="tel" onSend={call} />
      )}
    </>
  )
}

/** What the phone heard, as words, once somebody asks for it: understanding speech is work. */
function HeardWords({ call_id }: Pick<Call, 'call_id'>) {
  const [said, setSaid] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const ask = (): void => {
    setIsBusy(true)
    sandboxVoiceHeardText(api, { call_id })
      .then(
        ({ text }) => setSaid(text || t('No speech was recognised.')),
        (error: Error) => setSaid(error.message),
      )
      .finally(() => setIsBusy(false))
  }
  if (said !== null)
    return (
      <p class="text" dir="auto">
        {said}
      </p>
    )
  return (
    <button type="button" class="btn small" disabled={isBusy} onClick={ask}>
      {t('Transcript')}
    </button>
  )
}

/** Microphone and loudspeaker of this computer as the phone's own. */
function LiveSound({ line: { state, isMuted, microphone, error, start, stop, mute } }: { line: PhoneLine }) {
  const level = useLevel(microphone)
  return (
    <div class="live-sound">
      {error && <Problem error={error} />}
      {state === 'on' ? (
        <>
          <meter min={0} max={1} value={isMuted ? 0 : level} aria-label={t('Level of the microphone')} />
          <button type="button" class="btn small" aria-pressed={isMuted} onClick={mute}>
            {t('Mute')}
          </button>
          <button type="button" class="btn small" onClick={stop}>
            {t('Live audio off')}
          </button>
        </>
      ) : (
        <button type="button" class="btn small" disabled={state === 'opening'} onClick={start}>
          <Icon name="mic" />
          {t('Speak and listen here')}
        </button>
      )}
    </div>
  )
}

const heardAt = ({ call_id }: Call): string => sandboxVoiceHeard.at({ call_id })

function InCall({ call: { call_id, status, from, to, direction }, onDone }: { call: Call; onDone(): void }) {
  const [error, setError] = useState<Error | null>(null)
  const run = (what: Promise<unknown>): void => {
    setError(null)
    what.then(onDone, setError)
  }
  return (
    <fieldset class="prompt">
      <legend class="hidden">{t('Call in progress')}</legend>
      <p class="strong">{direction === 'inbound' ? to : from}</p>
      {error && <Problem error={error} />}
      {status === 'ringing' && (
        <button type="button" class="btn primary" onClick={() => run(sandboxVoiceAnswer(api, { call_id }))}>
          {t('Answer the call')}
        </button>
      )}
      {status === 'answered' && (
        <>
          <div class="keys">
            {keys.map((key) => (
              <button
                key={key}
                type="button"
                class="btn"
                onClick={() => run(sandboxVoiceInput(api, { call_id, body: { dtmf: key } }))}
              >
                {key}
              </button>
            ))}
          </div>
          <Line
            label={t('Say')}
            action="Say"
            onSend={(speech) => sandboxVoiceInput(api, { call_id, body: { speech } })}
          />
        </>
      )}
      <button type="button" class="btn danger" onClick={() => run(sandboxVoiceHangup(api, { call_id }))}>
        {t('Hang up')}
      </button>
    </fieldset>
  )
}
