// SPDX-License-Identifier: Apache-2.0
// Programs of others that send and take mail: swaks, and smtp-source, smtp-sink and a whole Postfix of the package `postfix`, each
// with a directory and ports of its own. The Postfix of the machine is left alone.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'

const places = ['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/usr/local/bin']

function pathOf(program: string): string | null {
  const found = places.map((place) => join(place, program)).find((path) => isThere(path))
  return found ?? null
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Programs that are missing; null when all of them are installed. */
export function mailProgramsMissing(): string | null {
  const missing = ['swaks', 'smtp-source', 'smtp-sink', 'postfix'].filter((program) => pathOf(program) === null)
  // Without it swaks knows no TLS.
  if (spawnSync('perl', ['-MNet::SSLeay', '-e', '1']).status !== 0) missing.push('Net::SSLeay')
  return missing.length === 0
    ? null
    : `${missing.join(', ')} not found: install the packages swaks, libnet-ssleay-perl and postfix`
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
): Promise<{ code: number | null; said: string }> {
  const child = spawn(pathOf(program) ?? program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })
}

export interface MailReceiver {
  readonly port: number
  /** Messages as they were taken, with what the server put in front. */
  messages(): Promise<Buffer[]>
  stop(): Promise<void>
}

/** A Postfix, whose master leaves its parent. */
export interface Postfix extends MailReceiver {
  readonly pid: number
}

/** smtp-sink, which keeps each message in a file. */
export async function startSink(): Promise<MailReceiver> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-sink-'))
  await chmod(dir, 0o777)
  const port = await freePort()
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(
    pathOf('smtp-sink') ?? 'smtp-sink',
    [...user, '-d', join(dir, 'mail.'), `127.0.0.1:${port}`, '100'],
    {
      stdio: 'ignore',
    },
  )
  await eventually(() => isListening(port), 'smtp-sink to listen')
  return {
    port,
    messages: async () => Promise.all((await readdir(dir)).sort().map((file) => readFile(join(dir, file)))),
    stop: async () => {
      await end(child)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/**
 * A Postfix that takes mail for any address of `domain` into a directory, or passes all of it on to a port, signed where there is somebody
 * who signs. Only root can start one.
 */
export async function startPostfix(
  domain: string,
  relayTo: number | null = null,
  signer: Signer | null = null,
): Promise<Postfix> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-postfix-'))
  await chmod(dir, 0o755)
  const port = await freePort()
  const config = join(dir, 'config')
  const mail = join(dir, 'mail')
  const [uid, gid] = [65_534, 65_534]
  for (const sub of [config, mail, join(dir, 'queue'), join(dir, 'data')]) await mkdir(sub)
  await chown(mail, uid, gid)
  const owner = Number((await runProgram('id', ['-u', 'postfix'])).said.trim())
  await chown(join(dir, 'data'), owner, owner)
  await writeFile(
    join(config, 'main.cf'),
    mainCf({ dir, mail, domain, uid, gid, relayTo, signerPort: signer?.port ?? null }),
  )
  await writeFile(join(config, 'master.cf'), masterCf(port))
  const started = await runProgram('postfix', ['-c', config, 'start'])
  if (started.code !== 0) throw new Error(`Postfix does not start: ${started.said}`)
  await eventually(() => isListening(port), 'Postfix to listen')
  const pid = Number((await readFile(join(dir, 'queue/pid/master.pid'), 'utf8')).trim())
  return {
    port,
    pid,
    messages: async () => {
      const files = await readdir(join(mail, 'box/new')).catch(() => [])
      return Promise.all(files.sort().map((file) => readFile(join(mail, 'box/new', file))))
    },
    stop: async () => {
      await runProgram('postfix', ['-c', config, 'abort'])
      await rm(dir, { recursive: true, force: true })
    },
  }
}

export interface Signer {
  readonly port: number
  stop(): Promise<void>
}

/** OpenDKIM, which signs what comes from a domain with a key of RSA-2048; null where the package `opendkim` is not installed. */
export async function startOpenDkim(domain: string): Promise<Signer | null> {
  const program = pathOf('opendkim')
  if (program === null) return null
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-opendkim-'))
  const port = await freePort()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(join(dir, 'key.pem'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
  const settings = [
    `Socket inet:${port}@127.0.0.1`,
    `Domain ${domain}`,
    `KeyFile ${join(dir, 'key.pem')}`,
    'Selector s1',
    'Mode s',
    'Canonicalization relaxed/relaxed',
    'Syslog no',
    'RequireSafeKeys no',
    '',
  ]
  await writeFile(join(dir, 'opendkim.conf'), settings.join('\n'))
  const child = spawn(program, ['-f', '-x', join(dir, 'opendkim.conf')], { stdio: 'ignore' })
  await eventually(() => isListening(port), 'OpenDKIM to listen')
  return {
    port,
    stop: async () => {
      await end(child)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

interface Places {
  dir: string
  mail: string
  domain: string
  uid: number
  gid: number
  relayTo: number | null
  signerPort: number | null
}

function mainCf({ dir, mail, domain, uid, gid, relayTo, signerPort }: Places): string {
  return [
    'compatibility_level = 3.6',
    `queue_directory = ${dir}/queue`,
    `data_directory = ${dir}/data`,
    'maillog_file = /dev/null',
    'maillog_file_prefixes = /dev',
    'myhostname = mx.shop.example',
    'mydestination =',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'alias_maps =',
    ...(relayTo === null
      ? ['smtpd_recipient_restrictions = reject_unauth_destination', `virtual_mailbox_domains = ${domain}`]
      : ['mynetworks = 127.0.0.0/8', `relayhost = [127.0.0.1]:${relayTo}`, 'virtual_mailbox_domains =']),
    ...(signerPort === null
      ? []
      : [`smtpd_milters = inet:127.0.0.1:${signerPort}`, 'milter_default_action = tempfail']),
    `virtual_mailbox_base = ${mail}`,
    'virtual_mailbox_maps = static:box/',
    `virtual_uid_maps = static:${uid}`,
    `virtual_gid_maps = static:${gid}`,
    '',
  ].join('\n')
}

function masterCf(port: number): string {
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'virtual unix - n n - - virtual',
    'smtp unix - - n - - smtp',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'showq unix n - n - - showq',
    'proxymap unix - - n - - proxymap',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'postlog unix-dgram n - n - 1 postlogd',
    '',
  ].join('\n')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}

async function isListening(port: number): Promise<boolean> {
  const answer = await runProgram('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`])
  return answer.code === 0
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  await closed
}
