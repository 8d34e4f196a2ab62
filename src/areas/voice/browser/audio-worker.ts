// SPDX-License-Identifier: Apache-2.0
// Thread of browser audio: encryption costs some thirty times as much as plain RTP, and audio must leave on time whatever
// the main thread computes.
import { parentPort } from 'node:worker_threads'
import type { AudioAnswer, AudioCommand, FromAudioWorker } from './audio-command.ts'
import { WebRtcLeg } from './webrtc-leg.ts'

const legs = new Map<string, WebRtcLeg>()
const startedMs = performance.timeOrigin
const nowMs = () => startedMs + performance.now()
const tell = (message: FromAudioWorker): void => parentPort?.postMessage(message)

async function obey(command: AudioCommand): Promise<Omit<AudioAnswer, 'id'>> {
  const { browser } = command
  if (command.do === 'open') {
    const { leg, sdp } = await WebRtcLeg.open(command.place, nowMs, (state) => tell({ browser, state }))
    legs.set(browser, leg)
    return { opened: { sdp, port: leg.port } }
  }
  const leg = legs.get(browser)
  switch (command.do) {
    case 'answer':
      await leg?.answer(command.sdp)
      return {}
    case 'candidate':
      await leg?.candidate(command.candidate, command.sdpMid, command.sdpMLineIndex)
      return {}
    case 'bridge':
      leg?.bridge(command.to)
      return {}
    case 'close':
      legs.delete(browser)
      await leg?.close()
      return {}
  }
}

parentPort?.on('message', ({ id, command }: { id: number; command: AudioCommand }) => {
  obey(command).then(
    (answer) => tell({ answer: { id, ...answer } }),
    (error) => tell({ answer: { id, error: error instanceof Error ? error.message : String(error) } }),
  )
})
