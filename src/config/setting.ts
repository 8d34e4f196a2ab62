// SPDX-License-Identifier: Apache-2.0
// Setting: its default, its help and how it is parsed; and the kinds of them: a number, a choice, an address. config.ts and
// the settings of areas are made of these.
import { isIP } from 'node:net'

export interface Setting<T> {
  readonly default: T
  readonly help: string
  /** Shown masked. */
  readonly secret?: boolean
  /** Other variables that mean the same, less specific ones last. */
  readonly also?: readonly string[]
  /** The value, or a sentence that says what it must be. */
  parse(text: string): { value: T } | { problem: string }
}

export function text(value: string, help: string): Setting<string> {
  return { default: value, help, parse: (given) => ({ value: given }) }
}

export function optional(help: string): Setting<string | null> {
  return { default: null, help, parse: (given) => ({ value: given }) }
}

/** Absent unless given, and then of a form that is checked. */
export function formed(help: string, hasForm: (given: string) => boolean, problem: string): Setting<string | null> {
  return { default: null, help, parse: (given) => (hasForm(given) ? { value: given } : { problem }) }
}

export function database(help: string): Setting<string | null> {
  const form = /^postgres(ql)?:\/\/./
  // Without a host the address of a socket follows in the query, and to Node's own parser that is no URL.
  const isAddress = (given: string): boolean =>
    form.test(given) && serversIn(given).every((one) => URL.canParse(one.replace('@/', '@localhost/')))
  return formed(
    help,
    isAddress,
    'must be a URL such as postgres://user:password@host/database; write # in the password as %23, @ as %40, / as %2F',
  )
}

/** Connection strings of a URL that may name several hosts, one each, in their order. */
export function serversIn(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  // Every search asks for the server that takes writes; the driver does not know the parameter.
  const rest = after.replace(/([?&])target_session_attrs=[^&]*(&|$)/, (_, mark, next) => (next === '&' ? mark : ''))
  return hosts.split(',').map((host) => `${before}${host}${rest}`)
}

export interface NamedDatabase {
  readonly name: string
  readonly url: string
}

/** Databases with a name each; none by default. */
export function databases(help: string): Setting<readonly NamedDatabase[]> {
  const { parse } = database(help)
  return {
    default: [],
    help,
    parse(given) {
      const found: NamedDatabase[] = []
      // A URL may name several hosts with commas, so a comma separates only before the next name.
      for (const one of given.trim().split(/[\s,]+(?=[a-z][a-z0-9-]*=)/)) {
        const [, name = '', url = ''] = /^([a-z][a-z0-9-]{0,30})=(.*)$/.exec(one) ?? []
        const problem = problemOf(parse(url))
        if (name === '' || name === 'home' || problem !== null)
          return {
            problem: `must be such as east=postgres://user:password@host/database; a name is not home${problem === null ? '' : `, and a URL ${problem}`}`,
          }
        if (found.some((known) => known.name === name)) return { problem: `must name ${name} once` }
        found.push({ name, url })
      }
      return { value: found }
    },
  }
}

function problemOf(parsed: { value: unknown } | { problem: string }): string | null {
  return 'problem' in parsed ? parsed.problem : null
}

export function testKey(help: string): Setting<string | null> {
  const form = /^pmj_test_[0-9A-Za-z]{38}$/
  return formed(help, (given) => form.test(given), 'must be pmj_test_ and 38 letters and digits')
}

export function rootKeys(help: string): Setting<string | null> {
  const form = /^([0-9a-f]{64}|[\w+/-]{43}=?)$/i
  const areKeys = (given: string): boolean => given.split(',').every((key) => form.test(key.trim()))
  return formed(help, areKeys, 'must be 32 bytes in base64 or hex (openssl rand -base64 32), or several with commas')
}

/** URL without a slash at the end, a query or a fragment, so that a path can follow. */
export function url(protocols: readonly string[], help: string): Setting<string | null> {
  return {
    default: null,
    help,
    parse: (given) => {
      const problem = urlProblem(protocols, given)
      return problem === null ? { value: given.replace(/\/+$/, '') } : { problem: `${problem}, not "${given}"` }
    },
  }
}

/** Neither shown nor repeated when it is wrong: it may hold a password. */
export function secretUrl(protocols: readonly string[], help: string): Setting<string | null> {
  const setting = url(protocols, help)
  return secret({
    ...setting,
    parse: (given) => {
      const problem = urlProblem(protocols, given)
      return problem === null ? setting.parse(given) : { problem }
    },
  })
}

function urlProblem(protocols: readonly string[], given: string): string | null {
  if (!URL.canParse(given) || !protocols.includes(new URL(given).protocol))
    return `must be a URL that begins with ${protocols.join('// or ')}//`
  return /[?#]/.test(given) ? 'must be a URL to which a path can be added, without ? and #' : null
}

export function host(value: string, help: string): Setting<string> {
  return {
    default: value,
    help,
    parse: (given) =>
      isIP(given) > 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(given)
        ? { value: given }
        : { problem: `must be an address or a host name, not "${given}"` },
  }
}

export function secret<T>(setting: Setting<T>): Setting<T> {
  return { ...setting, secret: true }
}

export function integer(value: number, least: number, most: number, help: string): Setting<number> {
  return {
    default: value,
    help,
    parse: (given) =>
      /^\d{1,9}$/.test(given) && Number(given) >= least && Number(given) <= most
        ? { value: Number(given) }
        : { problem: `must be a whole number from ${least} to ${most}, not "${given}"` },
  }
}

export function decimal(value: number, least: number, most: number, help: string): Setting<number> {
  return {
    default: value,
    help,
    parse: (given) =>
      /^\d(\.\d{1,6})?$/.test(given) && Number(given) >= least && Number(given) <= most
        ? { value: Number(given) }
        : { problem: `must be a number from ${least} to ${most}, not "${given}"` },
  }
}

export function boolean(value: boolean, help: string): Setting<boolean> {
  return {
    default: value,
    help,
    parse: (given) =>
      given === 'true' || given === 'false'
        ? { value: given === 'true' }
        : { problem: `must be true or false, not "${given}"` },
  }
}

export function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  help: string,
): Setting<Words[number]> {
  return {
    default: words[0],
    help,
    parse: (given) => {
      const value = words.find((word) => word === given)
      return value === undefined ? { problem: `must be one of ${words.join(', ')}, not "${given}"` } : { value }
    },
  }
}

export function list<const Words extends readonly string[]>(
  words: Words,
  help: string,
): Setting<readonly Words[number][]> {
  return {
    default: words,
    help,
    parse: (given) => {
      const parts = given.split(',').map((part) => part.trim())
      const known = words.filter((word) => parts.includes(word))
      const strange = parts.filter((part) => !words.includes(part))
      return strange.length > 0
        ? { problem: `must list any of ${words.join(', ')}, not "${strange.join(', ')}"` }
        : { value: known }
    },
  }
}

export function addresses(value: readonly string[], help: string): Setting<readonly string[]> {
  return {
    default: value,
    help,
    parse: (given) => {
      const parts = given.split(',').map((part) => part.trim())
      const bad = parts.find((part) => !isAddressRange(part))
      return bad === undefined ? { value: parts } : { problem: `must list addresses or CIDR ranges, not "${bad}"` }
    },
  }
}

export function mailboxes(help: string): Setting<readonly string[]> {
  return {
    default: [],
    help,
    parse: (given) => {
      const parts = given.split(',').map((part) => part.trim())
      const bad = parts.find((part) => !/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/.test(part))
      return bad === undefined ? { value: parts } : { problem: `must list email addresses, not "${bad}"` }
    },
  }
}

/** An address, or an address and a prefix length. */
export function isAddressRange(range: string): boolean {
  const [address = '', bits, ...rest] = range.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
}
