// SPDX-License-Identifier: Apache-2.0
// Types of optional packages, as far as used, so that the program compiles without them.

declare module 'sharp' {
  export interface SharpOptions {
    readonly failOn?: 'error'
    readonly limitInputPixels?: number | false
    readonly ignoreIcc?: boolean
    readonly pages?: number
    readonly raw?: { readonly width: number; readonly height: number; readonly channels: 1 | 3 }
  }

  interface Header {
    readonly width: number
    readonly height: number
    readonly icc?: Buffer
    readonly exif?: Buffer
    readonly xmp?: Buffer
  }

  export interface Sharp {
    metadata(): Promise<Header>
    autoOrient(): Sharp
    rotate(degrees: number, options: { readonly background: string }): Sharp
    resize(
      width: number,
      height: number,
      options?: { readonly fit?: 'inside' | 'fill'; readonly withoutEnlargement?: boolean },
    ): Sharp
    flatten(options: { readonly background: string }): Sharp
    toColourspace(space: 'srgb'): Sharp
    removeAlpha(): Sharp
    raw(): Sharp
    jpeg(options?: { readonly quality?: number }): Sharp
    toBuffer(): Promise<Buffer>
    toBuffer(options: { readonly resolveWithObject: true }): Promise<{
      data: Buffer
      info: { readonly width: number; readonly height: number; readonly channels: number }
    }>
  }

  interface Library {
    (input: Uint8Array, options?: SharpOptions): Sharp
    cache(isOn: boolean): void
    concurrency(threads: number): void
    block(options: { readonly operation: readonly string[] }): void
    unblock(options: { readonly operation: readonly string[] }): void
  }

  const sharp: Library
  export default sharp
}

declare module 'zxing-wasm/reader' {
  export function prepareZXingModule(options: {
    readonly overrides: { readonly wasmBinary: ArrayBuffer }
    readonly fireImmediately: true
  }): Promise<unknown>

  export function readBarcodes(
    file: Uint8Array,
    options: { readonly formats: string[]; readonly maxNumberOfSymbols: number; readonly tryHarder: boolean },
  ): Promise<readonly Found[]>

  interface Found {
    readonly isValid: boolean
    readonly format: string
    readonly text: string
    /** `Text`, `Binary` and others. */
    readonly contentType: string
    readonly bytes: Uint8Array
  }
}
