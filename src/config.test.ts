// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isAddressRange } from './config/setting.ts'
import {
  type Config,
  ConfigError,
  describeConfig,
  describeEnvExample,
  describeSettings,
  loadConfig,
  type SettingName,
  settings,
} from './config.ts'

const directory = mkdtempSync(join(tmpdir(), 'pamoja-config-'))
after(() => rmSync(directory, { recursive: true }))

const base64Key = randomBytes(32).toString('base64')
const hexKey = randomBytes(32).toString('hex')

test('with nothing configured every setting has its default', () => {
  const { config, origins } = loadConfig({})
  for (const [name, setting] of Object.entries(settings)) {
    assert.deepEqual(shownIn(config, name), setting.default, name)
    assert.equal(origins[name], 'default')
  }
  assert.deepEqual([config.PAMOJA_PORT, config.PAMOJA_HOME, config.PAMOJA_ADMIN_PORT], [8443, '.pamoja', 9464])
})

const accepted: [name: SettingName, text: string, value: unknown][] = [
  ['PAMOJA_HOME', '/var/lib/pamoja', '/var/lib/pamoja'],
  ['PAMOJA_HOST', '0.0.0.0', '0.0.0.0'],
  ['PAMOJA_HOST', '::', '::'],
  ['PAMOJA_HOST', 'api-1.example.com', 'api-1.example.com'],
  ['PAMOJA_PORT', '0', 0],
  ['PAMOJA_PORT', '65535', 65_535],
  ['PAMOJA_PUBLIC_URL', 'https://api.example.com', 'https://api.example.com'],
  ['PAMOJA_PUBLIC_URL', 'https://api.example.com:8443/base/', 'https://api.example.com:8443/base'],
  ['PAMOJA_ROLES', 'api', ['api']],
  ['PAMOJA_ROLES', 'timers, dispatch ,timers', ['dispatch', 'timers']],
  ['DATABASE_URL', 'postgres://me:secret@db:5432/pamoja', 'postgres://me:secret@db:5432/pamoja'],
  ['DATABASE_URL', 'postgresql://me@/pamoja?host=%2Frun', 'postgresql://me@/pamoja?host=%2Frun'],
  ['PAMOJA_DATABASE_POOL', '2', 2],
  ['PAMOJA_DATABASE_WAIT_SECONDS', '600', 600],
  ['PAMOJA_MIGRATE', 'false', false],
  ['PAMOJA_REVOKE_EXPOSED_KEYS', 'true', true],
  ['PAMOJA_TRUSTED_PROXIES', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ['PAMOJA_ALLOW_HTTP', 'loopback', 'loopback'],
  ['PAMOJA_SECRET_KEY', base64Key, base64Key],
  ['PAMOJA_SECRET_KEY', `${hexKey}, ${base64Key}`, `${hexKey}, ${base64Key}`],
  ['PAMOJA_TEST_API_KEY', `pmj_test_${'a1'.repeat(19)}`, `pmj_test_${'a1'.repeat(19)}`],
  ['PAMOJA_WEBHOOKS_ALLOW_PRIVATE', 'false', false],
  ['PAMOJA_WEBHOOKS_ALLOW_HTTP', 'true', true],
  ['PAMOJA_WEBHOOKS_ALLOW_CIDRS', '10.1.0.0/16, fd00::/8', ['10.1.0.0/16', 'fd00::/8']],
  ['PAMOJA_WEBHOOKS_DENY_CIDRS', '198.41.0.4', ['198.41.0.4']],
  ['PAMOJA_WEBHOOKS_CA_FILE', '/etc/ca.pem', '/etc/ca.pem'],
  ['PAMOJA_WEBHOOKS_PROXY', 'http://u:p@proxy:3128/', 'http://u:p@proxy:3128'],
  ['PAMOJA_EVENT_DAYS', '400', 400],
  ['PAMOJA_CURRENCIES_ON', 'SDG, ERN', ['ERN', 'SDG']],
  ['PAMOJA_LOG_LEVEL', 'silent', 'silent'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/', 'http://collector:4318'],
  ['NODE_ENV', 'test', 'test'],
]

const refused: [name: SettingName, text: string, problem: RegExp][] = [
  ['PAMOJA_HOST', 'two words', /must be an address or a host name, not "two words"/],
  ['PAMOJA_HOST', 'https://example.com', /must be an address or a host name/],
  ['PAMOJA_PORT', '-1', /must be a whole number from 0 to 65535, not "-1"/],
  ['PAMOJA_PORT', '65536', /must be a whole number/],
  ['PAMOJA_PORT', '80.5', /must be a whole number/],
  ['PAMOJA_PORT', '1e3', /must be a whole number/],
  ['PAMOJA_PUBLIC_URL', 'http://api.example.com', /must be a URL that begins with https:\/\/, not "http:/],
  ['PAMOJA_PUBLIC_URL', 'api.example.com', /must be a URL/],
  [
    'PAMOJA_PUBLIC_URL',
    'https://api.example.com/a?b=1',
    /must be a URL to which a path can be added, without \? and #/,
  ],
  ['PAMOJA_PUBLIC_URL', 'https://api.example.com/#top', /must be a URL to which a path can be added/],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://me:secret@collector/?a', /must be a URL .*, without \? and #\.$/],
  ['PAMOJA_WEBHOOKS_PROXY', 'socks://u:p@proxy:1', /must be a URL that begins with http:\/\/\.$/],
  ['PAMOJA_CURRENCIES_ON', 'SDG,KES', /must list any of ERN, LYD, SDG, not "KES"/],
  ['PAMOJA_EVENT_DAYS', '89', /must be a whole number from 90 to 400/],
  ['PAMOJA_ROLES', 'api,dancing', /must list any of api, dispatch, .*, not "dancing"/],
  ['PAMOJA_ROLES', ',', /must list any of/],
  ['DATABASE_URL', 'postgres://me:se#cret@db/pamoja', /write # in the password as %23/],
  ['DATABASE_URL', 'postgres://me@db:99999/pamoja', /must be a URL such as postgres/],
  ['DATABASE_URL', 'mysql://db/pamoja', /must be a URL such as postgres:\/\/user:password@host\/database/],
  ['PAMOJA_DATABASE_POOL', '1', /must be a whole number from 2 to 200/],
  ['PAMOJA_DATABASE_WAIT_SECONDS', '0', /must be a whole number from 1 to 600/],
  ['PAMOJA_MIGRATE', 'yes', /must be true or false, not "yes"/],
  ['PAMOJA_TRUSTED_PROXIES', '10.0.0.0/33', /must list addresses or CIDR ranges, not "10.0.0.0\/33"/],
  ['PAMOJA_WEBHOOKS_ALLOW_HTTP', 'loopback', /must be true or false, not "loopback"/],
  ['PAMOJA_WEBHOOKS_ALLOW_CIDRS', '10.0.0.0/8,inside', /must list addresses or CIDR ranges, not "inside"/],
  ['PAMOJA_ALLOW_HTTP', 'always', /must be one of never, loopback, not "always"/],
  ['PAMOJA_SECRET_KEY', 'secret', /must be 32 bytes in base64 or hex/],
  ['PAMOJA_SECRET_KEY', `${base64Key},`, /must be 32 bytes/],
  ['PAMOJA_SECRET_KEY', randomBytes(31).toString('hex'), /must be 32 bytes/],
  ['PAMOJA_TEST_API_KEY', `pmj_live_${'a1'.repeat(19)}`, /must be pmj_test_ and 38 letters and digits/],
  ['PAMOJA_LOG_LEVEL', 'INFO', /must be one of info, debug, warn, error, silent, not "INFO"/],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', /must be a URL that begins with http:\/\/ or https:\/\//],
  ['NODE_ENV', 'prod', /must be one of development, production, test, not "prod"/],
]

test('each kind of setting takes what it should', () => {
  for (const [name, text, value] of accepted)
    assert.deepEqual(loadConfig({ [name]: text }).config[name], value, `${name}=${text}`)
})

test('each kind of setting says what it must be instead, and never repeats a secret', () => {
  for (const [name, text, problem] of refused) {
    const message = problemOf({ [name]: text })
    assert.match(message, problem)
    assert.match(message, new RegExp(`^${name} .*\\.$`))
    if ('secret' in settings[name]) assert.ok(!message.includes(text), `${name} repeats ${text}`)
  }
})

test('an empty value is no value', () => {
  assert.equal(loadConfig({ PAMOJA_PORT: '', DATABASE_URL: '' }).config.PAMOJA_PORT, 8443)
})

test('the command line wins over the variable, that over its file, and that over its other names', () => {
  const file = write('port', ' 4001\n')
  const given = { PAMOJA_PORT: '4000', PAMOJA_PORT_FILE: file, PORT: '4002' }
  const read = (environment: Record<string, string>, overrides: Partial<Config> = {}): unknown[] => {
    const { config, origins } = loadConfig(environment, overrides)
    return [config.PAMOJA_PORT, origins.PAMOJA_PORT]
  }
  assert.deepEqual(read(given, { PAMOJA_PORT: 3999 }), [3999, 'command line'])
  assert.deepEqual(read(given), [4000, 'PAMOJA_PORT'])
  assert.deepEqual(read({ ...given, PAMOJA_PORT: '' }), [4001, file])
  assert.deepEqual(read({ PORT: '4002' }), [4002, 'PORT'])
})

test('a file that cannot be read, or is empty, is a problem rather than a default', () => {
  const missing = join(directory, 'missing')
  assert.equal(problemOf({ PAMOJA_PORT_FILE: missing }), `PAMOJA_PORT_FILE names ${missing}, which cannot be read.`)
  const empty = write('empty', '\n')
  assert.equal(problemOf({ DATABASE_URL_FILE: empty }), `DATABASE_URL_FILE names ${empty}, which is empty.`)
})

test('the file of the log is a setting of its own, not a file with a setting', () => {
  assert.equal(loadConfig({ PAMOJA_LOG_FILE: '/var/log/pamoja' }).config.PAMOJA_LOG_FILE, '/var/log/pamoja')
})

test('a variable that looks like a setting and is none is a problem; those of others are not', () => {
  assert.match(problemOf({ PAMOJA_PROT: '1' }), /^PAMOJA_PROT is not a setting; /)
  assert.match(problemOf({ PAMOJA_PROT_FILE: '/x' }), /^PAMOJA_PROT_FILE is not a setting; /)
  assert.equal(loadConfig({ HOME: '/root', PAMOJA_TEST_DATABASE_URL: 'x' }).config.PAMOJA_PORT, 8443)
})

test('what webhooks may reach can be said with or without the prefix', () => {
  const given = { WEBHOOKS_ALLOW_PRIVATE: 'false', WEBHOOKS_ALLOW_CIDRS: '10.0.0.0/8', WEBHOOKS_CA_FILE: '/ca.pem' }
  const { config, origins } = loadConfig(given)
  assert.equal(config.PAMOJA_WEBHOOKS_ALLOW_PRIVATE, false)
  assert.deepEqual(config.PAMOJA_WEBHOOKS_ALLOW_CIDRS, ['10.0.0.0/8'])
  assert.equal(config.PAMOJA_WEBHOOKS_CA_FILE, '/ca.pem')
  assert.equal(origins.PAMOJA_WEBHOOKS_CA_FILE, 'WEBHOOKS_CA_FILE')
})

test('everything that is wrong is said at once', () => {
  assert.equal(
    problemOf({ PAMOJA_PORT: 'x', PAMOJA_MIGRATE: 'x', PAMOJA_X: 'x', PAMOJA_TLS_KEY: '/key.pem' }),
    `The configuration is not usable:
  PAMOJA_PORT must be a whole number from 0 to 65535, not "x"
  PAMOJA_MIGRATE must be true or false, not "x"
  PAMOJA_TLS_CERT and PAMOJA_TLS_KEY must be given together
  PAMOJA_X is not a setting; \`npm start -- --help\` lists them`,
  )
})

const inProduction = { NODE_ENV: 'production', PAMOJA_SECRET_KEY: base64Key, PAMOJA_PUBLIC_URL: 'https://example.com' }

const contradictions: [environment: Record<string, string>, problem: RegExp][] = [
  [{ PAMOJA_TLS_CERT: '/cert.pem' }, /^PAMOJA_TLS_CERT and PAMOJA_TLS_KEY must be given together\.$/],
  [
    { ...inProduction, PAMOJA_SECRET_KEY: '' },
    /^PAMOJA_SECRET_KEY must be given in production; `openssl rand -base64 32` makes one\.$/,
  ],
  [
    { ...inProduction, PAMOJA_PUBLIC_URL: '' },
    /^PAMOJA_TLS_CERT and PAMOJA_TLS_KEY, or PAMOJA_PUBLIC_URL .* production\.$/,
  ],
  [{ ...inProduction, PAMOJA_ALLOW_HTTP: 'loopback' }, /^PAMOJA_ALLOW_HTTP is for development only\.$/],
  [{ ...inProduction, PAMOJA_RATE_LIMITS: 'off' }, /^PAMOJA_RATE_LIMITS=off is for load tests only\.$/],
]

test('settings that contradict each other, or production, are refused', () => {
  for (const [environment, problem] of contradictions) assert.match(problemOf(environment), problem)
  assert.equal(loadConfig(inProduction).config.NODE_ENV, 'production')
  assert.equal(loadConfig({ PAMOJA_RATE_LIMITS: 'off' }).config.PAMOJA_RATE_LIMITS, 'off')
})

test('secrets are masked where the configuration is shown', () => {
  const environment = {
    DATABASE_URL: 'postgres://me:hidden@db/x',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://me:hidden@collector',
    PAMOJA_SECRET_KEY: hexKey,
    PAMOJA_PORT: '4000',
  }
  const shown = describeConfig(loadConfig(environment)).split('\n')
  assert.equal(shown.length, Object.keys(settings).length)
  assert.ok(shown.includes('DATABASE_URL=********  # DATABASE_URL'))
  assert.ok(shown.includes('OTEL_EXPORTER_OTLP_ENDPOINT=********  # OTEL_EXPORTER_OTLP_ENDPOINT'))
  assert.ok(shown.includes('PAMOJA_SECRET_KEY=********  # PAMOJA_SECRET_KEY'))
  assert.ok(shown.includes('PAMOJA_PORT=4000  # PAMOJA_PORT'))
  assert.ok(shown.includes('PAMOJA_TEST_API_KEY=  # default'))
})

test('--help has a sentence for every setting', () => {
  for (const name of Object.keys(settings))
    assert.match(describeSettings(), new RegExp(`^  ${name}\n {6}[^\n]{20,}\\.$`, 'm'))
})

test('.env.example is what the settings say, and changes nothing', () => {
  const committed = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
  assert.equal(committed, describeEnvExample(), 'write what describeEnvExample() gives to .env.example')
  const active = committed.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  assert.deepEqual(active, [])
  const lines = committed.split('\n').flatMap((line) => /^#(\w+)=(.*)$/.exec(line)?.slice(1) ?? [])
  const uncommented: Record<string, string> = {}
  for (let i = 0; i < lines.length; i += 2) uncommented[lines[i] ?? ''] = lines[i + 1] ?? ''
  assert.deepEqual(Object.keys(uncommented), Object.keys(settings))
  assert.deepEqual(loadConfig(uncommented).config, loadConfig({}).config)
})

test('addresses and ranges of both families are told from anything else', () => {
  for (const range of ['127.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32', '::/128'])
    assert.ok(isAddressRange(range), range)
  for (const range of ['', '127.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', 'localhost', '1.2.3.4/-1'])
    assert.ok(!isAddressRange(range), range)
})

function problemOf(environment: Record<string, string>): string {
  try {
    loadConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error(`nothing is wrong with ${JSON.stringify(environment)}`)
}

function shownIn(config: Config, name: string): unknown {
  return Object.entries(config).find(([key]) => key === name)?.[1]
}

function write(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}
