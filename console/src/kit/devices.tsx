// SPDX-License-Identifier: Apache-2.0
// Sound devices that were chosen in this browser: microphone, loudspeaker, and what rings, which may be another one than the headset.
import { useEffect, useState } from 'preact/hooks'
import { store } from '../store.ts'
import { t } from '../words.ts'
import { Choice } from './fields.tsx'

/** Ids of devices; an empty one leaves it to the browser. */
interface Chosen {
  readonly microphone: string
  readonly speaker: string
  readonly ring: string
}

const kept = 'pamoja-devices'

function keptDevices(): Chosen {
  const [microphone = '', speaker = '', ring = ''] = (localStorage.getItem(kept) ?? '').split(' ')
  return { microphone, speaker, ring }
}

export const devices = store<Chosen>(keptDevices())

function choose(part: Partial<Chosen>): void {
  const next = { ...devices.get(), ...part }
  localStorage.setItem(kept, [next.microphone, next.speaker, next.ring].join(' '))
  devices.set(next)
}

/** Plays by a device, where the browser can; by the usual one when it is gone. */
export async function playBy(out: object, id: string): Promise<void> {
  const { setSinkId } = Object(out)
  if (typeof setSinkId !== 'function' || (id === '' && Object(out).sinkId === '')) return
  await setSinkId.call(out, id).catch(() => setSinkId.call(out, '').catch(() => undefined))
}

/** Devices to choose among. Browsers name them once the microphone was allowed. */
export function Devices() {
  const { microphone, speaker, ring } = devices.use()
  const [found, setFound] = useState<readonly MediaDeviceInfo[]>([])
  useEffect(() => {
    const look = (): void => void navigator.mediaDevices.enumerateDevices().then(setFound, () => undefined)
    look()
    navigator.mediaDevices.addEventListener('devicechange', look)
    return () => navigator.mediaDevices.removeEventListener('devicechange', look)
  }, [])
  const choice = (
    label: string,
    kind: MediaDeviceKind,
    value: string,
    keep: (id: string) => Partial<Chosen>,
    isPossible = true,
  ) => {
    const among = found.filter(({ kind: own, deviceId, label: name }) => own === kind && deviceId !== '' && name !== '')
    const names = Object.fromEntries(among.map(({ deviceId, label: name }) => [deviceId, name]))
    if (!isPossible || among.length === 0) return null
    return (
      <Choice
        label={label}
        value={names[value] === undefined ? '' : value}
        among={['', ...Object.keys(names)]}
        names={{ '': t('Default device'), ...names }}
        isRequired
        onChange={(id) => choose(keep(id))}
      />
    )
  }
  return (
    <details class="devices">
      <summary>{t('Sound devices')}</summary>
      {found.every(({ label }) => label === '') && <p class="hint">{t('Test the microphone to see the devices.')}</p>}
      <div class="form in-line">
        {choice('Microphone', 'audioinput', microphone, (id) => ({ microphone: id }))}
        {choice('Loudspeaker', 'audiooutput', speaker, (id) => ({ speaker: id }), 'setSinkId' in Audio.prototype)}
        {choice('Ring on', 'audiooutput', ring, (id) => ({ ring: id }), 'setSinkId' in AudioContext.prototype)}
      </div>
    </details>
  )
}
