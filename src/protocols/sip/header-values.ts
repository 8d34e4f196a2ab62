// SPDX-License-Identifier: Apache-2.0
// Values inside SIP headers (RFC 3261 §19, §20, §25): addresses, URIs, Via, parameters. Read strictly, since a value that two
// programs read differently is how calls are stolen; white space where the grammar allows it is taken.
import { SipError } from './error.ts'

export type Parameters = ReadonlyMap<string, string | null>

export interface SipUri {
  scheme: string
  user: string | null
  host: string
  port: number | null
  parameters: Parameters
  /** Part after the question mark, undecoded. */
  headers: string | null
  /** Text of the value as it was written, for schemes of others. */
  text: string
}

export interface Address {
  display: string | null
  uri: SipUri
  parameters: Parameters
}

export interface Via {
  transport: string
  host: string
  port: number | null
  parameters: Parameters
}

const host = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\.?)`
const sipUri = new RegExp(
  String.raw`^(sips?):(?:([^@\s<>"]+)@)?(${host})(?::(\d{1,5}))?((?:;[^?\s<>"]*)?)(?:\?([^\s<>"]*))?$`,
  'i',
)
const escaped = /%(?![0-9A-Fa-f]{2})/

export function parseUri(text: string): SipUri {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\S+$/.exec(text)?.[1]?.toLowerCase()
  if (!scheme || /[<>"]/.test(text)) throw new SipError(400, 'Malformed URI')
  if (scheme === 'tel') return parseTel(text)
  if (scheme !== 'sip' && scheme !== 'sips')
    return { scheme, user: null, host: '', port: null, parameters: new Map(), headers: null, text }
  const found = sipUri.exec(text)
  if (!found || escaped.test(text)) throw new SipError(400, 'Malformed SIP URI')
  const [, , user = null, name = '', port, parameters = '', headers = null] = found
  return {
    scheme,
    user: user === null ? null : decode(user.split(':')[0] ?? ''),
    host: name.toLowerCase(),
    port: readPort(port),
    parameters: parseParameters(parameters),
    headers,
    text,
  }
}

function parseTel(text: string): SipUri {
  const found = /^tel:([+0-9A-Fa-f*#().-]+)((?:;[^\s<>"]*)?)$/i.exec(text)
  if (!found) throw new SipError(400, 'Malformed tel URI')
  const user = (found[1] ?? '').replace(/[().-]/g, '')
  return { scheme: 'tel', user, host: '', port: null, parameters: parseParameters(found[2] ?? ''), headers: null, text }
}

function decode(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function readPort(text: string | undefined): number | null {
  if (text === undefined) return null
  const port = Number(text)
  if (port < 1 || port > 65_535) throw new SipError(400, 'Malformed port')
  return port
}

/** `"Name" <uri>;parameters`, `Name <uri>` or a bare URI, whose parameters then belong to the header. */
export function parseAddress(value: string): Address {
  const quoted = /^"((?:[^"\\]|\\[\s\S])*)"\s*(?=<)/.exec(value)
  const plain = quoted ?? /^([A-Za-z0-9\-.!%*_+`'~ \t]*)(?=<)/.exec(value)
  if (plain) {
    const rest = value.slice(plain[0].length)
    const found = /^<([^<>]*)>([\s\S]*)$/.exec(rest)
    if (!found) throw new SipError(400, 'Malformed address')
    const display = quoted ? (plain[1] ?? '').replace(/\\([\s\S])/g, '$1') : (plain[1] ?? '').trim()
    const uri = parseUri((found[1] ?? '').trim())
    return { display: display || null, uri, parameters: parseParameters((found[2] ?? '').trim()) }
  }
  if (/["<>,]/.test(value)) throw new SipError(400, 'Malformed address')
  const semicolon = value.indexOf(';')
  const text = (semicolon < 0 ? value : value.slice(0, semicolon)).trim()
  const uri = parseUri(text)
  if (uri.headers !== null) throw new SipError(400, 'A URI with headers needs angle brackets')
  return { display: null, uri, parameters: parseParameters(semicolon < 0 ? '' : value.slice(semicolon)) }
}

/** `;name=value;flag`. Names are lower case; quoted values lose their quotes. */
export function parseParameters(text: string): Parameters {
  const parameters = new Map<string, string | null>()
  let rest = text.trim()
  while (rest !== '') {
    const found = /^;\s*([^\s;=,"<>]+)\s*(?:=\s*("(?:[^"\\]|\\[\s\S])*"|[^\s;,"<>]*))?\s*/.exec(rest)
    if (!found) throw new SipError(400, 'Malformed parameters')
    const [all, name = '', value] = found
    parameters.set(name.toLowerCase(), value === undefined ? null : unquoted(value))
    rest = rest.slice(all.length)
  }
  return parameters
}

export function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\([\s\S])/g, '$1') : value
}

const viaPattern = new RegExp(
  String.raw`^SIP\s*/\s*2\.0\s*/\s*([A-Za-z0-9\-.!%*_+\x60'~]+)\s+(${host})(?:\s*:\s*(\d{1,5}))?\s*((?:;[\s\S]*)?)$`,
  'i',
)

export function parseVia(value: string): Via {
  const found = viaPattern.exec(value)
  if (!found) throw new SipError(400, 'Malformed Via')
  const [, transport = '', name = '', port, parameters = ''] = found
  return {
    transport: transport.toUpperCase(),
    host: name.toLowerCase(),
    port: readPort(port),
    parameters: parseParameters(parameters),
  }
}

const token = /^[A-Za-z0-9\-.!%*_+`'~:[\]]*$/

/** A Via as it is written. */
export function viaText({ transport, host, port, parameters }: Via): string {
  const written = [...parameters].map(([name, value]) => {
    if (value === null) return `;${name}`
    return `;${name}=${token.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
  })
  return `SIP/2.0/${transport} ${host}${port === null ? '' : `:${port}`}${written.join('')}`
}

/** The members of a list; commas in quotes and in angle brackets separate nothing. */
export function splitList(value: string): string[] {
  const members: string[] = []
  let start = 0
  let isQuoted = false
  let depth = 0
  for (let i = 0; i < value.length; i++) {
    const letter = value[i]
    if (letter === '\\' && isQuoted) i++
    else if (letter === '"') isQuoted = !isQuoted
    else if (!isQuoted && letter === '<') depth++
    else if (!isQuoted && letter === '>') depth--
    else if (!isQuoted && depth === 0 && letter === ',') {
      members.push(value.slice(start, i).trim())
      start = i + 1
    }
  }
  members.push(value.slice(start).trim())
  return members
}

/** A name inside quotes, with what would end them escaped. */
export function quote(text: string): string {
  return `"${text.replace(/[\r\n]+/g, ' ').replace(/(["\\])/g, '\\$1')}"`
}

export function tagOf(value: string | null): string | null {
  return value === null ? null : (parseAddress(value).parameters.get('tag') ?? null)
}
