// SPDX-License-Identifier: Apache-2.0
// `npm test -- [file or part of its path ...] [--all] [--full] [--core] [--durations] [options of node --test]`: makes the
// checkout ready, starts one PostgreSQL server that all test files share (unless DATABASE_URL names one), and runs the tests
// of the first tier (test-tiers.mjs), or those that are named. A file that fails among many runs once more, by itself; what passes
// only then is named at the end, as a test or a program to mend (docs/decisions/0029).
//   --all        the second tier too
//   --full       properties are run as often as they say, instead of an eighth of it, or a quarter where files are named or with
//                --all; the second tier too
//   --core       only what other versions of Node and PostgreSQL have to pass too
//   --durations  writes test/durations.json: what each file takes, by which the longest begin first
//   --verbose    names every test, as it does where files are named

import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { prepare } from './bootstrap.mjs'
import { durationsFile, onTwoDatabases, sharedAndAlone, startsPrograms, testFiles } from './test-files.mjs'
import { Progress } from './test-progress.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const say = (line) => process.stderr.write(`${line}\n`)

/** Tests wait more than they work, so there are more processes at once than processors; bounded by memory, half a gigabyte each. */
const groups = Math.max(2, Math.min(2 * availableParallelism(), 12, Math.floor(totalmem() / 1_000_000_000)))
/** Beside them, those with one file each, which kill and watch processes and wait most of all. */
const processesAtOnce = groups + Math.min(availableParallelism() + 1, 6)

/** Files that fail are run once more; more than this have a cause in common. */
const secondRuns = 4

/** Where Node keeps what it has compiled, from version 22 on: every process reads the same program. */
const compileCache = join(root, 'dist', '.compile-cache')

const words = process.argv.slice(2)
const own = ['--all', '--full', '--core', '--durations', '--verbose']
const chosen = words.filter((word) => !word.startsWith('-'))
const options = words.filter((word) => word.startsWith('-') && !own.includes(word))
const isFull = words.includes('--full')
/** Properties have one run of so many: the first tier is run before every change, and each run has another seed. */
const part = isFull ? 1 : words.includes('--all') || words.includes('--core') || chosen.length > 0 ? 4 : 8
const isVerbose = words.includes('--verbose') || chosen.length > 0 || options.length > 0

/** Ctrl-C reaches the tests by itself; here it only must not end this process before it has cleaned up. */
let interruptedBy = null
let tests = null
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interruptedBy ??= signal
    tests?.kill(signal)
  })
}

try {
  const files = divided(
    testFiles(chosen, { isCore: words.includes('--core'), isAll: isFull || words.includes('--all') }),
  )
  await prepare('test', { isBundled: startsPrograms(files) })
  const builtMs = cpuMs()
  const outcome = await onServer((settings) => withSecondRun(files, settings))
  // The work of the server is known only now that it has ended.
  const endedMs = cpuMs()
  await tell(files, { ...outcome, work: { all: endedMs - builtMs, server: endedMs - outcome.testedMs } })
  process.exitCode = outcome.code
} catch (problem) {
  say([problem.message, problem.details].filter(Boolean).join('\n'))
  process.exitCode = 1
}

/** With PAMOJA_TEST_CELLS=2, the files of installations that can have two databases; says which are left out, and why. */
function divided(all) {
  if (process.env.PAMOJA_TEST_CELLS === undefined) return all
  const { files, left } = onTwoDatabases(all)
  for (const why of new Set(left.map((one) => one.why))) {
    const of = left.filter((one) => one.why === why).map(({ file }) => file)
    say(`left out with two databases, ${why}: ${of.length > 20 ? `${of.length} files` : of.join(', ')}`)
  }
  return files
}

/** Runs the tests on the server of DATABASE_URL or on one that is started for them. */
async function onServer(run) {
  if (process.env.DATABASE_URL) return onTemplate(process.env.DATABASE_URL, run)
  const { startPostgres } = await import('../dist/src/platform/postgres.js')
  const { serverSettings } = await import('../dist/test/database.js')
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-test-'))
  try {
    // Started by root, PostgreSQL runs as another user, who has to reach its data in here.
    await chmod(dir, 0o755)
    const settings = { ...serverSettings, shared_buffers: '128MB', max_connections: '500' }
    const postgres = await startPostgres({ dir, settings })
    try {
      return await onTemplate(postgres.url, run)
    } finally {
      await postgres.stop()
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** The tables are made once; each installation copies them. */
async function onTemplate(databaseUrl, run) {
  const { createTemplate } = await import('../dist/test/database.js')
  const template = await createTemplate(databaseUrl)
  try {
    return await run({ PAMOJA_TEST_DATABASE_URL: databaseUrl, PAMOJA_TEST_TEMPLATE: template.name })
  } finally {
    await template.drop()
  }
}

/** Runs the tests, and the few files that failed once more, one after the other, on a machine that does nothing else. */
async function withSecondRun(files, settings) {
  const first = await testRun(files, settings)
  const again = [...new Set([...(first.failedFiles ?? []), ...first.silent])]
  const isAmongMany = chosen.length === 0 && !first.isSeparate && again.every((file) => files.includes(file))
  if (first.code === 0 || interruptedBy || !isAmongMany || again.length === 0 || again.length > secondRuns) return first
  say(`once more, one by one: ${again.join(', ')}`)
  const second = await testRun(again, settings, 1)
  const failed = new Set([...(second.failedFiles ?? []), ...second.silent])
  return {
    ...{ ...first, testedMs: cpuMs(), code: second.code, failedFiles: [...failed], silent: second.silent },
    passed: (first.passed ?? 0) + Math.max(0, (first.failed ?? 0) - (second.failed ?? 0)),
    failed: second.failed ?? again.length,
    milliseconds: { ...first.milliseconds, ...second.milliseconds },
    onlyAlone: again.filter((file) => !failed.has(file)),
  }
}

async function testRun(files, settings, atOnce = processesAtOnce) {
  const scratch = await mkdtemp(join(tmpdir(), 'pamoja-tests-'))
  const report = join(scratch, 'report.json')
  const journal = join(scratch, 'journal')
  const seed = process.env.PAMOJA_TEST_SEED ?? String(randomInt(2 ** 31))
  say(`Properties begin with PAMOJA_TEST_SEED=${seed}${isFull ? '' : `, one run of ${part}`}.`)
  // Options may choose tests by their names, which are those of the files only if each file is run by itself.
  const isSeparate = options.length > 0
  const progress = new Progress(journal, files)
  try {
    const entries = isSeparate ? files.map(compiledFrom) : await shareProcesses(files, scratch, atOnce)
    const surroundings = {
      ...settings,
      PAMOJA_TEST_SEED: seed,
      PAMOJA_TEST_FULL: String(isFull),
      PAMOJA_TEST_PART: process.env.PAMOJA_TEST_PART ?? String(part),
      PAMOJA_TEST_SEPARATE: String(isSeparate),
      PAMOJA_TEST_JOURNAL: journal,
    }
    if (!isVerbose) progress.begin()
    const code = await runNode(entries, report, surroundings, atOnce)
    progress.end()
    // A run that was interrupted has written none, or a part of it.
    const result = JSON.parse((await readFile(report, 'utf8').catch(() => '')) || '{}')
    if (words.includes('--durations')) await writeDurations(progress.measured)
    // Whoever claims a file and ends without a word of it leaves it to nobody.
    const silent = isSeparate ? [] : files.filter((file) => result.milliseconds?.[file] === undefined)
    for (const file of silent) say(`not run to its end: ${file}`)
    return { ...result, isSeparate, progress, silent, testedMs: cpuMs(), code: silent.length > 0 ? code || 1 : code }
  } finally {
    progress.end()
    await rm(scratch, { recursive: true, force: true })
  }
}

function compiledFrom(source) {
  return join(root, 'dist', source.replace(/\.ts$/, '.js'))
}

/** Writes what each process is to run. Node sorts what it is given by name, so the names are numbers. */
async function shareProcesses(files, scratch, atOnce) {
  const helper = pathToFileURL(join(root, 'dist/test/shared-process.js')).href
  const claims = join(scratch, 'claims')
  await mkdir(claims)
  const { shared, alone } = sharedAndAlone(files)
  const listed = (source) => JSON.stringify({ source, compiled: compiledFrom(source) })
  const inTurn = `await runInTurn([${shared.map(listed).join(', ')}], ${JSON.stringify(claims)})`
  const inTurns = shared.slice(0, Math.min(groups, atOnce)).map(() => inTurn)
  // Those that find a place once the files with a process of their own have ended take what is left of the shared ones.
  const further = shared.slice(inTurns.length, atOnce).map(() => inTurn)
  const programs = [...inTurns, ...alone.map((source) => `await runAlone(${listed(source)})`), ...further]
  const entries = []
  for (const program of programs) {
    const entry = join(scratch, `${String(entries.length + 1).padStart(3, '0')}.mjs`)
    await writeFile(entry, `import { runAlone, runInTurn } from '${helper}'\n${program}\n`)
    entries.push(entry)
  }
  return entries
}

function runNode(entries, report, settings, atOnce) {
  if (interruptedBy) return 1
  const isLimited = options.some((option) => option.startsWith('--test-concurrency'))
  const command = [
    '--enable-source-maps',
    '--test',
    ...(isLimited ? [] : [`--test-concurrency=${atOnce}`]),
    `--test-reporter=${isVerbose ? 'spec' : join(root, 'tools/test-failures.mjs')}`,
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(root, 'tools/test-report.mjs')}`,
    `--test-reporter-destination=${report}`,
    ...options,
    ...entries,
  ]
  return new Promise((resolve, reject) => {
    tests = spawn(process.execPath, command, { cwd: root, env: testEnvironment(settings), stdio: 'inherit' })
    tests.on('error', reject)
    tests.on('close', (code) => resolve(interruptedBy ? 130 : (code ?? 1)))
  })
}

/** Settings of the developer's own server must not leak into the tests, nor those of a surrounding test run. */
function testEnvironment(settings) {
  const outside = ['DATABASE_URL', 'PORT', 'NODE_TEST_CONTEXT']
  const kept = Object.entries(process.env).filter(
    ([name]) => !outside.includes(name) && (!name.startsWith('PAMOJA_') || /^PAMOJA_(TEST|REQUIRE)_/.test(name)),
  )
  return { ...Object.fromEntries(kept), NODE_ENV: 'test', NODE_COMPILE_CACHE: compileCache, ...settings }
}

/** Says at the end how many of how many; PAMOJA_TEST_COUNTS names a file for those who add up several runs. */
async function tell(
  files,
  { passed = 0, failed = 0, skipped = 0, milliseconds = {}, failedFiles = [], onlyAlone = [], ...run },
) {
  const broken = [...new Set(failedFiles)]
  for (const file of broken) say(`failed: ${file}`)
  for (const file of onlyAlone) say(`passed only by itself, to be mended: ${file}`)
  const whole = run.isSeparate ? files.length - broken.length : Object.keys(milliseconds).length - broken.length
  const all = passed + failed + skipped
  process.stdout.write(`\n${whole} of ${files.length} files and ${passed} of ${all} tests passed.\n`)
  process.stdout.write(`${run.progress.elapsed} minutes${describeWork(run.work, run.progress.measured)}\n`)
  const line = `${passed} passed, ${failed} failed, ${skipped} skipped\n`
  process.stdout.write(line)
  if (process.env.PAMOJA_TEST_COUNTS) await appendFile(process.env.PAMOJA_TEST_COUNTS, line)
}

/** Processor time of this process and of everything that it has started and seen end; 0 where the system does not tell. */
function cpuMs() {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return 10 * fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
}

/** Work of the run and the files that needed most of it. */
function describeWork({ all, server }, measured) {
  if (all === 0) return ''
  const seconds = (ms) => Math.round(ms / 1_000)
  const costliest = Object.entries(measured).sort(([, a], [, b]) => b.cpu_ms - a.cpu_ms)
  const most = costliest.slice(0, 5).map(([file, { cpu_ms }]) => `${file} ${seconds(cpu_ms)}`)
  return `, ${seconds(all)} CPU-seconds (${seconds(server)} of them PostgreSQL); most: ${most.join(', ')}`
}

/** Files of this run are measured anew; the others that there still are stay as they were. */
async function writeDurations(measured) {
  const known = JSON.parse(await readFile(durationsFile, 'utf8').catch(() => '{}'))
  const all = testFiles([], { isAll: true }).flatMap((file) => {
    const took = measured[file] ?? known[file]
    return took === undefined ? [] : [`${JSON.stringify(file)}: { "ms": ${took.ms}, "cpu_ms": ${took.cpu_ms} }`]
  })
  await writeFile(durationsFile, `{\n  ${all.join(',\n  ')}\n}\n`)
}
