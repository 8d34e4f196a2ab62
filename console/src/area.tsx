// SPDX-License-Identifier: Apache-2.0
// What an area brings to the console: its entries of the navigation, its pages, which are loaded when they are first opened, and
// where its records are shown. tools/console.mjs gathers `area` of every console/src/areas/*/area.ts.
import type { ComponentType } from 'preact'
import type { Session } from './api.ts'
import type { IconName } from './kit/icons.tsx'
import type { ListOf } from './kit/list-page.tsx'

/** Groups of the navigation, in their order; the first has no name. */
export const groups = [
  '',
  'Texts',
  'Chat',
  'Email',
  'USSD',
  'Calls',
  'Money',
  'Verification',
  'Build',
  'People',
] as const
export const operatorGroups = ['', 'Routing', 'Connect', 'Money', 'Operations'] as const

export interface Badge {
  /** Field of the answer that has all counts. */
  readonly count: string
  /** What it counts: `{count} to approve`. */
  readonly words: string
  readonly tone?: 'warn' | 'bad'
  /** Filters of the list that leave just these rows: `?status=open`. */
  readonly rows?: string
}

export interface Entry {
  /** Address below /console; `/operator/…` stands in the operator's navigation. */
  readonly to: string
  readonly name: string
  readonly icon: IconName
  readonly group: (typeof groups)[number] | (typeof operatorGroups)[number]
  /** Place in its group: small numbers first. */
  readonly order: number
  /** Scope of the members who see it; without one it is everybody's. */
  readonly scope?: string
  readonly badge?: Badge
  /** Key after G that goes there. */
  readonly key?: string
}

/** What every page is given: the parts of the address that its pattern leaves open, and who reads it. */
export interface PageProps {
  readonly id: string
  readonly inner: string
  readonly deeper: readonly string[]
  readonly session: Session
}

/** A page: how it is loaded. */
export interface Page {
  load(): Promise<
    { readonly is: 'page'; readonly show: ComponentType<PageProps> } | { readonly is: 'list'; readonly list: ListOf }
  >
}

export interface Area {
  readonly entries: readonly Entry[]
  /** Address without the first slash -> page; `*` stands for any one part: `messages`, `messages/*`, `webhooks/*\/*`. */
  readonly pages: Readonly<Record<string, Page>>
  /** Prefix of an id -> address of the list whose pages show it: `sms: '/messages'`. */
  readonly records?: Readonly<Record<string, string>>
  /** What stands above every page while this tab keeps something by a name, such as a call. */
  readonly everywhere?: Everywhere
}

export interface Everywhere {
  /** Name in the tab's storage. */
  readonly kept: string
  load(): Promise<ComponentType<{ readonly session: Session }>>
}

/** A page of its own, loaded when it is first opened: `page(() => import('./send.tsx').then(({ Send }) => Send))`. */
export function page(load: () => Promise<ComponentType<PageProps>>): Page {
  return { load: async () => ({ is: 'page', show: await load() }) }
}

/** A page that is a described list: `list(() => import('./lists.ts').then(({ refunds }) => refunds))`. */
export function list(load: () => Promise<ListOf>): Page {
  return { load: async () => ({ is: 'list', list: await load() }) }
}
