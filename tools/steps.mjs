// SPDX-License-Identifier: Apache-2.0
// Steps of making a checkout ready: commands that are run with a word of progress, one process at a time.

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lock = join(root, 'dist', '.lock')
const lockOwner = `${hostname()} ${process.pid}`

const progressEveryMs = 10_000
const lockPollMs = 200
const lockBeatMs = 2_000
/** A process that has not touched its lock for this long is gone, even if another one has its number by now. */
const lockSilenceMs = 300_000
const shownOutputLines = 40
const shownOutputCharacters = 20_000
/** onnxruntime brings what it needs for a processor; its install script would fetch hundreds of megabytes for graphics cards. */
export const installEnvironment = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' }
/** npm only warns of files that it could not write whole, and ends as if all were well. */
const spaceRunsOut = /ENOSPC|EDQUOT|no space left on device/i

/** Runs a command and tells how it goes, on one line; what the command itself prints is shown only when it fails. */
export async function step(
  what,
  command,
  commandArguments,
  { directory = root, explain = () => null, onStart = () => {} } = {},
) {
  const startedAt = performance.now()
  const elapsed = (digits) => `${((performance.now() - startedAt) / 1000).toFixed(digits)} s`
  tell(`  ${what} ...`)
  const progress = setInterval(() => tell(` ${elapsed(0)} ...`), progressEveryMs)
  const { child, ended } = run(command, commandArguments, directory)
  onStart(child)
  // If this process is killed, its child goes on writing for a while, and the lock must hold until that is over.
  writeFileSync(lock, `${lockOwner} ${child.pid}`)
  const { code, output } = await ended
  clearInterval(progress)
  if (code === 0) return tell(` ${elapsed(1)}\n`)
  tell(` failed after ${elapsed(1)}\n`)
  if (spaceRunsOut.test(output)) throw new Error(fullDisk(directory))
  throw new Error(explain(output) ?? `${what} failed (${code}):\n${firstLines(output)}`)
}

export function tell(text) {
  process.stderr.write(text)
}

export function run(command, commandArguments, directory) {
  const child = spawn(command, commandArguments, {
    cwd: directory,
    env: installEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => {
    let output = ''
    const collect = (chunk) => {
      if (output.length < shownOutputCharacters) output += chunk
      if (spaceRunsOut.test(chunk)) child.kill('SIGKILL')
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', (problem) => resolve({ code: problem.code ?? 'an error', output: problem.message }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }))
  })
  return { child, ended }
}

/** npm and the compiler both name the cause first and add advice after it. */
function firstLines(text) {
  return text.trimEnd().split('\n').slice(0, shownOutputLines).join('\n')
}

export function isFull({ code }) {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

export function fullDisk(path = root) {
  return `The disk is full at ${path}: free some space and start again.`
}

/** The lock is not kept in node_modules, which `npm ci` removes. */
export async function takeLock() {
  let isWaiting = false
  for (;;) {
    try {
      mkdirSync(dirname(lock), { recursive: true })
      writeFileSync(lock, lockOwner, { flag: 'wx' })
      break
    } catch (problem) {
      if (isFull(problem)) throw new Error(fullDisk(dirname(lock)))
      if (problem.code !== 'EEXIST') {
        // Of a read-only mount Node says that the directory is not there.
        const why = problem.code === 'ENOENT' ? 'EROFS' : problem.code
        throw new Error(
          `This checkout has to be prepared first, but ${dirname(lock)} cannot be written (${why}): make it writable, or clone to a place that is yours.`,
        )
      }
    }
    const holder = readOr(lock, '')
    if (isAbandoned(holder)) removeLock((found) => found === holder)
    else if (!isWaiting) tell('  Another process is preparing this checkout; waiting for it ...\n')
    isWaiting = true
    await new Promise((resolve) => setTimeout(resolve, lockPollMs))
  }
  const beat = setInterval(() => utimes(lock, new Date(), new Date(), () => {}), lockBeatMs)
  return () => {
    clearInterval(beat)
    removeLock((found) => found.startsWith(lockOwner))
  }
}

function isAbandoned(holder) {
  const [host, ...pids] = holder.split(' ')
  if (host === hostname() && !pids.some(isAlive)) return true
  const lastBeat = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  return Date.now() - lastBeat > lockSilenceMs
}

function isAlive(pid) {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (problem) {
    return problem.code === 'EPERM'
  }
}

/** By the time a process removes an abandoned lock, another one may have done so and hold its own: that one stays. */
function removeLock(isMeant) {
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
    if (isMeant(readOr(aside, ''))) rmSync(aside, { force: true })
    else renameSync(aside, lock)
  } catch (problem) {
    if (problem.code !== 'ENOENT') throw problem
  }
}

export function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
