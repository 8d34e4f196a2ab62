// SPDX-License-Identifier: Apache-2.0
// Media thread: sends audio on time whatever the main thread computes.
import { parentPort, workerData } from 'node:worker_threads'
import type { AudioLeg } from '../../../protocols/media/audio-leg.ts'
import { MediaEngine } from '../../../protocols/media/engine.ts'
import type { Answer, FromWorker, MediaCommand, MediaEvent, NumberedCommand, WorkerSettings } from './command.ts'
import { openSocket } from './socket.ts'

const stateEveryMs = 1_000
const pingEveryMs = 10_000
const settings: WorkerSettings = workerData
const startedMs = performance.timeOrigin
const nowMs = (): number => startedMs + performance.now()

const tell = (message: FromWorker): void => parentPort?.postMessage(message)
const happened = (event: MediaEvent): void => tell({ happened: event })

const engine = new MediaEngine(
  {
    nowMs,
    ...(settings.ports ? { ports: settings.ports } : {}),
    silentMs: settings.silentMs,
    maxLegs: settings.maxLegs,
    latestMs: settings.latestMs,
  },
  {
    digit: (leg, digit) => happened({ event: 'digit', leg, digit }),
    silent: (leg) => happened({ event: 'silent', leg }),
    played: (player) => happened({ event: 'played', player }),
    recorded: (recorder, channels) => happened({ event: 'recorded', recorder, channels }),
    recordingEnded: (recorder, reason, durationMs) =>
      happened({ event: 'recording_ended', recorder, reason, durationMs }),
    speechBegan: (listener) => happened({ event: 'speech_began', listener }),
    speechEnded: (listener, reason, samples) => happened({ event: 'speech_ended', listener, reason, samples }),
    answerer: (leg, who) => happened({ event: 'answerer', leg, who }),
  },
)

async function obey(command: MediaCommand): Promise<Omit<Answer, 'id'>> {
  switch (command.do) {
    case 'open':
      if (!engine.admits) return { error: 'this worker has as many calls as it can serve in time' }
      return { port: await engine.open(command.leg, command.room, command.host) }
    case 'open_socket':
      if (!engine.admits) return { error: 'this worker has as many calls as it can serve in time' }
      enter(command, await opened(command))
      return {}
    case 'connect':
      engine.connect(command.leg, command.remote)
      return {}
    case 'close':
      return { end: engine.close(command.leg) }
    case 'move':
      engine.move(command.leg, command.room)
      return {}
    case 'gain':
      engine.gain(command.room, command.speaker, command.listener, command.gain)
      return {}
    case 'dial':
      engine.dial(command.leg, command.digits)
      return {}
    case 'pressed':
      engine.pressed(command.leg, command.digit)
      return {}
    case 'play':
      engine.play(command.room, command.player, command.samples, command)
      return {}
    case 'stop':
      engine.stop(command.room, command.player)
      return {}
    case 'record':
      engine.record(command.room, command.recorder, command.channels, command.options)
      return {}
    case 'pause_recording':
      engine.pauseRecording(command.recorder, command.isPaused)
      return {}
    case 'end_recording':
      engine.endRecording(command.recorder)
      return {}
    case 'listen':
      engine.listen(command.room, command.listener, command.legs, command.options)
      return {}
    case 'stop_listening':
      engine.stopListening(command.listener)
      return {}
    case 'detect':
      engine.detect(command.leg, command.awaitsRecording)
      return {}
  }
}

function enter({ leg, room }: Extract<MediaCommand, { do: 'open_socket' }>, audio: AudioLeg): void {
  try {
    engine.enter(leg, room, audio)
  } catch (error) {
    audio.close()
    throw error
  }
}

function opened({ leg, call }: Extract<MediaCommand, { do: 'open_socket' }>): Promise<AudioLeg> {
  return openSocket(call, {
    nowMs,
    pingEveryMs: Math.min(pingEveryMs, settings.silentMs / 3),
    closed: (isClean, code) => happened({ event: 'closed', leg, isClean, code }),
  })
}

parentPort?.on('message', ({ id, command }: NumberedCommand) => {
  obey(command).then(
    (answer) => tell({ answer: { id, ...answer } }),
    (error) => tell({ answer: { id, error: error instanceof Error ? error.message : String(error) } }),
  )
})

function tellState(): void {
  tell({ state: { legs: engine.legs, lateMs: engine.lateMs, admits: engine.admits } })
}

tellState()
setInterval(tellState, stateEveryMs)
