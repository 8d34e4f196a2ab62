// SPDX-License-Identifier: Apache-2.0
// Session descriptions (RFC 8866) as far as a telephone needs them: one audio stream of G.711 or G.722 with digits beside it,
// offered and answered by RFC 3264, encrypted by keys in the description (SDES, RFC 4568) where both sides want it. Other
// streams of an offer are refused by port 0.
import { isIP } from 'node:net'
import type { Codec } from '../audio/codec.ts'
import { isSrtpKey, type SrtpKey, srtpSuites } from '../rtp/srtp.ts'

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

interface MediaFormat {
  payloadType: number
  name: string
  rate: number
}

interface MediaSection {
  kind: string
  port: number
  protocol: string
  formats: MediaFormat[]
  direction: Direction
  host: string | null
  rtcpPort: number | null
  rtcpMux: boolean
  /** Keys that can be used, in order of preference. */
  crypto: AudioKey[]
}

/** Key of the other side, and the number of its line. */
interface AudioKey extends SrtpKey {
  tag: number
}

/** Whether audio is encrypted: never, where the other side can, or always. */
export const srtpPolicies = ['off', 'optional', 'required'] as const
export type SrtpPolicy = (typeof srtpPolicies)[number]

interface SessionDescription {
  host: string | null
  version: string
  media: MediaSection[]
}

const statics: Readonly<Record<number, [string, number]>> = {
  0: ['PCMU', 8_000],
  8: ['PCMA', 8_000],
  9: ['G722', 8_000],
}
/** Codecs that are taken, the best first: inside, audio has 8,000 samples a second, so that G.722 adds nothing to G.711. */
const codecs: readonly (readonly Codec[])[] = [['PCMU', 'PCMA'], ['G722']]
const payloadTypes: Readonly<Record<Codec, number>> = { PCMU: 0, PCMA: 8, G722: 9 }
const maxLines = 500
const directions = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const

/** Session description of a text; null when it is none. */
function parseDescription(text: string): SessionDescription | null {
  const lines = text.split(/\r?\n/).filter((line) => line !== '')
  if (lines[0] !== 'v=0' || lines.length > maxLines) return null
  const session: SessionDescription = { host: null, version: '0', media: [] }
  let direction: Direction = 'sendrecv'
  for (const line of lines) {
    const value = line.slice(2)
    if (line[1] !== '=') return null
    const section = session.media.at(-1) ?? null
    if (line[0] === 'o') session.version = value.split(' ')[2] ?? '0'
    else if (line[0] === 'c') {
      const host = readConnection(value)
      if (section) section.host = host
      else session.host = host
    } else if (line[0] === 'm') {
      const media = readMedia(value, direction)
      if (!media || session.media.length >= 16) return null
      session.media.push(media)
    } else if (line[0] === 'a') {
      const named = directions.find((known) => known === value)
      if (named && !section) direction = named
      else if (section) readAttribute(section, value, named ?? null)
    }
  }
  return session
}

function readConnection(value: string): string | null {
  const [network, , address = ''] = value.split(' ')
  const host = address.split('/')[0] ?? ''
  return network === 'IN' && isIP(host) ? host : null
}

function readMedia(value: string, direction: Direction): MediaSection | null {
  const found = /^(\S+) (\d{1,5})(?:\/\d+)? (\S+) (.+)$/.exec(value)
  const port = Number(found?.[2])
  if (!found || port > 65_535) return null
  const types = (found[4] ?? '').trim().split(/\s+/).slice(0, 64)
  const isRtp = (found[3] ?? '').startsWith('RTP/')
  const formats = isRtp
    ? types.filter((type) => /^\d{1,3}$/.test(type) && Number(type) < 128).map((type) => knownFormat(Number(type)))
    : []
  return {
    kind: found[1] ?? '',
    port,
    protocol: found[3] ?? '',
    formats,
    direction,
    host: null,
    rtcpPort: null,
    rtcpMux: false,
    crypto: [],
  }
}

function knownFormat(payloadType: number): MediaFormat {
  const [name, rate] = statics[payloadType] ?? ['', 0]
  return { payloadType, name, rate }
}

function readAttribute(section: MediaSection, value: string, direction: Direction | null): void {
  if (direction) section.direction = direction
  if (value === 'rtcp-mux') section.rtcpMux = true
  const rtcp = /^rtcp:(\d{1,5})/.exec(value)
  if (rtcp) section.rtcpPort = Number(rtcp[1])
  const key = readKey(value)
  if (key && section.crypto.length < 16) section.crypto.push(key)
  const map = /^rtpmap:(\d{1,3}) ([^/\s]+)\/(\d+)/.exec(value)
  const format = map && section.formats.find(({ payloadType }) => payloadType === Number(map[1]))
  if (!map || !format) return
  format.name = map[2] ?? ''
  format.rate = Number(map[3])
}

/** Key of an attribute `crypto`; null for a suite or a parameter that is not known, and for keys that are changed on the way. */
function readKey(value: string): AudioKey | null {
  const found = /^crypto:(\d{1,9}) (\S+) inline:([^|\s]+)(?:\|(?:2\^)?\d+)?((?: WSH=\d+)?)\s*$/.exec(value)
  const suite = srtpSuites.find((known) => known === found?.[2])
  const key = found?.[3] ?? ''
  return suite && isSrtpKey(key) ? { tag: Number(found?.[1]), suite, key } : null
}

/** Agreement of two sides, seen from one of them. */
export interface AgreedAudio {
  codec: Codec
  payloadType: number
  /** Payload type of digits (RFC 4733); null if the other side takes none. */
  digits: number | null
  host: string
  port: number
  rtcpPort: number
  /** Whether the other side wants to hear, and whether it speaks. */
  sends: boolean
  hears: boolean
  /** Key of what the other side sends; null where audio is not encrypted. */
  crypto: AudioKey | null
}

/** Reads the other side's audio; null if there is nothing in common. */
export function agreedAudio(text: string, srtp: SrtpPolicy = 'off'): AgreedAudio | null {
  const session = parseDescription(text)
  const section = session && telephoneAudio(session, srtp)
  const chosen = section && speechIn(section)
  const host = section?.host ?? session?.host
  if (!session || !section || !chosen || !host) return null
  const digits = section.formats.find(({ name, rate }) => name.toLowerCase() === 'telephone-event' && rate === 8_000)
  return {
    codec: chosen.codec,
    payloadType: chosen.payloadType,
    digits: digits?.payloadType ?? null,
    host,
    port: section.port,
    rtcpPort: section.rtcpMux ? section.port : (section.rtcpPort ?? section.port + 1),
    sends: section.direction === 'sendrecv' || section.direction === 'sendonly',
    // The old way to say hold is an address of zeros.
    hears: host !== '0.0.0.0' && (section.direction === 'sendrecv' || section.direction === 'recvonly'),
    crypto: srtp === 'off' ? null : (section.crypto[0] ?? null),
  }
}

/** The other side's first format of the best codecs that both have. */
function speechIn({ formats }: MediaSection): { codec: Codec; payloadType: number } | null {
  for (const group of codecs)
    for (const { name, rate, payloadType } of formats) {
      const codec = rate === 8_000 ? group.find((known) => known === name.toUpperCase()) : undefined
      if (codec) return { codec, payloadType }
    }
  return null
}

/** The stream that is taken: one that can be encrypted before one that cannot. */
function telephoneAudio({ media }: SessionDescription, srtp: SrtpPolicy): MediaSection | null {
  const audio = media.filter(
    (section) => section.kind === 'audio' && section.port > 0 && isAllowed(section, srtp) && speechIn(section) !== null,
  )
  return (srtp === 'off' ? null : audio.find(({ crypto }) => crypto.length > 0)) ?? audio[0] ?? null
}

function isAllowed({ protocol, crypto }: MediaSection, srtp: SrtpPolicy): boolean {
  const hasKey = srtp !== 'off' && crypto.length > 0
  // Phones that would like to encrypt give their key in a stream that need not be encrypted.
  if (/^RTP\/AVPF?$/.test(protocol)) return srtp !== 'required' || hasKey
  return /^RTP\/SAVPF?$/.test(protocol) && hasKey
}

export interface OwnAudio {
  host: string
  port: number
  /** Grows with every description of one call. */
  version: number
  direction?: Direction
  /** Whether audio is to be encrypted, and the key of what this side sends then; absent never encrypts. */
  srtp?: { policy: SrtpPolicy; key: SrtpKey }
}

export function offerAudio(own: OwnAudio): string {
  const formats = codecs.flat().map((codec) => ({ codec, payloadType: payloadTypes[codec] }))
  const { policy, key } = own.srtp ?? { policy: 'off', key: null }
  const protocol = policy === 'required' ? 'RTP/SAVP' : 'RTP/AVP'
  const crypto = policy === 'off' || !key ? null : { ...key, tag: 1 }
  return describe(own, [audioLines(own, { protocol, formats, digits: 101, crypto })])
}

/** The answer to an offer, stream by stream; null if no audio of it can be taken. */
export function answerAudio(offer: string, own: OwnAudio): string | null {
  const policy = own.srtp?.policy ?? 'off'
  const session = parseDescription(offer)
  const agreed = agreedAudio(offer, policy)
  const chosen = session && telephoneAudio(session, policy)
  if (!session || !agreed || !chosen) return null
  const direction = own.direction ?? opposite(chosen.direction)
  const { protocol } = chosen
  const { digits, crypto: theirs } = agreed
  const crypto = theirs && own.srtp ? { ...theirs, key: own.srtp.key.key } : null
  const sections = session.media.map((section) =>
    section === chosen
      ? audioLines({ ...own, direction }, { protocol, formats: [agreed], digits, crypto })
      : [`m=${section.kind} 0 ${section.protocol} ${section.formats[0]?.payloadType ?? 0}`],
  )
  return describe(own, sections)
}

function opposite(direction: Direction): Direction {
  return direction === 'sendonly' ? 'recvonly' : direction === 'recvonly' ? 'sendonly' : direction
}

function describe({ host, version }: OwnAudio, sections: readonly string[][]): string {
  const family = isIP(host) === 6 ? 'IP6' : 'IP4'
  const lines = ['v=0', `o=pamoja 1 ${version} IN ${family} ${host}`, 's=-', `c=IN ${family} ${host}`, 't=0 0']
  return `${[...lines, ...sections.flat()].join('\r\n')}\r\n`
}

interface Stream {
  protocol: string
  formats: readonly { codec: Codec; payloadType: number }[]
  digits: number | null
  crypto: AudioKey | null
}

function audioLines({ port, direction }: OwnAudio, { protocol, formats, digits, crypto }: Stream): string[] {
  const types = formats.map(({ payloadType }) => payloadType)
  const all = digits === null ? types : [...types, digits]
  return [
    `m=audio ${port} ${protocol} ${all.join(' ')}`,
    ...formats.map(({ codec, payloadType }) => `a=rtpmap:${payloadType} ${codec}/8000`),
    ...(digits === null ? [] : [`a=rtpmap:${digits} telephone-event/8000`, `a=fmtp:${digits} 0-15`]),
    ...(crypto ? [`a=crypto:${crypto.tag} ${crypto.suite} inline:${crypto.key}`] : []),
    'a=ptime:20',
    `a=rtcp:${port + 1}`,
    `a=${direction ?? 'sendrecv'}`,
  ]
}
