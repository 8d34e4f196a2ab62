// SPDX-License-Identifier: Apache-2.0
// Types of the optional package libopus-wasm, as far as used, so that the program compiles without it.

declare module 'libopus-wasm' {
  interface Encoder {
    encode(samples: Int16Array, how: { maxPacketBytes: number }): Uint8Array
    setPacketLossPercent(percent: number): void
    free(): void
  }

  interface Decoder {
    /** Null conceals `frameSize` samples; `decodeFec` takes the samples before the packet from it. */
    decode(packet: Uint8Array | null, how: { frameSize?: number; decodeFec?: boolean }): Int16Array
    free(): void
  }

  interface Rate {
    channels: 1
    sampleRate: 8_000
  }

  export const Application: { readonly Voip: number }
  export const Signal: { readonly Voice: number }
  export function createEncoder(
    options: Rate & {
      application: number
      signal: number
      bitrate: number
      complexity: number
      fec: boolean
      packetLossPercent: number
      vbr: boolean
    },
  ): Promise<Encoder>
  export function createDecoder(options: Rate): Promise<Decoder>
}
