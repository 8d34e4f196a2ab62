// SPDX-License-Identifier: Apache-2.0
// Masking of personal data in replies to members without permission to see it: numbers, addresses, names, texts and links
// to pages and files of people are masked by field name, and a value that is a number or an address under any name. Ids,
// statuses, amounts and times stay.

export const masked = '***'

/** Field names of message texts and wire data: removed. */
const words =
  /^(message|text|body|html|subject|caption|transcript|request|answer|request_body|response_body|payload|variables|metadata|custom_data|attributes|input|response|pdus|before|after|description|reference|note|notes|app_input|output|screen|content|contacts|location|button|reaction|interactive|detail|details|lines|hint|filename)$/
/** Field names that identify or reach a person. */
const persons =
  /^(to|from|cc|bcc|phone|msisdn|number|caller|callee|recipient|recipients|sender|email|account_number|account_name|iban|first_name|last_name|middle_name|full_name|holder|holder_name|date_of_birth|document_number|id_number|address|city|ip|user_agent|profile_name|contact|target|national_format|personal_number|nationality|sex|expiry_date|tax_number|recipient_id|wa_id)$/
/** Links that show a person's page or file to whoever has them. */
const links = /^(hosted_url|pdf_url|receipt_url|file_url|redirect_url|short_url)$/
/** Objects of a person, whose `name` is personal. */
const people = /^(customer|payer|recipient|contact|person|holder|user|profile)$/
/** Objects whose `url` is a person's: links in a text, a transcription. */
const linked = /^(links|transcription)$/
/** Fields of which an object is about a number or a value that somebody wrote a note on: opt-outs, consents, blocklists. */
const notedBy = ['phone', 'hint', 'value', 'purpose'] as const
const notes = /^(reason|source)$/
/** Sources that are no note. */
const sources = /^(keyword|api|import|carrier|sandbox|console)$/
/** Objects whose `value` is the account's own: DNS records. */
const ownValues = /^(records|dns_records)$/
/** Alphanumeric senders, ids and document numbers, which belong to the account. */
const ownWord = /^(?![a-z]+_)[A-Za-z][A-Za-z0-9 ./_-]{1,23}$/
const ownId = /^[a-z]{2,5}_[0-9a-z]{26}$/
const phone = /^\+\d{7,}$/
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
/** Parts of a path that name a person: a phone number, an address. */
const inPaths = /[^/?&=]*(?:@|%40|\d{7,})[^/?&=]*/gi

/** Copy of a value with personal data masked. */
export function maskPersonalData(value: unknown, within = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => maskPersonalData(one, within))
  if (typeof value === 'string') return phone.test(value) || email.test(value) ? maskValue(value, within) : value
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const has = (name: string) => Object.hasOwn(value, name)
  const inside = kindOf(has) ?? within
  const isNoted = !has('status') && notedBy.some(has)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isNoted && isNote(name, one) ? masked : fieldOf(name, one, inside),
    ]),
  )
}

/** Objects that are known by their fields, wherever they are. */
function kindOf(has: (name: string) => boolean): string | null {
  if ((has('customer_id') && has('name')) || (has('phones') && has('emails'))) return 'customer'
  if (has('direction') && has('title')) return 'entry'
  if (has('kind') && has('label')) return 'found'
  return has('payment_link_id') ? 'links' : null
}

function isNote(name: string, value: unknown): boolean {
  return notes.test(name) && typeof value === 'string' && !sources.test(value)
}

function fieldOf(name: string, value: unknown, within: string): unknown {
  if (words.test(name)) return withoutWords(value)
  if (name === 'path' && typeof value === 'string') return value.replace(inPaths, (part) => maskedPart(part))
  if (isPersonal(name, within)) return maskValue(value, name)
  return maskPersonalData(value, name)
}

function isPersonal(name: string, within: string): boolean {
  if (name === 'name') return people.test(within)
  if (name === 'url') return linked.test(within)
  if (name === 'title') return within === 'entry'
  if (name === 'label') return within === 'found'
  if (name === 'value') return !ownValues.test(within)
  return persons.test(name) || links.test(name)
}

/** Ids have many digits too, and stay. */
function maskedPart(part: string): string {
  return ownId.test(part) ? part : masked
}

function withoutWords(value: unknown): unknown {
  if (typeof value === 'string') return masked
  if (Array.isArray(value)) return []
  return typeof value === 'object' && value !== null ? {} : value
}

/** Masks a value; a phone number keeps its country code and end. */
function maskValue(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((one) => maskValue(one, name))
  if (typeof value !== 'string') return maskPersonalData(value, name)
  if (phone.test(value)) return `${value.slice(0, 4)}${masked}${value.slice(-2)}`
  const isOwn = ownId.test(value) || (/^(from|sender|number)$/.test(name) && ownWord.test(value))
  return isOwn ? value : masked
}
