// SPDX-License-Identifier: Apache-2.0
// A prompt of a menu, heard in the browser as callers hear it: in the voice that speaks it, or as the sound that was uploaded.
import { useEffect, useState } from 'preact/hooks'
import { voiceListVoices, voiceSampleVoice } from '#sdk/operations.ts'
import type { Ivr } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { useDoing } from '../../kit/doing.ts'
import { Icon } from '../../kit/icons.tsx'
import { Problem } from '../../kit/kit.tsx'
import { allowSound, playFile } from '../../kit/sound.ts'
import { t } from '../../words.ts'

/** Characters that the server says at once. */
const maxText = 200

/** What is being heard; another prompt ends it. */
let current: AbortController | null = null

interface HearProps {
  text: string
  language: string
  /** Variables of the menu; one that only a call has is said by its name. */
  variables: Ivr['variables']
}

export function HearIt({ text, language, variables }: HearProps) {
  const said = text.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (_, name: string) => String(variables[name] ?? name))
  return <HearButton isReady={text.trim() !== ''} play={(signal) => hear(said, language, signal)} />
}

/** Plays a prompt, and stops it when pressed again. */
export function HearButton({ isReady, play }: { isReady: boolean; play(signal: AbortSignal): Promise<void> }) {
  const { run, error } = useDoing()
  const [playing, setPlaying] = useState<AbortController | null>(null)
  useEffect(() => () => playing?.abort(), [playing])
  const press = (): void => {
    current?.abort()
    if (playing) return
    allowSound()
    const mine = new AbortController()
    current = mine
    setPlaying(mine)
    run(() => play(mine.signal).finally(() => setPlaying((now) => (now === mine ? null : now))))
  }
  return (
    <>
      <button type="button" class="btn small" disabled={!isReady} onClick={press}>
        <Icon name={playing ? 'stop' : 'speaker'} />
        {playing ? t('Stop the prompt') : t('Play the prompt')}
      </button>
      {error && <Problem error={error} />}
    </>
  )
}

async function hear(text: string, language: string, signal: AbortSignal): Promise<void> {
  const { data } = await voiceListVoices(api)
  const usual = data.filter(({ is_default }) => is_default)
  const [tongue] = language.split('-')
  const row =
    usual.find((one) => one.language === language) ?? usual.find((one) => one.language.split('-')[0] === tongue)
  if (!row) throw new Error(t('No voice supports this language.'))
  for (const piece of piecesOf(text)) {
    if (signal.aborted) return
    const query = { language: row.language, text: piece }
    const answer = await api.send('GET', voiceSampleVoice.at({ voice: row.voice, query }))
    await playFile(await answer.arrayBuffer(), signal)
  }
}

/** Pieces of a text that can be said one after the other, cut after sentences or words; one with tags is not cut. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let rest = text.trim()
  while (rest.length > maxText && !rest.startsWith('<speak')) {
    const head = rest.slice(0, maxText)
    const piece = (/^.*[.!?;:؟]\s/s.exec(head) ?? /^.*\s/s.exec(head))?.[0] ?? head
    pieces.push(piece.trim())
    rest = rest.slice(piece.length).trim()
  }
  return rest === '' ? pieces : [...pieces, rest]
}
