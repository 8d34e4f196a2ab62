// SPDX-License-Identifier: Apache-2.0
// Takes a registry's list of ported numbers into the database: a CSV file of number and network, plain or gzip, of any
// length. It goes through COPY into a table of its own first, so that nodes see the old list or the new one and nothing in
// between, and a file with a mistake in it changes nothing.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max'
import { from as copyFrom } from 'pg-copy-streams'
import { ConfigError } from '../../../config.ts'
import { hasLengthOfItsCountry, isE164, resolveNetwork } from '../../../kernel/phone.ts'
import { StartError } from '../../../kernel/start-error.ts'
import type { Database } from '../../../platform/db.ts'
import { Signals } from '../../../platform/nodes/signals.ts'
import { messageOf } from '../../../platform/telemetry/log.ts'
import { portedTopic } from './number-network.ts'

const readBytes = 256 * 1024
const maxLineLength = 1_000
const byteOrderMark = /^\ufeff/
const maxNetworkLength = 60

/**
 * Imports a file; with a country, it is taken for the whole list of that country, and numbers that are not in it are back
 * where they came from. Gives a sentence of what was done.
 */
export async function importPortedNumbers(db: Database, file: string, country?: string): Promise<string> {
  const callingCode = country === undefined ? null : callingCodeOf(country)
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query(
      `create temporary table incoming (phone text collate "C", network text, mcc_mnc text) on commit drop`,
    )
    const counted = { lines: 0 }
    await pipeline(
      Readable.from(rowsOf(file, callingCode, counted)),
      client.query(copyFrom('copy incoming (phone, network, mcc_mnc) from stdin')),
    )
    const { rowCount: changed } = await client.query(
      `insert into sms.ported_numbers as p (phone, network, mcc_mnc, updated_at)
       select distinct on (i.phone) i.phone, i.network, i.mcc_mnc, now() from incoming i where i.network is not null
        order by i.phone
       on conflict (phone) do update
         set network = excluded.network, mcc_mnc = excluded.mcc_mnc, updated_at = excluded.updated_at
         where p.network <> excluded.network or p.mcc_mnc is distinct from excluded.mcc_mnc`,
    )
    const { rowCount: left } = await client.query(
      'delete from sms.ported_numbers p using incoming i where p.phone = i.phone and i.network is null',
    )
    const { rowCount: gone } =
      callingCode === null
        ? { rowCount: 0 }
        : await client.query(
            `delete from sms.ported_numbers p
              where p.phone >= $1 and p.phone < $2 and not exists (select from incoming i where i.phone = p.phone)`,
            [`+${callingCode}`, `+${Number(callingCode) + 1}`],
          )
    await client.query('commit')
    await client.query('analyze sms.ported_numbers')
    await new Signals(db, ['sms']).send(db, 'sms', portedTopic)
    return `Numbers read: ${counted.lines}. New or moved: ${changed ?? 0}. Back with the network of their range: ${(left ?? 0) + (gone ?? 0)}.`
  } finally {
    await client.end()
  }
}

function callingCodeOf(country: string): string {
  if (!isSupportedCountry(country))
    throw new ConfigError(`--country must be an ISO 3166 code such as KE, not ${country}.`)
  return getCountryCallingCode(country)
}

/** The rows of a file as COPY reads them, in pieces. */
async function* rowsOf(file: string, callingCode: string | null, counted: { lines: number }): AsyncGenerator<string> {
  let number = 0
  for await (const lines of linesOf(file)) {
    let rows = ''
    for (const line of lines) {
      const row = rowOf(line, ++number, callingCode)
      if (row === null) continue
      counted.lines++
      rows += row
    }
    if (rows !== '') yield rows
  }
}

/** The lines of a file, as many at a time as one read gives. */
async function* linesOf(file: string): AsyncGenerator<string[]> {
  const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: readBytes })
  const input = file.endsWith('.gz') ? source.pipe(createGunzip({ chunkSize: readBytes })) : source
  source.once('error', (error: Error) => input.destroy(error))
  input.setEncoding('utf8')
  let rest = ''
  try {
    for await (const text of input) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxLineLength) throw new Error('a line is too long')
      yield lines
    }
  } catch (cause) {
    throw new StartError(`${file} cannot be read (${messageOf(cause)}); nothing was changed.`, { cause })
  }
  yield [rest]
}

/** Row of a line; null for an empty one, or the names of the columns on top. */
function rowOf(line: string, number: number, callingCode: string | null): string | null {
  const [first = '', second = '', ...rest] = line
    .replace(byteOrderMark, '')
    .split(/[,;\t]/)
    .map(unquoted)
  if (line.trim() === '' || (number === 1 && !/\d/.test(first))) return null
  const phone = first.startsWith('+') ? first : `+${first}`
  const wrong = (problem: string): StartError => new StartError(`Line ${number} ${problem}; nothing was changed.`)
  if (!isE164(phone)) throw wrong(`does not begin with a number in international form`)
  if (!hasLengthOfItsCountry(phone)) throw wrong('has a number with too many or too few digits for its country')
  if (callingCode !== null && !phone.startsWith(`+${callingCode}`)) throw wrong(`has a number outside +${callingCode}`)
  if (rest.length > 0 || second.length > maxNetworkLength) throw wrong('is not `number,network`')
  if (second === '') return `${phone}\t\\N\t\\N\n`
  const { network, code } = resolveNetwork(phone, second)
  return `${phone}\t${escaped(network)}\t${code ?? '\\N'}\n`
}

function unquoted(field: string): string {
  return field.trim().replace(/^"(.*)"$/, '$1')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\u0000', '')
}
