// SPDX-License-Identifier: Apache-2.0
// The program's commands. `npm start` runs `serve`; the others are for operators and scripts. What a command needs is
// imported when it runs: reading the whole program from disk takes longer than most of them.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { env, exit, stderr, stdin, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { type Progress, progressOn } from './commands/progress.ts'
import { adviceFor } from './commands/start-errors.ts'
import {
  type Config,
  ConfigError,
  describeConfig,
  describeSettings,
  type LoadedConfig,
  loadConfig,
  settings,
} from './config.ts'
import { UnreachableError } from './kernel/start-error.ts'
import { openSecrets, prepareSchema, startDatabase, withDatabase } from './node/database.ts'
import { requireLogFile } from './node/directories.ts'
import type { RunningNode } from './node/server.ts'
import { packageVersion } from './node/version.ts'
import { systemClock } from './platform/clock.ts'
import type { Cell } from './platform/db/cell.ts'
import type { Cells } from './platform/moves/cells.ts'

/** A second signal within this time is the same one: npm passes on a Ctrl-C that the terminal has already sent us. */
const sameSignalMs = 500
const stopWithinMs = 30_000

interface Command {
  /** Words of the command; those in angle brackets are arguments. */
  usage: string
  summary: string
  /** The options that it takes beside those of every command. */
  options?: readonly OptionName[]
  run(loaded: LoadedConfig, given: readonly string[], options: Options): Promise<void>
}

/** Options of single commands: each takes a value. */
const optionNames = ['forward-to', 'events', 'api-key', 'country', 'phone'] as const
type OptionName = (typeof optionNames)[number]
type Options = Readonly<Partial<Record<OptionName, string>>>

const commands: readonly Command[] = [
  { usage: 'serve', summary: 'Start the platform (the default).', run: ({ config }) => serve(config) },
  {
    usage: 'migrate',
    summary: 'Migrate the database to this version and stop.',
    async run({ config }) {
      await withDatabase(config, 'migrate', async () => say('The database is up to date.'))
    },
  },
  {
    usage: 'backup <file>',
    summary:
      'Back up the database to a file, and each further one to <file>.<name>.<id>, of one moment, while they run.',
    async run({ config }, [file = '']) {
      const { backup } = await import('./platform/backup/backup.ts')
      await withDatabase(config, 'as it is', async (db) => say(await backup(db, file)))
    },
  },
  {
    usage: 'restore <file>',
    summary: 'Fill an empty database from a backup, and those of PAMOJA_CELLS if it is of several.',
    async run({ config }, [file = '']) {
      const { restore } = await import('./platform/backup/backup.ts')
      const restored: string[] = []
      const prepare = async (cell: Cell): Promise<void> => {
        await prepareSchema(cell, 'migrate')
        restored.push(cell.name)
      }
      await withDatabase(config, 'migrate', async (db) => say(await restore(db, file, prepare)))
      // What belongs to no tenant follows home again.
      const { addCell } = await import('./commands/cells.ts')
      for (const name of restored) await onCells(config, (cells, tell) => addCell(cells, name, tell), name)
    },
  },
  {
    usage: 'reset',
    summary: 'Delete all local data; the next start sets up a new installation.',
    async run({ config }) {
      const { reset } = await import('./commands/reset.ts')
      say(await reset(config))
    },
  },
  {
    usage: 'ledger verify',
    summary: 'Verify every balance against its transfers.',
    async run({ config }) {
      const { verifyLedger } = await import('./ledger/verify.ts')
      await withDatabase(config, 'require', async (db) => {
        const { ok, wallets, transfers, problems } = await verifyLedger(db)
        for (const problem of problems) say(problem)
        say(`${wallets} wallets, ${transfers} transfers: ${ok ? 'everything adds up.' : 'NOT everything adds up.'}`)
        if (!ok) process.exitCode = 1
      })
    },
  },
  {
    usage: 'cells list',
    summary: 'List the databases of the installation with their buckets, sizes, lags and moves.',
    async run({ config }) {
      const { listCells } = await import('./commands/cells.ts')
      await onCells(config, listCells)
    },
  },
  {
    usage: 'cells add <name>',
    summary: 'Add a database of PAMOJA_CELLS to the installation, or open it again after it was drained.',
    async run({ config }, [name = '']) {
      const { addCell } = await import('./commands/cells.ts')
      await onCells(config, (cells, tell) => addCell(cells, name, tell), name)
    },
  },
  {
    usage: 'cells move <bucket> <cell>',
    summary: 'Move a bucket (0 to 255) into another database, or go on with a move that was cut off.',
    async run({ config }, [bucket = '', name = '']) {
      const { bucketIn, moveBucket } = await import('./commands/cells.ts')
      await onCells(config, (cells, tell) => moveBucket(cells, bucketIn(bucket), name, tell))
    },
  },
  {
    usage: 'cells drain <name>',
    summary: 'Move every bucket out of a database; the second time, take it out of the installation.',
    async run({ config }, [name = '']) {
      const { drainCell } = await import('./commands/cells.ts')
      await onCells(config, (cells, tell) => drainCell(cells, name, tell))
    },
  },
  {
    usage: 'identity verify-audit',
    summary: 'Verify the identity audit: no entry changed, removed or inserted.',
    async run({ config }) {
      const { verifyAudit } = await import('./areas/identity/verify-audit.ts')
      await withDatabase(config, 'require', async (db) => {
        const secrets = await openSecrets(config, db)
        await secrets.start()
        const { chains, entries, faults } = await verifyAudit(db, secrets)
        for (const fault of faults) say(fault)
        say(
          `${chains} chains, ${entries} entries: ${faults.length === 0 ? 'every one holds.' : 'NOT every one holds.'}`,
        )
        if (faults.length > 0) process.exitCode = 1
      })
    },
  },
  {
    usage: 'identity calibrate <file>',
    summary: 'Measure the face match on your own pairs: a CSV of `file_a,file_b,same|different,group` in each line.',
    async run({ config }, [file = '']) {
      const { calibrate } = await import('./areas/identity/calibrate.ts')
      say(await calibrate(config, file))
    },
  },
  {
    usage: 'keys rotate',
    summary: 'Re-encrypt all secrets with the first key of PAMOJA_SECRET_KEY.',
    async run({ config }) {
      await withDatabase(config, 'require', async (db) => {
        const { dataKeys, signingKeys } = await (await openSecrets(config, db)).rewrap()
        say(
          `Re-wrapped ${dataKeys} data keys and ${signingKeys} signing keys: only the first key is needed from now on.`,
        )
      })
    },
  },
  {
    usage: 'operator key',
    summary: 'Create an operator key and print it (the first time with the operator’s account).',
    async run({ config }) {
      const { operatorKey } = await import('./areas/accounts/area.ts')
      await withDatabase(config, config.PAMOJA_MIGRATE ? 'migrate' : 'require', async (db) => {
        const made = await operatorKey({ db, clock: systemClock })
        say(made.key)
        stderr.write(`It belongs to the account ${made.accountId}, may do everything, and is shown this once.\n`)
      })
    },
  },
  {
    usage: 'member <email>',
    summary: 'Create an owner of the operator’s account for the console, or set a new password.',
    async run({ config }, [email = '']) {
      const { ownerOfOperator } = await import('./areas/accounts/area.ts')
      if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new ConfigError(`"${email}" is not an email address.`)
      await withDatabase(config, config.PAMOJA_MIGRATE ? 'migrate' : 'require', async (db) => {
        say((await ownerOfOperator({ db, clock: systemClock }, email)).password)
        stderr.write('It is shown only once; existing sessions of this address are ended.\n')
      })
    },
  },
  {
    usage: 'mnp import <file>',
    summary:
      'Import a list of ported numbers, `number,network` in each line (.gz too, - is stdin); --country KE: the complete list of the country.',
    options: ['country'],
    async run({ config }, [file = ''], { country }) {
      const { importPortedNumbers } = await import('./areas/sms/ported/import.ts')
      await withDatabase(config, 'require', async (db) => say(await importPortedNumbers(db, file, country)))
    },
  },
  {
    usage: 'listen',
    summary:
      'Show events as they happen; --forward-to http://localhost:3000/hook posts them too [--events sms.*] [--api-key <key>].',
    options: ['forward-to', 'events', 'api-key'],
    run: ({ config }, _given, options) => forward(config, options),
  },
  {
    usage: 'handset <code>',
    summary: 'A phone in the terminal: dials a USSD code in the sandbox [--phone +254711000020] [--api-key <key>].',
    options: ['phone', 'api-key'],
    async run({ config }, [code = ''], options) {
      const { handsetOf, useHandset } = await import('./commands/handset.ts')
      const apiKey = options['api-key'] ?? env.PAMOJA_API_KEY
      await useHandset(await handsetOf(config, { code, phone: options.phone, apiKey }), stdin, say)
    },
  },
  {
    usage: 'config',
    summary: 'Show every setting with its value and source.',
    run: async (loaded) => say(describeConfig(loaded)),
  },
  {
    usage: 'openapi',
    summary: 'Print the OpenAPI document.',
    async run() {
      const [{ openapiText }, { areas }] = await Promise.all([import('./platform/openapi.ts'), import('./areas.ts')])
      say(openapiText(areas, packageVersion()).trimEnd())
    },
  },
]

let begunServing: () => void = () => undefined

/** Fulfilled when the server has opened its doors and said so; never for other commands. */
export const serving = new Promise<void>((resolve) => {
  begunServing = resolve
})

/** Runs a command line. Problems of configuration or surroundings end it with one sentence and a non-zero code. */
export async function run(args: readonly string[]): Promise<void> {
  if (mayBeOfApi(args)) {
    const cli = await import('../cli/main.ts')
    if (cli.isOfApi(args)) return cli.run(args)
  }
  try {
    const { words, overrides, options, wants } = parse(args)
    if (wants === 'version') return say(packageVersion())
    if (wants === 'help' || words.join(' ') === 'help') return say(help())
    const { command, given } = find(words)
    const strange = optionNames.find((name) => options[name] !== undefined && !command.options?.includes(name))
    if (strange) throw new ConfigError(`${command.usage} takes no --${strange}.`)
    const loaded = loadConfig(env, overrides)
    await command
      .run(loaded, given, options)
      .catch((error: unknown) => fail(adviceFor(error, loaded.config), exitCodeOf(error)))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    fail(error.message, 2)
  }
}

/** Whether a command line is none of ours by its first word, or, as `keys`, perhaps of both. */
function mayBeOfApi([first = 'serve']: readonly string[]): boolean {
  return first === 'keys' || !(first.startsWith('-') || commands.some(({ usage }) => usage.split(' ')[0] === first))
}

interface CommandLine {
  words: string[]
  overrides: Partial<Config>
  options: Options
  wants: 'help' | 'version' | null
}

function parse(args: readonly string[]): CommandLine {
  const { values, positionals: words } = parsedBy(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        roles: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        'forward-to': { type: 'string' },
        events: { type: 'string' },
        'api-key': { type: 'string' },
        country: { type: 'string' },
        phone: { type: 'string' },
      },
    }),
  )
  const wants = values.help ? 'help' : values.version ? 'version' : null
  return { words, overrides: values.roles === undefined ? {} : rolesOf(values.roles), options: values, wants }
}

function parsedBy<T>(parser: () => T): T {
  try {
    return parser()
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split(/\. /) : []
    throw new ConfigError(`${reason}: \`npm start -- --help\` lists what there is.`, { cause: error })
  }
}

function rolesOf(text: string): Partial<Config> {
  const parsed = settings.PAMOJA_ROLES.parse(text)
  if ('problem' in parsed) throw new ConfigError(`--roles ${parsed.problem}.`)
  return { PAMOJA_ROLES: parsed.value }
}

/** The command of these words, and the words that stand where its usage has angle brackets. */
function find([name = 'serve', ...rest]: readonly string[]): { command: Command; given: string[] } {
  const named = commands.filter(({ usage }) => usage.split(' ')[0] === name)
  if (named.length === 0)
    throw new ConfigError(`There is no command ${name}: \`npm start -- --help\` lists what there is.`)
  for (const command of named) {
    const [, ...wanted] = command.usage.split(' ')
    const isOpen = (index: number): boolean => wanted[index]?.startsWith('<') ?? false
    const fits = rest.length === wanted.length && rest.every((word, index) => isOpen(index) || word === wanted[index])
    if (fits) return { command, given: rest.filter((_, index) => isOpen(index)) }
  }
  throw new ConfigError(`Usage: npm start -- ${named.map(({ usage }) => usage).join(', or ')}`)
}

function help(): string {
  const list = commands.map(({ usage, summary }) => `  ${usage.padEnd(27)}${summary}`)
  return `Pamoja ${packageVersion()}: communications and payments behind one API.

Usage: npm start -- [command] [--roles api,dispatch,...]

Commands:
${list.join('\n')}

The API from a terminal (\`npx pamoja help\` lists more): sms send, pay, call, mail, verify, trigger, replay, logs tail, keys list,
login, profiles, whoami, doctor, completion, and <area> <operation> for any operation.

Settings (environment variables; each also as NAME_FILE, naming a file with the value):
${describeSettings()}`
}

async function serve(config: Config): Promise<void> {
  const stop = stopSignal()
  // A closed output pipe must not end the platform.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  const progress = progressOn(stderr)
  try {
    const node = await start(config, progress, stop)
    if (!stop.aborted) await once(stop, 'abort')
    await leave(node, progress)
  } catch (error) {
    if (error !== stop.reason) {
      progress.fail()
      throw error
    }
    progress.end()
  }
  exit(0)
}

/** Runs a command about cells: its steps are told as they are taken, and its result is printed. `added` is migrated first. */
async function onCells(
  config: Config,
  work: (cells: Cells, tell: (step: string) => void) => Promise<string>,
  added?: string,
): Promise<void> {
  const { withCells } = await import('./commands/cells.ts')
  await withCells(config, added ?? null, async (cells) => {
    say(await work(cells, (step) => void stderr.write(`${step}\n`)))
  })
}

/** Hands on events until it is interrupted, which is how it is meant to end. */
async function forward(config: Config, options: Options): Promise<void> {
  const { listen, listeningOf } = await import('./commands/listen.ts')
  const listening = await listeningOf(config, {
    forwardTo: options['forward-to'],
    events: options.events,
    apiKey: options['api-key'] ?? env.PAMOJA_API_KEY,
  })
  const tell = (sentence: string): void => void stderr.write(`${sentence}\n`)
  await listen({ ...listening, isReadable: stdout.isTTY, say, tell }, stopSignal())
  exit(0)
}

/** Aborted by the first signal. A later one ends the program the hard way: what is left undone, the next start finds. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  let firstMs = 0
  const heard = (): void => {
    if (stop.signal.aborted && performance.now() - firstMs > sameSignalMs) exit(1)
    if (!stop.signal.aborted) firstMs = performance.now()
    stop.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, heard)
  return stop.signal
}

/** Starts a node; the database already while the rest of the program is being read. */
async function start(config: Config, progress: Progress, stop: AbortSignal): Promise<RunningNode> {
  await requirePort(config)
  await requireLogFile(config.PAMOJA_LOG_FILE)
  const database = startDatabase(config, progress.step)
  let isRead = false
  database.then(
    () => isRead || progress.step('Reading the program'),
    () => undefined,
  )
  await Promise.race([progress.begun, database])
  const rest = Promise.all([
    import('./node/server.ts'),
    import('./areas.ts'),
    import('./commands/welcome.ts'),
    import('./platform/telemetry/log.ts'),
  ]).finally(() => {
    isRead = true
  })
  const [[{ startNode }, { areas }, { banner, welcome }, { holdTerminal }]] = await Promise.all([rest, database])
  const greeting: { text: string } = { text: '' }
  const release = holdTerminal()
  const node = await startNode({
    config,
    areas,
    database,
    stop,
    progress: progress.step,
    beforeServing: async (made) => {
      greeting.text = banner(made, await welcome(made))
    },
  }).catch((error: unknown) => {
    if (stop.aborted) progress.end()
    else progress.fail()
    release()
    throw error
  })
  progress.end()
  stdout.write(greeting.text)
  release()
  begunServing()
  return node
}

/** Says at once that the port cannot be had, rather than after the database was made. */
async function requirePort({ PAMOJA_PORT, PAMOJA_HOST }: Config): Promise<void> {
  const probe = createServer().listen(PAMOJA_PORT, PAMOJA_HOST)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

/** Finishes what is in progress, but not for ever. */
async function leave(node: RunningNode, progress: Progress): Promise<void> {
  setTimeout(() => exit(1), stopWithinMs).unref()
  if (stdout.isTTY) stderr.write('\n')
  progress.step('Stopping: finishing what is in progress')
  await node.stop()
  progress.end()
}

function say(text: string): void {
  stdout.write(`${text}\n`)
}

/** 2: the command or the settings are wrong. 3: nobody answers. 1: everything else. */
function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return 2
  return error instanceof UnreachableError ? 3 : 1
}

function fail(text: string, code: number): never {
  stderr.write(`${text}\n`)
  exit(code)
}
