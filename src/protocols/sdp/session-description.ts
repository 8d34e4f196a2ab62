// SPDX-License-Identifier: Apache-2.0
// Session descriptions (RFC 8866) as far as a telephone needs them: one audio stream of G.711, G.722 or Opus with digits beside
// it, offered and answered by RFC 3264, encrypted by keys in the description (SDES, RFC 4568) where both sides want it. Other
// streams of an offer are refused by port 0.
import { isIP } from 'node:net'
import { type Codec, clockOf } from '../audio/codec.ts'
import type { OpusWishes } from '../audio/opus.ts'
import { isSrtpKey, type SrtpKey, srtpSuites } from '../rtp/srtp.ts'

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

interface MediaFormat {
  payloadType: number
  name: string
  rate: number
  /** Its attribute `fmtp`. */
  parameters: string
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
/** Codecs without another wish, the best first: inside, audio has 8,000 samples a second, so that G.722 adds nothing to G.711. */
export const usualCodecs: readonly Codec[] = ['PCMU', 'PCMA', 'G722']
/** Payload types of this side's offers. */
const payloadTypes: Readonly<Record<Codec, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 107 }
/** Payload types of digits in this side's offers, by their rate, which is to be that of the audio (RFC 4733 §2.1). */
const digitTypes: Readonly<Record<number, number>> = { 8000: 101, 48000: 102 }
const digitName = 'telephone-event'
/** What this side hears and says in Opus: 8,000 samples a second, and losses are corrected. */
const opusParameters = 'useinbandfec=1;maxplaybackrate=8000;sprop-maxcapturerate=8000'
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
  return { payloadType, name, rate, parameters: '' }
}

function readAttribute(section: MediaSection, value: string, direction: Direction | null): void {
  if (direction) section.direction = direction
  if (value === 'rtcp-mux') section.rtcpMux = true
  const rtcp = /^rtcp:(\d{1,5})/.exec(value)
  if (rtcp) section.rtcpPort = Number(rtcp[1])
  const key = readKey(value)
  if (key && section.crypto.length < 16) section.crypto.push(key)
  const named = /^(rtpmap|fmtp):(\d{1,3}) (.{1,500})$/.exec(value)
  const format = named && section.formats.find(({ payloadType }) => payloadType === Number(named[2]))
  if (!format) return
  const text = named[3] ?? ''
  const map = named[1] === 'rtpmap' ? /^([^/\s]+)\/(\d+)/.exec(text) : null
  if (named[1] === 'fmtp') format.parameters = text
  if (!map) return
  format.name = map[1] ?? ''
  format.rate = Number(map[2])
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
  /** Rate of the durations of digits. */
  digitClock: number
  /** Payload types that the packets of the other side may have. */
  takes: Readonly<Record<number, Codec | 'digits'>>
  /** How it wants Opus; absent for other codecs. */
  opus?: OpusWishes
  host: string
  port: number
  rtcpPort: number
  /** Whether the other side wants to hear, and whether it speaks. */
  sends: boolean
  hears: boolean
  /** Key of what the other side sends; null where audio is not encrypted. */
  crypto: AudioKey | null
}

export interface AudioTerms {
  /** `off` unless told. */
  srtp?: SrtpPolicy
  /** The best first; the two forms of G.711 count as one, of which the other side chooses. */
  codecs?: readonly Codec[]
  /** Whether the description answers an offer of this side, whose payload types hold too. */
  isAnswer?: boolean
}

/** Reads the other side's audio; null if there is nothing in common. */
export function agreedAudio(
  text: string,
  { srtp = 'off', codecs = usualCodecs, isAnswer = false }: AudioTerms = {},
): AgreedAudio | null {
  const session = parseDescription(text)
  const section = session && telephoneAudio(session, srtp, codecs)
  const chosen = section && speechIn(section, codecs)
  const host = section?.host ?? session?.host
  if (!session || !section || !chosen || !host) return null
  const { codec, payloadType, parameters } = chosen
  const digits = digitsFor(section, codec)
  const answered: AgreedAudio['takes'] = {
    ...(digits ? { [digits.payloadType]: 'digits' as const } : {}),
    [payloadType]: codec,
  }
  return {
    codec,
    payloadType,
    digits: digits?.payloadType ?? null,
    digitClock: digits?.rate ?? 8_000,
    takes: isAnswer ? { ...typesIn(section, codecs), ...typesOf(codecs) } : answered,
    ...(codec === 'opus' ? { opus: opusWishes(parameters) } : {}),
    host,
    port: section.port,
    rtcpPort: section.rtcpMux ? section.port : (section.rtcpPort ?? section.port + 1),
    sends: section.direction === 'sendrecv' || section.direction === 'sendonly',
    // The old way to say hold is an address of zeros.
    hears: host !== '0.0.0.0' && (section.direction === 'sendrecv' || section.direction === 'recvonly'),
    crypto: srtp === 'off' ? null : (section.crypto[0] ?? null),
  }
}

interface Speech {
  codec: Codec
  payloadType: number
  parameters: string
}

/** The other side's first format of the best codec that both have. */
function speechIn({ formats }: MediaSection, codecs: readonly Codec[]): Speech | null {
  const known = formats.flatMap(({ payloadType, parameters, ...format }) => {
    const codec = codecOf(format, codecs)
    return codec ? [{ codec, payloadType, parameters }] : []
  })
  const isG711 = (codec: Codec) => codec === 'PCMU' || codec === 'PCMA'
  const rank = ({ codec }: Speech) => (isG711(codec) ? codecs.findIndex(isG711) : codecs.indexOf(codec))
  return known.sort((a, b) => rank(a) - rank(b))[0] ?? null
}

function codecOf({ name, rate }: Pick<MediaFormat, 'name' | 'rate'>, codecs: readonly Codec[]): Codec | null {
  return codecs.find((codec) => codec.toLowerCase() === name.toLowerCase() && rate === clockOf(codec)) ?? null
}

/** Digits of the rate of a codec, or of 8,000 where there are none. */
function digitsFor({ formats }: MediaSection, codec: Codec): MediaFormat | null {
  const all = formats.filter(({ name }) => name.toLowerCase() === digitName)
  return all.find(({ rate }) => rate === clockOf(codec)) ?? all.find(({ rate }) => rate === 8_000) ?? null
}

/** Payload types of everything in common that a description has. */
function typesIn({ formats }: MediaSection, codecs: readonly Codec[]): AgreedAudio['takes'] {
  const all = formats.flatMap(({ payloadType, ...format }) => {
    const kind = format.name.toLowerCase() === digitName ? ('digits' as const) : codecOf(format, codecs)
    return kind ? [[payloadType, kind] as const] : []
  })
  return Object.fromEntries(all)
}

/** Payload types of an offer of this side. */
function typesOf(codecs: readonly Codec[]): AgreedAudio['takes'] {
  const digits = digitClocksOf(codecs).map((clock) => [digitTypes[clock], 'digits' as const])
  return Object.fromEntries([...digits, ...codecs.map((codec) => [payloadTypes[codec], codec])])
}

function digitClocksOf(codecs: readonly Codec[]): number[] {
  return [...new Set(codecs.map(clockOf))]
}

/** Wishes of a receiver of Opus (RFC 7587 §6.1), as far as they are met: this side sends one channel and 8,000 samples anyway. */
function opusWishes(parameters: string): OpusWishes {
  const told = new Map(parameters.split(';').map((each) => [each.split('=')[0]?.trim(), Number(each.split('=')[1])]))
  return {
    correctsLosses: told.get('useinbandfec') === 1,
    maxBitrate: told.get('maxaveragebitrate') || null,
    isConstant: told.get('cbr') === 1,
  }
}

/** The stream that is taken: one that can be encrypted before one that cannot. */
function telephoneAudio(
  { media }: SessionDescription,
  srtp: SrtpPolicy,
  codecs: readonly Codec[],
): MediaSection | null {
  const audio = media.filter(
    (section) =>
      section.kind === 'audio' && section.port > 0 && isAllowed(section, srtp) && speechIn(section, codecs) !== null,
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
  /** The best first; the usual ones unless told. */
  codecs?: readonly Codec[]
}

export function offerAudio(own: OwnAudio): string {
  const { codecs = usualCodecs } = own
  const formats = codecs.map((codec) => ({ codec, payloadType: payloadTypes[codec] }))
  const digits = digitClocksOf(codecs).map((clock) => ({ clock, payloadType: digitTypes[clock] ?? 0 }))
  const { policy, key } = own.srtp ?? { policy: 'off', key: null }
  const protocol = policy === 'required' ? 'RTP/SAVP' : 'RTP/AVP'
  const crypto = policy === 'off' || !key ? null : { ...key, tag: 1 }
  return describe(own, [audioLines(own, { protocol, formats, digits, crypto })])
}

/** The answer to an offer, stream by stream; null if no audio of it can be taken. */
export function answerAudio(offer: string, own: OwnAudio): string | null {
  const { codecs = usualCodecs } = own
  const srtp = own.srtp?.policy ?? 'off'
  const session = parseDescription(offer)
  const agreed = agreedAudio(offer, { srtp, codecs })
  const chosen = session && telephoneAudio(session, srtp, codecs)
  if (!session || !agreed || !chosen) return null
  const direction = own.direction ?? opposite(chosen.direction)
  const { protocol } = chosen
  const { crypto: theirs } = agreed
  const digits = agreed.digits === null ? [] : [{ clock: agreed.digitClock, payloadType: agreed.digits }]
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
  digits: readonly { clock: number; payloadType: number }[]
  crypto: AudioKey | null
}

function audioLines({ port, direction }: OwnAudio, { protocol, formats, digits, crypto }: Stream): string[] {
  const types = [...formats, ...digits].map(({ payloadType }) => payloadType)
  return [
    `m=audio ${port} ${protocol} ${types.join(' ')}`,
    ...formats.flatMap(({ codec, payloadType }) =>
      codec === 'opus'
        ? [`a=rtpmap:${payloadType} opus/48000/2`, `a=fmtp:${payloadType} ${opusParameters}`]
        : [`a=rtpmap:${payloadType} ${codec}/8000`],
    ),
    ...digits.flatMap(({ clock, payloadType }) => [
      `a=rtpmap:${payloadType} ${digitName}/${clock}`,
      `a=fmtp:${payloadType} 0-15`,
    ]),
    ...(crypto ? [`a=crypto:${crypto.tag} ${crypto.suite} inline:${crypto.key}`] : []),
    'a=ptime:20',
    `a=rtcp:${port + 1}`,
    `a=${direction ?? 'sendrecv'}`,
  ]
}
