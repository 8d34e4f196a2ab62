// SPDX-License-Identifier: Apache-2.0
// What is written on paper: a PDF of ours read back, word by word.
import { inflateSync } from 'node:zlib'

/** What is written on the pages of a PDF, in the order it was written. */
export function wordsOf(pdf: string): string {
  const lines: string[] = []
  for (const [, packed = ''] of pdf.matchAll(/stream\n([\s\S]*?)\nendstream/g)) {
    const drawn = inflateSync(Buffer.from(packed, 'latin1')).toString('latin1')
    // What a font of Arabic shows is told beside its glyphs.
    for (const [, told, shown = ''] of drawn.matchAll(
      /\/ActualText \(((?:\\[\s\S]|[^\\)])*)\)[\s\S]*?EMC|\[([^\]]*)\] TJ/g,
    ))
      lines.push(told === undefined ? latin(shown) : unicode(told))
  }
  return lines.join(' | ').replaceAll('\u00a0', ' ')
}

function latin(shown: string): string {
  return [...shown.matchAll(/<([0-9a-f]*)>/g)]
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .join('')
}

const escaped: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

function unicode(told: string): string {
  const plain = told.replaceAll(/\\([\s\S])/g, (_, letter: string) => escaped[letter] ?? letter)
  if (!plain.startsWith('\xfe\xff')) return plain
  return Buffer.from(plain.slice(2), 'latin1').swap16().toString('utf16le')
}
