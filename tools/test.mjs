// SPDX-License-Identifier: Apache-2.0
// `npm test [file or part of its path ...] [options of node --test]`: makes the checkout ready, starts one PostgreSQL
// server that all test files share (unless DATABASE_URL names one), and runs the tests.

import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { prepare, sourceFiles } from './bootstrap.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const say = (line) => process.stderr.write(`${line}\n`)

/** Tests of faults and of timers wait more than they work, so there are more at once than processors; bounded by memory. */
const processesAtOnce = Math.min(2 * availableParallelism(), 8)

/** So many files share a process at most: beyond it there is little left to save, and a process that ends late makes all wait. */
const filesTogether = 12

/** Where Node keeps what it has compiled, from version 22 on: every process reads the same program. */
const compileCache = join(root, 'dist', '.compile-cache')

/**
 * What starts, kills and watches processes has one of its own; it waits a lot, so others work beside it. So has what makes
 * ids at another time than now: within a process ids never go back, and those of the next file would not be of its time.
 */
const isFault = (source) => source.startsWith('test/faults/')
const ownProcess = ['src/kernel/ids.test.ts', 'src/platform/nodes/maintenance.test.ts', 'src/platform/postgres.test.ts']
const isAlone = (source) => isFault(source) || /^test\/(interop\/|[^/]+$)/.test(source) || ownProcess.includes(source)

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
  await prepare('test')
  process.exitCode = await runTests()
} catch (problem) {
  say([problem.message, problem.details].filter(Boolean).join('\n'))
  process.exitCode = 1
}

async function runTests() {
  const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
  const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'))
  const files = testFiles(chosen)
  if (process.env.DATABASE_URL) return testOn(process.env.DATABASE_URL, files, options)

  const { startPostgres } = await import('../dist/src/platform/postgres.js')
  const { unsynced } = await import('../dist/test/database.js')
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-test-'))
  try {
    // Started by root, PostgreSQL runs as another user, who has to reach its data in here.
    await chmod(dir, 0o755)
    const postgres = await startPostgres({
      dir,
      settings: { ...unsynced, shared_buffers: '128MB', max_connections: '500' },
    })
    try {
      return await testOn(postgres.url, files, options)
    } finally {
      await postgres.stop()
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** The tables are made once; each file of tests copies them. */
async function testOn(databaseUrl, files, options) {
  const { createTemplate } = await import('../dist/test/database.js')
  const template = await createTemplate(databaseUrl)
  const settings = { PAMOJA_TEST_DATABASE_URL: databaseUrl, PAMOJA_TEST_TEMPLATE: template.name }
  try {
    return await testTwice(files, options, settings)
  } finally {
    await template.drop()
  }
}

/** Test files as their sources, so that output of a deleted test is never run. */
function testFiles(chosen) {
  const all = [...sourceFiles('src'), ...sourceFiles('test')].filter((file) => file.endsWith('.test.ts'))
  const missed = chosen.find((part) => !all.some((file) => isMeant(file, part)))
  if (missed) throw new Error(`No test file matches ${missed}.`)
  return chosen.length === 0 ? all : all.filter((file) => chosen.some((part) => isMeant(file, part)))
}

function isMeant(file, part) {
  return file.includes(
    part
      .replace(/^\.\//, '')
      .replace(/^dist\//, '')
      .replace(/\.js$/, '.ts'),
  )
}

function compiledFrom(source) {
  return join(root, 'dist', source.replace(/\.ts$/, '.js'))
}

/**
 * With `CI=true`, files in which something failed are run once more, one at a time: what fails twice has failed. Everywhere
 * else the first failure counts.
 */
async function testTwice(files, options, settings) {
  const scratch = await mkdtemp(join(tmpdir(), 'pamoja-tests-'))
  const list = join(scratch, 'failed')
  try {
    // Options may choose tests by their names, which are those of the files only if each file is run by itself.
    const entries = files.length > 1 && options.length === 0 ? await shareProcesses(files, scratch) : separately(files)
    const code = await testRun([...entries.keys()], options, settings, list)
    if (code === 0 || interruptedBy) return code
    const failed = (await readFile(list, 'utf8').catch(() => '')).split('\n')
    for (const entry of failed.filter((name) => entries.has(name) && name.startsWith(scratch)))
      say(`${entry} had the tests of ${entries.get(entry).join(', ')}`)
    if (process.env.CI !== 'true') return code
    const again = filesOf(failed, entries)
    if (again.length === 0 || again.length === files.length) return code
    say(`\nOnce more, because something in them failed: ${again.join(', ')}\n`)
    return await testRun([...separately(again).keys()], ['--test-concurrency=1', ...options], settings, list)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** What Node is told to run, and the sources of the tests in it. */
function separately(files) {
  return new Map(files.map((source) => [compiledFrom(source), [source]]))
}

/**
 * Puts files into processes of about the same length, going by how long the sources are. Those that wait and those that
 * work take turns, and the longest waits come first. Node sorts what it is to run by name, so the names are numbers.
 */
async function shareProcesses(files, scratch) {
  const alone = [...files.filter(isFault), ...files.filter((source) => isAlone(source) && !isFault(source))].map(
    (source) => [source],
  )
  const groups = balanced(files.filter((source) => !isAlone(source)))
  const entries = new Map()
  for (let i = 0; i < Math.max(alone.length, groups.length); i++) {
    for (const sources of [alone[i] ?? [], groups[i] ?? []]) {
      if (sources.length === 0) continue
      const entry = join(scratch, `${String(entries.size + 1).padStart(3, '0')}.mjs`)
      const listed = sources.map((source) => ({ source, compiled: compiledFrom(source) }))
      const helper = pathToFileURL(join(root, 'dist/test/together.js')).href
      await writeFile(entry, `import { together } from '${helper}'\nawait together(${JSON.stringify(listed)})\n`)
      entries.set(entry, sources)
    }
  }
  return entries
}

function balanced(files) {
  const count = Math.max(Math.ceil(files.length / filesTogether), Math.min(files.length, processesAtOnce))
  const groups = Array.from({ length: count }, () => ({ sources: [], bytes: 0 }))
  const sized = files.map((source) => ({ source, bytes: statSync(join(root, source)).size }))
  for (const { source, bytes } of sized.sort((a, b) => b.bytes - a.bytes)) {
    const shortest = groups.reduce((least, group) => (group.bytes < least.bytes ? group : least))
    shortest.sources.push(source)
    shortest.bytes += bytes
  }
  return groups.map(({ sources }) => sources)
}

/** The sources that failures name: as the test that stands for a file, as the file, or as the process that ended too soon. */
function filesOf(failed, entries) {
  const named = new Set(failed.flatMap((name) => entries.get(name) ?? [relative(root, name), name]))
  return [...entries.values()]
    .flat()
    .filter((source) => named.has(source) || named.has(relative(root, compiledFrom(source))))
}

function testRun(files, options, settings, failedFiles) {
  if (interruptedBy) return 1
  const command = [
    '--enable-source-maps',
    '--test',
    ...(options.some((option) => option.startsWith('--test-concurrency'))
      ? []
      : [`--test-concurrency=${processesAtOnce}`]),
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(root, 'tools/failed-files.mjs')}`,
    `--test-reporter-destination=${failedFiles}`,
    ...options,
    ...files,
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
    ([name]) => !outside.includes(name) && (!name.startsWith('PAMOJA_') || name.startsWith('PAMOJA_TEST_')),
  )
  return { ...Object.fromEntries(kept), NODE_ENV: 'test', NODE_COMPILE_CACHE: compileCache, ...settings }
}
