// SPDX-License-Identifier: Apache-2.0
// The program as an operator runs it: a process with a home directory, a port and an environment of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Credentials } from '../src/commands/welcome.ts'
import { Client } from './client.ts'
import { whenPatienceEnds } from './eventually.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const main = join(root, 'dist/program/main.js')
export const node = join(root, 'dist/program/node.js')

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
  /** Sentence about why it did not work: the lines after those of its progress. */
  sentence: string
}

export interface ProgramOptions {
  args?: readonly string[]
  environment?: Readonly<Record<string, string>>
  /** Another user, if the tests may choose. */
  user?: { uid: number; gid: number }
  /** File that is run instead of the program's own. */
  file?: string
  cwd?: string
  /** Whether it may send messages to this process. */
  tells?: boolean
}

/** A program makes a database before it serves, and some tests keep it for all of their own time. */
const runMs = 300_000
const started = new Set<Program>()

export class Program {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  #stdout = ''
  #stderr = ''
  #listeners = new Set<() => void>()

  constructor({ args = [], environment = {}, user, file = main, cwd = tmpdir(), tells = false }: ProgramOptions) {
    const { PATH = '', NODE_COMPILE_CACHE: cache } = process.env
    const env = { PATH, ...(cache ? { NODE_COMPILE_CACHE: cache } : {}), ...environment }
    this.child = spawn(process.execPath, [file, ...args], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe', ...(tells ? ['ipc' as const] : [])],
      ...user,
    })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk
      this.#tell()
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk
      this.#tell()
    })
    started.add(this)
    // A program that hangs is a failure that says so, not a test that never ends.
    const callOff = whenPatienceEnds(runMs, () => this.child.kill('SIGKILL'))
    this.ended = once(this.child, 'close').then(([code]) => {
      callOff()
      started.delete(this)
      this.#tell()
      const said = this.#stderr.split('\n').filter((line) => line !== '' && !/^ {2}\S.* \.\.\./.test(line))
      return { code, stdout: this.#stdout, stderr: this.#stderr, sentence: said.join('\n') }
    })
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  /** Waits until it has printed something; fails with what it printed instead if it ends before. */
  async prints(text: string): Promise<void> {
    while (!`${this.#stdout}\n${this.#stderr}`.includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`the program ended before it printed "${text}":\n${this.#stdout}\n${this.#stderr}`)
      await new Promise<void>((resolve) => {
        this.#listeners.add(resolve)
      })
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal)
    return this.ended
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }
}

/** Ends what a failed test left running. */
export async function endAll(): Promise<void> {
  for (const program of started) program.child.kill('SIGTERM')
  await Promise.all([...started].map(({ ended }) => ended))
}

/** Runs a command to its end. */
export function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Program({ args, environment }).ended
}

/** A program that serves, from its banner on. */
export interface Serving {
  program: Program
  credentials: Credentials
  client: Client
}

export async function serve(
  home: string,
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<Serving> {
  const program = new Program({
    args,
    environment: { PAMOJA_HOME: home, PAMOJA_PORT: '0', PAMOJA_DATABASE_WAIT_SECONDS: '60', ...environment },
  })
  await program.prints('is running')
  return serving(program, JSON.parse(await readFile(join(home, 'credentials.json'), 'utf8')))
}

/** Starts a node of test/node.ts, which has the areas of the tests too. */
export async function serveNode(environment: Readonly<Record<string, string>>): Promise<Serving> {
  const program = new Program({ environment: { PAMOJA_PORT: '0', ...environment }, file: node, tells: true })
  const [told] = await Promise.race([
    once(program.child, 'message'),
    program.ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ])
  return serving(program, told.credentials)
}

async function serving(program: Program, credentials: Credentials): Promise<Serving> {
  const ca = credentials.ca_file ? await readFile(credentials.ca_file, 'utf8') : null
  return { program, credentials, client: new Client(credentials.base_url, ca, credentials.api_key) }
}

/** A directory of its own. The user whom root runs PostgreSQL as can reach it. */
export async function newHome(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'pamoja-home-'))
  await chmod(path, 0o755)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

/** The command lines of the processes that work in a directory; null where the system does not tell. */
export async function processesIn(directory: string): Promise<string[] | null> {
  const pids = await readdir('/proc').catch(() => null)
  if (!pids) return null
  const lines = pids
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))
  return (await Promise.all(lines)).map((line) => line.replaceAll('\0', ' ')).filter((line) => line.includes(directory))
}

/** User who is not root, to run the program as. Null when the tests have no choice. */
export function somebodyElse(): { uid: number; gid: number } | null {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null
}
