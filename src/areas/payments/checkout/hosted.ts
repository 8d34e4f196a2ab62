// SPDX-License-Identifier: Apache-2.0
// Hosted checkout: the page of something to pay (an invoice, a payment link), its forms, and a page that follows each
// payment. Its address is the only authorisation: no session exists, so cross-site form posts gain nothing over a link.
// Abuse by prompting phones or testing cards is rate limited per page and per IP address, and by what each of them allows
// to begin.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import {
  type Hook,
  type HookAnswer,
  type HookCall,
  hook,
  pagesPerAddress,
  redirect,
} from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import type { Html } from '../../../platform/web/html.ts'
import { askedBy, chosen } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { type Page, page } from '../../../platform/web/shell.ts'
import { sendNow } from '../collect/create.ts'
import type { WaysToPay } from '../methods/ways.ts'
import { findPayment, type PaymentRow } from '../records/store.ts'
import { formIn, maxFormBytes, problemIn, refusedPage, type Wanted, wantedIn, waysFor } from './form.ts'
import { type Checkout, checkoutPage, type Problem, paymentForms, statusPage } from './page.ts'

/** Something that is paid on its page, as a visitor finds it. */
export interface Payable extends Checkout {
  readonly tenant: Tenant
  readonly occasion: Occasion
  /** Payment methods it takes; null for all. */
  readonly methods: readonly string[] | null
}

/** Payment that a form asks for. */
export type FormPayment = Wanted & { readonly return_url?: string }

interface HostedCheckout<Thing extends Payable> {
  /** Path of its pages before the secret name, such as `/pay`. */
  readonly path: string
  /** Operation and summary of each hook. */
  readonly show: Named
  readonly pay: Named
  readonly follow: Named
  readonly limits: { readonly views: Limit; readonly forms: readonly Limit[] }
  find(app: App, call: HookCall<{ token: string }>): Promise<Thing | null>
  /** Whether the thing can be paid. */
  isOpen(thing: Thing): boolean
  /** Content of its page. `forms` are the ways to pay it. */
  content(thing: Thing, forms: Html): Html
  /** Marks each view of the forms, so that a form sent twice is told from another payer's. */
  newOnce?(): string
  /** Stores the payment of a form, or finds the one that the same form made before. */
  begin(app: App, thing: Thing, how: FormPayment, form: URLSearchParams): Promise<{ id: string; isNew: boolean }>
  /** Sentence about a refusal, where the common one is not precise enough. */
  sentenceOf?(thing: Thing, error: AppError): string | null
  isPaymentOf(thing: Thing, payment: PaymentRow): boolean
  /** Next step after a completed payment: a redirect, a link on the page, or none. */
  afterwards(app: App, thing: Thing, payment: PaymentRow, call: HookCall<unknown>): Promise<HookAnswer | Html | null>
  /** Sentence for addresses that lead nowhere. */
  missing(reader: Reader): string
}

interface Named {
  readonly operation: string
  readonly summary: string
}

type Limit = Hook['limits'][number]

export interface HostedPages<Thing> {
  readonly hooks: readonly Hook[]
  /** Thing at an address; throws when there is none. */
  at(app: App, call: HookCall<{ token: string }>): Promise<Thing>
  refused(app: App, call: HookCall, error: AppError): HookAnswer
}

export function hostedCheckout<Thing extends Payable>(checkout: HostedCheckout<Thing>): HostedPages<Thing> {
  const { views, forms } = checkout.limits
  const refused = (_app: App, call: HookCall, error: AppError): HookAnswer => refusedPage(call, error, checkout.missing)
  const at = async (app: App, call: HookCall<{ token: string }>): Promise<Thing> => {
    const thing = await checkout.find(app, call)
    if (!thing) throw nothingHere()
    return thing
  }
  const show = hook({
    methods: ['GET', 'HEAD'],
    path: `${checkout.path}/:token`,
    ...checkout.show,
    maxBytes: maxFormBytes,
    limits: [views, pagesPerAddress],
    handle: async (app, call: HookCall<{ token: string }>) => {
      const thing = await at(app, call)
      // A payer who returns from the bank sees the outcome of the payment.
      const { payment_id: payment } = call.query
      if (typeof payment === 'string' && uuidOf('payment', payment) !== null)
        return redirect(`${thing.path}/${payment}${thing.lang}`)
      return page(200, pageOf(app, checkout, thing, null), 'here')
    },
    refused,
  })
  const pay = hook({
    methods: ['POST'],
    path: `${checkout.path}/:token`,
    ...checkout.pay,
    maxBytes: maxFormBytes,
    limits: forms,
    handle: async (app, call: HookCall<{ token: string }>) => {
      const form = formIn(call)
      const thing = await at(app, call)
      const ownPage = redirect(`${thing.path}${thing.lang}`)
      if (!checkout.isOpen(thing)) return ownPage
      try {
        const payment = await payByForm(app, checkout, thing, form)
        return redirect(`${thing.path}/${idOf('payment', payment)}${thing.lang}`)
      } catch (error) {
        // Paid or closed meanwhile: its page says so.
        if (error instanceof AppError && error.code === 'INVALID_STATE') return ownPage
        if (!(error instanceof AppError) || error.status === 503) throw error
        const problem = problemIn(form, thing.reader, error)
        const sentence = checkout.sentenceOf?.(thing, error) ?? problem.sentence
        return page(error.status, pageOf(app, checkout, thing, { ...problem, sentence }), 'here')
      }
    },
    refused,
  })
  const follow = hook({
    methods: ['GET', 'HEAD'],
    path: `${checkout.path}/:token/:payment`,
    ...checkout.follow,
    maxBytes: maxFormBytes,
    limits: [views, pagesPerAddress],
    handle: async (app, call: HookCall<{ token: string; payment: string }>) => {
      const thing = await at(app, call)
      const id = uuidOf('payment', call.params.payment)
      const payment = id && (await maybe(app.db.query(findPayment, { ...thing.tenant, id })))
      if (!payment || !checkout.isPaymentOf(thing, payment)) throw nothingHere()
      const next = payment.status === 'completed' ? await checkout.afterwards(app, thing, payment, call) : null
      if (next && 'status' in next) return next
      return page(200, statusPage(thing, payment, next))
    },
    refused,
  })
  return { hooks: [show, pay, follow], at, refused }
}

/** Stores the payment of a form; returns its id. Cards are charged in this request, other methods by a job. */
async function payByForm<Thing extends Payable>(
  app: App,
  { begin }: HostedCheckout<Thing>,
  thing: Thing,
  form: URLSearchParams,
): Promise<string> {
  const { tenant, amount, currency, path, lang } = thing
  const wanted = wantedIn(form, waysOf(app, thing))
  // A bank transfer has no redirect.
  const returns = wanted.method === 'bank_transfer' ? {} : { return_url: `${app.publicUrl}${path}${lang}` }
  const how = { ...wanted, ...returns }
  const { id, isNew } = await begin(app, thing, how, form)
  if (isNew && how.card !== undefined)
    await sendNow(app, { tenant }, id, { ...how, amount: formatMicros(amount), currency })
  return id
}

function pageOf<Thing extends Payable>(
  app: App,
  checkout: HostedCheckout<Thing>,
  thing: Thing,
  problem: Problem | null,
): Page {
  const forms = paymentForms(thing, waysOf(app, thing), problem, checkout.newOnce?.() ?? null)
  return checkoutPage(thing, checkout.content(thing, forms))
}

/** Payment methods available now. */
function waysOf(app: App, { tenant, currency, amount, methods }: Payable): WaysToPay {
  return waysFor(app, tenant, { currency, micros: amount, methods })
}

/** Row of something to pay, with what its page needs of its account. */
export interface PayableRow {
  bucket: number
  account_id: string
  environment: Tenant['environment']
  currency: string
  payment_methods: readonly string[] | null
  account_name: string
  brand: Brand
  time_zone: string
  is_suspended: boolean
  clock_offset_ms: bigint
}

/** Visit of a page: all of a `Payable` that does not depend on what is paid. A suspended account takes no payment. */
export function visitOf(
  call: HookCall<{ token: string }>,
  path: string,
  row: PayableRow,
): Omit<Payable, 'title' | 'amount'> {
  const { account_name: accountName, brand, currency } = row
  const { receivedMs, requestId } = call
  const asked = askedBy(call)
  const tenant = tenantOf(row)
  return {
    tenant,
    occasion: { tenant, receivedMs, nowMs: receivedMs + Number(row.clock_offset_ms), requestId },
    methods: row.is_suspended ? [] : row.payment_methods,
    currency,
    environment: tenant.environment,
    accountName,
    brand,
    path: `${path}/${call.params.token}`,
    reader: readerOf(asked, row.time_zone),
    // Keep a language the address asked for; the browser sends its own languages again.
    lang: asked.lang === undefined ? '' : `?lang=${chosen(asked).language}`,
  }
}

export function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'there is no such page')
}
