// SPDX-License-Identifier: Apache-2.0
// Screen: the text a network carries, and pagination of longer ones. 160 octets hold 182 GSM 7-bit characters or 80
// UCS-2 units (3GPP TS 23.038 section 5). Pure.
import { gsmLength, isGsm, toGsm } from '../../protocols/smpp/charset.ts'

/** Longest screen of a request to the API, in characters. */
export const maxScreenLength = 182
/** Longest answer of an application, which is shown in pages. */
const maxAnswerLength = 1_600
const maxPages = 10
const maxGsmUnits = 182
const maxUcs2Units = 80

/** Labels and keys of the lines that turn pages. */
export interface PageWords {
  readonly more: string
  readonly back: string
}

export const defaultPageWords: PageWords = { more: 'More', back: 'Back' }
const moreKey = '98'
const backKey = '0'

export function fitsOneScreen(text: string): boolean {
  return isGsm(text) ? gsmLength(text) <= maxGsmUnits : text.length <= maxUcs2Units
}

/** Text in GSM characters where all can be transliterated; otherwise unchanged. */
export function transliterated(text: string): string {
  return toGsm(text) ?? text
}

/** Pages of a text: one, or several with lines to go on and back. */
export function pagesOf(text: string, words: PageWords = defaultPageWords): readonly string[] {
  if (fitsOneScreen(text)) return [text]
  const pages: string[] = []
  let rest = text
  while (rest !== '') {
    const back = pages.length === 0 ? '' : `\n${backKey} ${words.back}`
    if (fitsOneScreen(rest + back)) {
      pages.push(rest + back)
      break
    }
    const tail = `${back}\n${moreKey} ${words.more}`
    const length = longestStart(rest, tail)
    pages.push(rest.slice(0, length).trimEnd() + tail)
    rest = rest.slice(length).trimStart()
  }
  return pages
}

/** Reason for which an answer cannot be shown, in words that say how long it is; null for one that can. */
export function tooLong(text: string, shown: string, words: PageWords): string | null {
  if (text.length > maxAnswerLength)
    return `the screen has ${text.length} characters; at most ${maxAnswerLength} can be shown`
  const pages = pagesOf(shown, words).length
  if (pages <= maxPages) return null
  return `the screen has ${text.length} characters, which take ${pages} pages; at most ${maxPages} can be shown`
}

/** Length of text that fits before a tail, cut at the end of a line or word in its second half if possible. */
function longestStart(text: string, tail: string): number {
  let length = text.length
  while (length > 1 && !fitsOneScreen(text.slice(0, length) + tail)) length--
  // Keep surrogate pairs together.
  if (length > 1 && /[\ud800-\udbff]/.test(text.charAt(length - 1))) length--
  const half = Math.floor(length / 2)
  const place = Math.max(text.lastIndexOf('\n', length), text.lastIndexOf(' ', length))
  return place > half ? place : length
}

/** Page that an input turns to; null when the input is for the application. */
export function turnedTo(input: string, page: number, pages: number): number | null {
  if (input === moreKey && page + 1 < pages) return page + 1
  if (input === backKey && page > 0) return page - 1
  return null
}
