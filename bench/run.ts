// SPDX-License-Identifier: Apache-2.0
// Runs benchmarks: all of them, or those named. --short only shows that each runs.
import { stdout } from 'node:process'
import { durableWrite } from './durable-write.ts'
import { faults } from './faults.ts'
import { ledger } from './ledger.ts'
import { type Figure, report } from './report.ts'
import { start } from './start.ts'
import { webhooks } from './webhooks.ts'
import { work } from './work.ts'

const benchmarks: Readonly<Record<string, (options: { short: boolean }) => Promise<Figure[]>>> = {
  'durable-write': durableWrite,
  work,
  ledger,
  start,
  webhooks,
  faults,
}

const words = process.argv.slice(2)
const short = words.includes('--short')
const wanted = words.filter((word) => !word.startsWith('--'))
for (const [name, run] of Object.entries(benchmarks))
  if (wanted.length === 0 || wanted.includes(name)) stdout.write(report(name, await run({ short })))
