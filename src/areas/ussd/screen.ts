// SPDX-License-Identifier: Apache-2.0
// A screen of a USSD session: how much text a network carries, and how a longer one is cut into pages. 160 octets hold 182
// letters of the GSM 7-bit alphabet or 80 UCS-2 units (3GPP TS 23.038 section 5). Pure.
import { gsmLength, isGsm, toGsm } from '../../protocols/smpp/charset.ts'

/** Most characters of a screen that an application may send. */
export const maxScreenLength = 182
const maxGsmUnits = 182
const maxUcs2Units = 80

/** Words of the lines that turn pages, and what the subscriber types for them. */
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

/** Text in letters that every network carries, where each has such a letter; else the text as it is. */
export function transliterated(text: string): string {
  return toGsm(text) ?? text
}

/** A text as the screens that show it: one, or several with a line to go on and a line to go back. */
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

/** How much of a text fits before a tail, cut where a line or a word ends if there is such a place in its second half. */
function longestStart(text: string, tail: string): number {
  let length = text.length
  while (length > 1 && !fitsOneScreen(text.slice(0, length) + tail)) length--
  // A pair of surrogates stays together.
  if (length > 1 && /[\ud800-\udbff]/.test(text.charAt(length - 1))) length--
  const half = Math.floor(length / 2)
  const place = Math.max(text.lastIndexOf('\n', length), text.lastIndexOf(' ', length))
  return place > half ? place : length
}

/** The page that an input leads to, or null when the input is the application's. */
export function turnedTo(input: string, page: number, pages: number): number | null {
  if (input === moreKey && page + 1 < pages) return page + 1
  if (input === backKey && page > 0) return page - 1
  return null
}
