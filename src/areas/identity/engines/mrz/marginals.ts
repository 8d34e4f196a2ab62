// SPDX-License-Identifier: Apache-2.0
// CTC forward-backward with the length of the text fixed: from a recogniser's log-probabilities over time to the
// probability of every character at every position. Exact, but for states below one part in a thousand million.

export const characters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<'
/** Class 0 is the blank, class i + 1 is characters[i]. */
export const classCount = characters.length + 1
const characterCount = characters.length
const negligible = 1e-9

/** Log-probabilities of one line, row by row: `steps` rows of `classCount`. */
export interface LineProbabilities {
  readonly data: Float32Array
  readonly steps: number
}

export interface Marginals {
  /** Log-probability that the line has this many characters. */
  readonly logLength: number
  /** For each position, the probability of each character. */
  readonly positions: readonly Float64Array[]
}

/** Forward states after a number of characters: the last step was a blank or a character. */
interface Forward {
  readonly blanks: ReadonlyMap<number, number>
  readonly rows: ReadonlyMap<number, Float64Array>
  readonly sums: ReadonlyMap<number, number>
  /** Part of `rows` that entered its character at this step. */
  readonly entered: ReadonlyMap<number, Float64Array>
  readonly inverse: number
  readonly logTotal: number
}

/** Marginals of a line; null when it cannot hold so many characters. */
export function positionMarginals(line: LineProbabilities, length: number): Marginals | null {
  const { steps } = line
  if (steps < length) return null
  const probabilities = Float64Array.from(line.data, Math.exp)
  const history: Forward[] = []
  let last: Forward = {
    blanks: new Map([[0, 1]]),
    rows: new Map(),
    sums: new Map(),
    entered: new Map(),
    inverse: 1,
    logTotal: 0,
  }
  let logTotal = 0
  for (let step = 0; step < steps; step++) {
    const next = forward(last, probabilities, step, steps, length)
    if (!next) return null
    logTotal += next.logTotal
    history.push(next)
    last = next
  }
  const end = (last.blanks.get(length) ?? 0) + (last.sums.get(length) ?? 0)
  if (!(end > 0)) return null
  const positions = backward(history, probabilities, length)
  return positions && { logLength: logTotal + Math.log(end), positions }
}

function forward(
  last: Forward,
  probabilities: Float64Array,
  step: number,
  steps: number,
  length: number,
): Forward | null {
  const offset = step * classCount
  const reached = new Set([...last.blanks.keys(), ...last.rows.keys()].flatMap((count) => [count, count + 1]))
  const blanks = new Map<number, number>()
  const rows = new Map<number, Float64Array>()
  const sums = new Map<number, number>()
  const entered = new Map<number, Float64Array>()
  let total = 0
  for (const count of reached) {
    if (count > length || length - count > steps - 1 - step) continue
    const blank = (probabilities[offset] ?? 0) * ((last.blanks.get(count) ?? 0) + (last.sums.get(count) ?? 0))
    if (blank > 0) blanks.set(count, blank)
    total += blank
    if (count === 0) continue
    const before = (last.blanks.get(count - 1) ?? 0) + (last.sums.get(count - 1) ?? 0)
    const previous = last.rows.get(count - 1)
    const same = last.rows.get(count)
    const row = new Float64Array(characterCount)
    const entering = new Float64Array(characterCount)
    let sum = 0
    for (let c = 0; c < characterCount; c++) {
      const probability = probabilities[offset + c + 1] ?? 0
      const enter = Math.max(before - (previous?.[c] ?? 0), 0) * probability
      const stay = (same?.[c] ?? 0) * probability
      entering[c] = enter
      row[c] = enter + stay
      sum += enter + stay
    }
    if (sum > 0) {
      rows.set(count, row)
      entered.set(count, entering)
      sums.set(count, sum)
      total += sum
    }
  }
  if (!(total > 0)) return null
  const inverse = 1 / total
  for (const count of new Set([...blanks.keys(), ...sums.keys()]))
    if ((blanks.get(count) ?? 0) + (sums.get(count) ?? 0) <= negligible * total)
      for (const map of [blanks, rows, sums, entered]) map.delete(count)
  for (const [count, value] of blanks) blanks.set(count, value * inverse)
  for (const [count, value] of sums) sums.set(count, value * inverse)
  for (const map of [rows, entered])
    for (const [count, values] of map)
      map.set(
        count,
        values.map((value) => value * inverse),
      )
  return { blanks, rows, sums, entered, inverse, logTotal: Math.log(total) }
}

function backward(history: readonly Forward[], probabilities: Float64Array, length: number): Float64Array[] | null {
  const positions = Array.from({ length }, () => new Float64Array(characterCount))
  let blanks = new Map<number, number>([[length, 1]])
  let rows = new Map<number, Float64Array>([[length, new Float64Array(characterCount).fill(1)]])
  for (let step = history.length - 1; step >= 0; step--) {
    const now = history[step]
    if (!now) return null
    for (const [count, entered] of now.entered) addProduct(positions[count - 1], entered, rows.get(count))
    const before = history[step - 1]
    if (!before) break
    ;({ blanks, rows } = earlier(now, before, { blanks, rows }, probabilities, step * classCount))
  }
  for (const position of positions) {
    const sum = position.reduce((all, value) => all + value, 0)
    if (!(sum > 0)) return null
    for (let c = 0; c < characterCount; c++) position[c] = (position[c] ?? 0) / sum
  }
  return positions
}

function addProduct(to: Float64Array | undefined, a: Float64Array, b: Float64Array | undefined): void {
  if (to && b) for (let c = 0; c < characterCount; c++) to[c] = (to[c] ?? 0) + (a[c] ?? 0) * (b[c] ?? 0)
}

interface Backward {
  blanks: Map<number, number>
  rows: Map<number, Float64Array>
}

function earlier(
  now: Forward,
  before: Forward,
  after: Backward,
  probabilities: Float64Array,
  offset: number,
): Backward {
  const weighted = new Map<number, Float64Array>()
  const sums = new Map<number, number>()
  for (const [count, row] of after.rows) {
    if (!now.rows.has(count)) continue
    const product = row.map((value, c) => value * (probabilities[offset + c + 1] ?? 0))
    weighted.set(count, product)
    sums.set(
      count,
      product.reduce((all, value) => all + value, 0),
    )
  }
  const blank = (count: number) =>
    now.blanks.has(count) ? (probabilities[offset] ?? 0) * (after.blanks.get(count) ?? 0) : 0
  const blanks = new Map<number, number>()
  const rows = new Map<number, Float64Array>()
  for (const count of before.blanks.keys()) blanks.set(count, (blank(count) + (sums.get(count + 1) ?? 0)) * now.inverse)
  for (const count of before.rows.keys()) {
    const row = new Float64Array(characterCount)
    const [next, same, sum] = [weighted.get(count + 1), weighted.get(count), sums.get(count + 1) ?? 0]
    for (let c = 0; c < characterCount; c++) {
      const other = next ? Math.max(sum - (next[c] ?? 0), 0) : 0
      row[c] = (blank(count) + other + (same?.[c] ?? 0)) * now.inverse
    }
    rows.set(count, row)
  }
  return { blanks, rows }
}
