// SPDX-License-Identifier: Apache-2.0
// Rules for customers' URLs: their form, and the addresses they may lead to. No network access here; outbound.ts
// applies the rules when a URL is given and at every connection.
import {
  type Address,
  type AddressRange,
  classOfAddress,
  isInRange,
  parseAddress,
  parseAddressRange,
} from '../../kernel/addresses.ts'
import type { Environment } from '../tenant.ts'

export interface OutboundPolicy {
  /** Public addresses only, apart from `allowCidrs`, and no unverifiable certificates. */
  production: boolean
  /** Outside production, allow loopback and private addresses for test keys. */
  allowPrivate: boolean
  /** Allows plain http: anywhere. */
  allowHttp: boolean
  /** Ranges that count as public, and ranges that are always refused, which win. */
  allowCidrs: readonly string[]
  denyCidrs: readonly string[]
  /** Certificates (PEM) to trust beside the well-known authorities. */
  extraCa: string | null
  /** Outbound proxy: http://host:port. */
  proxy: string | null
}

/** A callback with a test key may also use http: to loopback; a webhook may not. */
export type UrlUse = 'webhook' | 'callback'

/** Parsed URL. */
export interface Target {
  origin: string
  isTls: boolean
  /** Host name, or IP address without brackets. */
  hostname: string
  port: number
  path: string
  /** Address, when the URL has one instead of a host name. */
  literal: Address | null
}

/** Purpose of a call: on whose behalf, and for what. */
export interface Purpose {
  use: UrlUse
  environment: Environment
}

const maxUrlLength = 2_048
const maxNameLength = 253
const leastPort = 1_024

/** Parses a URL, or returns its problem: the rest of a sentence that begins with the field's name. */
export function parseTarget(text: string): Target | { problem: string } {
  if (text.length > maxUrlLength) return { problem: `must have at most ${maxUrlLength} characters` }
  // The URL parser drops or rewrites these characters, so the customer would read another URL than is called.
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u.test(text))
    return { problem: 'must not contain spaces, control characters or backslashes' }
  const [, scheme = '', authority = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(text) ?? []
  if (!/^https?$/i.test(scheme) || authority === '')
    return { problem: 'must be an absolute URL that begins with https://' }
  if (authority.includes('@'))
    return { problem: 'must not carry a user name or password; put a token into the path or into a header instead' }
  if (text.includes('#')) return { problem: 'must not have a fragment; remove everything from # on' }
  const url = authority.includes('%') ? null : parsedUrl(text)
  if (url === null) return { problem: 'is not a valid URL; check its host name and its port' }
  const isTls = url.protocol === 'https:'
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  if (url.port !== '' && port !== 443 && port < leastPort)
    return { problem: `must use port 443 or a port from ${leastPort} up` }
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const literal = parseAddress(hostname)
  const problem = literal === null ? nameProblem(hostname) : literalProblem(hostname, authority)
  if (problem !== null) return { problem }
  return { origin: url.origin, isTls, hostname, port, path: url.pathname + url.search, literal }
}

/** URL of a text. Not by URL.canParse: once optimised, that of Node 20 takes host names with letters such as ü for invalid. */
function parsedUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** 0x7f.1, 0177.0.0.1, 2130706433 or full-width digits disguise an address, and are refused. */
function literalProblem(hostname: string, authority: string): string | null {
  if (hostname.startsWith('::ffff:')) return 'must write an IPv4 address as IPv4, such as 198.41.0.4'
  const isPlain = hostname.includes(':') || authority.replace(/:\d*$/, '') === hostname
  return isPlain ? null : 'must write its address as four decimal numbers, or name a host instead'
}

function nameProblem(hostname: string): string | null {
  if (hostname.endsWith('.')) return 'must not end its host name with a dot'
  const label = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?'
  const isName = hostname.length <= maxNameLength && new RegExp(`^${label}(\\.${label})*$`).test(hostname)
  if (!isName) return 'is not a valid URL; check its host name'
  return metadataNames.includes(hostname) ? notReachable : null
}

/** Cloud metadata names, which hand out the machine's credentials. */
const metadataNames = [
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]

const notReachable = 'must lead to a public address; give a host that can be reached from the internet'
const notSecure = 'must begin with https://; plain http:// is not called'

export class UrlRules {
  readonly #policy: OutboundPolicy
  readonly #allowed: readonly AddressRange[]
  readonly #denied: readonly AddressRange[]

  constructor(policy: OutboundPolicy) {
    this.#policy = policy
    this.#allowed = policy.allowCidrs.map(operatorRange)
    this.#denied = policy.denyCidrs.map(operatorRange)
  }

  /** Problem before a name is resolved; null, or the rest of a sentence as in `parseTarget`. */
  problemOf(target: Target, purpose: Purpose): string | null {
    if (target.literal !== null) return this.problemOfAddresses(target, purpose, [target.literal])
    if (!target.isTls && !this.#policy.allowHttp && !mayBePlainToLoopback(purpose))
      return this.#notSecure(target, purpose)
    return isLocalName(target.hostname) && !this.#mayBeLocal(purpose) && this.#allowed.length === 0
      ? notReachable
      : null
  }

  /** Problem of the resolved addresses, all of which must be allowed; an unreadable one is null. */
  problemOfAddresses(target: Target, purpose: Purpose, addresses: readonly (Address | null)[]): string | null {
    if (!addresses.every((address) => address !== null && this.#mayReach(address, purpose))) return notReachable
    const isSecure =
      target.isTls || this.#policy.allowHttp || (mayBePlainToLoopback(purpose) && addresses.every(isLoopback))
    return isSecure ? null : this.#notSecure(target, purpose)
  }

  /** Problem of a name that does not resolve yet. */
  problemOfUnresolved(target: Target): string | null {
    return target.isTls || this.#policy.allowHttp || isNameOfLoopback(target.hostname) ? null : notSecure
  }

  /** Refusal of plain HTTP; a developer's own machine gets the advice how events reach it. */
  #notSecure({ origin, path, hostname, literal }: Target, purpose: Purpose): string {
    const isHome = literal === null ? isNameOfLoopback(hostname) : isLoopback(literal)
    if (!isHome || purpose.use !== 'webhook' || !this.#mayBeLocal(purpose)) return notSecure
    return `${notSecure}. \`npm start --silent -- listen --forward-to ${origin}${path}\` passes events on to this machine`
  }

  /** Self-signed certificates are accepted on loopback, where nobody can intercept. */
  acceptsAnyCertificate(addresses: readonly (Address | null)[]): boolean {
    return !this.#policy.production && addresses.every(isLoopback)
  }

  #mayReach(address: Address, purpose: Purpose): boolean {
    if (this.#denied.some((range) => isInRange(address, range))) return false
    if (this.#allowed.some((range) => isInRange(address, range))) return true
    const kind = classOfAddress(address)
    return kind === 'public' || (kind !== 'forbidden' && this.#mayBeLocal(purpose))
  }

  #mayBeLocal({ environment }: Purpose): boolean {
    return environment === 'test' && !this.#policy.production && this.#policy.allowPrivate
  }
}

function mayBePlainToLoopback({ use, environment }: Purpose): boolean {
  return use === 'callback' && environment === 'test'
}

function isLoopback(address: Address | null): boolean {
  return address !== null && classOfAddress(address) === 'loopback'
}

function isNameOfLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

/** Names without meaning on the internet (RFC 6761, 6762, 8375). */
function isLocalName(hostname: string): boolean {
  return !hostname.includes('.') || /\.(localhost|local|internal|localdomain|home\.arpa)$/.test(hostname)
}

function operatorRange(text: string): AddressRange {
  const range = parseAddressRange(text)
  if (range === null) throw new Error(`"${text}" is not an address or a CIDR range.`)
  return range
}
