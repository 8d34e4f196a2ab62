// SPDX-License-Identifier: Apache-2.0
// Command lines: words, options and fields. `name=value` is a text, `name:=value` a number, a truth or JSON.

/** The command line is wrong; the message says what to type instead. */
export class UsageError extends Error {}

export interface CommandLine {
  readonly words: readonly string[]
  readonly fields: Readonly<Record<string, unknown>>
  readonly options: Readonly<Record<string, string | true>>
}

/** Options that stand alone; every other takes a value. */
const flags = new Set(['json', 'help', 'version'])
const known = new Set([
  ...flags,
  'profile',
  'url',
  'key',
  'ca',
  'from',
  'since',
  'status',
  'limit',
  'currency',
  'text',
  'subject',
  'language',
])

export function parsed(args: readonly string[]): CommandLine {
  const words: string[] = []
  const fields: Record<string, unknown> = {}
  const options: Record<string, string | true> = {}
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ''
    // What follows is meant as it stands, such as a message that begins with a dash or has an equals sign.
    if (word === '--') return { words: [...words, ...args.slice(i + 1)], fields, options }
    const [, name = '', value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? []
    if (name !== '') {
      if (!known.has(name)) throw new UsageError(`There is no option --${name}: \`pamoja help\` lists what there is.`)
      if (flags.has(name)) options[name] = true
      else options[name] = value ?? args[++i] ?? missing(name)
      continue
    }
    const [, field = '', colon, text = ''] = /^(\w+)(:?)=(.*)$/s.exec(word) ?? []
    if (field === '') words.push(word)
    else fields[field] = colon ? json(field, text) : text
  }
  return { words, fields, options }
}

function missing(name: string): never {
  throw new UsageError(`--${name} wants a value.`)
}

function json(field: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(
      `${field}:= requires JSON, such as ${field}:=100 or ${field}:='["a"]'; ${field}=${text} is a text.`,
    )
  }
}

export function optionOf({ options }: CommandLine, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** Words of a command, each of which must be there. */
export function wordsOf({ words }: CommandLine, names: readonly string[], usage: string): string[] {
  if (words.length !== names.length) throw new UsageError(`Usage: pamoja ${usage}`)
  return [...words]
}
