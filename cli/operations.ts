// SPDX-License-Identifier: Apache-2.0
// Every operation of the API as a command: `pamoja sms get sms_…`, `pamoja payments create amount:=100 currency=KES …`.
import { stdout } from 'node:process'
import { Pamoja } from '../sdk/typescript/src/pamoja.ts'
import { areas } from '../sdk/typescript/src/table.ts'
import { say, sayJson, sayTable, sayThing } from './output.ts'
import { type CommandLine, optionOf, UsageError } from './usage.ts'

const maxRows = 20

/** Area -> verb -> row of the table. */
export const table: Readonly<Record<string, Readonly<Record<string, string>>>> = areas

export function isArea(word: string): boolean {
  return Object.hasOwn(table, areaName(word))
}

/** api-keys and apiKeys are the same. */
const areaName = (word: string): string => word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Calls an operation and prints what it gives. */
export async function callOperation(client: Pamoja, area: string, verb: string, line: CommandLine): Promise<void> {
  const rows = table[areaName(area)] ?? {}
  const name = areaName(verb)
  const spec = rows[name]
  if (!spec) throw new UsageError(`${area} has no ${verb}: it has ${Object.keys(rows).join(', ')}.`)
  const [, where = '', gives = 'data'] = spec.split(' ')
  const params = [...where.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
  if (line.words.length !== params.length)
    throw new UsageError(
      `Usage: pamoja ${area} ${verb}${params.map((param) => ` <${param}>`).join('')}${where.endsWith('!') ? '' : ' [name=value …]'}`,
    )
  const input = where.endsWith('!') ? [] : [line.fields]
  const own: Readonly<Record<string, (...given: unknown[]) => unknown>> = Reflect.get(client, areaName(area))
  await sayResult(own[name]?.(...line.words, ...input), gives, line)
}

async function sayResult(result: unknown, gives: string, line: CommandLine): Promise<void> {
  const isJson = line.options.json === true
  if (gives === 'page' && isList(result)) {
    const rows = await result.toArray({ limit: Number(optionOf(line, 'limit') ?? maxRows) })
    if (isJson) for (const row of rows) say(JSON.stringify(row))
    else sayTable(rows)
  } else if (gives === 'stream' && isStream(result)) {
    for await (const message of result) say(JSON.stringify(message))
  } else if (gives === 'file') {
    const response = await result
    if (response instanceof Response) stdout.write(new Uint8Array(await response.arrayBuffer()))
  } else {
    const value = Object(await result)
    if (isJson) sayJson(value)
    else sayThing(value)
  }
}

function isList(value: unknown): value is { toArray(options: { limit: number }): Promise<object[]> } {
  return typeof Reflect.get(Object(value), 'toArray') === 'function'
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in Object(value)
}

/** Client of a profile. */
export function clientOf({ baseUrl, apiKey, caFile }: { baseUrl: string; apiKey: string; caFile?: string }): Pamoja {
  return new Pamoja({ baseUrl, apiKey, ...(caFile ? { caFile } : {}), appInfo: { name: 'pamoja-cli' } })
}
