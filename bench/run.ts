// SPDX-License-Identifier: Apache-2.0
// Runs benchmarks: those named, where a first word stands for all that begin with it (`sms`), or --all. --short only shows
// that each runs.
import { stderr, stdout } from 'node:process'
import { inspect } from 'node:util'
import { callcenter } from './callcenter.ts'
import { callcenterWallboard } from './callcenter-wallboard.ts'
import { campaigns } from './campaigns.ts'
import { cells } from './cells.ts'
import { consoleLists } from './console-lists.ts'
import { cpuMeter, sumOf } from './cpu.ts'
import { customers } from './customers.ts'
import { durableWrite } from './durable-write.ts'
import { email } from './email.ts'
import { faults } from './faults.ts'
import { faultsPayments } from './faults-payments.ts'
import { faultsSms } from './faults-sms.ts'
import { fraud } from './fraud.ts'
import { growth } from './growth.ts'
import { identity } from './identity.ts'
import { ledger } from './ledger.ts'
import { messenger } from './messenger.ts'
import { payments } from './payments.ts'
import { payouts } from './payouts.ts'
import { renewals } from './renewals.ts'
import { type Figure, report } from './report.ts'
import { smsAccept } from './sms-accept.ts'
import { smsCodec } from './sms-codec.ts'
import { smsEndToEnd } from './sms-end-to-end.ts'
import { smsSegments } from './sms-segments.ts'
import { smsUrgent } from './sms-urgent.ts'
import { start } from './start.ts'
import { ussd } from './ussd.ts'
import { voiceCalls } from './voice-calls.ts'
import { voiceFirstSound } from './voice-first-sound.ts'
import { voiceMedia } from './voice-media.ts'
import { voiceSignalling } from './voice-signalling.ts'
import { webhooks } from './webhooks.ts'
import { work } from './work.ts'

type Benchmark = (options: {
  short: boolean
  scale: number
  kept: string | null
  calls: number
  seconds: number
}) => Promise<Figure[]>

const benchmarks: Readonly<Record<string, Benchmark>> = {
  'durable-write': durableWrite,
  cells,
  work,
  ledger,
  start,
  webhooks,
  payments,
  payouts,
  'sms-accept': smsAccept,
  'sms-codec': smsCodec,
  'sms-segments': smsSegments,
  'sms-end-to-end': smsEndToEnd,
  'sms-urgent': smsUrgent,
  ussd,
  'voice-media': voiceMedia,
  'voice-signalling': voiceSignalling,
  'voice-first-sound': voiceFirstSound,
  'voice-calls': voiceCalls,
  email,
  messenger,
  callcenter,
  'callcenter-wallboard': callcenterWallboard,
  fraud,
  identity,
  renewals,
  customers,
  campaigns,
  growth,
  'console-lists': consoleLists,
  faults,
  'faults-payments': faultsPayments,
  'faults-sms': faultsSms,
}

const words = process.argv.slice(2)
const short = words.includes('--short')
/** Part of the rows that `growth` fills, and the folder in which its databases stay. */
const scale = Number(words.find((word) => word.startsWith('--scale='))?.slice('--scale='.length) ?? 1)
const kept = words.find((word) => word.startsWith('--kept='))?.slice('--kept='.length) ?? null
/** Number and length of the calls of `voice-calls`. */
const calls = Number(words.find((word) => word.startsWith('--calls='))?.slice('--calls='.length) ?? 50)
const seconds = Number(words.find((word) => word.startsWith('--seconds='))?.slice('--seconds='.length) ?? 300)
const wanted = words.filter((word) => !word.startsWith('--'))
const isNamed = (word: string, name: string) => name === word || name.startsWith(`${word}-`)
const names = Object.keys(benchmarks)
const unknown = wanted.filter((word) => !names.some((name) => isNamed(word, name)))
const isChosen = unknown.length === 0 && (wanted.length > 0 || short || words.includes('--all'))
if (!isChosen) {
  for (const word of unknown) stderr.write(`There is no benchmark ${word}.\n`)
  stderr.write(
    `Name one or more: npm run bench -- <name>. There are ${names.join(', ')}. --all runs them all, which takes long; --short only shows that they run.\n`,
  )
  process.exit(2)
}
const chosen = Object.entries(benchmarks).filter(
  ([name]) => wanted.length === 0 || wanted.some((word) => isNamed(word, name)),
)

/** Nobody reads the figures of short runs, and they mostly wait for programs to start: a few run side by side. */
const atOnce = short ? 3 : 1

/** Takes benchmarks off the queue until it is empty; those that fail are told at once, and the others still run. */
async function worker(queue: typeof chosen): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [name, run] = next
    try {
      const meter = cpuMeter()
      const figures = await run({ short, scale, kept, calls, seconds })
      // With all that it started, ended by now. Those that run side by side could not be told apart.
      const whole = { name: 'CPU of the whole run', value: sumOf(meter.per(1)) / 1e6, unit: 's' }
      stdout.write(report(name, atOnce > 1 ? figures : [...figures, whole]))
    } catch (problem) {
      failed.push(next)
      stderr.write(`The benchmark ${name} failed: ${inspect(problem)}\n`)
    }
  }
}

/** Benchmarks that failed. Beside others one may find its port taken; it has a second run by itself. */
const failed: typeof chosen = []
const queue = [...chosen]
await Promise.all(Array.from({ length: atOnce }, () => worker(queue)))
const again = atOnce > 1 && failed.length < 2 ? failed.splice(0) : []
await worker([...again])
for (const [name] of again.filter((one) => !failed.includes(one)))
  stderr.write(`passed only by itself, to be mended: ${name}\n`)
if (failed.length > 0) process.exitCode = 1
