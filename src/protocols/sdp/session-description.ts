// SPDX-License-Identifier: Apache-2.0
// Session descriptions (RFC 8866) as far as a telephone needs them: one audio stream of G.711 with digits beside it, offered
// and answered by RFC 3264. Other streams of an offer are refused by port 0; encrypted ones are not taken.
import { isIP } from 'node:net'
import type { Codec } from '../audio/g711.ts'

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
}

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
const mostLines = 500
const directions = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const

/** Session description of a text; null when it is none. */
function parseDescription(text: string): SessionDescription | null {
  const lines = text.split(/\r?\n/).filter((line) => line !== '')
  if (lines[0] !== 'v=0' || lines.length > mostLines) return null
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
  const map = /^rtpmap:(\d{1,3}) ([^/\s]+)\/(\d+)/.exec(value)
  const format = map && section.formats.find(({ payloadType }) => payloadType === Number(map[1]))
  if (!map || !format) return
  format.name = map[2] ?? ''
  format.rate = Number(map[3])
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
}

/** Reads the other side's audio; null if there is nothing in common. */
export function agreedAudio(text: string): AgreedAudio | null {
  const session = parseDescription(text)
  const section = session?.media.find(isTelephoneAudio)
  const format = section?.formats.find(isSpeech)
  const host = section?.host ?? session?.host
  if (!session || !section || !format || !host) return null
  const digits = section.formats.find(({ name, rate }) => name.toLowerCase() === 'telephone-event' && rate === 8_000)
  return {
    codec: format.name.toUpperCase() === 'PCMA' ? 'PCMA' : 'PCMU',
    payloadType: format.payloadType,
    digits: digits?.payloadType ?? null,
    host,
    port: section.port,
    rtcpPort: section.rtcpMux ? section.port : (section.rtcpPort ?? section.port + 1),
    sends: section.direction === 'sendrecv' || section.direction === 'sendonly',
    // The old way to say hold is an address of zeros.
    hears: host !== '0.0.0.0' && (section.direction === 'sendrecv' || section.direction === 'recvonly'),
  }
}

function isSpeech({ name, rate }: MediaFormat): boolean {
  return /^PCM[UA]$/i.test(name) && rate === 8_000
}

function isTelephoneAudio(section: MediaSection): boolean {
  return (
    section.kind === 'audio' &&
    section.port > 0 &&
    /^RTP\/AVPF?$/.test(section.protocol) &&
    section.formats.some(isSpeech)
  )
}

export interface OwnAudio {
  host: string
  port: number
  /** Grows with every description of one call. */
  version: number
  direction?: Direction
}

export function offerAudio(own: OwnAudio): string {
  return describe(own, [audioLines(own, own.port, ['PCMU', 'PCMA'], [0, 8], 101)])
}

/** The answer to an offer, stream by stream; null if no audio of it can be taken. */
export function answerAudio(offer: string, own: OwnAudio): string | null {
  const session = parseDescription(offer)
  const agreed = agreedAudio(offer)
  const chosen = session?.media.find(isTelephoneAudio)
  if (!session || !agreed || !chosen) return null
  const direction = own.direction ?? opposite(chosen.direction)
  const sections = session.media.map((section) =>
    section === chosen
      ? audioLines({ ...own, direction }, own.port, [agreed.codec], [agreed.payloadType], agreed.digits)
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

function audioLines(
  own: OwnAudio,
  port: number,
  codecs: readonly Codec[],
  types: readonly number[],
  digits: number | null,
) {
  const all = digits === null ? types : [...types, digits]
  return [
    `m=audio ${port} RTP/AVP ${all.join(' ')}`,
    ...codecs.map((codec, i) => `a=rtpmap:${types[i]} ${codec}/8000`),
    ...(digits === null ? [] : [`a=rtpmap:${digits} telephone-event/8000`, `a=fmtp:${digits} 0-15`]),
    'a=ptime:20',
    `a=rtcp:${port + 1}`,
    `a=${own.direction ?? 'sendrecv'}`,
  ]
}
