// SPDX-License-Identifier: Apache-2.0
// The arithmetic of capacity: what docs/scale.md shows is what it prints, and an account that one database cannot carry is said to be.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './program.ts'

const capacity = (...words: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, [join(root, 'tools/capacity.mjs'), ...words], { encoding: 'utf8' })

/** Cells of a row. */
function row(printed: string, name: string): string[] {
  const line = printed.split('\n').find((one) => one.startsWith(name))
  assert.ok(line, name)
  return line.slice(name.length).trim().split(/ {2,}/)
}

test('what the page on growing shows is what the script prints', () => {
  const page = readFileSync(join(root, 'docs/scale.md'), 'utf8')
  const shown = /```sh\nnode tools\/capacity\.mjs(.*)\n```\n\n```\n([\s\S]*?)```/.exec(page)
  assert.ok(shown)
  assert.equal(capacity(...(shown[1] ?? '').trim().split(' ')).stdout, shown[2])
})

test('texts alone are what the table of costs says', () => {
  const alone = ['--payments=0', '--payouts=0', '--mails=0', '--skew=0']
  // 8,640 texts a second in the mean and at the peak: 709 µs of a core of which 0.65 are used, and 6,100 bytes of log.
  const { stdout } = capacity(...alone, '--accounts=8640000', '--texts=86.4', '--peak=1')
  assert.equal(row(stdout, 'nodes (a core each)')[0], Math.ceil((8_640 * 709e-6) / 0.65).toLocaleString('en'))
  assert.equal(row(stdout, 'log, MB/s at the peak')[0], Math.round(8_640 * 0.0061).toString())
})

test('no number of databases helps an account that one of them cannot carry', () => {
  const equal = capacity('--texts=1000', '--skew=0').stdout
  assert.notEqual(row(equal, 'databases')[3], 'none fits')
  const unequal = capacity('--texts=1000', '--skew=2').stdout
  assert.equal(row(unequal, 'databases')[3], 'none fits')
  assert.equal(row(unequal, 'breaks first in one database')[3], 'largest account')
})

test('a figure that is none is refused in a sentence', () => {
  const { status, stderr } = capacity('--accounts=many')
  assert.equal(status, 2)
  assert.match(stderr, /--accounts must be a whole number above 0, not "many"/)
})
