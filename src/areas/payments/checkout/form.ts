// SPDX-License-Identifier: Apache-2.0
// Forms of the hosted checkout: a payment from a phone, into a bank account, or by card. A card is in the memory of the
// request and on the wire to the acquirer, as with every payment.
import { AppError } from '../../../kernel/errors.ts'
import { writtenIn } from '../../../kernel/phone.ts'
import { formOf, type HookAnswer, type HookCall } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { notice, page } from '../../../platform/web/shell.ts'
import { pageTexts } from '../../../platform/web/texts.ts'
import { type WaysToPay, waysToPay } from '../methods/ways.ts'
import { failureSentence } from '../providers/failure-texts.ts'
import type { NewPayment } from '../records/input.ts'
import type { Problem } from './page.ts'
import { problemTexts } from './texts.ts'

/** Bytes that a form may have. */
export const maxFormBytes = 4 * 1_024
/** Characters of a mistyped phone number that are shown again. */
const maxPhoneCharacters = 24

/** The fields of a payment that a form asks for. */
export type Wanted = Pick<NewPayment, 'phone' | 'provider' | 'card'> & { readonly method: Method }
type Method = 'mobile_money' | 'bank_transfer' | 'card'

/** Ways to pay an amount now, of those that are wanted; null is all of them. */
export function waysFor(
  app: App,
  tenant: Tenant,
  { currency, micros, methods }: { currency: string; micros: bigint; methods: readonly string[] | null },
): WaysToPay {
  return waysToPay(app, tenant, { currency, micros }, (method) => methods === null || methods.includes(method))
}

/** Fields of a form. Its buffer is cleared, because it may hold a card. */
export function formIn({ bytes, headers }: HookCall<unknown>): URLSearchParams {
  if (bytes.length > 0 && !/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? ''))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'the body is not a form')
  const form = formOf({ bytes })
  bytes.fill(0)
  return form
}

export function wantedIn(form: URLSearchParams, ways: WaysToPay): Wanted {
  switch (form.get('method')) {
    case 'bank_transfer':
      if (!ways.bank) throw new AppError('UNSUPPORTED_METHOD', 'bank transfers are not accepted here')
      return { method: 'bank_transfer' }
    case 'card':
      if (!ways.card) throw new AppError('UNSUPPORTED_METHOD', 'cards are not accepted here')
      return { method: 'card', card: cardIn(form) }
    default:
      return { method: 'mobile_money', ...phoneIn(form, ways) }
  }
}

function phoneIn(form: URLSearchParams, ways: WaysToPay): Pick<Wanted, 'phone' | 'provider'> {
  const countries = ways.phones.map(({ country }) => country)
  const phone = writtenIn(form.get('phone') ?? '', countries)
  if (phone === null) throw new AppError('INVALID_PHONE', 'phone is not a mobile-money number')
  const provider = form.get('provider') ?? ''
  return { phone, ...(provider === '' ? {} : { provider: provider.slice(0, 40) }) }
}

/** The card as people write it into the form. What it is is not repeated in any answer. */
function cardIn(form: URLSearchParams): NonNullable<Wanted['card']> {
  const number = form.get('number') ?? ''
  const cvv = (form.get('cvv') ?? '').trim()
  const [, month, year] = /^\s*(\d{1,2})\s*[/-]\s*(\d{2}|\d{4})\s*$/.exec(form.get('expiry') ?? '') ?? []
  const isMonth = Number(month) >= 1 && Number(month) <= 12
  if (!/^[0-9 -]{12,30}$/.test(number) || !/^\d{3,4}$/.test(cvv) || !isMonth)
    throw new AppError('INVALID_CARD', 'the card is mistyped')
  return { number, exp_month: Number(month), exp_year: Number(year), cvv }
}

/** Problem shown beside a refused form. */
export function problemIn(form: URLSearchParams, reader: Reader, error: AppError): Problem {
  const phone = (form.get('phone') ?? '').slice(0, maxPhoneCharacters)
  return { method: form.get('method') ?? 'mobile_money', sentence: sentenceOf(reader, error), phone }
}

const unreadable = new Set(['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'INVALID_REQUEST'])

/** The page of an address that cannot be followed; `nothing` says what would have been there. */
export function refusedPage(call: HookCall, error: AppError, nothing: (reader: Reader) => string): HookAnswer {
  const reader = readerOf(askedBy(call), 'UTC')
  const say = reader.words(problemTexts)
  const common = reader.words(pageTexts)
  const { code, status } = error
  if (unreadable.has(code)) return refusal(reader, status, say('notTaken'), say('unreadable'))
  if (status === 404) return refusal(reader, status, common('noSuchPage'), nothing(reader))
  if (status < 500)
    return refusal(reader, status, say(status === 429 ? 'tooOften' : 'notTaken'), sentenceOf(reader, error))
  const { headers, ...rest } = refusal(reader, status, common('notNow'), common('failed'))
  return { ...rest, headers: { 'retry-after': '5', ...headers } }
}

function refusal({ language }: Reader, status: number, title: string, why: string): HookAnswer {
  return page(status, { title, language, content: notice('bad', title, html`<p>${why}</p>`) })
}

/** Sentence that tells a payer what to do; the details are written for programs. */
function sentenceOf(reader: Reader, { code }: AppError): string {
  if (isProblem(code)) return reader.words(problemTexts)(code)
  return failureSentence(reader, code) ?? reader.words(problemTexts)('other')
}

function isProblem(code: string): code is keyof typeof problemTexts {
  return Object.hasOwn(problemTexts, code)
}
