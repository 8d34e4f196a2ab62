// SPDX-License-Identifier: Apache-2.0
// `npm test [file or part of its path ...] [options of node --test]`: makes the checkout ready, starts one PostgreSQL
// server that all test files share (unless DATABASE_URL names one), and runs the tests.

import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare, sourceFiles } from './bootstrap.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const say = (line) => process.stderr.write(`${line}\n`)

/** Tests of faults and of timers wait more than they work, so there are more files at once than processors; bounded by memory. */
const filesAtOnce = Math.min(2 * availableParallelism(), 8)

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
  await prepare()
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

/** Compiled test files, found by their sources, so that output of a deleted test is never run. */
function testFiles(chosen) {
  const all = [...sourceFiles('src'), ...sourceFiles('test')].filter((file) => file.endsWith('.test.ts'))
  const missed = chosen.find((part) => !all.some((file) => isMeant(file, part)))
  if (missed) throw new Error(`No test file matches ${missed}.`)
  const files = chosen.length === 0 ? all : all.filter((file) => chosen.some((part) => isMeant(file, part)))
  return files.map((file) => join(root, 'dist', file.replace(/\.ts$/, '.js')))
}

function isMeant(file, part) {
  return file.includes(
    part
      .replace(/^\.\//, '')
      .replace(/^dist\//, '')
      .replace(/\.js$/, '.ts'),
  )
}

/**
 * On a shared machine that checks changes, files in which something failed are run once more, one at a time: what fails
 * twice has failed. Everywhere else the first failure counts.
 */
async function testTwice(files, options, settings) {
  const scratch = await mkdtemp(join(tmpdir(), 'pamoja-failed-'))
  const list = join(scratch, 'files')
  try {
    const code = await testRun(files, options, settings, list)
    if (code === 0 || interruptedBy || process.env.CI !== 'true') return code
    const named = (await readFile(list, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    const again = testFiles(named.map((file) => relative(root, file)))
    if (named.length === 0 || again.length === files.length) return code
    say(`\nOnce more, because something in them failed: ${named.map((file) => relative(root, file)).join(', ')}\n`)
    return await testRun(again, ['--test-concurrency=1', ...options], settings, list)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function testRun(files, options, settings, failedFiles) {
  if (interruptedBy) return 1
  const command = [
    '--enable-source-maps',
    '--test',
    ...(options.some((option) => option.startsWith('--test-concurrency')) ? [] : [`--test-concurrency=${filesAtOnce}`]),
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
  return { ...Object.fromEntries(kept), NODE_ENV: 'test', ...settings }
}
