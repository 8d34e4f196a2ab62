// SPDX-License-Identifier: Apache-2.0
// Internet addresses: which are public, and which belong to this machine, a private network or are unassigned. From the
// IANA special-purpose registries (RFC 6890 and its successors). IPv6 is judged by what is allowed: only 2000::/3 has
// been assigned, so everything outside (NAT64, compatible, link-local ...) is forbidden without being named. Node's
// BlockList is no help here: it does not see that ::127.0.0.1 is 127.0.0.1.
import { isIPv4, isIPv6 } from 'node:net'

export interface Address {
  readonly version: 4 | 6
  readonly bits: bigint
}

export interface AddressRange {
  readonly version: 4 | 6
  /** Number of free low bits, and the value of the others. */
  readonly freeBits: bigint
  readonly prefix: bigint
}

/** Forbidden: nothing that a customer may ever mean, such as link-local, multicast, documentation or metadata. */
export type AddressClass = 'public' | 'private' | 'loopback' | 'forbidden'

/** An address without a zone; one that is IPv4 in IPv6 clothes (::ffff:192.0.2.1) is given as IPv4. */
export function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return { version: 4, bits: ipv4Bits(text) }
  if (!isIPv6(text) || text.includes('%')) return null
  const bits = ipv6Bits(text)
  return bits >> 32n === mappedPrefix ? { version: 4, bits: bits & 0xffff_ffffn } : { version: 6, bits }
}

/** An address, or an address and a prefix length (10.0.0.0/8). */
export function parseAddressRange(text: string): AddressRange | null {
  const [base = '', length, ...rest] = text.split('/')
  const address = parseAddress(base)
  if (address === null || rest.length > 0) return null
  if (length === undefined) return { version: address.version, freeBits: 0n, prefix: address.bits }
  if (!/^\d{1,3}$/.test(length)) return null
  const freeBits = (isIPv4(base) ? 32 : 128) - Number(length)
  if (freeBits < 0 || freeBits > (address.version === 4 ? 32 : 128)) return null
  return { version: address.version, freeBits: BigInt(freeBits), prefix: address.bits >> BigInt(freeBits) }
}

export function isInRange(address: Address, range: AddressRange): boolean {
  return address.version === range.version && address.bits >> range.freeBits === range.prefix
}

/** Whether every address of the first range is also one of the second. */
export function isPartOf(inner: AddressRange, outer: AddressRange): boolean {
  if (inner.version !== outer.version || inner.freeBits > outer.freeBits) return false
  return inner.prefix >> (outer.freeBits - inner.freeBits) === outer.prefix
}

export function classOfAddress(address: Address): AddressClass {
  if (isInAny(address, loopback)) return 'loopback'
  if (isInAny(address, forbidden)) return 'forbidden'
  if (isInAny(address, privateUse)) return 'private'
  return address.version === 4 || isInRange(address, globalUnicast) ? 'public' : 'forbidden'
}

const mappedPrefix = 0xffffn

const loopback = ranges('127.0.0.0/8', '::1')
const privateUse = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7')
const globalUnicast = range('2000::/3')

const forbidden = ranges(
  '0.0.0.0/8', // this network; Linux takes 0.0.0.0 for itself
  '100.64.0.0/10', // carrier-grade NAT; a cloud's metadata lives at 100.100.100.200
  '169.254.0.0/16', // link-local; metadata at 169.254.169.254
  '168.63.129.16', // a public number that Azure answers from inside each virtual machine's host
  '192.0.0.0/24', // protocol assignments; metadata at 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relay
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: any IPv4 address can hide in it
  '3fff::/20', // documentation
  'fd00:ec2::/32', // metadata at fd00:ec2::254
  'fd20:ce::/32', // metadata at fd20:ce::254
)

function isInAny(address: Address, list: readonly AddressRange[]): boolean {
  return list.some((one) => isInRange(address, one))
}

function ranges(...texts: string[]): AddressRange[] {
  return texts.map(range)
}

function range(text: string): AddressRange {
  const parsed = parseAddressRange(text)
  if (parsed === null) throw new Error(`${text} is not a range of addresses`)
  return parsed
}

function ipv4Bits(text: string): bigint {
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
}

/** Takes only what isIPv6 takes. */
function ipv6Bits(text: string): bigint {
  const [head = '', tail] = text.split('::')
  const before = groups(head)
  if (tail === undefined) return joined(before)
  const after = groups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0n)
  return joined([...before, ...zeros, ...after])
}

/** Groups of 16 bits; an IPv4 address at the end counts as two. */
function groups(text: string): bigint[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)]
    const bits = ipv4Bits(group)
    return [bits >> 16n, bits & 0xffffn]
  })
}

function joined(parts: readonly bigint[]): bigint {
  return parts.reduce((bits, part) => (bits << 16n) | part, 0n)
}
