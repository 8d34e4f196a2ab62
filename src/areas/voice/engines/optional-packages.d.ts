// SPDX-License-Identifier: Apache-2.0
// Types of optional packages, as far as used, so that the program compiles without them.

declare module 'llama-tokenizer-js' {
  const tokenizer: {
    encode(text: string, withStart: boolean, withSpace: boolean): number[]
    decode(tokens: readonly number[], hasStart: boolean, hasSpace: boolean): string
  }
  export default tokenizer
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
