// SPDX-License-Identifier: Apache-2.0
// Text that runs from right to left, or both ways: its lines, and the runs of each line in the order in which they stand on paper
// (Unicode Bidirectional Algorithm). Shaping of letters is the font's.
import bidiFactory, { type Bidi } from 'bidi-js/dist/bidi.mjs'

export type Direction = 'ltr' | 'rtl'

const arabic = /\p{Script=Arabic}/u

/** Whether letters of Arabic stand in it, which the standard fonts do not have. */
export function isArabic(text: string): boolean {
  return arabic.test(text)
}

/** Direction of a paragraph: that of its first letter. */
export function directionIn(text: string, otherwise: Direction): Direction {
  const [first = ''] = /\p{L}/u.exec(text) ?? []
  if (first === '') return otherwise
  return isArabic(first) ? 'rtl' : 'ltr'
}

/** Dates in figures keep the order of their parts between words of Arabic. */
const isolated = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\d/g, '\u2066$&\u2069')
const controls = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Lines of a text that are no wider than `most`, broken at spaces, and inside words that are wider alone. */
export function linesOf(text: string, most: number, widthOf: (words: string) => number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let line = ''
    const add = (part: string, space: string): void => {
      if (widthOf(line + space + part) <= most || line === '') line += (line === '' ? '' : space) + part
      else {
        lines.push(line)
        line = part
      }
    }
    for (const word of paragraph.replaceAll(controls, '').split(' ')) {
      if (widthOf(word) <= most) add(word, ' ')
      else for (const [i, letter] of [...word].entries()) add(letter, i === 0 ? ' ' : '')
    }
    return [...lines, line]
  })
}

let bidi: Bidi | null = null

interface Run {
  /** Letters of Arabic in the order they are read, which the font turns; others from the left. Brackets as they look there. */
  readonly shown: string
  /** The same as it is written and read. */
  readonly said: string
}

/** Runs of one direction, from the left of the line to its right. */
export function runsOf(line: string, direction: Direction): Run[] {
  bidi ??= bidiFactory()
  const text = isolated(line)
  const found = bidi.getEmbeddingLevels(text, direction)
  const mirrored = bidi.getMirroredCharactersMap(text, found.levels)
  const runs: { level: number; places: number[] }[] = []
  for (const at of bidi.getReorderedIndices(text, found)) {
    const level = found.levels[at] ?? 0
    const last = runs.at(-1)
    if (last?.level === level) last.places.push(at)
    else runs.push({ level, places: [at] })
  }
  return runs
    .map(({ places }) => {
      const asRead = places.toSorted((a, b) => a - b)
      const said = asRead.map((at) => text[at] ?? '').join('')
      const order = isArabic(said) ? asRead : places
      const shown = order.map((at) => mirrored.get(at) ?? text[at] ?? '').join('')
      return { shown: shown.replaceAll(controls, ''), said: said.replaceAll(controls, '') }
    })
    .filter(({ shown }) => shown !== '')
}
