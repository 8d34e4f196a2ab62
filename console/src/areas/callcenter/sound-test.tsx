// SPDX-License-Identifier: Apache-2.0
// Test of microphone and loudspeaker: a level that moves while one speaks, and a tone.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../kit/icons.tsx'
import { Problem } from '../../kit/kit.tsx'
import { openMicrophone, stopTracks, useLevel } from '../../kit/microphone.ts'
import { playTest, soundContext } from '../../kit/sound.ts'
import { t } from '../../words.ts'

export function SoundTest() {
  const [microphone, setMicrophone] = useState<MediaStream | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [wasHeard, setWasHeard] = useState(false)
  const level = useLevel(microphone)
  /** Microphone that is open; undefined once the test is gone. */
  const opened = useRef<MediaStream | null | undefined>(null)
  useEffect(() => {
    if (level > 0.05) setWasHeard(true)
  }, [level])
  useEffect(
    () => () => {
      stopTracks(opened.current)
      opened.current = undefined
    },
    [],
  )
  const listen = (): void => {
    setError(null)
    void soundContext().resume()
    openMicrophone().then((stream) => {
      if (opened.current === undefined) return stopTracks(stream)
      stopTracks(opened.current)
      opened.current = stream
      setMicrophone(stream)
    }, setError)
  }
  return (
    <div class="sound-test">
      <button type="button" class="btn" onClick={listen}>
        <Icon name="mic" />
        {t('Test the microphone')}
      </button>
      {microphone && (
        <span class="row">
          <meter min={0} max={1} value={level} aria-label={t('Level of the microphone')} />
          <span role="status">{wasHeard ? t('The microphone hears you.') : t('Speak to test the microphone…')}</span>
        </span>
      )}
      <button type="button" class="btn" onClick={playTest}>
        <Icon name="speaker" />
        {t('Test the loudspeaker')}
      </button>
      {error && <Problem error={error} />}
    </div>
  )
}
