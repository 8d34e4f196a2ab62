// SPDX-License-Identifier: Apache-2.0
// `pamoja`: the API from a terminal, over the SDK. Nothing of the platform is read, so that a command begins at once; those that
// look after a platform (serve, migrate, backup …) are the program's own, and tools/pamoja.mjs starts it for them.
import { env, exit, stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline/promises'
import { ConnectionFailedError, PamojaError } from '../sdk/typescript/src/errors.ts'
import { version } from '../sdk/typescript/src/version.ts'
import { type Command, commands } from './commands.ts'
import { completion } from './completion.ts'
import { doctor } from './doctor.ts'
import { callOperation, clientOf, isArea } from './operations.ts'
import { faint, say, sayJson, sayThing, strong, tell } from './output.ts'
import {
  type Chosen,
  chooseProfile,
  keepProfile,
  profileOf,
  profilesFile,
  readProfiles,
  removeProfile,
  startedHere,
} from './profiles.ts'
import { type CommandLine, optionOf, parsed, UsageError, wordsOf } from './usage.ts'

/** Commands about this machine rather than the API. */
const own: Readonly<Record<string, { usage: string; summary: string; run(line: CommandLine): Promise<void> }>> = {
  login: {
    usage: 'login',
    summary: 'Save a URL and an API key as a profile [--profile name] [--url https://…] [--key pmj_…] [--ca file].',
    run: login,
  },
  logout: {
    usage: 'logout',
    summary: 'Delete a profile [--profile name].',
    async run(line) {
      const name = optionOf(line, 'profile') ?? readProfiles().current
      if (name === null) throw new UsageError('There is no profile to delete.')
      removeProfile(name)
      tell(`Forgot the profile ${name}.`)
    },
  },
  profiles: {
    usage: 'profiles [use <name>]',
    summary: 'List your profiles, or choose one.',
    async run(line) {
      const [verb, name] = line.words
      if (verb === 'use' && name) return chooseProfile(name)
      const { current, profiles } = readProfiles()
      if (line.options.json)
        return sayJson(
          Object.entries(profiles).map(([one, { baseUrl }]) => ({
            name: one,
            base_url: baseUrl,
            current: one === current,
          })),
        )
      for (const [one, { baseUrl }] of Object.entries(profiles))
        say(`${one === current ? '*' : ' '} ${strong(one)}  ${faint(baseUrl)}`)
    },
  },
  whoami: {
    usage: 'whoami',
    summary: 'Show the account, environment and scopes of the key.',
    async run(line) {
      const profile = chosen(line)
      const found = await clientOf(profile).auth.whoami()
      if (line.options.json) sayJson(found)
      else sayThing({ ...found, scopes: found.scopes.join(' '), address: profile.baseUrl, from: profile.from })
    },
  },
  doctor: {
    usage: 'doctor',
    summary: 'Diagnose problems: URL, certificate, clock, database, engines, key, disk, port.',
    async run(line) {
      if (!(await doctor(optionOf(line, 'profile'), line.options.json === true))) process.exitCode = 1
    },
  },
  completion: {
    usage: 'completion <shell>',
    summary: 'Print the completion script for bash, zsh or fish: eval "$(pamoja completion bash)".',
    async run(line) {
      const [shell = ''] = wordsOf(line, ['shell'], 'completion bash|zsh|fish')
      say(completion(shell, Object.keys(own)))
    },
  },
}

/** Whether a command line is one of these, rather than of the program that runs the platform. */
export function isOfApi(args: readonly string[]): boolean {
  const [first = '', second = ''] = args.filter((word) => !word.startsWith('-'))
  if (first === 'keys' && second === 'rotate') return false
  return Object.hasOwn(own, first) || isArea(first) || commandOf([first, second]) !== undefined
}

/** Runs a command line. Exit codes: 1 refused, 2 wrong command line, 3 nobody answers. */
export async function run(args: readonly string[]): Promise<void> {
  // Output that nobody reads any more, as in `| head`, is no fault.
  stdout.on('error', () => exit(0))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => exit(0))
  try {
    await dispatch(parsed(args))
  } catch (error) {
    if (error instanceof UsageError) return fail(error.message, 2)
    if (!(error instanceof PamojaError)) throw error
    const { message, code, requestId, docUrl } = error
    const more = [requestId, docUrl].filter(Boolean).join('  ')
    fail(`${message} (${code})${more ? `\n${more}` : ''}`, error instanceof ConnectionFailedError ? 3 : 1)
  }
}

async function dispatch(line: CommandLine): Promise<void> {
  const [first = '', second = ''] = line.words
  if (line.options.version) return say(version)
  if (line.options.help || first === '' || first === 'help') return say(help())
  const rest = (count: number): CommandLine => ({ ...line, words: line.words.slice(count) })
  const mine = own[first]
  if (mine) return mine.run(rest(1))
  const command = commandOf(line.words)
  if (command) return command.run(clientOf(chosen(line)), rest(namesOf(command).length))
  if (isArea(first)) return callOperation(clientOf(chosen(line)), first, second, rest(2))
  throw new UsageError(`There is no command ${first}: \`pamoja help\` lists what there is.`)
}

/** Words of a command before its arguments. */
function namesOf({ usage }: Command): string[] {
  return usage.split(' ').filter((word) => !word.startsWith('<'))
}

/** The longest command that the words begin with. */
function commandOf(words: readonly string[]): Command | undefined {
  const fits = commands.filter((command) => namesOf(command).every((name, i) => words[i] === name))
  return fits.sort((a, b) => namesOf(b).length - namesOf(a).length)[0]
}

function chosen(line: CommandLine): Chosen {
  const profile = profileOf(optionOf(line, 'profile'))
  if (!profile)
    throw new UsageError(
      'No API key found: run `pamoja login`, give PAMOJA_API_KEY, or start a platform here with `npm start`.',
    )
  return profile
}

async function login(line: CommandLine): Promise<void> {
  const here = startedHere()
  const name = optionOf(line, 'profile') ?? 'default'
  const baseUrl = (optionOf(line, 'url') ?? env.PAMOJA_BASE_URL ?? here?.baseUrl ?? 'https://localhost:8443').replace(
    /\/+$/,
    '',
  )
  if (!/^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/.test(baseUrl))
    throw new UsageError(`${baseUrl} is not https://: the key would be sent unencrypted.`)
  const apiKey = optionOf(line, 'key') ?? env.PAMOJA_API_KEY ?? (await asked(`API key for ${baseUrl}: `)) ?? ''
  if (apiKey === '') throw new UsageError('A key is needed: `pamoja login --key pmj_test_…`.')
  const caFile = optionOf(line, 'ca') ?? env.PAMOJA_CA_FILE ?? (here?.baseUrl === baseUrl ? here.caFile : undefined)
  const profile = { baseUrl, apiKey, ...(caFile ? { caFile } : {}) }
  const { account_id, environment } = await clientOf(profile).auth.whoami()
  keepProfile(name, profile)
  tell(`Signed in to ${baseUrl} as ${account_id} (${environment}); kept as the profile ${name} in ${profilesFile()}.`)
}

/** Line that the person types; null where there is no terminal. */
async function asked(question: string): Promise<string | null> {
  if (!stdin.isTTY) return null
  const terminal = createInterface({ input: stdin, output: process.stderr })
  try {
    return (await terminal.question(question)).trim()
  } finally {
    terminal.close()
  }
}

function help(): string {
  const row = ({ usage, summary }: { usage: string; summary: string }): string => `  ${usage.padEnd(30)}${summary}`
  return `Pamoja ${version}: communications and payments from a terminal.

Usage: pamoja <command> [--profile name] [--json]

${commands.map(row).join('\n')}

Any operation of the API, by its area: pamoja <area> <operation> [path …] [name=value] [name:=json] [--limit 20]
  pamoja sms list status=delivered          pamoja payments create amount:=1500 currency=KES phone=+254700000001

Events and phones:
${[
  {
    usage: 'listen',
    summary: 'Show events as they happen [--forward-to http://localhost:3000/hook] [--events sms.*].',
  },
  { usage: 'ussd dial <code>', summary: 'A phone in the terminal, which dials a USSD code [--phone +254711000020].' },
]
  .map(row)
  .join('\n')}

This machine:
${Object.values(own).map(row).join('\n')}

A platform here (each with --help): serve, migrate, backup <file>, restore <file>, config, ledger verify, keys rotate,
operator key, member <email>, openapi, reset.`
}

function fail(text: string, code: number): void {
  tell(text)
  process.exitCode = code
}

/** Command line and environment for commands of the program that speak to a platform, as the chosen profile says. */
export function environmentOf(args: readonly string[]): { args: string[]; env: Record<string, string> } {
  const at = args.indexOf('--profile')
  const rest = at < 0 ? [...args] : [...args.slice(0, at), ...args.slice(at + 2)]
  if (args[0] !== 'listen' && args[0] !== 'handset') return { args: rest, env: {} }
  const profile = profileOf(at < 0 ? undefined : args[at + 1])
  if (!profile) return { args: rest, env: {} }
  const { baseUrl, apiKey, caFile } = profile
  return {
    args: rest,
    env: { PAMOJA_PUBLIC_URL: baseUrl, PAMOJA_API_KEY: apiKey, ...(caFile ? { PAMOJA_CA_FILE: caFile } : {}) },
  }
}
