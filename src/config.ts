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
  databases,
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
  PAMOJA_HOST: host('127.0.0.1', 'Address to listen on; 0.0.0.0 accepts connections from other machines.'),
  PAMOJA_PORT: { ...integer(8443, 0, 65535, 'Port of the API (HTTPS); 0 selects a free one.'), also: ['PORT'] },
  PAMOJA_PUBLIC_URL: url(['https:'], 'Public URL of the API behind a proxy, such as https://api.example.com.'),
  PAMOJA_ROLES: list(roles, 'Roles of this process: any of api, dispatch, webhooks, timers, carriers, sandbox.'),
  DATABASE_URL: secret(
    database(
      'URL of PostgreSQL 15 or later instead of the embedded one: postgres://user:password@host/database; with several comma-separated hosts the writable one is used.',
    ),
  ),
  PAMOJA_DATABASE_DIRECT_URL: secret(
    database(
      'URL of the same database without the pooler of DATABASE_URL, for LISTEN, migrations and locks; required with PgBouncer in transaction mode.',
    ),
  ),
  PAMOJA_DATABASE_POOLER_PREPARES: boolean(
    false,
    'true if the pooler keeps prepared statements: PgBouncer 1.21 or later with max_prepared_statements above 0.',
  ),
  PAMOJA_DATABASE_REPLICA_URL: secret(
    database(
      'URL of a streaming standby of the database, for analytics, reports, usage and the request log, which may then lag by seconds.',
    ),
  ),
  PAMOJA_CELLS: secret(
    databases(
      'Further databases among which `npm start -- cells` divides the tenants of DATABASE_URL: east=postgres://user:password@host/database, separated by spaces. The same for every node.',
    ),
  ),
  PAMOJA_DATABASE_POOL: integer(
    4,
    2,
    200,
    'Number of connections for reads and transactions; two more are used for commits, one for LISTEN and one for keys.',
  ),
  PAMOJA_DATABASE_WAIT_SECONDS: integer(
    5,
    1,
    600,
    'Seconds to wait for a connection: then a request is refused with 503, and a start ends.',
  ),
  PAMOJA_JOB_LEASE_SECONDS: integer(
    10,
    2,
    60,
    'Seconds until the jobs of a failed node are taken over; below 8 a slow webhook may be called twice.',
  ),
  PAMOJA_MIGRATE: boolean(true, 'Apply new migrations at start; false leaves that to `npm start -- migrate`.'),
  PAMOJA_FILES: formed(
    'Storage of files: empty for a directory in PAMOJA_HOME, or s3://bucket/prefix.',
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
  PAMOJA_TLS_CERT: optional('Certificate chain (PEM); default: a generated local certificate authority.'),
  PAMOJA_TLS_KEY: optional('Private key (PEM) of the certificate.'),
  PAMOJA_TRUSTED_PROXIES: addresses(
    [],
    'Addresses of proxies whose X-Forwarded-Proto and X-Forwarded-For are trusted; default none.',
  ),
  PAMOJA_ALLOW_HTTP: choice(
    ['never', 'loopback'],
    'loopback accepts plain HTTP from this machine; for development only.',
  ),
  PAMOJA_DOORS: list(doorNames, 'Enabled doors: APIs of other providers below /compat, for programs written for them.'),
  PAMOJA_DOOR_HOSTS: formed(
    'Host names that serve a door at their root: host=door, comma-separated.',
    (given) => given.split(',').every((pair) => doorHost.test(pair.trim())),
    `must be host names with a door each, such as api.example.com=twilio; doors are ${doorNames.join(', ')}`,
  ),
  PAMOJA_REVOKE_EXPOSED_KEYS: boolean(false, 'Revoke a live key that was sent over plain HTTP.'),
  PAMOJA_SECRET_KEY: secret(
    rootKeys(
      'Key that encrypts secrets at rest: 32 random bytes in base64 or hex; during rotation the new and the old key, comma-separated.',
    ),
  ),
  PAMOJA_TEST_API_KEY: secret(testKey('Test API key of the first account; default: a random one.')),
  PAMOJA_ADMIN_PASSWORD: secret(
    formed(
      'Password of the first console member; default: a random one.',
      (given) => given.length >= 12 && given.length <= 200,
      'must have 12 to 200 characters',
    ),
  ),
  PAMOJA_RATE_LIMITS: choice(['on', 'off'], 'off stops rate limiting, for load tests; refused in production.'),
  PAMOJA_WEBHOOKS_ALLOW_PRIVATE: {
    ...boolean(
      true,
      'true lets webhooks and callbacks reach loopback and private addresses; never use it in production.',
    ),
    also: ['WEBHOOKS_ALLOW_PRIVATE'],
  },
  PAMOJA_WEBHOOKS_ALLOW_HTTP: {
    ...boolean(
      false,
      'true calls customer URLs over plain http:// too; default: https:// only, and callbacks of test keys on this machine.',
    ),
    also: ['WEBHOOKS_ALLOW_HTTP'],
  },
  PAMOJA_WEBHOOKS_ALLOW_CIDRS: {
    ...addresses([], 'Non-public addresses that customer URLs may reach, as CIDR ranges.'),
    also: ['WEBHOOKS_ALLOW_CIDRS'],
  },
  PAMOJA_WEBHOOKS_DENY_CIDRS: {
    ...addresses([], 'Addresses that customer URLs must not reach, as CIDR ranges; overrides the other settings.'),
    also: ['WEBHOOKS_DENY_CIDRS'],
  },
  PAMOJA_WEBHOOKS_CA_FILE: {
    ...optional('Additional certificates (PEM) to trust at customer URLs.'),
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
    'Address of the simulated payment, messenger and registry providers; with several machines, one reachable by all nodes.',
  ),
  PAMOJA_SANDBOX_TIME_SCALE: {
    ...decimal(0.1, 0.001, 1, 'Real seconds per second of waiting in the sandbox.'),
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
    ...list(dormantCurrencies, 'Additional currencies: any of ERN, LYD, SDG.'),
    default: [],
  },
  PAMOJA_EVENT_DAYS: integer(
    90,
    90,
    400,
    'Retention of events and deliveries in days; accounts see those of the retention of their plan.',
  ),
  PAMOJA_TIMELINE_LIVE: boolean(
    false,
    'true records the network traffic of live messages and payments for timelines, with texts and secrets masked, for 30 days.',
  ),
  PAMOJA_NOTICE_WEBHOOK: secretUrl(
    ['https:', 'http:'],
    'Webhook URL for operator alerts, such as an incoming webhook of a chat program.',
  ),
  PAMOJA_NOTICE_EMAILS: mailboxes(
    'Email addresses for operator alerts, comma-separated; sent from the domain of the operator’s account.',
  ),
  PAMOJA_STATUS_PAGE: boolean(false, 'true publishes the state of the service at /status.'),
  PAMOJA_ADMIN_HOST: host('127.0.0.1', 'Address of the admin listener (/metrics).'),
  PAMOJA_ADMIN_PORT: integer(9464, 0, 65535, 'Port of the admin listener; a free one if it is in use.'),
  PAMOJA_LOG_LEVEL: choice(['info', 'debug', 'warn', 'error', 'silent'], 'Log level.'),
  PAMOJA_LOG_FILE: optional('Log file; default: standard output.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: secretUrl(
    ['http:', 'https:'],
    'OTLP endpoint (HTTP) for traces; default: tracing is off.',
  ),
  NODE_ENV: choice(
    ['development', 'production', 'test'],
    'production requires all secrets at start, and calls public URLs only.',
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
        `${name}=${secret && shown(values[name]) !== '' ? '********' : shown(values[name])}  # ${origins[name]}`,
    )
    .join('\n')
}

/** Text of .env.example: every setting with its sentence, commented out, at its default. */
export function describeEnvExample(): string {
  const lines = entries().map(([name, { default: value, help }]) => `# ${help}\n#${name}=${shown(value)}\n`)
  return `# Every setting, at its default. Copy this file to .env and change what you need: \`npm start\` reads it. Variables of
# the environment take precedence.
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
