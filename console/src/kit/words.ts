// SPDX-License-Identifier: Apache-2.0
// Times, amounts and states as people read them.
import { currentLanguage, t } from '../words.ts'

let timeZone = 'UTC'
let ahead = 0

/** Digits are the ones that ids and amounts are written with everywhere else. */
export function locale(): string {
  const language = currentLanguage()
  return language === 'en' ? 'en-GB' : `${language}-u-nu-latn`
}

/** All times are told in the zone of the account. */
export function tellTimesIn(zone: string): void {
  timeZone = zone
}

/** How far the test clock is ahead, in milliseconds. */
export function tellTimesAhead(ms: number): void {
  ahead = ms
}

/** Now, by the test clock in test. */
export const nowMs = (): number => Date.now() + ahead

const formats = new Map<string, Intl.DateTimeFormat>()

function told(text: string | number, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options) + timeZone + locale()
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale(), { timeZone, ...options })
  formats.set(key, format)
  return format.format(new Date(text))
}

const yearOf = (ms: string | number): string => told(ms, { year: 'numeric' })
/** The year where it is not this one. */
const yearIf = (text: string | number): Intl.DateTimeFormatOptions =>
  yearOf(text) === yearOf(nowMs()) ? {} : { year: 'numeric' }

/** Day and time, exact to the second. */
export function moment(text: string | null): string {
  if (text === null) return '–'
  return told(text, {
    ...{ day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    ...yearIf(text),
    timeZoneName: 'short',
  })
}

/** Day and time as a list tells them. */
export function shortMoment(text: string): string {
  return told(text, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', ...yearIf(text) })
}

export const clockTime = (text: string): string => told(text, { hour: '2-digit', minute: '2-digit' })
export const day = (text: string): string =>
  told(text, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
/** A date without a time, such as when an invoice is due. */
export const date = (text: string): string => {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  return told(text, {
    day: 'numeric',
    month: 'short',
    ...yearIf(text),
    ...(isDay ? { timeZone: 'UTC' } : {}),
  })
}
/** A text with its days, such as `2026-03-01`, as dates. */
export const withDates = (text: string): string =>
  text.replaceAll(/\b\d{4}-\d\d-\d\d\b/g, (day) => (Number.isNaN(Date.parse(day)) ? day : date(day)))
/** `2026-12-28`, by the account's own day. */
export function isoDay(ms: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date(ms))
}

const minuteMs = 60_000

/** `2 min ago` below an hour, otherwise the day and the time. */
export function ago(text: string | null): string {
  if (text === null) return '–'
  const minutes = Math.floor((nowMs() - new Date(text).getTime()) / minuteMs)
  if (minutes < 0 || minutes >= 60) return shortMoment(text)
  return minutes === 0 ? t('just now') : t('{count} min ago', { count: minutes })
}

export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat(locale(), { style: 'currency', currency, currencyDisplay: 'code' }).format(amount)
}

export function count(number: number): string {
  return new Intl.NumberFormat(locale()).format(number)
}

/** Name of a country by its two letters, such as Kenya of KE. */
export const country = (code: string): string => nameOf('region', code)
/** Name of a language by its tag, such as English (Kenya) of en-KE. */
export const language = (tag: string): string => nameOf('language', tag)

function nameOf(type: 'region' | 'language', code: string): string {
  try {
    return new Intl.DisplayNames(locale(), { type }).of(code) ?? code
  } catch {
    return code
  }
}

/** `1.2k`, for the axis of a chart. */
export function roughly(number: number): string {
  return new Intl.NumberFormat(locale(), { notation: 'compact', maximumFractionDigits: 1 }).format(number)
}

/** Share of 1 as a percentage. */
export function percent(share: number, digits = 1): string {
  return new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: digits }).format(share)
}

/** Names that are no words to be put together from their parts. */
const known: Readonly<Record<string, string>> = {
  ...{
    sms: 'SMS',
    ussd: 'USSD',
    mpesa: 'M-Pesa',
    mtn_momo: 'MTN MoMo',
    airtel: 'Airtel Money',
    airtel_money: 'Airtel Money',
  },
  ...{ apiKeys: 'Keys', auditLog: 'Audit log', callcenter: 'Call centre', none: 'No such route', topup: 'Top-up' },
  ...{ usage_sms: 'Texts', usage_email: 'Emails', usage_voice: 'Calls', usage_ussd: 'USSD', usage_messenger: 'Chats' },
  ...{
    usage_identity: 'Identity checks',
    acquirer: 'Card acquirer',
    mobile_money: 'Mobile money',
    bank: 'Bank transfer',
  },
  ...{ requires_action: 'Waiting for the payer', past_due: 'Past due', no_answer: 'No answer', url: 'URL' },
  ...{
    tls: 'TLS',
    tls_ca: 'TLS authority',
    base_url: 'Base URL',
    allowed_ips: 'Allowed addresses',
    smpp: 'SMPP',
    http: 'HTTP',
  },
  ...{
    ...{
      api: 'API',
      smtp: 'SMTP',
      sip: 'SIP',
      webrtc: 'WebRTC',
      mrz: 'MRZ',
      mnp: 'Number portability',
      otp: 'One-time code',
    },
    ...{ ivr: 'Voice menu', ussd_session: 'USSD session', require_3ds: 'Require 3-D Secure', nin_slip: 'NIN slip' },
    ...{ dkim: 'DKIM', spf: 'SPF', dmarc: 'DMARC', udh: 'UDH', gsm: 'GSM', srtp: 'SRTP', e164: 'E.164' },
    ...{ mrz_check_digits: 'MRZ check digits', drivers_license: 'Driving licence', refugee_id: 'Refugee card' },
    udp: 'UDP',
    ip: 'IP address',
    ip_range: 'IP range',
    tcp: 'TCP',
    orange_money: 'Orange Money',
    vodacom_mpesa: 'Vodacom M-Pesa',
    ecocash: 'EcoCash',
  },
}

/** `mpesa` -> `M-Pesa`; a text that is no code of ours as it is. */
export function named(text: string): string {
  const name = known[text]
  return name === undefined ? text : t(name)
}

/** `requires_action` -> `Waiting for the payer`, `late_fee` -> `Late fee`. */
export function words(state: string): string {
  const name = known[state]
  if (name !== undefined) return t(name)
  const text = state.replaceAll('_', ' ')
  return t(text.charAt(0).toUpperCase() + text.slice(1))
}

/** What the API gives for the number of every caller who withholds it. */
export const withheldNumber = '+10000000000'

/** Number of the other side of a call, in words where it is withheld. */
export function numberText(phone: string): string {
  return phone === withheldNumber ? t('Number withheld') : phone
}

/** An id keeps its kind and its end, which is where ids differ. */
export function shortId(id: string): string {
  return id.length > 18 ? `${id.slice(0, id.indexOf('_') + 5)}…${id.slice(-4)}` : id
}

/** First moment of a day of the account, as the API takes it; of the day after with `isEnd`, less a millisecond. */
export function momentOfDay(isoDayText: string, isEnd = false): string {
  return momentAt(`${isoDayText}T${isEnd ? '23:59:59.999' : '00:00:00.000'}`)
}

/** A day and a time of the account, such as `2026-12-01T08:30`, as the API takes it. */
export function momentAt(text: string): string {
  const utcMs = Date.parse(`${text}Z`)
  if (Number.isNaN(utcMs)) return ''
  const zone = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).format(new Date(utcMs))
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(zone) ?? []
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * minuteMs * (sign === '-' ? -1 : 1)
  return new Date(utcMs - offsetMs).toISOString()
}

/** A moment as a field for one holds it: `2026-12-01T08:30`, by the account's own clock. */
export function typedMoment(text: string): string {
  const told = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return told.format(new Date(text)).replace(' ', 'T')
}
