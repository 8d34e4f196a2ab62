// SPDX-License-Identifier: Apache-2.0
// Messages between the program and its media workers: numbered commands, answers and events.
import type { Destination } from '../../../platform/outbound/dial.ts'
import type { LegEnd } from '../../../protocols/media/engine.ts'
import type { Channel } from '../../../protocols/media/room.ts'
import type { SocketRate } from '../../../protocols/media/socket-leg.ts'
import type {
  Answerer,
  ListenerOptions,
  ListeningEnd,
  RecorderOptions,
  RecordingEnd,
} from '../../../protocols/media/taps.ts'
import type { RemoteAudio } from '../../../protocols/rtp/leg.ts'

/** Websocket of a customer that takes part in a room. */
export interface SocketCall {
  destination: Destination
  uri: string
  rate: SocketRate
  /** Headers of the request, and the first text. */
  headers: Readonly<Record<string, string>>
  hello: object
}

export type MediaCommand =
  | { do: 'open'; leg: string; room: string; host: string }
  | { do: 'open_socket'; leg: string; room: string; call: SocketCall }
  | { do: 'connect'; leg: string; remote: RemoteAudio & { sends: boolean } }
  | { do: 'close'; leg: string }
  | { do: 'move'; leg: string; room: string }
  | { do: 'gain'; room: string; speaker: string; listener: string; gain: number }
  | { do: 'dial'; leg: string; digits: string }
  | { do: 'pressed'; leg: string; digit: string }
  | {
      do: 'play'
      room: string
      player: string
      samples: Int16Array
      loop: number
      level: number
      to: readonly string[] | null
    }
  | { do: 'stop'; room: string; player: string }
  | { do: 'record'; room: string; recorder: string; channels: readonly Channel[]; options: RecorderOptions }
  | { do: 'pause_recording'; recorder: string; isPaused: boolean }
  | { do: 'end_recording'; recorder: string }
  | { do: 'listen'; room: string; listener: string; legs: readonly string[]; options: ListenerOptions }
  | { do: 'stop_listening'; listener: string }
  | { do: 'detect'; leg: string; awaitsRecording: boolean }

export interface NumberedCommand {
  id: number
  command: MediaCommand
}

/** Answer: `port` for an open, `end` for a close. */
export interface Answer {
  id: number
  port?: number
  end?: LegEnd
  error?: string
}

export type MediaEvent =
  | { event: 'digit'; leg: string; digit: string }
  | { event: 'silent'; leg: string }
  /** A websocket was closed by the other side. */
  | { event: 'closed'; leg: string; isClean: boolean; code: number }
  | { event: 'played'; player: string }
  | { event: 'recorded'; recorder: string; channels: Int16Array[] }
  | { event: 'recording_ended'; recorder: string; reason: RecordingEnd; durationMs: number }
  | { event: 'speech_began'; listener: string }
  | { event: 'speech_ended'; listener: string; reason: ListeningEnd; samples: Int16Array }
  | { event: 'answerer'; leg: string; who: Answerer }

/** Worker status, sent every second. */
export interface WorkerState {
  legs: number
  lateMs: number
  admits: boolean
}

export type FromWorker = { answer: Answer } | { happened: MediaEvent } | { state: WorkerState }

export interface WorkerSettings {
  ports: readonly [number, number] | null
  silentMs: number
  maxLegs: number
  latestMs: number
}
