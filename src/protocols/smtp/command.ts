// SPDX-License-Identifier: Apache-2.0
// Commands of an SMTP client (RFC 5321 §4.1), as a strict server reads them: what is not exactly a command is none.
import { parseAddress } from '../../kernel/email-address.ts'

export type Command =
  | { verb: 'EHLO' | 'HELO'; name: string }
  | { verb: 'MAIL'; from: string; params: ReadonlyMap<string, string> }
  | { verb: 'RCPT'; to: string; params: ReadonlyMap<string, string> }
  | { verb: 'AUTH'; mechanism: string; initial: string | null }
  | { verb: 'DATA' | 'RSET' | 'QUIT' | 'STARTTLS' }
  | { verb: 'NOOP' | 'VRFY' | 'HELP' }
  | { verb: 'unknown' }
  /** The verb is known and the rest is wrong. */
  | { verb: 'malformed'; of: string }
  /** The path is well formed and names no mailbox. */
  | { verb: 'bad_address'; of: 'MAIL' | 'RCPT' }

const maxParams = 10

/** `@one.example,@two.example:` before a mailbox. */
const sourceRoute = /^@[^\s@,:"]+(?:,@[^\s@,:"]+)*:/

export function parseCommand(line: string): Command {
  const [, word = '', rest = ''] = /^([A-Za-z]+)(?: (.*))?$/s.exec(line.trimEnd()) ?? []
  const verb = word.toUpperCase()
  switch (verb) {
    case 'EHLO':
    case 'HELO':
      return /^[!-~]{1,255}$/.test(rest) ? { verb, name: rest } : { verb: 'malformed', of: verb }
    case 'MAIL':
      return parsePath('MAIL', rest, /^FROM: ?<((?:"(?:[^"\\]|\\.)*"|[^<>\s"])*)>(?: (.*))?$/is)
    case 'RCPT':
      return parsePath('RCPT', rest, /^TO: ?<((?:"(?:[^"\\]|\\.)*"|[^<>\s"])+)>(?: (.*))?$/is)
    case 'AUTH': {
      const [, mechanism = '', initial = null] = /^([A-Za-z0-9-]{1,20})(?: (\S+))?$/.exec(rest) ?? []
      return mechanism ? { verb, mechanism: mechanism.toUpperCase(), initial } : { verb: 'malformed', of: verb }
    }
    case 'DATA':
    case 'RSET':
    case 'QUIT':
    case 'STARTTLS':
      return rest === '' ? { verb } : { verb: 'malformed', of: verb }
    case 'NOOP':
    case 'VRFY':
    case 'HELP':
      return { verb }
    default:
      return { verb: 'unknown' }
  }
}

function parsePath(verb: 'MAIL' | 'RCPT', rest: string, form: RegExp): Command {
  const match = form.exec(rest)
  const params = match ? parseParams(match[2] ?? '') : null
  if (!match || !params) return { verb: 'malformed', of: verb }
  const path = match[1] ?? ''
  if (verb === 'MAIL' && path === '') return { verb, from: '', params }
  // A source route is taken and not followed (RFC 5321, appendix C).
  const mailbox = parseAddress(path.replace(sourceRoute, ''))
  if (!mailbox) return { verb: 'bad_address', of: verb }
  return verb === 'MAIL' ? { verb, from: mailbox.address, params } : { verb, to: mailbox.address, params }
}

function parseParams(text: string): Map<string, string> | null {
  const params = new Map<string, string>()
  for (const one of text.split(' ').filter((part) => part !== '')) {
    const [, key = '', value = ''] = /^([A-Za-z0-9][A-Za-z0-9-]{0,30})(?:=([^\s=]{1,500}))?$/.exec(one) ?? []
    if (key === '' || params.has(key.toUpperCase()) || params.size >= maxParams) return null
    params.set(key.toUpperCase(), value)
  }
  return params
}
