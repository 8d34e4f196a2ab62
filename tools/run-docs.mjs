// SPDX-License-Identifier: Apache-2.0
// Runs every command of the README, of docs/ and of examples/ as a reader would paste it: each document in a shell of its own,
// one after the other, against a program that was started on an empty directory. A command that fails, or a request that is
// refused, fails the run. Blocks marked `sh elsewhere` are for another machine or moment, and are left out.
//   node tools/run-docs.mjs [document...]      needs `npm run build`
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const patienceMs = 180_000

/** Documents in the order in which somebody reads them: the README, then the guides, the operator's last. */
function documents() {
  const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'operating.md')
  return ['README.md', 'examples/README.md', ...guides.map((name) => `docs/${name}`), 'docs/operating.md']
}

/** The blocks that are run, each with the line it begins at. */
function blocksOf(text) {
  const blocks = []
  let open = null
  for (const [index, line] of text.split('\n').entries()) {
    if (open === null) {
      if (/^```sh\s*$/.test(line)) open = { line: index + 1, commands: [] }
    } else if (line.startsWith('```')) {
      blocks.push({ line: open.line, commands: open.commands.join('\n') })
      open = null
    } else open.commands.push(line)
  }
  return blocks
}

/** A directory that looks like a checkout, so that what commands write stays out of this one. */
function checkout() {
  const directory = mkdtempSync(join(tmpdir(), 'pamoja-docs-'))
  for (const name of [
    'dist',
    'docs',
    'examples',
    'node_modules',
    'package.json',
    'openapi.json',
    'console',
    'src',
    'tools',
  ])
    symlinkSync(join(root, name), join(directory, name))
  // Refusals of the API count as failures.
  writeFileSync(join(directory, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n')
  return directory
}

/** Port below those that the system gives out by itself, which another program could be given before ours asks for it. */
async function freePort() {
  for (let i = 0; i < 50; i++) {
    const port = randomInt(20_000, 30_000)
    const server = createServer()
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
  throw new Error('no port from 20000 to 29999 is free')
}

async function start(directory, port) {
  const env = { PATH: process.env.PATH, HOME: directory, PAMOJA_PORT: String(port) }
  const program = spawn(process.execPath, ['dist/program/main.js'], { cwd: directory, env })
  let printed = ''
  await new Promise((resolve, reject) => {
    const read = (chunk) => {
      printed += chunk
      if (printed.includes('is running')) resolve()
    }
    program.stdout.on('data', read)
    program.stderr.on('data', read)
    program.on('exit', () => reject(new Error(`it does not start:\n${printed}`)))
  })
  return program
}

/** The reply to a refused request, shown even when the command hands it on to another program. */
const refusals = `curl() { local code=0; command curl "$@" | tee "$HOME/reply" || code=$?
  [ $code = 0 ] || { tail -c 600 "$HOME/reply"; echo; } >&2; return $code; }`

/** Pauses of a document are for a machine with nothing else to do: a busy one takes up to five times as long. */
const pace = `sleep() { command sleep "$(awk -v s="$1" -v n="$(nproc)" '{ f = $1 / n; print s * (f < 1 ? 1 : f > 5 ? 5 : f) }' /proc/loadavg)"; }`

/** Runs a document in one shell, told where it is before each block. Gives what went wrong, or null. */
async function follow(directory, port, document) {
  const blocks = blocksOf(readFileSync(join(root, document), 'utf8'))
  if (blocks.length === 0) return { commands: 0, problem: null }
  const main = join(directory, 'dist/program/main.js')
  const npm = `npm() { shift; while [ "\${1:-}" = --silent ] || [ "\${1:-}" = -- ]; do shift; done; node ${main} "$@"; }`
  const body = blocks.map(({ line, commands }) => `AT=${line}\n${commands.replaceAll('8443', String(port))}`)
  const script = [
    `set -eEo pipefail; trap 'echo "FAILED in the block of line $AT: $BASH_COMMAND" >&2' ERR`,
    npm,
    refusals,
    pace,
    ...body,
  ]
  const env = { PATH: process.env.PATH, HOME: directory, PAMOJA_PORT: String(port) }
  const shell = spawn('bash', ['-c', script.join('\n')], { cwd: directory, env, detached: true })
  following = shell.pid
  const patience = setTimeout(() => endGroup(shell.pid), patienceMs)
  let said = ''
  shell.stdout.on('data', (chunk) => (said += chunk))
  shell.stderr.on('data', (chunk) => (said += chunk))
  const code = await new Promise((resolve) => shell.on('exit', resolve))
  clearTimeout(patience)
  // What a document left running in the background ends with it.
  endGroup(shell.pid)
  following = null
  const count = blocks.reduce((sum, { commands }) => sum + commandsIn(commands), 0)
  return { commands: count, problem: code === 0 ? null : said.slice(-1_500) }
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left.
  }
}

/** Lines that begin something: no comments, and none that go on from the one before. */
function commandsIn(text) {
  return text.split('\n').filter((line, i, all) => /^[A-Za-z]/.test(line) && !all[i - 1]?.endsWith('\\')).length
}

function say(line) {
  process.stdout.write(`${line}\n`)
}

/** Shell of the document that is followed now, and the program beside it. */
let following = null
let program = null
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    if (following !== null) endGroup(following)
    program?.kill('SIGTERM')
    process.exit(1)
  })

/** Follows documents beside a program of their own. Gives those that failed. */
async function followAll(all) {
  const directory = checkout()
  const port = await freePort()
  program = await start(directory, port)
  const failed = []
  for (const document of all) {
    const since = Date.now()
    const { commands, problem } = await follow(directory, port, document)
    ran += commands
    if (problem !== null) failed.push(document)
    say(`${problem === null ? 'ok    ' : 'FAILED'} ${document}: ${commands} commands, ${Date.now() - since} ms`)
    if (problem !== null) say(problem.replace(/^/gm, '    '))
  }
  program.removeAllListeners('exit')
  program.kill('SIGTERM')
  await new Promise((resolve) => program.on('close', resolve))
  rmSync(directory, { recursive: true, force: true })
  return failed
}

/** Documents that fail are followed once more; more than this have a cause in common. */
const secondReadings = 2

const asked = process.argv.slice(2)
let ran = 0
let failed = await followAll(asked.length > 0 ? asked : documents())
if (failed.length > 0 && failed.length <= secondReadings && asked.length === 0) {
  const first = failed
  say(`once more, from the beginning: ${first.join(', ')}`)
  failed = await followAll(first)
  for (const document of first.filter((one) => !failed.includes(one)))
    say(`passed only by itself, to be mended: ${document}`)
}
say(`${ran} commands ran; ${failed.length} documents failed`)
process.exit(failed.length === 0 ? 0 : 1)
