// SPDX-License-Identifier: Apache-2.0
// Sounds of the page: bells and a test tone. A whole ring is written into the audio clock at once, because a hidden tab is given
// few timers.

import { devices, playBy } from './devices.tsx'

let audio: AudioContext | null = null
/** Audio of bells, which may ring on another device. */
let bells: AudioContext | null = null

const ringSeconds = 120
const everySeconds = 3
/** Two tones of a telephone's bell, in hertz. */
const bell = [440, 480]

/** Lets the page make sound; browsers allow it after a key or a click. */
export function allowSound(): void {
  for (const context of [soundContext(), bellContext()]) void context.resume()
}

/** Whether the browser keeps the page silent until a key or a click. */
export const isSilenced = (): boolean => bellContext().state === 'suspended'

/** Audio that the page shares: the test tone, prompts and levels. */
export function soundContext(): AudioContext {
  audio ??= new AudioContext()
  return audio
}

function bellContext(): AudioContext {
  bells ??= new AudioContext()
  return bells
}

/** Plays tones that are on for a second of each interval. */
function play(
  hertz: readonly number[],
  seconds: number,
  every: number,
  context: AudioContext = soundContext(),
): { stop(): void } {
  void context.resume()
  const gain = context.createGain()
  gain.connect(context.destination)
  gain.gain.value = 0
  const begin = context.currentTime
  for (let at = 0; at < seconds; at += every) {
    gain.gain.setValueAtTime(0.2, begin + at)
    gain.gain.setValueAtTime(0, begin + at + 1)
  }
  const tones = hertz.map((frequency) => {
    const tone = new OscillatorNode(context, { frequency })
    tone.connect(gain)
    tone.start()
    tone.stop(begin + seconds)
    return tone
  })
  return {
    stop: () => {
      for (const tone of tones) tone.stop()
      gain.disconnect()
    },
  }
}

/** One second of a tone, to hear whether the loudspeaker works. */
export function playTest(): void {
  void playBy(soundContext(), devices.get().speaker)
  play([660], 1, 1)
}

/** Two high tones for a second, once. */
export function playAlert(): void {
  void playBy(bellContext(), devices.get().ring)
  play([880, 1_109], 1, 1, bellContext())
}

/** Rings as a telephone does, until it is stopped. */
export function playBell(): { stop(): void } {
  void playBy(bellContext(), devices.get().ring)
  return play(bell, ringSeconds, everySeconds, bellContext())
}

/** Plays a sound file; done when it has ended or was stopped. */
export async function playFile(file: ArrayBuffer, signal: AbortSignal): Promise<void> {
  const context = soundContext()
  const source = new AudioBufferSourceNode(context, { buffer: await context.decodeAudioData(file) })
  if (signal.aborted) return
  source.connect(context.destination)
  await new Promise((resolve) => {
    source.onended = resolve
    signal.addEventListener('abort', () => source.stop())
    source.start()
  })
}
