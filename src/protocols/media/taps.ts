// SPDX-License-Identifier: Apache-2.0
// Taps of a room: a recorder that ends by silence, key or length; a listener that cuts out speech; a detector that
// tells a person from an answering machine. Each takes frames of 20 ms and says when it is done; none of them waits.
import { frameSamples, sampleRate } from '../audio/g711.ts'
import { share } from '../audio/tones.ts'
import { VoiceActivity } from '../audio/voice-activity.ts'

const frameMs = 20

/** Samples in a growing array with a bound; what is over the bound is not kept. */
class Sound {
  #samples: Int16Array
  readonly #most: number
  length = 0

  constructor(most: number) {
    this.#most = most
    this.#samples = new Int16Array(Math.min(most, sampleRate))
  }

  add(frame: Int16Array): void {
    if (this.length + frame.length > this.#most) return
    if (this.length + frame.length > this.#samples.length) {
      const larger = new Int16Array(Math.min(this.#most, 2 * this.#samples.length))
      larger.set(this.#samples)
      this.#samples = larger
    }
    this.#samples.set(frame, this.length)
    this.length += frame.length
  }

  take(): Int16Array {
    const taken = this.#samples.slice(0, this.length)
    this.length = 0
    return taken
  }
}

export type RecordingEnd = 'silence' | 'key' | 'length' | 'stopped'

export interface RecorderOptions {
  /** Ends after this much silence; 0 does not. */
  silenceMs: number
  maxMs: number
  endKeys: string
  /** Frames that are handed over together; a second of them unless told. */
  chunkFrames?: number
}

const secondFrames = 50
const nothing = new Int16Array(frameSamples)

/** One or two channels, handed over second by second, so that a crash loses a second at most. */
export class Recorder {
  readonly #channels: Sound[]
  readonly #activity = new VoiceActivity()
  readonly #options: RecorderOptions
  readonly #chunkFrames: number
  #frames = 0
  #waiting = 0

  constructor(channels: number, options: RecorderOptions) {
    this.#options = options
    this.#chunkFrames = options.chunkFrames ?? secondFrames
    this.#channels = Array.from({ length: channels }, () => new Sound(this.#chunkFrames * frameSamples))
  }

  get durationMs(): number {
    return this.#frames * frameMs
  }

  /** One frame of every channel: why the recording ends with it, or null. */
  take(frames: readonly Int16Array[]): RecordingEnd | null {
    frames.forEach((frame, i) => void this.#channels[i]?.add(frame))
    this.#frames++
    this.#waiting++
    const [first] = frames
    if (first) this.#activity.take(first)
    const { silenceMs, maxMs } = this.#options
    if (this.durationMs >= maxMs) return 'length'
    return silenceMs > 0 && this.#activity.silentMs >= silenceMs ? 'silence' : null
  }

  /** Silence for a frame that nobody made, so that what follows stands at its time. It counts as no silence of a caller. */
  skip(): void {
    for (const channel of this.#channels) channel.add(nothing)
    this.#frames++
    this.#waiting++
  }

  endsBy(key: string): boolean {
    return this.#options.endKeys.includes(key)
  }

  /** Samples since the last call, once they are a chunk or at the end. */
  drain(isEnd: boolean): Int16Array[] | null {
    if (this.#waiting === 0 || (!isEnd && this.#waiting < this.#chunkFrames)) return null
    this.#waiting = 0
    return this.#channels.map((channel) => channel.take())
  }
}

export interface ListenerOptions {
  endOnSilenceMs: number
  startTimeoutMs: number
  maxMs: number
  /** Sensitivity for quiet words, 0 to 100; VoiceActivity's default otherwise. */
  sensitivity?: number
}

export type ListeningEnd = 'end_on_silence_timeout' | 'start_timeout' | 'max_duration'

const leadFrames = 15

/** Cuts an utterance out of a line, with a little of what came before it. */
export class Listener {
  readonly #activity: VoiceActivity
  readonly #options: ListenerOptions
  readonly #lead: Int16Array[] = []
  readonly #sound: Sound
  #waitedMs = 0
  #hasBegun = false

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#activity = new VoiceActivity(options.sensitivity)
    this.#sound = new Sound(((options.maxMs + 1_000) * sampleRate) / 1_000)
  }

  /** Whether the caller has just begun, and why listening ends, if it does. */
  take(frame: Int16Array): { begins: boolean; end: ListeningEnd | null } {
    const speaks = this.#activity.take(frame)
    this.#waitedMs += frameMs
    const begins = speaks && !this.#hasBegun
    if (begins) {
      this.#hasBegun = true
      this.#waitedMs = 0
      for (const earlier of this.#lead) this.#sound.add(earlier)
    }
    if (this.#hasBegun) this.#sound.add(frame)
    else {
      this.#lead.push(frame.slice())
      if (this.#lead.length > leadFrames) this.#lead.shift()
    }
    return { begins, end: this.#end() }
  }

  #end(): ListeningEnd | null {
    const { endOnSilenceMs, startTimeoutMs, maxMs } = this.#options
    if (!this.#hasBegun) return this.#waitedMs >= startTimeoutMs ? 'start_timeout' : null
    if (this.#activity.silentMs >= endOnSilenceMs) return 'end_on_silence_timeout'
    return this.#waitedMs >= maxMs ? 'max_duration' : null
  }

  heard(): Int16Array {
    return this.#sound.take()
  }
}

const beeps = [800, 850, 900, 950, 1_000, 1_100, 1_200, 1_400]
const longGreetingMs = 2_200
const pauseMs = 800
const patienceMs = 4_000
/** Pause after which a greeting without a beep is over, and the longest that any is waited for. */
const greetingPauseMs = 2_000
const longestGreetingMs = 45_000
const beepFrames = 8

/** Who answered; `recording` is a machine whose greeting is over. */
export type Answerer = 'person' | 'machine' | 'recording'

/** A machine greets at length or beeps; a person says a word and waits. */
export class MachineDetector {
  readonly #activity = new VoiceActivity()
  readonly #awaitsRecording: boolean
  #elapsedMs = 0
  #beeping = 0
  #isMachine = false
  #hasBeeped = false
  isDone = false

  /** `awaitsRecording`: after a machine was told of, also when its greeting is over. */
  constructor(awaitsRecording: boolean) {
    this.#awaitsRecording = awaitsRecording
  }

  /** What was found out with this frame. */
  take(frame: Int16Array): Answerer | null {
    const speaks = this.#activity.take(frame)
    this.#elapsedMs += frameMs
    this.#beeping = speaks && beeps.some((hertz) => share(frame, hertz) > 0.85) ? this.#beeping + 1 : 0
    this.#hasBeeped ||= this.#beeping >= beepFrames
    const found = this.#isMachine ? this.#endOfGreeting() : this.#answerer()
    this.#isMachine ||= found === 'machine'
    this.isDone = found !== null && !(found === 'machine' && this.#awaitsRecording)
    return found
  }

  #answerer(): Answerer | null {
    if (this.#hasBeeped || this.#activity.spokenMs >= longGreetingMs) return 'machine'
    if (this.#activity.hasSpoken && this.#activity.silentMs >= pauseMs) return 'person'
    return this.#elapsedMs >= patienceMs ? 'person' : null
  }

  #endOfGreeting(): Answerer | null {
    const isOver = this.#hasBeeped ? this.#beeping === 0 : this.#activity.silentMs >= greetingPauseMs
    return isOver || this.#elapsedMs >= longestGreetingMs ? 'recording' : null
  }
}
