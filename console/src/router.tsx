// SPDX-License-Identifier: Apache-2.0
// Pages by their address: found among those of the areas, loaded when first opened, and kept from then on.
import { type ComponentType, createElement } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { areas } from '#areas'
import { may, type Session } from './api.ts'
import type { Entry, Everywhere, Page, PageProps } from './area.tsx'
import { Nothing, Problem, Waiting } from './kit/kit.tsx'
import { ListPage } from './kit/list-page.tsx'
import { usePlace } from './place.tsx'
import { showRecords } from './records.ts'
import { useTitle } from './title.ts'
import { t } from './words.ts'

const patterns: readonly (readonly [parts: readonly string[], page: Page])[] = areas.flatMap(({ pages }) =>
  Object.entries(pages).map(([pattern, page]) => [pattern.split('/'), page] as const),
)

/** All entries of the navigation, in the order of their groups' own. */
export const entries: readonly Entry[] = areas.flatMap((area) => area.entries).sort((a, b) => a.order - b.order)

for (const { records = {} } of areas) showRecords(records)

interface Found {
  readonly page: Page
  readonly open: readonly string[]
}

function find(path: string): Found | null {
  const asked = path.slice(1).split('/')
  let best: Found | null = null
  for (const [parts, page] of patterns) {
    if (parts.length !== asked.length) continue
    if (!parts.every((part, i) => part === '*' || part === asked[i])) continue
    const open = asked.filter((_, i) => parts[i] === '*').map(plain)
    if (best === null || open.length < best.open.length) best = { page, open }
  }
  return best
}

/** A part of an address as it was before it was put there; one that no page of ours made stays as it is. */
function plain(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const loaded = new Map<Page, ComponentType<PageProps>>()

/** Component of a page: its own, or the described list. */
async function load(page: Page): Promise<void> {
  const told = await page.load()
  loaded.set(page, told.is === 'page' ? told.show : () => <ListPage {...told.list} />)
}

const reloadedFor = 'pamoja-reloaded'

/** The files of a page go when the installation is upgraded: the window then takes the new ones, once for each page. */
function reloadOnce(path: string, otherwise: () => void): void {
  if (sessionStorage.getItem(reloadedFor) === path) return otherwise()
  fetch('/console', { method: 'HEAD' }).then(() => {
    sessionStorage.setItem(reloadedFor, path)
    window.location.reload()
  }, otherwise)
}

export function PageAt({ session }: { session: Session }) {
  const { path } = usePlace()
  const found = find(path)
  const [, draw] = useState(0)
  const [error, setError] = useState<Error | null>(null)
  const page = found?.page
  const isThere = page !== undefined && loaded.has(page)
  useEffect(() => {
    setError(null)
    if (!page || isThere) return
    load(page).then(
      () => {
        sessionStorage.removeItem(reloadedFor)
        draw((before) => before + 1)
      },
      (cause: Error) => reloadOnce(path, () => setError(cause)),
    )
  }, [page])
  if (!found) return <NoPage />
  const scope = entries.find(({ to }) => path === to || path.startsWith(`${to}/`))?.scope
  if (scope && !may(scope)) return <NotYours />
  if (path.startsWith('/operator') && !session.member.operator) return <NoPage />
  if (error)
    return (
      <div class="page">
        <h1>{t('This page cannot be shown')}</h1>
        <Problem error={error} retry={() => window.location.reload()} />
      </div>
    )
  const show = loaded.get(found.page)
  if (!show) return <Waiting lines={6} />
  const [id = '', inner = '', ...deeper] = found.open
  return createElement(show, { id, inner, deeper, session })
}

const above = new Map<Everywhere, ComponentType<{ readonly session: Session }>>()

/** What areas show above every page, of those that have something under way in this tab. */
export function AbovePages({ session }: { session: Session }) {
  const [, draw] = useState(0)
  useEffect(() => {
    for (const { everywhere } of areas) {
      if (!everywhere || above.has(everywhere) || sessionStorage.getItem(everywhere.kept) === null) continue
      everywhere.load().then(
        (show) => {
          above.set(everywhere, show)
          draw((before) => before + 1)
        },
        () => undefined,
      )
    }
  }, [])
  return <>{[...above.values()].map((show, i) => createElement(show, { key: i, session }))}</>
}

function NoPage() {
  useTitle(t('There is no such page'))
  return (
    <Nothing title="There is no such page" icon="search" isPage>
      {t('Use the navigation to find pages.')}
    </Nothing>
  )
}

function NotYours() {
  useTitle(t('Your role has no access to this page'))
  return (
    <Nothing title="Your role has no access to this page" icon="lock" isPage>
      {t('An owner of the account can change that.')}
    </Nothing>
  )
}
