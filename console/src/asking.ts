// SPDX-License-Identifier: Apache-2.0
// What may come between a request and its answer: a session that ended, a password that is wanted once more, too many requests,
// a server that cannot be reached. The page stays as it is; whoever reads it is asked over it, and the request then goes on.
import { sentenceOf } from './refusals.ts'
import { store } from './store.ts'

export interface Interruption {
  readonly is: 'signed out' | 'confirm' | 'too many'
  /** Words of the button that was pressed, or nothing. */
  readonly doing: string
  /** When it goes on by itself, in milliseconds since 1970. */
  readonly untilMs: number | null
  /** What the server says about the refusal. */
  readonly words: string
  readonly requestId: string
  goOn(): void
  giveUp(): void
}

/** What is asked over the page now. */
export const interruption = store<Interruption | null>(null)
/** Whether the last request reached the server. */
export const isReachable = store(true)
/** Until when reading waits, in milliseconds since 1970, because it asked too often; null while it does not. */
export const readsAgainMs = store<number | null>(null)

const maxTries = 5
const requestMs = 30_000
const firstProbeMs = 1_000
const longestProbeMs = 15_000

/** Headers of the session that is signed in now, for a request that is sent again. */
type Fresh = () => Readonly<Record<string, string>>

export async function ask(path: string, init: RequestInit, fresh: Fresh): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const answer = await reach(path, tries === 1 ? init : again(init, fresh))
    const reason = tries < maxTries ? await reasonToWait(path, answer) : null
    if (reason === null) return answer
    const isWriting = (init.method ?? 'GET') !== 'GET'
    if (reason.is === 'too many' && !isWriting) await slowed(reason.untilMs ?? 0)
    else if (!(await asked(reason, isWriting ? pressed() : ''))) return answer
  }
}

let waitingReads = 0

/** Waits until the server takes questions again; the page tells it meanwhile. */
async function slowed(untilMs: number): Promise<void> {
  waitingReads++
  readsAgainMs.set(Math.max(untilMs, readsAgainMs.get() ?? 0))
  await pause(untilMs - Date.now())
  if (--waitingReads === 0) readsAgainMs.set(null)
}

/** Browsers take so many bytes along when a page is left. */
const maxTakenAlong = 60_000
let isLeaving = false
for (const name of ['pagehide', 'pageshow'])
  window.addEventListener(
    name,
    () => {
      isLeaving = name === 'pagehide'
    },
    true,
  )

/** A request of a page that is being left goes on without it. */
const goesOn = ({ body }: RequestInit): boolean =>
  isLeaving && typeof body === 'string' && new TextEncoder().encode(body).length < maxTakenAlong

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    const answer = await fetch(path, { ...init, keepalive: goesOn(init) })
    isReachable.set(true)
    return answer
  } catch (error) {
    if (error instanceof TypeError) void lost()
    throw error
  }
}

const again = (init: RequestInit, fresh: Fresh): RequestInit => ({
  ...init,
  headers: { ...Object.fromEntries(new Headers(init.headers)), ...fresh() },
  signal: isLate(init.signal) ? AbortSignal.timeout(requestMs) : (init.signal ?? null),
})

/** Whether the time of a request ran out while something was asked over the page. */
const isLate = (signal: AbortSignal | null | undefined): boolean => Object(signal?.reason).name === 'TimeoutError'

interface Reason {
  is: Interruption['is']
  untilMs: number | null
  words: string
  requestId: string
}

async function reasonToWait(path: string, answer: Response): Promise<Reason | null> {
  if (![401, 403, 429].includes(answer.status)) return null
  const error = Object(
    Object(
      await answer
        .clone()
        .json()
        .catch(() => null),
    ).error,
  )
  const message = String(error.details ?? error.message ?? '')
  const words = message === '' ? '' : sentenceOf({ message, code: String(error.code ?? '') })
  const told = { words, requestId: String(error.request_id ?? '') }
  if (answer.status !== 403 && !path.startsWith('/v1/')) return null
  if (answer.status === 401) return { is: 'signed out', untilMs: null, ...told }
  if (answer.status === 403) return error.confirm === 'password' ? { is: 'confirm', untilMs: null, ...told } : null
  const seconds = Number(answer.headers.get('retry-after') ?? 1)
  return { is: 'too many', untilMs: Date.now() + Math.max(1, seconds) * 1_000, ...told }
}

/** Requests that wait for the same answer of whoever reads. */
let waiting: Promise<boolean> | null = null

/** Whether the request is to be sent again. Asked once, however many requests wait for it. */
function asked(reason: Reason, doing: string): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    const end = (goesOn: boolean): void => {
      interruption.set(null)
      waiting = null
      resolve(goesOn)
    }
    interruption.set({ ...reason, doing, goOn: () => end(true), giveUp: () => end(false) })
  })
  return waiting
}

/** Words of the button that was pressed last. */
function pressed(): string {
  const element = document.activeElement
  const button =
    element instanceof HTMLButtonElement ? element : element?.closest('form')?.querySelector('[type=submit]')
  return (button?.textContent ?? '').trim().slice(0, 60)
}

let isProbing = false

/** Looks for the server until it answers. */
async function lost(): Promise<void> {
  isReachable.set(false)
  if (isProbing) return
  isProbing = true
  for (let ms = firstProbeMs; !isReachable.get(); ms = Math.min(2 * ms, longestProbeMs)) {
    await pause(ms)
    if (document.hidden) continue
    await fetch('/console/api/session').then(
      () => isReachable.set(true),
      () => undefined,
    )
  }
  isProbing = false
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
