// SPDX-License-Identifier: Apache-2.0
// Live sound of a handset: while it is on, calls to the number ring until they are answered, and the microphone and the
// loudspeaker of this computer are the phone's.
import { useEffect, useRef, useState } from 'preact/hooks'
import { sandboxVoiceCalls } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { answerOffer, openMicrophone } from '../../kit/microphone.ts'
import { allowSound, playBell } from '../../kit/sound.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'

export interface PhoneLine {
  /** `on` once calls ring and are heard. */
  readonly state: 'off' | 'opening' | 'on'
  readonly isMuted: boolean
  readonly microphone: MediaStream | null
  readonly error: Error | null
  start(): void
  stop(): void
  mute(): void
}

/** A line that is open. */
interface Open {
  readonly socket: WebSocket
  readonly microphone: MediaStream
  readonly voice: HTMLAudioElement
  peer: RTCPeerConnection | null
}

const beatMs = 10_000

/** Sound of a handset; `rings` is told of a call that is to be answered. */
export function usePhoneLine(number: string, rings: () => void): PhoneLine {
  const [state, setState] = useState<PhoneLine['state']>('off')
  const [isMuted, setIsMuted] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const open = useRef<Open | null>(null)
  const close = (why: Error | null = null): void => {
    const before = open.current
    open.current = null
    setState('off')
    setIsMuted(false)
    setError(why)
    if (before) hangUp(before)
  }
  const start = (): void => {
    allowSound()
    setError(null)
    setState('opening')
    openMicrophone().then((microphone) => {
      open.current = connect(microphone, number, {
        ready: () => setState('on'),
        lost: () => close(new Error(t('The live audio was lost: turn it on again.'))),
      })
    }, close)
  }
  const mute = (): void => {
    for (const track of open.current?.microphone.getTracks() ?? []) track.enabled = isMuted
    setIsMuted(!isMuted)
  }
  useEffect(() => () => close(), [number])
  useCallSound(number, state === 'on' ? open : null, rings)
  return { state, isMuted, microphone: open.current?.microphone ?? null, error, start, stop: () => close(), mute }
}

/** Rings for a call that waits, and speaks in one that was answered. */
function useCallSound(number: string, open: { readonly current: Open | null } | null, rings: () => void): void {
  const [active, setActive] = useState<{ readonly call_id: string; readonly isRinging: boolean } | null>(null)
  const look = async (): Promise<void> => {
    if (open === null) return setActive(null)
    const { data } = await sandboxVoiceCalls(api, { query: { phone: number, limit: 5 } })
    const call = data.find(
      ({ status, direction }) => status === 'answered' || (status === 'ringing' && direction === 'outbound'),
    )
    setActive(call === undefined ? null : { call_id: call.call_id, isRinging: call.status === 'ringing' })
  }
  useEffect(() => void look().catch(() => undefined), [number, open])
  useLive('call.', () => look().catch(() => undefined), { about: number, everyMs: 300 })
  useEffect(() => {
    if (active === null || open?.current == null) return
    if (active.isRinging) {
      rings()
      const bell = playBell()
      return () => bell.stop()
    }
    const { current } = open
    send(current, { type: 'phone.join', call_id: active.call_id })
    return () => send(current, { type: 'phone.leave' })
  }, [active?.call_id, active?.isRinging])
}

function connect(microphone: MediaStream, number: string, then: { ready(): void; lost(): void }): Open {
  // The line of a phone stands beside the list of its calls.
  const url = new URL('phone', new URL(sandboxVoiceCalls.at({ query: { phone: number } }), window.location.href))
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('environment', 'test')
  const voice = new Audio()
  voice.autoplay = true
  const own: Open = { socket: new WebSocket(url), microphone, voice, peer: null }
  const beat = setInterval(() => send(own, { type: 'ping' }), beatMs)
  own.socket.addEventListener('message', ({ data }) => {
    const message = Object(JSON.parse(data))
    if (message.type === 'webrtc.offer') void answer(own, message).catch(() => own.socket.close())
    if (message.type !== 'phone.ready') return
    send(own, { type: 'phone.attend', number })
    then.ready()
  })
  own.socket.addEventListener('close', () => {
    clearInterval(beat)
    if (!isLeft.has(own)) then.lost()
  })
  return own
}

async function answer(own: Open, offer: Parameters<typeof answerOffer>[0]): Promise<void> {
  own.peer = await answerOffer(offer, own.microphone, {
    send: (message) => send(own, message),
    plays: (stream) => {
      own.voice.srcObject = stream
    },
  })
}

/** Lines that were closed here, and not lost. */
const isLeft = new WeakSet<Open>()

function hangUp(own: Open): void {
  isLeft.add(own)
  own.socket.close(1000)
  own.peer?.close()
  own.voice.srcObject = null
  for (const track of own.microphone.getTracks()) track.stop()
}

function send({ socket }: Open, message: object): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
