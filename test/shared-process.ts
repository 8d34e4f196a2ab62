// SPDX-License-Identifier: Apache-2.0
// Files of tests that share a process, one after another: reading the program from disk takes longer than most of them, and
// what the compiler learnt from one file serves the next. Each still has a database and a node of its own.
import assert from 'node:assert/strict'
import { appendFileSync, closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { errorCode } from '../src/kernel/error-code.ts'
import { runnable } from './eventually.ts'

/** `compiled` is what Node runs; `source` is what people and reports call it. */
interface TestFile {
  source: string
  compiled: string
}

/**
 * Runs each file as a test of its own, with the tests of the file inside; the next begins when the last hook has ended.
 * Processes that are given the same files and the same directory of claims share them out as they go: a file that takes
 * longer than it used to keeps nobody waiting but itself.
 */
export async function runInTurn(files: readonly TestFile[], claims: string): Promise<void> {
  for (const [index, { source, compiled }] of files.entries()) {
    if (existsSync(join(claims, String(index)))) continue
    await turn()
    if (!claim(join(claims, String(index)))) continue
    const finish = begin(source)
    await test(source, async () => {
      const found = surroundings()
      let isRead: (value?: unknown) => void = () => undefined
      const read = new Promise((resolve) => {
        isRead = resolve
      })
      // Tests begin when they are declared if nothing is before them: they would not find what stands below them in their file.
      const gate = test('the file is read', async () => {
        await read
      })
      await import(pathToFileURL(compiled).href).finally(isRead)
      await gate
      // Tests run in the order in which they are declared, so this one also waits for those of the file.
      await test('the process is as the file found it', () => {
        const left = surroundings()
        // Names only: a variable may hold a secret.
        const changed = [...new Set([...found.keys(), ...left.keys()])].filter(
          (name) => found.get(name) !== left.get(name),
        )
        assert.deepEqual(changed, [], 'the next file would find it changed')
      })
    })
    finish()
  }
  setTimeout(giveUp, graceMs).unref()
}

/** Files that run at once however little time the machine has for them. */
const leastAtOnce = availableParallelism() + 1
/** Average of processes that want to run, for each processor, above which one more file only makes all of them slower. */
const mostRunnable = 2.5
const lookMs = 100
const looks = 5
const mostRounds = 1_000

/** Waits while the machine has no time for one more file. Whatever else it is busy with, some run. */
async function turn(): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    if (underWay() < leastAtOnce) return
    let runnables = 0
    for (let i = 0; i < looks; i++) {
      await new Promise((resolve) => setTimeout(resolve, lookMs * (1 + Math.random())))
      runnables += runnable()
    }
    if (runnables / looks <= mostRunnable * availableParallelism()) return
  }
}

/** Number of files of the test run that have begun and not ended. */
function underWay(): number {
  const journal = process.env.PAMOJA_TEST_JOURNAL
  if (!journal || !existsSync(journal)) return 0
  const lines = readFileSync(journal, 'utf8').split('\n')
  const count = (word: string): number => lines.filter((line) => line.startsWith(`{"${word}"`)).length
  return count('begun') - count('ended')
}

/** Whether this process is the first to create the file. */
function claim(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'))
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Runs the one file of a process: nobody finds what it leaves behind, and its hooks around each test are around its own only. */
export async function runAlone({ source, compiled }: TestFile): Promise<void> {
  await turn()
  process.once('exit', begin(source))
  await suite(source, async () => {
    after(() => void setTimeout(giveUp, graceMs).unref())
    await import(pathToFileURL(compiled).href)
  })
}

/** Tells the test run that a file begins; the result tells it that the file ended, how long it took and how much work it was. */
function begin(source: string): () => void {
  const journal = process.env.PAMOJA_TEST_JOURNAL
  const sinceMs = performance.now()
  const workedMs = cpuMs()
  const tell = (entry: object): void => {
    if (journal) appendFileSync(journal, `${JSON.stringify(entry)}\n`)
  }
  tell({ begun: source, atMs: Date.now() })
  return () => {
    tell({ ended: source, ms: Math.round(performance.now() - sinceMs), cpu_ms: Math.round(cpuMs() - workedMs) })
  }
}

/** Processor time of this process and, where the system tells, of the programs that it has started and seen end. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + childrenMs()
}

const msPerTick = 10

function childrenMs(): number {
  if (process.platform !== 'linux') return 0
  // Fields after the name, which may hold anything: cutime and cstime are the 14th and 15th of them.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) * msPerTick
}

/** How long a process may take to end after its last test. */
const graceMs = 60_000

/** What a test that failed left open, such as a node, would keep the process, and all who wait for it, for ever. */
function giveUp(): void {
  const open = [...new Set(process.getActiveResourcesInfo())].join(', ')
  process.stderr.write(`A minute after the last test something is still open (${open}).\n`)
  process.exit(1)
}

/** What a file could change for those after it, by name. */
function surroundings(): Map<string, string | number | undefined> {
  return new Map<string, string | number | undefined>([
    ...Object.entries(process.env).filter(([name]) => name !== ofImages),
    ['the directory', process.cwd()],
    ['the umask', process.umask()],
    ...signals.map((signal) => [`listeners of ${signal}`, process.listenerCount(signal)] as const),
  ])
}

/** The image library sets this when it is first loaded, to the same in every file. */
const ofImages = 'VIPSHOME'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
