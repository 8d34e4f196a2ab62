// SPDX-License-Identifier: Apache-2.0
// Test files: which there are, which are meant by a word, which are the core that other versions of Node and PostgreSQL
// have to pass too, and which processes they share.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceFiles } from './bootstrap.mjs'
import { noInstallation, oneDatabase } from './test-cells.mjs'
import { secondTier } from './test-tiers.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const durationsFile = join(root, 'test', 'durations.json')

/** Milliseconds for a file that nobody has measured yet: about the median of the journeys. */
const unknownMs = 5_000

/** Tests of the core, for every Node and PostgreSQL: laws, ledger and engine. */
const core = [
  /^test\/laws\//,
  /^src\/ledger\//,
  /^src\/platform\/(work|commit|commit\/row-encoding|db|limits)\.test\.ts$/,
]

/**
 * Files with a process of their own: those that start, kill and watch processes, and those named here. Some make ids at
 * another time than now (within a process ids never go back, and those of the next file would not be of its time), some
 * have hooks around each test, which would also run around those of the shared process, one changes its environment,
 * one looks at everything that is declared in the process, of which tests before it have some of their own, one counts by
 * the times in ids, which a test before it may have put a minute ahead, and some listen to telephones of others, which do not wait.
 */
const ownProcess = [
  'src/areas/webhooks/deliveries/waiting.test.ts',
  'src/kernel/ids.test.ts',
  'src/platform/db/migrate.test.ts',
  'src/platform/nodes/maintenance.test.ts',
  'src/platform/postgres.test.ts',
  'src/platform/storage.test.ts',
  'test/journeys/account.test.ts',
  'test/interop/baresip.test.ts',
  'test/interop/desk.test.ts',
  'test/interop/line.test.ts',
  'test/journeys/identity-faces.test.ts',
  'test/laws/sql.test.ts',
]
const isAlone = (source) => /^test\/(faults\/|operations\/|[^/]+$)/.test(source) || ownProcess.includes(source)

/**
 * Test files as their sources, so that output of a deleted test is never run: those that are named, or else those of the
 * first tier, of both tiers (`isAll`), or of the core.
 */
export function testFiles(chosen, { isCore = false, isAll = false } = {}) {
  const all = [...sourceFiles('src'), ...sourceFiles('test')].filter((file) => file.endsWith('.test.ts'))
  const missed = chosen.find((part) => !all.some((file) => isMeant(file, part)))
  if (missed) throw new Error(`No test file matches ${missed}.`)
  const meant = chosen.length === 0 ? all : all.filter((file) => chosen.some((part) => isMeant(file, part)))
  if (isCore) return meant.filter((file) => core.some((pattern) => pattern.test(file)))
  return isAll || chosen.length > 0 ? meant : meant.filter((file) => !(file in secondTier))
}

function isMeant(file, part) {
  return file.includes(
    part
      .replace(/^\.\//, '')
      .replace(/^dist\//, '')
      .replace(/\.js$/, '.ts'),
  )
}

/** Whether a file starts the program as a process, which takes its bundle: then it imports test/program.ts, or what does. */
export function startsPrograms(files) {
  return reads(files, /\bprogram\/(main|node)\.js'/)
}

/** Files with an installation that can have two databases, and why the others are left out where each has (PAMOJA_TEST_CELLS). */
export function onTwoDatabases(files) {
  const whys = files.map(
    (file) => oneDatabase[file] ?? (reads([file], /(?<!function )\bcreateInstallation\(/) ? null : noInstallation),
  )
  const left = files.flatMap((file, i) => (whys[i] === null ? [] : [{ file, why: whys[i] }]))
  return { files: files.filter((_, i) => whys[i] === null), left }
}

/** Whether these files, or what they share with others, have a text that matches. */
function reads(files, pattern) {
  const seen = new Set()
  const waiting = [...files]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file) || !existsSync(join(root, file))) continue
    seen.add(file)
    const text = readFileSync(join(root, file), 'utf8')
    if (pattern.test(text)) return true
    // The product's own files need not be read: only tests and what they share start something.
    if (!file.startsWith('test/') && !file.endsWith('.test.ts')) continue
    for (const [, path] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) waiting.push(join(dirname(file), path))
  }
  return false
}

/**
 * Files that can share a process, and those that have one each, both with the longest first: one that begins last should
 * not be one that everybody waits for.
 */
export function sharedAndAlone(files) {
  const measured = readDurations()
  const lengthOf = (file) => measured[file]?.ms ?? unknownMs
  const byLength = [...files].sort((a, b) => lengthOf(b) - lengthOf(a) || a.localeCompare(b))
  return { shared: byLength.filter((file) => !isAlone(file)), alone: byLength.filter(isAlone) }
}

function readDurations() {
  return existsSync(durationsFile) ? JSON.parse(readFileSync(durationsFile, 'utf8')) : {}
}
