// SPDX-License-Identifier: Apache-2.0
// Where a trunk is (RFC 3263): at its address; at the services (SRV) of its name where no port was told; otherwise at the addresses
// of its name.
import type { SrvRecord } from 'node:dns'
import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import { errorCode } from '../../../kernel/error-code.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { hostLookup } from '../../../platform/outbound.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import type { TrunkRow } from './store.ts'

export const defaultPorts = { udp: 5_060, tcp: 5_060, tls: 5_061 } as const

const services = { udp: '_sip._udp', tcp: '_sip._tcp', tls: '_sips._tcp' } as const
const maxPeers = 4
const maxAddresses = 16
const answerMs = 3_000

export interface Whereabouts {
  /** At least one, the preferred first. */
  readonly peers: readonly [Peer, ...Peer[]]
  /** Addresses that its calls come from, and names by which connections to it are known. */
  readonly hosts: ReadonlySet<string>
}

type Named = Pick<TrunkRow, 'host' | 'port' | 'transport'>

/** Whereabouts as far as they are known without the DNS. */
export function unresolved({ host, port, transport }: Named): Whereabouts {
  return { peers: [{ transport, host, port: port || defaultPorts[transport] }], hosts: new Set([host]) }
}

/** Who tells what a name leads to. */
const usualNames = { services: (name: string) => dns.resolveSrv(name), addresses: hostLookup }

/**
 * Whereabouts by the DNS; those that are known where it does not tell. `sipHost` is the address that this side sends from.
 */
export async function whereaboutsOf(
  row: Named,
  sipHost: string,
  known: Whereabouts | null,
  names = usualNames,
): Promise<Whereabouts | null> {
  const usual = unresolved(row)
  const { host, transport } = row
  if (isIP(host)) return usual
  const places = row.port === 0 ? await placesOf(names.services(`${services[transport]}.${host}`)) : []
  if (places === null && known) return known
  const hosts = new Set(usual.hosts)
  const peers: Peer[] = []
  let isSilent = false
  for (const place of places?.length ? places : usual.peers) {
    // One after the other: each lookup that waits for the DNS keeps one of the few threads that read files too.
    const found = await names.addresses(place.host).catch((error: unknown) => {
      isSilent ||= !isUnknown(error)
      return []
    })
    for (const { address } of found.slice(0, maxAddresses)) hosts.add(address)
    if (found.length === 0) continue
    hosts.add(place.host)
    const { port } = place
    // A connection is opened to the name, and its certificate is for the name of the trunk; datagrams need an address.
    if (transport !== 'udp') peers.push({ transport, host: place.host, port, name: host })
    else
      for (const { address, family } of found)
        if (family === 4 || isIP(sipHost) === 6) peers.push({ transport, host: address, port })
  }
  // Calls go on to be taken from a place that the DNS does not tell of just now.
  if (isSilent) for (const one of known?.hosts ?? []) hosts.add(one)
  const [first, ...others] = peers
  return first ? { peers: [first, ...others.slice(0, maxPeers - 1)], hosts } : known
}

/** Whether the DNS says that there is no such name. */
const isUnknown = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(errorCode(error))

/** Services of a name, in order; null where the DNS does not tell. */
async function placesOf(asked: Promise<SrvRecord[]>): Promise<{ host: string; port: number }[] | null> {
  const told = asked.catch((error: unknown) => (isUnknown(error) ? [] : null))
  const found = await atMost(answerMs, told, null)
  if (found === null) return null
  return found
    .filter((service) => service.name !== '')
    .sort((a, b) => a.priority - b.priority || b.weight - a.weight)
    .slice(0, maxPeers)
    .map((service) => ({ host: service.name, port: service.port }))
}

export function peerKey({ host, port }: Peer): string {
  return `${host} ${port}`
}
