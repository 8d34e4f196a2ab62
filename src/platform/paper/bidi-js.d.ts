// SPDX-License-Identifier: Apache-2.0
// What is used of the module file of bidi-js: the types of the package describe its file for CommonJS.
declare module 'bidi-js/dist/bidi.mjs' {
  interface EmbeddingLevels {
    readonly levels: Uint8Array
    readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[]
  }

  export interface Bidi {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl' | 'auto'): EmbeddingLevels
    getReorderedIndices(text: string, found: EmbeddingLevels): number[]
    getMirroredCharactersMap(text: string, levels: Uint8Array): Map<number, string>
  }

  export default function bidiFactory(): Bidi
}
