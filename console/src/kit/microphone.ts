// SPDX-License-Identifier: Apache-2.0
// Microphone of the browser: opening it, how loud it is, and speaking by it over WebRTC.
import { useEffect, useState } from 'preact/hooks'
import { t } from '../words.ts'
import { devices } from './devices.tsx'
import { soundContext } from './sound.ts'

/** Why the microphone cannot be used, in words. */
function microphoneWords(error: unknown): Error {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError')
    return new Error(t('The browser may not use the microphone: allow it beside the address.'))
  if (name === 'NotFoundError') return new Error(t('There is no microphone: connect one and try again.'))
  if (name === 'NotReadableError') return new Error(t('Another program holds the microphone: close it and try again.'))
  return error instanceof Error ? error : new Error(String(error))
}

export async function openMicrophone(): Promise<MediaStream> {
  const { microphone } = devices.get()
  const audio = {
    ...{ echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    ...(microphone === '' ? {} : { deviceId: { ideal: microphone } }),
  }
  return navigator.mediaDevices.getUserMedia({ audio }).catch((error) => Promise.reject(microphoneWords(error)))
}

export function stopTracks(microphone: MediaStream | null | undefined): void {
  for (const track of microphone?.getTracks() ?? []) track.stop()
}

/** Loudness of a microphone or of what is heard from 0 to 1, a few times a second. */
export function useLevel(microphone: MediaStream | null): number {
  const [level, setLevel] = useState(0)
  useEffect(() => {
    if (microphone === null) return
    const context = soundContext()
    const source = context.createMediaStreamSource(microphone)
    const analyser = new AnalyserNode(context, { fftSize: 1_024 })
    source.connect(analyser)
    const samples = new Float32Array(analyser.fftSize)
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples)
      setLevel(Math.min(1, 4 * Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length)))
    }, 150)
    return () => {
      clearInterval(timer)
      source.disconnect()
    }
  }, [microphone])
  return level
}

/** What the server offers: its side of the audio. */
export interface AudioOffer {
  readonly sdp: string
  readonly ice_servers: RTCIceServer[]
}

interface Line {
  send(message: object): void
  /** Is given what the other side says. */
  plays(stream: MediaStream): void
}

/** Answers the server's offer: the microphone is sent, and what comes back is played. */
export async function answerOffer(
  { sdp, ice_servers }: AudioOffer,
  microphone: MediaStream,
  { send, plays }: Line,
): Promise<RTCPeerConnection> {
  const peer = new RTCPeerConnection({ iceServers: ice_servers })
  peer.addEventListener('track', ({ track }) => plays(new MediaStream([track])))
  peer.addEventListener('icecandidate', ({ candidate }) => {
    if (candidate?.candidate)
      send({
        type: 'webrtc.candidate',
        candidate: candidate.candidate,
        sdp_mid: candidate.sdpMid ?? undefined,
        sdp_m_line_index: candidate.sdpMLineIndex ?? undefined,
      })
  })
  await peer.setRemoteDescription({ type: 'offer', sdp })
  for (const track of microphone.getAudioTracks()) peer.addTrack(track, microphone)
  await peer.setLocalDescription(await peer.createAnswer())
  send({ type: 'webrtc.answer', sdp: peer.localDescription?.sdp })
  return peer
}
