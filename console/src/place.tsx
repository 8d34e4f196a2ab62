// SPDX-License-Identifier: Apache-2.0
// Address of the page, with the filters of a list, so that Back and bookmarks work.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const base = '/console'
const changed = 'pamoja-place'

export interface Place {
  /** Path without the beginning that all pages of the console have: `/messages/sms_…`. */
  path: string
  query: URLSearchParams
}

function here(): Place {
  const { pathname, search } = window.location
  return { path: pathname.slice(base.length).replace(/\/$/, '') || '/', query: new URLSearchParams(search) }
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here)
  useEffect(() => {
    const follow = (): void => setPlace(here())
    window.addEventListener('popstate', follow)
    window.addEventListener(changed, follow)
    return () => {
      window.removeEventListener('popstate', follow)
      window.removeEventListener(changed, follow)
    }
  }, [])
  return place
}

export function go(path: string): void {
  history.pushState(null, '', base + path)
  window.dispatchEvent(new Event(changed))
  window.scrollTo(0, 0)
}

/** Changes what the page is filtered by, without a step of its own in the history. */
export function filterBy(filters: Record<string, string>): void {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''))
  const search = query.size > 0 ? `?${query}` : ''
  history.replaceState(null, '', window.location.pathname + search)
  window.dispatchEvent(new Event(changed))
}

interface LinkProps {
  to: string
  children: ComponentChildren
  class?: string
  isCurrent?: boolean
  title?: string
}

/** A real link, so that it can be opened in another tab. */
export function Link({ to, children, class: name, isCurrent, title }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(to)
  }
  return (
    <a href={base + to} onClick={follow} class={name} title={title} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
}
