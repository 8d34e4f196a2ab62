// SPDX-License-Identifier: Apache-2.0
// Voice actions of Africa's Talking (XML) as actions of the own flow language. Unknown verbs and attributes are passed over.
import { localeFor } from '../../areas/voice/area.ts'
import { internationalNumber } from '../../platform/api/door.ts'
import { type Element, readXml } from '../../protocols/xml.ts'

const maxEndpoints = 5
const longestSeconds = 7_200
const verbs =
  'Response|Say|Play|GetDigits|Dial|Record|Enqueue|Dequeue|Conference|Redirect|Reject|speak|break|emphasis|prosody|say-as|sub|p|s'
/** A `<` that begins no tag: the client's builder escapes no text. */
const bareBracket = new RegExp(`<(?!/?(?:${verbs})[\\s/>]|!--|!\\[CDATA\\[|\\?)`, 'g')

/** Actions of a document that came from `url`; null when it is not well formed. */
export function flowOf(document: string, url: string): object[] | null {
  const root = readXml(document.replace(bareBracket, '&lt;'))
  return root?.name === 'Response' ? root.children.flatMap((verb) => actionsOf(verb, url)) : null
}

/** Address in this dialect, with words of its own. */
export function callbackTo(url: string, ...words: readonly string[]): string {
  return `${['africastalking', ...words].join('.')}+${url}`
}

function actionsOf(verb: Element, url: string): object[] {
  switch (verb.name) {
    case 'Say':
      return sayOf(verb, false)
    case 'Play':
      return playOf(verb, false)
    case 'GetDigits':
      return digitsOf(verb, url)
    case 'Record':
      return recordOf(verb, url)
    case 'Dial':
      return dialOf(verb)
    case 'Enqueue':
      return verb.attributes.name ? [{ action: 'enqueue', queue_id: verb.attributes.name }] : []
    case 'Conference':
      return [{ action: 'conversation', name: roomOf(url), startOnEnter: true }]
    case 'Redirect':
      return askAt(verb.text.trim(), url)
    case 'Reject':
      return [{ action: 'hangup', reason: 'rejected' }]
    default:
      return []
  }
}

function sayOf({ attributes: { voice = '' }, text, children, inside }: Element, bargeIn: boolean): object[] {
  const ssml = inside.trim()
  const said = children.length > 0 ? (ssml.startsWith('<speak') ? ssml : `<speak>${ssml}</speak>`) : text.trim()
  if (said === '') return []
  // Voices are `man`, `woman`, or names such as sw-KE-Standard-A.
  const language = localeFor(/^[a-z]{2}-[A-Z]{2}/.exec(voice)?.[0] ?? 'en-US') ?? 'en-US'
  return [{ action: 'talk', text: said, language, bargeIn }]
}

function playOf({ attributes: { url = '' } }: Element, bargeIn: boolean): object[] {
  return url.trim() === '' ? [] : [{ action: 'stream', streamUrl: [url.trim()], bargeIn }]
}

function promptsOf(children: readonly Element[], bargeIn: boolean): object[] {
  return children.flatMap((one) => {
    if (one.name === 'Say') return sayOf(one, bargeIn)
    return one.name === 'Play' ? playOf(one, bargeIn) : []
  })
}

/** Prompts that a key interrupts, then the keys. The answer to them is the next document; without any the next verb follows. */
function digitsOf({ attributes, children }: Element, url: string): object[] {
  const input = {
    action: 'input',
    maxDigits: Math.round(between(attributes.numDigits, 1, 20, 20)),
    submitOnHash: (attributes.finishOnKey ?? '#') === '#',
    timeOut: between(attributes.timeout, 0, 30, 10),
    eventUrl: [callbackTo(addressOf(attributes.callbackUrl, url), 'digits')],
  }
  return [...promptsOf(children, true), input]
}

/** A recording, and the question what to do with it. An empty one has no end of its own: it lasts as long as the call. */
function recordOf({ attributes, children }: Element, url: string): object[] {
  if (children.length === 0 && Object.keys(attributes).length === 0)
    return [{ action: 'record', timeOut: longestSeconds }]
  const record = {
    action: 'record',
    beepStart: attributes.playBeep === 'true',
    endOnKey: /^[0-9*#]$/.test(attributes.finishOnKey ?? '') ? attributes.finishOnKey : '#',
    timeOut: between(attributes.maxLength, 3, longestSeconds, 3_600),
    ...(attributes.timeout === undefined ? {} : { endOnSilence: between(attributes.timeout, 3, 10, 5) }),
  }
  return [...promptsOf(children, false), record, ...askAt(attributes.callbackUrl, url)]
}

function dialOf({ attributes }: Element): object[] {
  const named = (attributes.phoneNumbers ?? '').split(',').map((one) => one.trim())
  const endpoint = named
    .filter((one) => one !== '')
    .slice(0, maxEndpoints)
    .map((one) =>
      one.includes('@')
        ? { type: 'sip', uri: one.replace(/^(sips?:)?/, (scheme) => scheme || 'sip:') }
        : { type: 'phone', number: internationalNumber(one) },
    )
  if (endpoint.length === 0) return []
  const { callerId, ringBackTone, maxDuration } = attributes
  return [
    {
      action: 'connect',
      endpoint,
      ...(callerId ? { from: internationalNumber(callerId) } : {}),
      ...(ringBackTone ? { ringbackTone: ringBackTone } : {}),
      ...(maxDuration ? { limit: Math.round(between(maxDuration, 1, 14_400, longestSeconds)) } : {}),
      record: attributes.record === 'true',
    },
  ]
}

/** Question for the next document: at an address, or where this one came from. */
function askAt(given: string | undefined, url: string): object[] {
  return [{ action: 'notify', payload: {}, eventUrl: [callbackTo(addressOf(given, url))] }]
}

function addressOf(given: string | undefined, url: string): string {
  return given && URL.canParse(given, url) ? new URL(given, url).href : url
}

/** Room of a conference, which has no name in this dialect: one for each address of an application. */
function roomOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`.slice(0, 64)
}

/** Number of an attribute within its bounds. */
function between(given: string | undefined, least: number, most: number, usual: number): number {
  const value = given ? Number(given) : usual
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : usual
}
