// SPDX-License-Identifier: Apache-2.0
// What the reference says of things that no single declaration says: how its chapters are called and follow each other, and
// what a filter of a list does. The pages and the OpenAPI document both read it.
import type { Route } from '../route.ts'

interface Chapter {
  readonly tag: string
  readonly title: string
  /** What is found in it, in a sentence. */
  readonly about: string
  readonly routes: readonly Route[]
}

/** Tag -> what it is called, and what is found there. */
const chapters: Readonly<Record<string, readonly [title: string, about: string]>> = {
  auth: ['Credentials', 'Who a credential is, and access tokens that live for an hour at most.'],
  account: ['Account', 'Your name, time zone and settings.'],
  apiKeys: ['API keys', 'Keys that may do only what they need to, and how to replace them.'],
  usage: ['Usage', 'What you used and what it cost, day by day.'],
  limits: ['Limits', 'Every rate limit that holds for you, and what is left of it.'],
  logs: ['Request log', 'Your requests and their answers, for when something went wrong.'],
  auditLog: ['Audit log', 'Who changed what, and when.'],
  sms: ['SMS', 'Send and receive texts: one or many, now or later, with opt-outs, sender ids and numbers of your own.'],
  payments: ['Payments', 'Collect money by mobile money, card and bank.'],
  refunds: ['Refunds', 'Give a payment back, all of it or in parts.'],
  disputes: ['Disputes', 'Card payments that a payer has contested.'],
  payouts: ['Payouts', 'Send money to phones and bank accounts, one at a time or ten thousand at once.'],
  fraud: ['Fraud', 'Rules, blacklists and checks that decide which payments and payouts go ahead.'],
  wallet: ['Wallet', 'What you have, what moved it, and how it fills itself.'],
  billing: ['Billing', 'Invoices with a page to pay them on, customers, plans and subscriptions.'],
  webhooks: ['Webhooks', 'Endpoints that are told of events, what was delivered to them, and how it is signed.'],
  events: ['Events', 'Everything that happened, as a list and as a stream.'],
  sandbox: ['Sandbox', 'What only a test key can do: move the clock, catch webhooks, play the other side.'],
  operator: ['Operator', 'For whoever runs this installation: accounts, prices, carriers, providers, jobs.'],
}

/** These stand after what everybody uses. */
const lastTags = ['sandbox', 'operator']

/** What an operation belongs to: `sms` of `sms.send`. */
export function tagOf({ operation }: Pick<Route, 'operation'>): string {
  return operation.split('.')[0] ?? operation
}

/** Operations by tag, in the order in which the tags first appear. */
export function chaptersOf(routes: readonly Route[]): Chapter[] {
  const tags = [...new Set(routes.map(tagOf))].sort((a, b) => lastTags.indexOf(a) - lastTags.indexOf(b))
  return tags.map((tag) => {
    const [title = spelled(tag), about = ''] = chapters[tag] ?? []
    return { tag, title, about, routes: routes.filter((route) => tagOf(route) === tag) }
  })
}

function spelled(tag: string): string {
  return `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`
}

/** Filters that are not called after what they look at. */
const filters: Readonly<Record<string, string>> = {
  to: 'Only those to this number',
  from: 'Only those from this sender or number',
  phone: 'Only those of this number',
  direction: 'Only those that go this way',
  active: 'Only those that are, or only those that are not',
}

/** What a filter does that its declaration does not explain. */
export function filterMeaning(name: string): string {
  const known = filters[name]
  if (known !== undefined) return known
  const thing = name.replace(/_id$/, '').replaceAll('_', ' ')
  return name.endsWith('_id') ? `Only those of this ${thing}` : `Only those with this ${thing}`
}
