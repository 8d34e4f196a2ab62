// SPDX-License-Identifier: Apache-2.0
// Makes a checkout ready to run: installs the packages and compiles, each only when something changed since last time.
// Plain JavaScript over Node built-ins, because on a fresh clone nothing else is there yet.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { resolve as absolute, join } from 'node:path'
import { addLater, checkSpace, hasLater, install, installFirst, isInstalled } from './install.mjs'
import { writeSdk } from './sdk.mjs'
import { fullDisk, isFull, readOr, root, step, takeLock } from './steps.mjs'

const buildStamp = join(root, 'dist', '.stamp')
const bundleStamp = join(root, 'dist', '.bundle-stamp')
const consoleStamp = join(root, 'dist', '.console-stamp')

const minimumNode = [20, 19]
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

function isBuilt(stamp) {
  return readOr(stamp, '') === buildFingerprint()
}

function isConsoleBuilt() {
  return readOr(consoleStamp, '') === consoleFingerprint()
}

function buildFingerprint() {
  const sources = ['src', 'cli', 'test', 'bench'].flatMap((directory) => sourceFiles(directory))
  return fingerprintOf([
    'package-lock.json',
    'tsconfig.json',
    'tools/bundle.mjs',
    'tools/program-loader.mjs',
    'tools/source-places.mjs',
    ...sdkSources(),
    ...sources,
  ])
}

function consoleFingerprint() {
  return fingerprintOf(['package-lock.json', 'tools/console.mjs', ...sdkSources(), ...sourceFiles('console')])
}

/** The SDK's own files and what its generated ones are made of. */
function sdkSources() {
  return ['openapi.json', ...sourceFiles('tools/sdk', /\.mjs$/), ...sourceFiles('sdk/typescript')]
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
export function sourceFiles(directory, isSource = /\.(ts|tsx|json|css|html|svg)$/) {
  if (!existsSync(join(root, directory))) return []
  return readdirSync(join(root, directory), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`
      if (entry.isDirectory()) return sourceFiles(path, isSource)
      return isSource.test(entry.name) ? [path] : []
    })
    .sort()
}

async function compile() {
  writeSdk()
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
