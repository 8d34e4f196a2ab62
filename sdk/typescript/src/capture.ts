// SPDX-License-Identifier: Apache-2.0
// Capture page of an identity session on a site of yours: in a frame, in a window of its own, or in place of your page. For browsers;
// needs no key. What it tells is for the screen only: the session of your server says how it ended.

/** State of a session, as its page tells it; `elsewhere` where the person goes on in another browser. */
export type CaptureStatus =
  | 'created'
  | 'opened'
  | 'capturing'
  | 'submitted'
  | 'verified'
  | 'rejected'
  | 'review'
  | 'cancelled'
  | 'expired'
  | 'elsewhere'

/** How it ended: the last state, or `closed` when the person or you closed it before. */
export type CaptureEnd =
  | Extract<CaptureStatus, 'verified' | 'rejected' | 'review' | 'cancelled' | 'expired' | 'elsewhere'>
  | 'closed'

export interface CaptureOptions {
  /** Element that the frame fills; without it the page opens in a window of its own. */
  readonly container?: HTMLElement
  /** Name of the frame for a screen reader; `Identity check` unless given. */
  readonly title?: string
  /** Receives each state, the first when the page is there. */
  readonly onStatus?: (status: CaptureStatus) => void
}

export interface Capture {
  /** How it ended. Read the session on your server then. */
  readonly ended: Promise<CaptureEnd>
  /** Takes the page away. */
  close(): void
}

const statuses: readonly string[] = [
  ...['created', 'opened', 'capturing', 'submitted'],
  ...['verified', 'rejected', 'review', 'cancelled', 'expired', 'elsewhere'],
]
const ends: readonly string[] = statuses.slice(4)
const watchMs = 500

/**
 * Opens the page at `url` of a session in a frame or a window. The session needs a `redirect_url` of the origin that calls this: no
 * other site may show the page, or is told anything. A window has to be opened by a click, or browsers block it: then this throws.
 */
export function openCapture(url: string, { container, title, onStatus }: CaptureOptions = {}): Capture {
  const { origin } = new URL(url)
  let finish: (end: CaptureEnd) => void = () => undefined
  const shown = container ? inFrame(url, container, title ?? 'Identity check') : inWindow(url, () => finish('closed'))
  const ended = new Promise<CaptureEnd>((resolve) => {
    finish = resolve
  })
  const hear = ({ origin: from, source, data }: MessageEvent) => {
    if (from !== origin || source !== shown.page() || !isStatement(data)) return
    onStatus?.(data.status)
    if (isEnd(data.status)) finish(data.status)
  }
  window.addEventListener('message', hear)
  void ended.then(() => window.removeEventListener('message', hear))
  return {
    ended,
    close() {
      finish('closed')
      shown.close()
    },
  }
}

/** Goes to the page in place of yours; it leads back to the `redirect_url` of the session. */
export function goToCapture(url: string): void {
  window.location.assign(url)
}

/** Id of the session whose page led back to this address; null for other visits. Anybody can write it: ask your server. */
export function returnedSession(href: string = window.location.href): string | null {
  return new URL(href).searchParams.get('session_id')
}

function inFrame(url: string, container: HTMLElement, title: string) {
  const frame = document.createElement('iframe')
  Object.assign(frame, { src: url, title, allow: 'camera; fullscreen' })
  frame.style.cssText = 'width:100%;height:100%;border:0'
  container.append(frame)
  return { page: () => frame.contentWindow, close: () => frame.remove() }
}

function inWindow(url: string, onClosed: () => void) {
  const page = window.open(url, 'pamoja-identity', 'popup,width=480,height=760')
  if (!page) throw new Error('The browser blocked the window: open it by a click, or give a container')
  const timer = setInterval(() => {
    if (!page.closed) return
    clearInterval(timer)
    onClosed()
  }, watchMs)
  return { page: () => page, close: () => page.close() }
}

function isStatement(data: unknown): data is { status: CaptureStatus } {
  if (typeof data !== 'object' || data === null || !('source' in data) || !('status' in data)) return false
  return data.source === 'pamoja.identity' && typeof data.status === 'string' && statuses.includes(data.status)
}

function isEnd(status: CaptureStatus): status is Exclude<CaptureEnd, 'closed'> {
  return ends.includes(status)
}
