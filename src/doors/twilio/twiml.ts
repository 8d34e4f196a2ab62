// SPDX-License-Identifier: Apache-2.0
// TwiML as actions of the own flow language. Unknown verbs and attributes are passed over.
import { localeFor } from '../../areas/voice/area.ts'
import { internationalNumber } from '../../platform/api/door.ts'
import { type Element, readXml } from '../../protocols/xml.ts'
import { callbackTo } from './forms.ts'

const maxLoop = 50

/** Actions of a document that came from `url`, or stood in a request; null when it is not well formed. */
export function flowOf(document: string, url: string | null): object[] | null {
  const root = readXml(document)
  if (root?.name !== 'Response') return null
  return root.children.flatMap((verb, i) => actionsOf(verb, url, i === 0))
}

/** Texts of a document that answers a text. */
export function repliesIn(document: string): string[] {
  const root = readXml(document)
  if (root?.name !== 'Response') return []
  return root.children
    .filter(({ name }) => name === 'Message' || name === 'Sms')
    .map(({ text, children }) => (children.find(({ name }) => name === 'Body')?.text ?? text).trim())
    .filter((text) => text !== '')
}

function actionsOf(verb: Element, url: string | null, isFirst: boolean): object[] {
  switch (verb.name) {
    case 'Say':
      return sayOf(verb, false)
    case 'Play':
      return playOf(verb, false)
    case 'Pause':
      return [pauseOf(verb)]
    case 'Gather':
      return gatherOf(verb, url)
    case 'Record':
      return recordOf(verb, url)
    case 'Dial':
      return dialOf(verb, url)
    case 'Hangup':
      return [{ action: 'hangup' }]
    case 'Reject':
      return isFirst ? [{ action: 'hangup', reason: verb.attributes.reason === 'busy' ? 'busy' : 'rejected' }] : []
    case 'Redirect':
      return askAt(verb.text.trim(), verb.attributes.method, url, {})
    default:
      return []
  }
}

/** Action that asks an address for the next document. */
function askAt(given: string | undefined, method: string | undefined, url: string | null, payload: object): object[] {
  const address = addressOf(given, url)
  return address === null ? [] : [{ action: 'notify', payload, eventUrl: [callbackTo(address, method)] }]
}

/** Absolute address: a relative one is that of the document; without one, the document itself. */
function addressOf(given: string | undefined, url: string | null): string | null {
  if (!given) return url
  try {
    return url === null ? new URL(given).href : new URL(given, url).href
  } catch {
    return null
  }
}

function sayOf({ attributes, text, children, inside }: Element, bargeIn: boolean): object[] {
  const said = children.length > 0 ? `<speak>${inside}</speak>` : text.trim()
  if (said === '') return []
  const language = localeFor(attributes.language ?? 'en-US') ?? 'en-US'
  return [{ action: 'talk', text: said, language, loop: loopOf(attributes.loop), bargeIn }]
}

function playOf({ attributes, text }: Element, bargeIn: boolean): object[] {
  const address = text.trim()
  return address === '' ? [] : [{ action: 'stream', streamUrl: [address], loop: loopOf(attributes.loop), bargeIn }]
}

function loopOf(given: string | undefined): number {
  return Math.round(between(given, 0, maxLoop, 1))
}

function pauseOf({ attributes }: Element): object {
  return { action: 'wait', timeout: between(attributes.length, 0.1, 7_200, 1) }
}

/** Number of an attribute within its bounds. */
function between(given: string | undefined, least: number, most: number, usual: number): number {
  const value = given === undefined || given === '' ? usual : Number(given)
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : usual
}

/** Prompts that a key interrupts, then the input. Its answer is the next document; without input the next verb follows. */
function gatherOf({ attributes, children }: Element, url: string | null): object[] {
  const prompts = children.flatMap((one) => {
    if (one.name === 'Say') return sayOf(one, true)
    if (one.name === 'Play') return playOf(one, true)
    return one.name === 'Pause' ? [pauseOf(one)] : []
  })
  const input = (attributes.input ?? 'dtmf').split(/\s+/)
  const type = ['dtmf', 'speech'].filter((one) => input.includes(one))
  const address = addressOf(attributes.action, url)
  const words = attributes.actionOnEmptyResult === 'true' ? ['empty'] : []
  const hints = (attributes.hints ?? '')
    .split(',')
    .map((hint) => hint.trim())
    .filter((hint) => hint !== '')
  const timeout = attributes.timeout === 'auto' ? 5 : between(attributes.timeout, 0, 30, 5)
  const language = localeFor(attributes.language ?? 'en-US') ?? 'en-US'
  return [
    ...prompts,
    {
      action: 'input',
      type: type.length > 0 ? type : ['dtmf'],
      maxDigits: Math.round(between(attributes.numDigits, 1, 20, 20)),
      submitOnHash: (attributes.finishOnKey ?? '#') === '#',
      timeOut: timeout,
      ...(address === null ? {} : { eventUrl: [callbackTo(address, attributes.method, 'gather', ...words)] }),
      ...(type.includes('speech')
        ? { speech: { language, context: hints.slice(0, 100), startTimeout: Math.max(1, timeout) } }
        : {}),
    },
  ]
}

function recordOf({ attributes }: Element, url: string | null): object[] {
  const told = addressOf(attributes.recordingStatusCallback, null)
  const record = {
    action: 'record',
    beepStart: attributes.playBeep !== 'false',
    endOnSilence: between(attributes.timeout, 3, 10, 5),
    endOnKey: /^[0-9*#]$/.test(attributes.finishOnKey ?? '') ? attributes.finishOnKey : '#',
    timeOut: between(attributes.maxLength, 3, 7_200, 3_600),
    ...(told === null ? {} : { eventUrl: [callbackTo(told, attributes.recordingStatusCallbackMethod)] }),
    ...(attributes.transcribe === 'true' ? { transcription: {} } : {}),
  }
  return [record, ...askAt(attributes.action, attributes.method, url, { verb: 'record' })]
}

function dialOf({ attributes, children, text }: Element, url: string | null): object[] {
  const [noun] = children
  if (noun?.name === 'Conference') return [conferenceOf(noun)]
  if (noun?.name === 'Queue') return [{ action: 'enqueue', queue_id: noun.text.trim() }]
  const endpoint = endpointsOf(children, text)
  const asked = attributes.action === undefined ? null : addressOf(attributes.action, url)
  if (endpoint.length === 0) return asked === null ? [] : askAt(asked, attributes.method, url, { verb: 'dial' })
  const from = attributes.callerId === undefined ? null : internationalNumber(attributes.callerId)
  return [
    {
      action: 'connect',
      endpoint,
      ...(from === null ? {} : { from }),
      timeout: Math.round(between(attributes.timeout, 5, 120, 30)),
      limit: Math.round(between(attributes.timeLimit, 1, 14_400, 14_400)),
      record: attributes.record !== undefined && attributes.record !== 'do-not-record',
      ...(asked === null ? {} : { eventType: 'synchronous', eventUrl: [callbackTo(asked, attributes.method, 'dial')] }),
    },
  ]
}

function endpointsOf(children: readonly Element[], text: string): object[] {
  const nouns = children.flatMap((noun): object[] => {
    if (noun.name === 'Number') return [{ type: 'phone', number: internationalNumber(noun.text) }]
    return noun.name === 'Sip' ? [{ type: 'sip', uri: noun.text.trim() }] : []
  })
  return (
    children.length === 0 && text.trim() !== '' ? [{ type: 'phone', number: internationalNumber(text) }] : nouns
  ).slice(0, 5)
}

function conferenceOf({ attributes, text }: Element): object {
  return {
    action: 'conversation',
    name: text.trim().slice(0, 64),
    mute: attributes.muted === 'true',
    startOnEnter: attributes.startConferenceOnEnter !== 'false',
    endOnExit: attributes.endConferenceOnExit === 'true',
  }
}
