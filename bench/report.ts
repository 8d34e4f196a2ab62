// SPDX-License-Identifier: Apache-2.0
// Figures as they are shown: a table for people and one line of JSON for programs.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Cpu, sumOf } from './cpu.ts'

export interface Figure {
  name: string
  value: number
  unit: string
  p50Ms?: number
  p99Ms?: number
  /** The spread over rounds. */
  low?: number
  high?: number
  /** Of each operation, by process. */
  cpu?: Cpu
}

export function report(name: string, figures: readonly Figure[]): string {
  const lines = figures.map(({ name: figure, value, unit, p50Ms, p99Ms, low, high, cpu }) => {
    const times =
      p50Ms === undefined || p99Ms === undefined ? '' : `  p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
    const spread =
      low === undefined || high === undefined || low === high ? '' : `  (${low.toFixed(2)} to ${high.toFixed(2)})`
    return `  ${figure.padEnd(44)}${shown(value).padStart(10)} ${unit}${times}${spread}${cpu === undefined ? '' : spent(cpu)}`
  })
  return `${name}\n${lines.join('\n')}\n${JSON.stringify({ bench: name, figures })}\n`
}

/** A line of its own below the figure: CPU of an operation in microseconds, largest part first. */
function spent(cpu: Cpu): string {
  const parts = Object.entries(cpu).sort(([, a], [, b]) => b - a)
  const text = parts.map(([process, micros]) => `${process} ${shown(micros)}`).join(' + ')
  return parts.length === 0
    ? ''
    : `\n      CPU of each, µs: ${text}${parts.length === 1 ? '' : ` = ${shown(sumOf(cpu))}`}`
}

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)
}

/**
 * Evenness of the machine: the same piece of arithmetic over and over, while nothing else of ours runs. On a
 * virtual machine with neighbours the slowest pieces take many times as long as the usual one, and so does whatever waits
 * behind them.
 */
export function arithmetic(durationMs: number): { p50Ms: number; p99Ms: number; p999Ms: number } {
  const times: number[] = []
  const until = performance.now() + durationMs
  let sum = 0
  while (performance.now() < until) {
    const startedAt = performance.now()
    for (let i = 0; i < 100_000; i++) sum = (sum * 31 + i) | 0
    times.push(performance.now() - startedAt)
  }
  // The first ones ran before the loop was compiled.
  const sorted = times.slice(100).sort((a, b) => a - b)
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? sum * 0
  return { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) }
}

/** Time of one fsync in a directory: the median of a hundred. */
export function fsyncMs(directory: string): number {
  const file = join(directory, 'fsync-probe')
  const fd = openSync(file, 'w')
  const times: number[] = []
  for (let i = 0; i < 100; i++) {
    writeSync(fd, 'x'.repeat(512))
    const startedAt = performance.now()
    fdatasyncSync(fd)
    times.push(performance.now() - startedAt)
  }
  closeSync(fd)
  rmSync(file)
  return times.sort((a, b) => a - b)[50] ?? 0
}
