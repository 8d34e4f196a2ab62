// SPDX-License-Identifier: Apache-2.0
// Every setting: its type, its default and one sentence. `--help`, the command `config`, .env.example and the documentation
// derive from this table. Each may also be given as a file: PAMOJA_X_FILE names a file that holds the value of PAMOJA_X.
// An area has its own in its settings.ts, which imports nothing but setting.ts and is joined here.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { accountSettings } from './areas/accounts/settings.ts'
import { customerSettings } from './areas/customers/settings.ts'
import { emailSettings } from './areas/email/settings.ts'
import { identitySettings } from './areas/identity/settings.ts'
import { paymentSettings } from './areas/payments/settings.ts'
import { smsSettings } from './areas/sms/settings.ts'
import { voiceSettings } from './areas/voice/settings.ts'
import {
  addresses,
  boolean,
  choice,
  database,
  decimal,
  formed,
  host,
  integer,
  list,
  mailboxes,
  optional,
  rootKeys,
  type Setting,
  secret,
  secretUrl,
  serversIn,
  testKey,
  text,
  url,
} from './config/setting.ts'
import { doorNames } from './kernel/door-names.ts'
import { StartError } from './kernel/start-error.ts'

const roles = ['api', 'dispatch', 'webhooks', 'timers', 'carriers', 'sandbox'] as const
export type Role = (typeof roles)[number]

const doorHost = new RegExp(`^[a-z0-9.-]+=(${doorNames.join('|')})$`, 'i')

/** Known, and off until an operator turns them on: where these are used, trade may be restricted by law. */
export const dormantCurrencies = ['ERN', 'LYD', 'SDG'] as const

export const settings = {
  PAMOJA_HOME: text('.pamoja', 'Directory for the embedded database, certificates and credentials.json.'),
  PAMOJA_HOST: host('127.0.0.1', 'Address to listen on; 0.0.0.0 takes connections from other machines.'),
  PAMOJA_PORT: { ...integer(8443, 0, 65535, 'Port of the API (HTTPS); 0 takes a free one.'), also: ['PORT'] },
  PAMOJA_PUBLIC_URL: url(
    ['https:'],
    'Address customers use, such as https://api.example.com, when a proxy stands in front.',
  ),
  PAMOJA_ROLES: list(roles, 'What this process does: any of api, dispatch, webhooks, timers, carriers, sandbox.'),
  DATABASE_URL: secret(
    database(
      'PostgreSQL 15 or later instead of the embedded one: postgres://user:password@host/database; several hosts with commas, of which the one that takes writes is used.',
    ),
  ),
  PAMOJA_DATABASE_DIRECT_URL: secret(
    database(
      'The same database past a pooler that DATABASE_URL leads through, for LISTEN, migrations and locks; needed with PgBouncer in transaction mode.',
    ),
  ),
  PAMOJA_DATABASE_POOLER_PREPARES: boolean(
    false,
    'Whether that pooler keeps prepared statements: PgBouncer 1.21 or later with max_prepared_statements above 0.',
  ),
  PAMOJA_DATABASE_REPLICA_URL: secret(
    database(
      'A standby that streams from the database, for analytics, reports, usage and the request log, which may then be some seconds late.',
    ),
  ),
  PAMOJA_DATABASE_POOL: integer(
    4,
    2,
    200,
    'Connections for reads and transactions; two more commit writes, one listens, one looks up keys.',
  ),
  PAMOJA_DATABASE_WAIT_SECONDS: integer(
    5,
    1,
    600,
    'How long a connection is waited for before a request is told to come back later.',
  ),
  PAMOJA_JOB_LEASE_SECONDS: integer(
    10,
    2,
    60,
    'How long the jobs of a node that died wait for another; less than 8 lets a slow webhook be called twice.',
  ),
  PAMOJA_MIGRATE: boolean(true, 'Apply new migrations at start; false leaves that to `npm start -- migrate`.'),
  PAMOJA_FILES: formed(
    "Where customers' files are kept: nothing for a directory of PAMOJA_HOME, or s3://bucket/prefix.",
    (given) => /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/.test(given),
    'must be s3:// with the name of a bucket and, if you like, a path in it',
  ),
  PAMOJA_S3_ENDPOINT: url(
    ['https:', 'http:'],
    'Address of the object store, such as https://s3.af-south-1.amazonaws.com.',
  ),
  PAMOJA_S3_REGION: text('us-east-1', 'Region that requests to the object store are signed for.'),
  PAMOJA_S3_ACCESS_KEY: optional('Access key of the object store.'),
  PAMOJA_S3_SECRET_KEY: secret(optional('Secret key of the object store.')),
  PAMOJA_TLS_CERT: optional('Certificate chain (PEM). Without it a local certificate authority is made.'),
  PAMOJA_TLS_KEY: optional('Private key (PEM) of the certificate.'),
  PAMOJA_TRUSTED_PROXIES: addresses(
    [],
    'Addresses of proxies whose X-Forwarded-Proto and X-Forwarded-For are trusted; default none.',
  ),
  PAMOJA_ALLOW_HTTP: choice(
    ['never', 'loopback'],
    'loopback answers plain HTTP from this machine; for development only.',
  ),
  PAMOJA_DOORS: list(
    doorNames,
    'Doors that are open: APIs of other providers below /compat, for programs that were written for them.',
  ),
  PAMOJA_DOOR_HOSTS: formed(
    'Host names at whose root a door is served too: host=door, several with commas.',
    (given) => given.split(',').every((pair) => doorHost.test(pair.trim())),
    `must be host names with a door each, such as api.example.com=twilio; doors are ${doorNames.join(', ')}`,
  ),
  PAMOJA_REVOKE_EXPOSED_KEYS: boolean(false, 'Revoke a live key that was sent over plain HTTP.'),
  PAMOJA_SECRET_KEY: secret(
    rootKeys('32 random bytes in base64 or hex that encrypt secrets at rest; while rotating, new,old with a comma.'),
  ),
  PAMOJA_TEST_API_KEY: secret(testKey('Test API key to give the first account instead of a random one.')),
  PAMOJA_ADMIN_PASSWORD: secret(
    formed(
      'Password of the first member of the console instead of a random one.',
      (given) => given.length >= 12 && given.length <= 200,
      'must have 12 to 200 characters',
    ),
  ),
  PAMOJA_RATE_LIMITS: choice(['on', 'off'], 'off stops rate limiting, for load tests; refused in production.'),
  PAMOJA_WEBHOOKS_ALLOW_PRIVATE: {
    ...boolean(true, 'Let webhooks and callbacks reach loopback and private addresses; never in production.'),
    also: ['WEBHOOKS_ALLOW_PRIVATE'],
  },
  PAMOJA_WEBHOOKS_ALLOW_HTTP: {
    ...boolean(
      false,
      'Call customer URLs over plain http:// too; without it only https:// is called, and callbacks of test keys on this machine.',
    ),
    also: ['WEBHOOKS_ALLOW_HTTP'],
  },
  PAMOJA_WEBHOOKS_ALLOW_CIDRS: {
    ...addresses([], 'Addresses that customer URLs may reach although they are not public.'),
    also: ['WEBHOOKS_ALLOW_CIDRS'],
  },
  PAMOJA_WEBHOOKS_DENY_CIDRS: {
    ...addresses([], 'Addresses that customer URLs may never reach, whatever else allows them.'),
    also: ['WEBHOOKS_DENY_CIDRS'],
  },
  PAMOJA_WEBHOOKS_CA_FILE: {
    ...optional('Certificates (PEM) to trust at customer URLs beside the well-known authorities.'),
    also: ['WEBHOOKS_CA_FILE'],
  },
  PAMOJA_WEBHOOKS_PROXY: {
    ...secretUrl(['http:'], 'Proxy for calls to customer URLs, such as http://user:password@proxy:3128.'),
    also: ['WEBHOOKS_PROXY'],
  },
  PAMOJA_NODE_HOST: optional(
    'Address at which other nodes reach this one, for requests of test keys; default PAMOJA_HOST, or the first address of this machine.',
  ),
  PAMOJA_SANDBOX_HOST: host(
    '127.0.0.1',
    'Address of the simulated payment, messenger and registry providers; of nodes on several machines, one that the others reach.',
  ),
  PAMOJA_SANDBOX_TIME_SCALE: {
    ...decimal(0.1, 0.001, 1, 'What a second of waiting takes in the sandbox, in seconds.'),
    also: ['SANDBOX_TIME_SCALE'],
  },
  ...paymentSettings,
  ...voiceSettings,
  ...emailSettings,
  ...smsSettings,
  ...identitySettings,
  ...accountSettings,
  ...customerSettings,
  PAMOJA_CURRENCIES_ON: {
    ...list(dormantCurrencies, 'Currencies to take beside the usual ones: any of ERN, LYD, SDG.'),
    default: [],
  },
  PAMOJA_EVENT_DAYS: integer(
    90,
    90,
    400,
    'Days for which events and deliveries are kept; an account sees as many as its plan or its operator gives it.',
  ),
  PAMOJA_TIMELINE_LIVE: boolean(
    false,
    'Keep what goes over the wire for live messages and payments too, texts and secrets masked, for 30 days.',
  ),
  PAMOJA_NOTICE_WEBHOOK: secretUrl(
    ['https:', 'http:'],
    'Where the operator is told of trouble, such as the address of an incoming webhook of a chat program.',
  ),
  PAMOJA_NOTICE_EMAILS: mailboxes(
    'Who is told of trouble by mail, from the domain of the operator’s account; with commas.',
  ),
  PAMOJA_STATUS_PAGE: boolean(false, 'Show everybody at /status which parts of the service work now.'),
  PAMOJA_ADMIN_HOST: host('127.0.0.1', 'Address of the admin listener (/metrics).'),
  PAMOJA_ADMIN_PORT: integer(9464, 0, 65535, 'Port of the admin listener; a free one when it is taken.'),
  PAMOJA_LOG_LEVEL: choice(['info', 'debug', 'warn', 'error', 'silent'], 'How much to log.'),
  PAMOJA_LOG_FILE: optional('File for the log instead of standard output.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: secretUrl(
    ['http:', 'https:'],
    'Where to send traces (OTLP over HTTP); without it tracing is off.',
  ),
  NODE_ENV: choice(
    ['development', 'production', 'test'],
    'production makes nothing up: missing secrets stop the start, and only public URLs are called.',
  ),
} satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof settings
type ValueOf<S> = S extends Setting<infer T> ? T : never
export type Config = { readonly [K in SettingName]: ValueOf<(typeof settings)[K]> }

export interface LoadedConfig {
  config: Config
  /** Origin of each value: its default, the environment, a file. */
  origins: Readonly<Record<string, string>>
}

/** Problem of the settings: one sentence, or a list when there are several. */
export class ConfigError extends StartError {}

/** Reads all settings, or throws one error that lists everything that is wrong with them. */
export function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  overrides: Partial<Config> = {},
): LoadedConfig {
  const problems: string[] = []
  const origins: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  for (const [name, setting] of entries()) {
    const found = given(environment, [name, ...(setting.also ?? [])], problems)
    origins[name] = name in overrides ? 'command line' : (found?.origin ?? 'default')
    const parsed = found ? setting.parse(found.text) : { value: setting.default }
    if ('problem' in parsed) problems.push(`${name} ${parsed.problem}`)
    values[name] = 'problem' in parsed ? setting.default : parsed.value
  }
  const config = { ...values, ...overrides }
  if (!isComplete(config)) throw new Error('a setting was not read')
  problems.push(...contradictions(config))
  for (const name of Object.keys(environment))
    if (
      name.startsWith('PAMOJA_') &&
      !name.startsWith('PAMOJA_TEST_') &&
      !customerVariables.has(name) &&
      !(name.replace(/_FILE$/, '') in settings || name in settings)
    )
      problems.push(`${name} is not a setting; \`npm start -- --help\` lists them`)
  if (problems.length > 0) throw new ConfigError(sentence(problems))
  return { config, origins }
}

/** Variables that API customers set, as the documentation says. The same shell may start the platform. */
const customerVariables: ReadonlySet<string> = new Set([
  'PAMOJA_API_KEY',
  'PAMOJA_OPERATOR_KEY',
  'PAMOJA_BASE_URL',
  'PAMOJA_CA_FILE',
  'PAMOJA_LOG',
  'PAMOJA_PROFILE',
])

function sentence([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return `${first}.`
  return `The configuration is not usable:\n${[first, ...others].map((problem) => `  ${problem}`).join('\n')}`
}

export function isProduction(config: Config): boolean {
  return config.NODE_ENV === 'production'
}

/** The settings as `--help` prints them. */
export function describeSettings(): string {
  return entries()
    .map(
      ([name, { default: value, help }]) =>
        `  ${name}\n      ${help}${shown(value) === '' ? '' : ` Default: ${shown(value)}.`}`,
    )
    .join('\n')
}

/** The effective values with their origin, secrets masked. */
export function describeConfig({ config, origins }: LoadedConfig): string {
  const values: Readonly<Record<string, unknown>> = config
  return entries()
    .map(
      ([name, { secret }]) =>
        `${name}=${secret && values[name] !== null ? '********' : shown(values[name])}  # ${origins[name]}`,
    )
    .join('\n')
}

/** Text of .env.example: every setting with its sentence, commented out, at its default. */
export function describeEnvExample(): string {
  const lines = entries().map(([name, { default: value, help }]) => `# ${help}\n#${name}=${shown(value)}\n`)
  return `# Every setting, at its default. Copy this file to .env and change what you need: \`npm start\` reads it. What is in the
# environment already, wins.
# A setting may also come from a file: PAMOJA_SECRET_KEY_FILE=/run/secrets/key instead of PAMOJA_SECRET_KEY=...

${lines.join('\n')}`
}

function shown(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : value === null ? '' : String(value)
}

function contradictions(config: Config): string[] {
  const found: string[] = []
  if ((config.PAMOJA_TLS_CERT === null) !== (config.PAMOJA_TLS_KEY === null))
    found.push('PAMOJA_TLS_CERT and PAMOJA_TLS_KEY must be given together')
  const store = [config.PAMOJA_S3_ENDPOINT, config.PAMOJA_S3_ACCESS_KEY, config.PAMOJA_S3_SECRET_KEY]
  if (config.PAMOJA_FILES !== null && store.includes(null))
    found.push(
      'PAMOJA_FILES leads to an object store: PAMOJA_S3_ENDPOINT, _ACCESS_KEY and _SECRET_KEY must be given too',
    )
  if (serversIn(config.PAMOJA_DATABASE_REPLICA_URL ?? '').length > 1)
    found.push('PAMOJA_DATABASE_REPLICA_URL must name one host; a service in front of several standbys is one too')
  if (isProduction(config)) {
    if (config.PAMOJA_SECRET_KEY === null)
      found.push('PAMOJA_SECRET_KEY must be given in production; `openssl rand -base64 32` makes one')
    if (config.PAMOJA_TLS_CERT === null && config.PAMOJA_PUBLIC_URL === null)
      found.push(
        'PAMOJA_TLS_CERT and PAMOJA_TLS_KEY, or PAMOJA_PUBLIC_URL of a proxy in front, must be given in production',
      )
    if (config.PAMOJA_ALLOW_HTTP !== 'never') found.push('PAMOJA_ALLOW_HTTP is for development only')
    if (config.PAMOJA_RATE_LIMITS === 'off') found.push('PAMOJA_RATE_LIMITS=off is for load tests only')
  }
  return found
}

function given(
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  problems: string[],
): { text: string; origin: string } | null {
  for (const name of names) {
    const direct = environment[name]
    if (direct !== undefined && direct !== '') return { text: direct, origin: name }
    const file = environment[`${name}_FILE`]
    if (!file) continue
    const text = readText(file)
    if (text) return { text, origin: file }
    problems.push(`${name}_FILE names ${file}, which ${text === null ? 'cannot be read' : 'is empty'}`)
    return null
  }
  return null
}

function readText(file: string): string | null {
  try {
    return readFileSync(resolve(file), 'utf8').trim()
  } catch {
    return null
  }
}

function entries(): [string, Setting<unknown>][] {
  return Object.entries<Setting<unknown>>(settings)
}

/** Each value was made by the setting of its name, so having all of them is being a Config. */
function isComplete(values: Readonly<Record<string, unknown>>): values is Config {
  return Object.keys(settings).every((name) => name in values)
}
