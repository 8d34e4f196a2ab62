// SPDX-License-Identifier: Apache-2.0
// Calibration of the face engine on an operator's own pairs, per group of people: false match rate (FMR), false
// non-match rate (FNMR) and the threshold needed. `npm start -- identity calibrate pairs.csv`.
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { Compute, ComputeRefusedError } from '../../platform/compute.ts'
import { root } from '../../platform/program/root.ts'
import { examine } from './engines/tasks.ts'
import { likeness, matchThreshold, reviewThreshold } from './faces/match.ts'

interface Pair {
  readonly a: string
  readonly b: string
  readonly isSame: boolean
  readonly group: string
}

interface Measured extends Pair {
  readonly similarity: number
}

const maxPairs = 100_000
/** Target false match rate. */
const wantedFalseMatches = 0.001

export async function calibrate(config: Config, file: string): Promise<string> {
  const pairs = parsePairs(await readFile(file, 'utf8'), dirname(resolve(file)))
  const compute = new Compute({
    program: new URL('dist/src/areas/identity/engines/program.js', root),
    programArguments: config.PAMOJA_FACE_MODEL ? [config.PAMOJA_FACE_MODEL] : [],
    processes: 1,
    maxWaitMs: 600_000,
    maxWaiting: 10,
    log: { warn: () => undefined },
  })
  try {
    const measured: Measured[] = []
    let unusable = 0
    for (const pair of pairs) {
      const similarity = await similarityOf(compute, pair)
      if (similarity === null) unusable += 1
      else measured.push({ ...pair, similarity })
    }
    return report(measured, unusable)
  } finally {
    compute.stop()
  }
}

function parsePairs(text: string, folder: string): Pair[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('file_a'))
  return lines.slice(0, maxPairs).map((line, i) => {
    const [a, b, same, group = 'all'] = line.split(',').map((part) => part.trim())
    if (!a || !b || (same !== 'same' && same !== 'different'))
      throw new Error(`Line ${i + 1} must be file_a,file_b,same|different,group`)
    return { a: resolve(folder, a), b: resolve(folder, b), isSame: same === 'same', group }
  })
}

/** Similarity of a pair; null without one usable face in each. */
async function similarityOf(compute: Compute, { a, b }: Pair): Promise<number | null> {
  const pictures = await Promise.all(
    [a, b].map(async (file) => ({ bytes: await readFile(file), use: 'face' as const })),
  )
  try {
    const { pictures: examined } = await compute.run(examine, { pictures })
    const [first, second] = examined.map(({ faces }) => faces?.[0]?.descriptor)
    return first && second ? likeness(first, second).similarity : null
  } catch (problem) {
    // An unreadable file is counted as unusable; a missing package is an error, since all files would fail.
    if (problem instanceof ComputeRefusedError && problem.code !== 'package_missing') return null
    throw problem
  }
}

function report(measured: readonly Measured[], unusable: number): string {
  const groups = ['all', ...new Set(measured.map(({ group }) => group).filter((group) => group !== 'all'))]
  const rows = groups.map((group) => {
    const own = group === 'all' ? measured : measured.filter((pair) => pair.group === group)
    const [same, different] = [own.filter(({ isSame }) => isSame), own.filter(({ isSame }) => !isSame)]
    const falseMatches = part(different, ({ similarity }) => similarity >= matchThreshold)
    const falseMismatches = part(same, ({ similarity }) => similarity < reviewThreshold)
    const cells = [group, same.length, different.length, falseMatches, falseMismatches, thresholdFor(different)]
    return cells.map((cell) => String(cell).padEnd(12)).join('')
  })
  const head = ['group', 'same', 'different', 'FMR', 'FNMR', 'threshold'].map((cell) => cell.padEnd(12)).join('')
  const note = `FMR at ${matchThreshold}, FNMR below ${reviewThreshold}; threshold: for an FMR of ${wantedFalseMatches}. Unusable pairs: ${unusable}.`
  return [head, ...rows, note].join('\n')
}

function part(pairs: readonly Measured[], isCounted: (pair: Measured) => boolean): string {
  return pairs.length === 0 ? '-' : (pairs.filter(isCounted).length / pairs.length).toFixed(4)
}

function thresholdFor(different: readonly Measured[]): string {
  const sorted = different.map(({ similarity }) => similarity).sort((a, b) => b - a)
  const allowed = Math.floor(sorted.length * wantedFalseMatches)
  const [next] = sorted.slice(allowed)
  return next === undefined ? '-' : (next + 0.001).toFixed(3)
}
