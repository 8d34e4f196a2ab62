// SPDX-License-Identifier: Apache-2.0
// MP3 files, as far as they are told from others; what reads them is an engine in a process of its own.

/** Whether a file begins as MP3 does: with a tag, or with the mark of a frame. */
export function looksLikeMp3(file: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = file
  const isTag = first === 0x49 && second === 0x44 && third === 0x33
  return isTag || (first === 0xff && (second & 0xe6) === 0xe2)
}
