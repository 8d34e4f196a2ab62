// SPDX-License-Identifier: Apache-2.0
// Types of optional packages, as far as used, so that the program compiles without them.

declare module 'llama-tokenizer-js' {
  const tokenizer: {
    readonly vocabById: readonly string[]
    /** Ranks of pairs, the two written with a space between. */
    readonly merges: ReadonlyMap<string, number>
    encode(text: string, withStart: boolean, withSpace: boolean): number[]
    decode(tokens: readonly number[], hasStart: boolean, hasSpace: boolean): string
  }
  export default tokenizer
}

declare module 'wasm-media-encoders/esnext' {
  export function createMp3Encoder(): Promise<{
    configure(how: { sampleRate: number; channels: 1 | 2; bitrate: 32 | 64 }): void
    encode(channels: readonly Float32Array[]): Uint8Array
    finalize(): Uint8Array
  }>
}

declare module '@echogarden/espeak-ng-emscripten' {
  interface Engine {
    list_voices(): { identifier: string; languages: { name: string; priority: number }[] }[]
    set_voice(name: string, language: string, gender: number, age: number, variant: number): void
    set_rate(wordsPerMinute: number): void
    get_samplerate(): number
    /** The callback stops it by returning true. */
    synthesize(text: string, take: (samples: Int16Array) => boolean): void
    /** Phonemes in the phonetic alphabet, a line for each clause. */
    synthesize_ipa(text: string): { ipa: string }
  }
  export default function start(how: { print(): void; printErr(): void }): Promise<{ eSpeakNGWorker: new () => Engine }>
}

declare module 'mpg123-decoder' {
  export class MPEGDecoder {
    readonly ready: Promise<void>
    decode(bytes: Uint8Array): {
      readonly channelData: readonly Float32Array[]
      readonly samplesDecoded: number
      readonly sampleRate: number
    }
    free(): void
  }
}
