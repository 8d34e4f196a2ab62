// SPDX-License-Identifier: Apache-2.0
// Welcome text when the platform is up: addresses, keys and a first command that works as pasted. The same is written
// to credentials.json, for scripts, before the first request is answered.
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { join, relative, resolve } from 'node:path'
import { cwd, stdout } from 'node:process'
import { firstAccount } from '../areas/accounts/area.ts'
import { ConfigError, isProduction, settings } from '../config.ts'
import { AppError } from '../kernel/errors.ts'
import { bucketOf, uuidOf } from '../kernel/ids.ts'
import type { RunningNode } from '../node/server.ts'
import { isWellFormedKey } from '../platform/auth.ts'

/** Example that a checkout has. */
const firstExample = 'examples/node/send-a-text.mjs'
const askMs = 2_000

export interface Credentials {
  base_url: string
  sandbox_url: string
  ca_file: string | null
  api_key: string
  account_id: string
  operator_key: string
  /** Sign-in of the console; null until an area's `demo` gives it. */
  console: { url: string; email: string; password: string } | null
  smtp: { host: string; port: number; username: string; password: string } | null
  listeners: Readonly<Record<string, string>>
}

/** Makes or finds the first account's credentials and writes them down. In production nothing is made up. */
export async function welcome(node: RunningNode): Promise<Credentials | null> {
  return isProduction(node.app.config) ? null : credentials(node)
}

export async function credentials(node: RunningNode): Promise<Credentials> {
  const { app, url, caFile, adminUrl } = node
  const fixedKey = app.config.PAMOJA_TEST_API_KEY
  if (fixedKey !== null && !isWellFormedKey(fixedKey))
    throw new ConfigError('PAMOJA_TEST_API_KEY has a wrong checksum: take the api_key of a credentials.json, whole.')
  const usual = fileOf(node)
  const before = await lastTime(usual)
  // Readers of the file mean the node that was first, for as long as it answers.
  const file = (await isAnother(before.base_url, url)) ? besideFor(node) : usual
  files.set(node, file)
  const made = (await stillValid(node, before)) ?? (await firstAccount(app, fixedKey))
  const written: Credentials = {
    base_url: url,
    sandbox_url: `${url}/sandbox`,
    ca_file: caFile,
    api_key: made.testKey,
    account_id: made.accountId,
    operator_key: made.operatorKey,
    console: null,
    smtp: null,
    listeners: { api: url, admin: adminUrl, ...node.listeners },
    ...(await demoOf(node, made.accountId, before)),
  }
  // A name of its own, since nodes that share a home may start together.
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, file)
  return written
}

/** Files to which the credentials of nodes were written. */
const files = new WeakMap<RunningNode, string>()

/** Whether another node of this installation answers at the address that an earlier start wrote down. */
async function isAnother(written: string | undefined, own: string): Promise<boolean> {
  if (written === undefined || written === own || !URL.canParse(`${written}/healthz`)) return false
  return new Promise((resolve) => {
    // The certificate is not checked: nothing is sent, and only the status and the form of the request id are read.
    const asked = get(`${written}/healthz`, { rejectUnauthorized: false, timeout: askMs }, (response) => {
      response.resume()
      resolve(response.statusCode === 200 && String(response.headers['x-request-id']).startsWith('req_'))
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
  })
}

/** The keys of an earlier start, if the database still knows them. */
async function stillValid(
  { app }: RunningNode,
  { api_key, operator_key, account_id }: Partial<Credentials>,
): Promise<{ accountId: string; testKey: string; operatorKey: string } | null> {
  if (!api_key || !operator_key || !account_id) return null
  if (app.config.PAMOJA_TEST_API_KEY !== null && app.config.PAMOJA_TEST_API_KEY !== api_key) return null
  try {
    await app.authenticator.authenticate(`Bearer ${api_key}`, '127.0.0.1')
    await app.authenticator.authenticate(`Bearer ${operator_key}`, '127.0.0.1')
    return { accountId: account_id, testKey: api_key, operatorKey: operator_key }
  } catch (error) {
    // A database that does not answer at the moment is no reason for new keys.
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}

/** Preparations of areas for the first account, and what they print of them. */
async function demoOf({ app, areas }: RunningNode, accountId: string, before: object): Promise<object> {
  const account = uuidOf('account', accountId)
  if (account === null) throw new Error(`${accountId} is not the id of an account`)
  const tenant = { bucket: bucketOf(account), account, environment: 'test' } as const
  const brought = {}
  for (const area of areas)
    Object.assign(brought, await area.demo?.(app, { accountId, tenant, written: { ...before } }))
  return brought
}

/** Credentials of an earlier start; empty if the file was deleted or damaged. */
async function lastTime(file: string): Promise<Partial<Credentials>> {
  try {
    const written: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof written === 'object' && written !== null ? written : {}
  } catch {
    return {}
  }
}

/** Text printed once the platform answers. */
export function banner(node: RunningNode, made: Credentials | null): string {
  const { app, url, caFile, adminUrl } = node
  if (!made) return `Pamoja ${app.version} is running: ${url}/api/v1, metrics at ${adminUrl}/metrics\n`
  // Not in a file, and not where NO_COLOR or the terminal says so.
  const { strong, faint } = stdout.isTTY && stdout.hasColors() ? colours : noColours
  const row = (name: string, value: string): string => `    ${faint(name.padEnd(13))}${value}`
  return [
    '',
    `  ${strong(`Pamoja ${app.version} is running.`)}`,
    '',
    row('API', `${made.base_url}/api/v1`),
    row('Sandbox', `${made.sandbox_url}/api/v1`),
    row('Docs', `${made.base_url}/docs`),
    row('Metrics', `${adminUrl}/metrics`),
    ...(made.console
      ? [
          '',
          row('Console', made.console.url),
          row('Address', made.console.email),
          row('Password', made.console.password),
        ]
      : []),
    '',
    row('Test key', made.api_key),
    row('Operator key', made.operator_key),
    row('Written to', shortest(files.get(node) ?? fileOf(node))),
    ...(caFile ? [row('Trust', `NODE_EXTRA_CA_CERTS=${quoted(caFile)}`)] : []),
    '',
    '  Try it, in another terminal:',
    '',
    `    ${strong(curl(made))}`,
    '',
    ...(existsSync(firstExample)
      ? [
          '  Then watch everything that happens, and send a text:',
          '',
          `    ${strong(`${homeFor(node)}npm start --silent -- listen`)}`,
          `    ${strong(`${homeFor(node)}node ${firstExample}`)}`,
          '',
        ]
      : []),
    ...(app.config.PAMOJA_ALLOW_HTTP === 'loopback' ? ['  Plain HTTP from this machine is accepted too.'] : []),
    ...(app.config.PAMOJA_RATE_LIMITS === 'off' ? ['  Rate limits are off.'] : []),
    '  Ctrl-C stops it; everything is kept.',
    '',
    '',
  ].join('\n')
}

/** Names the certificate by its whole path, because it may be pasted into another terminal, in another directory. */
function curl({ base_url, ca_file, api_key }: Credentials): string {
  const trust = ca_file ? ` --cacert ${quoted(ca_file)}` : ''
  return `curl${trust} ${base_url}/api/v1/auth/whoami -H "Authorization: Bearer ${api_key}"`
}

/** Setting that another terminal needs to find this home. */
function homeFor({ app }: RunningNode): string {
  const home = resolve(app.config.PAMOJA_HOME)
  return home === resolve(settings.PAMOJA_HOME.default) ? '' : `PAMOJA_HOME=${quoted(home)} `
}

function fileOf({ app }: RunningNode): string {
  return join(resolve(app.config.PAMOJA_HOME), 'credentials.json')
}

/** Path of the credentials of a node beside the one that has the usual file. */
function besideFor(node: RunningNode): string {
  return fileOf(node).replace(/\.json$/, `-${new URL(node.url).port}.json`)
}

/** Path quoted as one word for a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** A path as it is shortest from where the person stands. */
function shortest(path: string): string {
  const near = relative(cwd(), path)
  return near.startsWith('..') ? path : near
}

const colours = {
  strong: (text: string): string => `\u001b[1m${text}\u001b[0m`,
  faint: (text: string): string => `\u001b[2m${text}\u001b[0m`,
}
const noColours: typeof colours = { strong: (text) => text, faint: (text) => text }
