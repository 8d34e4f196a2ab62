// SPDX-License-Identifier: Apache-2.0
// Turns a source map into a table that is searched as it lies in its file. Node's own reader makes an object of each of a million
// mappings: half a second of work for the first error whose stack is read, and a socket that closes with an error reads it.

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digits = new Map([...base64].map((char, i) => [char, i]))

/** Files, and for each place in which another line of a file begins: line and column here, number of the file, line there. */
export function placesOf({ mappings, sources }) {
  const rows = []
  let [source, sourceLine, knownSource, knownLine] = [0, 0, -1, -1]
  for (const [line, segments] of mappings.split(';').entries()) {
    let column = 0
    for (const segment of segments.split(',')) {
      const [columns = 0, sourcesOn, linesOn] = numbersIn(segment)
      column += columns
      if (sourcesOn === undefined) continue
      source += sourcesOn
      sourceLine += linesOn
      if (source === knownSource && sourceLine === knownLine) continue
      rows.push(line, column, source, sourceLine)
      knownSource = source
      knownLine = sourceLine
    }
  }
  return { sources, table: Uint32Array.from(rows) }
}

/** Numbers of a segment: digits of five bits with the lowest first, and in the lowest of all the sign. */
function numbersIn(segment) {
  const numbers = []
  let value = 0
  let shift = 0
  for (const char of segment) {
    const digit = digits.get(char)
    value |= (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    value = 0
    shift = 0
  }
  return numbers
}
