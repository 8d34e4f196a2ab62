// SPDX-License-Identifier: Apache-2.0
// Kannel, the gateway that most operators know, as two processes of its own (bearerbox and smsbox) bound to a message
// centre of ours, with free ports and a temporary directory. Debian has it in the package `kannel`.
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, closeSync, constants, openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { eventually } from '../eventually.ts'

const usualAccount = { systemId: 'kannel', password: 'secret' }
/** Accounts that the message centre has to let in. */
export const kannelAccounts = { [usualAccount.systemId]: usualAccount.password }

export interface KannelOptions {
  /** Port of the message centre, on this machine. */
  smscPort: number
  /** What to bind with, unless it is `kannelAccounts`. */
  account?: { systemId: string; password: string }
  /** Messages without an answer. */
  window: number
  /** Called with GET when a handset wrote something; Kannel fills in %p, %P and %b. */
  inboundUrl?: string
  /** Whether accepted messages are kept in files until they are over; otherwise in memory. Kannel never calls fsync. */
  spool?: boolean
}

export interface Kannel {
  /** Port at which messages are handed in: `http://127.0.0.1:<port>/cgi-bin/sendsms`. */
  sendPort: number
  sendPath(message: Readonly<Record<string, string>>): string
  /** Hands in a message; gives Kannel's answer. */
  send(message: Readonly<Record<string, string>>): Promise<{ status: number; text: string }>
  stop(): Promise<void>
}

/** Parts of Kannel that are missing; null when it is installed. */
export function kannelMissing(): string | null {
  const missing = ['bearerbox', 'smsbox'].filter((program) => programPath(program) === null)
  return missing.length === 0 ? null : `${missing.join(' and ')} not found: install the package kannel`
}

export async function startKannel(options: KannelOptions): Promise<Kannel> {
  const missing = kannelMissing()
  if (missing !== null) throw new Error(missing)
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-kannel-'))
  const children: ChildProcess[] = []
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await end(child)
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const ports = { admin: await freePort(), box: await freePort(), send: await freePort() }
    const file = join(dir, 'kannel.conf')
    const store = options.spool ? join(dir, 'spool') : null
    if (store !== null) await mkdir(store)
    await writeFile(file, configuration(ports, options, store))
    const statusUrl = `http://127.0.0.1:${ports.admin}/status.txt?password=admin`
    children.push(run('bearerbox', file, dir))
    await until(children, dir, 'bearerbox to be bound', async () => /SMPP.*\(online/.test(await textOf(statusUrl)))
    children.push(run('smsbox', file, dir))
    await until(children, dir, 'smsbox to be ready', async () => /smsbox:.*on-line/.test(await textOf(statusUrl)))
    const sendPath = (message: Readonly<Record<string, string>>): string =>
      `/cgi-bin/sendsms?${new URLSearchParams({ username: 'tester', password: 'tester', ...message })}`
    await until(
      children,
      dir,
      'sendsms to answer',
      async () => (await textOf(`http://127.0.0.1:${ports.send}/`)) !== '',
    )
    return {
      sendPort: ports.send,
      sendPath,
      async send(message) {
        const answer = await fetch(`http://127.0.0.1:${ports.send}${sendPath(message)}`)
        return { status: answer.status, text: await answer.text() }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function configuration(
  ports: { admin: number; box: number; send: number },
  { smscPort, account = usualAccount, window, inboundUrl }: KannelOptions,
  store: string | null,
): string {
  return `
group = core
admin-port = ${ports.admin}
admin-password = admin
smsbox-port = ${ports.box}
box-allow-ip = "127.0.0.1"
dlr-storage = internal
${store === null ? '' : `store-type = spool\nstore-location = ${store}\n`}log-level = 3

group = smsc
smsc = smpp
smsc-id = centre
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = ${account.systemId}
smsc-password = ${account.password}
system-type = ""
max-pending-submits = ${window}
reconnect-delay = 1
enquire-link-interval = 1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${ports.send}
log-level = 3

group = sendsms-user
username = tester
password = tester
concatenation = true
max-messages = 10

group = sms-service
keyword = default
catch-all = true
max-messages = 0
${inboundUrl === undefined ? 'text = "none"' : `get-url = "${inboundUrl}"`}
`
}

function run(program: string, configurationFile: string, dir: string): ChildProcess {
  const log = openSync(join(dir, `${program}.log`), 'w')
  const child = spawn(programPath(program) ?? program, [configurationFile], { cwd: dir, stdio: ['ignore', log, log] })
  closeSync(log)
  // Without a listener a program that cannot be started would end ours; that it is not there shows when it is waited for.
  child.on('error', () => undefined)
  return child
}

/** Waits, unless a process of Kannel's has ended: then says its last words. */
async function until(
  children: readonly ChildProcess[],
  dir: string,
  what: string,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const check = async (): Promise<boolean> => {
    const dead = children.find(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null)
    if (dead) throw new Error(`${dead.spawnfile} ended: ${lastWords(dir)}`)
    return isSo()
  }
  await eventually(check, `${what}: ${lastWords(dir)}`)
}

function lastWords(dir: string): string {
  return ['bearerbox', 'smsbox']
    .map((program) => {
      try {
        return readFileSync(join(dir, `${program}.log`), 'utf8').slice(-1_000)
      } catch {
        return ''
      }
    })
    .join('\n')
}

/** An empty text when nobody answers. */
async function textOf(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text()
  } catch {
    return ''
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  // It takes its time when messages are waiting, and keeps nothing of them here.
  const impatience = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await gone
  clearTimeout(impatience)
}

/** Kannel's programs stand where only the administrator looks. */
function programPath(program: string): string | null {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const path = join(folder, program)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {}
  }
  return null
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(address === null || typeof address === 'string' ? 0 : address.port))
    })
  })
}
