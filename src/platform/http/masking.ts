// SPDX-License-Identifier: Apache-2.0
// Masking of personal data in replies to members without permission to see it: numbers, addresses, names and texts are
// masked by field name. Ids, statuses, amounts and times stay.

export const masked = '***'

/** Field names of message texts and wire data: removed. */
const words =
  /^(message|text|body|html|subject|caption|transcript|request|answer|request_body|response_body|payload|variables|metadata|custom_data|input|response|pdus|before|after|description|reference|note)$/
/** Field names that identify or reach a person. */
const persons =
  /^(to|from|cc|bcc|phone|msisdn|number|caller|callee|recipient|recipients|sender|email|account_number|account_name|iban|first_name|last_name|middle_name|full_name|holder|holder_name|date_of_birth|document_number|id_number|address|city|ip|user_agent|profile_name|contact|target)$/
/** Objects of a person, whose `name` is personal. */
const people = /^(customer|payer|recipient|contact|person|holder|user)$/
/** Alphanumeric senders, ids and document numbers, which belong to the account. */
const ownWord = /^(?![a-z]+_)[A-Za-z][A-Za-z0-9 ./_-]{1,23}$/
const ownId = /^[a-z]{2,5}_[0-9a-z]{26}$/
const phone = /^\+\d{7,}$/

/** Copy of a value with personal data masked. */
export function maskPersonalData(value: unknown, within = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'string' ? one : maskPersonalData(one, within)))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fieldOf(name, one, within)]))
}

function fieldOf(name: string, value: unknown, within: string): unknown {
  if (words.test(name)) return withoutWords(value)
  if (persons.test(name) || (name === 'name' && people.test(within))) return maskValue(value, name)
  return maskPersonalData(value, name)
}

function withoutWords(value: unknown): unknown {
  if (typeof value === 'string') return masked
  if (Array.isArray(value)) return []
  return typeof value === 'object' && value !== null ? {} : value
}

/** Mask a value; a phone number keeps its country code and end. */
function maskValue(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((one) => maskValue(one, name))
  if (typeof value !== 'string') return maskPersonalData(value, name)
  if (phone.test(value)) return `${value.slice(0, 4)}${masked}${value.slice(-2)}`
  const isOwn = ownId.test(value) || (/^(from|sender|number)$/.test(name) && ownWord.test(value))
  return isOwn ? value : masked
}
