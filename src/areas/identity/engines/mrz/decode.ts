// SPDX-License-Identifier: Apache-2.0
// Decodes line probabilities into the most probable machine-readable zone. Each position offers what its field allows;
// dynamic programming over the two check residues finds the best text whose check digits all hold, and the share of all
// such texts. A zone whose check digits are wrong on clear print is not repaired: it is `invalid`.
import { characters, classCount, type LineProbabilities, positionMarginals } from './marginals.ts'
import {
  blockTexts,
  checkValueOf,
  type Format,
  failingIn,
  lineLengths,
  type Place,
  placesOf,
  weightsOf,
} from './structure.ts'

export interface MrzReading {
  readonly format: Format
  /** Repaired when the status is `repaired`, as printed when `invalid`. */
  readonly lines: readonly string[]
  readonly status: 'read' | 'repaired' | 'invalid'
  /** Names of the check digits and fields that fail in `lines`. */
  readonly failing: readonly string[]
  /** Probability that `lines` is right. */
  readonly confidence: number
}

/** Probability spread evenly over the alphabet: the reader is never surer than this. */
const doubt = 1e-5
/** Prior odds of valid : invalid. */
const priorOdds = 490
/** Weight of a country code outside the list. */
const unlistedCountry = 0.02
/** Log penalty of a long document number: it must explain the picture a hundred times better. */
const longNumberPenalty = 4.6

/** Lines: 2 (TD2, TD3, visas) or 3 (TD1). */
export function decodeMrz(lines: readonly LineProbabilities[]): MrzReading | null {
  const fitted = fitLength(lines)
  if (!fitted) return null
  const { length, logLength, positions } = fitted
  const raw = positions.map((position) => characters[bestOf(position)]).join('')
  const doubted = positions.map((position) => position.map((p) => (1 - doubt) * p + doubt / characters.length))
  const best = bestFormat(lines.length, length, doubted)
  if (!best) return null
  const { format, places, solved } = best
  const printed = asPrinted(places, doubted)
  // All texts together have probability 1, so this is the share of the valid ones.
  const share = solved ? Math.exp(Math.min(0, solved.logSum)) : 0
  const validity = (priorOdds * share) / (priorOdds * share + 1)
  const isValid = solved !== null && validity > 0.5
  const text = isValid ? solved.text : printed.text
  const sure = isValid ? validity * Math.exp(solved.logBest - solved.logSum) : (1 - validity) * Math.exp(printed.logP)
  const lengthSure = logLength < 0 ? Math.min(1, Math.exp(logLength / lines.length) * 4) : 1
  return {
    format,
    lines: Array.from({ length: lines.length }, (_, i) => text.slice(i * length, (i + 1) * length)),
    status: statusOf(isValid, text === raw),
    failing: failingIn(places, text),
    confidence: sure * lengthSure,
  }
}

function statusOf(isValid: boolean, isAsRead: boolean): MrzReading['status'] {
  if (!isValid) return 'invalid'
  return isAsRead ? 'read' : 'repaired'
}

/** Line length that explains the picture best, and the probabilities under it. */
function fitLength(lines: readonly LineProbabilities[]) {
  const seen = Math.max(...lines.map(greedyLength))
  const lengths = lines.length === 3 ? [30] : [44, 36].sort((a, b) => Math.abs(a - seen) - Math.abs(b - seen))
  let best: { length: number; logLength: number; positions: Float64Array[] } | null = null
  for (const length of lengths) {
    const found = lines.map((line) => positionMarginals(line, length)).filter((one) => one !== null)
    if (found.length < lines.length) continue
    const logLength = found.reduce((sum, one) => sum + one.logLength, 0)
    if (!best || logLength > best.logLength)
      best = { length, logLength, positions: found.flatMap((one) => [...one.positions]) }
    if (logLength > -2 * lines.length) break
  }
  return best
}

/** Length of a greedy decoding. */
function greedyLength({ data, steps }: LineProbabilities): number {
  let count = 0
  let previous = 0
  for (let step = 0; step < steps; step++) {
    const best = bestOf(data.subarray(step * classCount, (step + 1) * classCount))
    if (best !== 0 && best !== previous) count += 1
    previous = best
  }
  return count
}

function bestOf(values: Float32Array | Float64Array): number {
  let best = 0
  for (let i = 1; i < values.length; i++) if ((values[i] ?? 0) > (values[best] ?? 0)) best = i
  return best
}

function bestFormat(lineCount: number, length: number, positions: readonly Float64Array[]) {
  const formats: Format[] = lineCount === 3 ? ['TD1'] : ['TD3', 'TD2', 'MRVA', 'MRVB']
  let best: { format: Format; places: readonly Place[]; solved: Solved | null; score: number } | null = null
  for (const format of formats.filter((one) => lineLengths[one] === length))
    for (let extra = 0; extra <= maxExtra(format, positions); extra++) {
      const places = placesOf(format, extra)
      const solved = solve(places, positions)
      const score = (solved?.logSum ?? -1e9) - (extra > 0 ? longNumberPenalty : 0)
      if (!best || score > best.score) best = { format, places, solved, score }
    }
  return best
}

/** Extra length of a document number above nine characters: only where a filler stands in place of its check digit. */
function maxExtra(format: Format, positions: readonly Float64Array[]): number {
  const filler = characters.indexOf('<')
  if (format === 'TD1') return (positions[14]?.[filler] ?? 0) > 0.05 ? 13 : 0
  if (format === 'TD2') return (positions[45]?.[filler] ?? 0) > 0.05 ? 5 : 0
  return 0
}

interface Segment {
  readonly from: number
  readonly options: readonly (readonly [text: string, probability: number])[]
}

function segmentsOf(places: readonly Place[], positions: readonly Float64Array[]): Segment[] {
  const probabilityOf = (text: string, from: number) =>
    [...text].reduce((p, character, i) => p * (positions[from + i]?.[characters.indexOf(character)] ?? 0), 1)
  const segments: Segment[] = []
  for (let from = 0; from < places.length; ) {
    const place = places[from]
    if (!place) break
    const texts = place.block ? blockTexts[place.block] : [...place.alphabet]
    const options = texts.map((text) => [text, probabilityOf(text, from)] as const)
    if (place.block === 'country') {
      const read = [0, 1, 2].map((i) => bestLetter(place.alphabet, positions[from + i])).join('')
      if (!texts.includes(read)) options.push([read, unlistedCountry * probabilityOf(read, from)])
    }
    segments.push({ from, options })
    from += texts[0]?.length ?? 1
  }
  return segments
}

function bestLetter(alphabet: string, position: Float64Array | undefined): string {
  const p = (character: string) => position?.[characters.indexOf(character)] ?? 0
  return [...alphabet].reduce((best, character) => (p(character) > p(best) ? character : best))
}

interface Solved {
  readonly text: string
  readonly logBest: number
  readonly logSum: number
}

const residues = 100

/** State: residue of the field's check digit * 10 + residue of the composite one. */
function solve(places: readonly Place[], positions: readonly Float64Array[]): Solved | null {
  const weights = weightsOf(places)
  const segments = segmentsOf(places, positions)
  const steps: { from: Int16Array; option: Int16Array }[] = []
  let best = new Float64Array(residues).fill(Number.NEGATIVE_INFINITY)
  let total = new Float64Array(residues)
  best[0] = 0
  total[0] = 1
  let logSum = 0
  for (const { from: position, options } of segments) {
    const role = places[position]?.role ?? null
    const nextBest = new Float64Array(residues).fill(Number.NEGATIVE_INFINITY)
    const nextTotal = new Float64Array(residues)
    const step = { from: new Int16Array(residues), option: new Int16Array(residues) }
    options.forEach(([text, probability], option) => {
      if (!(probability > 0)) return
      const log = Math.log(probability)
      const added = addedBy(text, position, weights)
      for (let state = 0; state < residues; state++) {
        if ((total[state] ?? 0) <= 0 && best[state] === Number.NEGATIVE_INFINITY) continue
        const next = nextState(state, role, added)
        if (next === null) continue
        nextTotal[next] = (nextTotal[next] ?? 0) + (total[state] ?? 0) * probability
        const score = (best[state] ?? 0) + log
        if (score <= (nextBest[next] ?? 0)) continue
        nextBest[next] = score
        step.from[next] = state
        step.option[next] = option
      }
    })
    const sum = nextTotal.reduce((all, value) => all + value, 0)
    if (!(sum > 0)) return null
    logSum += Math.log(sum)
    best = nextBest
    total = nextTotal.map((value) => value / sum)
    steps.push(step)
  }
  const last = bestOf(best)
  return { text: traced(segments, steps, last), logBest: best[last] ?? 0, logSum }
}

interface Added {
  readonly value: number
  readonly field: number
  readonly composite: number
}

function addedBy(text: string, position: number, weights: { field: number[]; composite: number[] }): Added {
  let [field, composite] = [0, 0]
  for (let i = 0; i < text.length; i++) {
    const value = checkValueOf(text[i] ?? '<')
    field += value * (weights.field[position + i] ?? 0)
    composite += value * (weights.composite[position + i] ?? 0)
  }
  return { value: checkValueOf(text[0] ?? '<'), field, composite }
}

/** Next state; null when the check digit does not hold. */
function nextState(state: number, role: Place['role'], { value, field, composite }: Added): number | null {
  const compositeResidue = state % 10
  const fieldResidue = (state - compositeResidue) / 10
  if (role === 'check') return value === fieldResidue ? (compositeResidue + composite) % 10 : null
  if (role === 'composite') return value === compositeResidue ? 0 : null
  return ((fieldResidue + field) % 10) * 10 + ((compositeResidue + composite) % 10)
}

function traced(
  segments: readonly Segment[],
  steps: readonly { from: Int16Array; option: Int16Array }[],
  last: number,
): string {
  const parts: string[] = []
  let state = last
  for (let i = segments.length - 1; i >= 0; i--) {
    const step = steps[i]
    parts.push(segments[i]?.options[step?.option[state] ?? 0]?.[0] ?? '')
    state = step?.from[state] ?? 0
  }
  return parts.reverse().join('')
}

/** The field's alphabet decides close calls (O in a date), never clear print. */
function asPrinted(places: readonly Place[], positions: readonly Float64Array[]): { text: string; logP: number } {
  let [text, logP] = ['', 0]
  places.forEach((place, i) => {
    const position = positions[i]
    const p = (character: string) => position?.[characters.indexOf(character)] ?? 0
    const fitting = [...place.alphabet].reduce((sum, character) => sum + p(character), 0)
    const read = bestLetter(fitting * priorOdds <= 1 ? characters : place.alphabet, position)
    text += read
    logP += Math.log(p(read))
  })
  return { text, logP }
}
