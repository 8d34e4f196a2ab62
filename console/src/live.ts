// SPDX-License-Identifier: Apache-2.0
// Events as they happen: one stream for the whole tab, and one gatherer between it and the pages. A listener is called at most
// once in its interval with all events since, never twice at a time, and not while the tab is hidden. After a break the stream
// is opened again, with growing delays, and resumes where it was.
import { useEffect, useRef } from 'preact/hooks'
import { eventsStream } from '#sdk/operations.ts'
import { api, may } from './api.ts'
import { store } from './store.ts'

interface LiveEvent {
  readonly type: string
  /** What subscribers receive, as JSON. */
  readonly text: string
}

/** Whether the stream is open. */
export const isFollowing = store(true)

interface Wanted {
  /** Only events that name this id or number. */
  readonly about?: string | undefined
  /** Pause between two calls. */
  readonly everyMs?: number
  /** Pause between two calls for members who may not read events; they get none unless given. */
  readonly askMs?: number
}

const listeners = new Set<Gatherer>()
const longestPauseMs = 30_000
/** Pause between two readings of a page whose reader is told no events. */
const withoutStreamMs = 5_000
/** Events come in bursts: the first of them is told with those right behind it. */
const leadMs = 80
/** Events that a listener is given at a time; further ones are counted with them. */
const maxGathered = 500

class Gatherer {
  readonly #prefixes: readonly string[]
  readonly #wanted: Wanted
  readonly #then: (events: readonly LiveEvent[]) => unknown
  #events: LiveEvent[] = []
  #timer: ReturnType<typeof setTimeout> | null = null
  #isRunning = false
  #nextMs = 0

  constructor(prefixes: readonly string[], wanted: Wanted, then: (events: readonly LiveEvent[]) => unknown) {
    this.#prefixes = prefixes
    this.#wanted = wanted
    this.#then = then
  }

  hear(event: LiveEvent): void {
    if (!this.#prefixes.some((prefix) => event.type.startsWith(prefix))) return
    if (this.#wanted.about !== undefined && !event.text.includes(this.#wanted.about)) return
    if (this.#events.length < maxGathered) this.#events.push(event)
    this.begin()
  }

  /** Plans a call without an event, for whom none is told. */
  wake(): void {
    if (this.#events.length === 0 && !document.hidden) this.#events.push({ type: '', text: '' })
    this.begin()
  }

  /** Plans the next call, if there is anything to tell. */
  begin(): void {
    if (this.#events.length === 0 || this.#timer !== null || this.#isRunning || document.hidden) return
    this.#timer = setTimeout(() => void this.#run(), Math.max(leadMs, this.#nextMs - performance.now()))
  }

  async #run(): Promise<void> {
    this.#timer = null
    if (document.hidden) return
    const events = this.#events
    this.#events = []
    this.#isRunning = true
    try {
      await this.#then(events)
    } finally {
      this.#isRunning = false
      this.#nextMs = performance.now() + (this.#wanted.everyMs ?? 1_000)
      this.begin()
    }
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#events = []
  }
}

document.addEventListener('visibilitychange', () => {
  for (const listener of listeners) listener.begin()
})

/**
 * Calls back with the events whose type begins so, separated by spaces (`'sms. payment.'`; `''` is all). What `then` returns is
 * waited for before the next call.
 */
export function useLive(
  types: string | null,
  then: (events: readonly LiveEvent[]) => unknown,
  wanted: Wanted = {},
): void {
  const latest = useRef(then)
  latest.current = then
  const { about, everyMs = 1_000, askMs } = wanted
  useEffect(() => {
    if (types === null) return
    const listener = new Gatherer(types.split(' '), { about, everyMs }, (events) => latest.current(events))
    listeners.add(listener)
    // Roles that may not read all events of the account read the page again instead.
    const timer = may('events:read') ? null : setInterval(() => listener.wake(), Math.max(everyMs, withoutStreamMs))
    return () => {
      if (timer !== null) clearInterval(timer)
      listener.stop()
      listeners.delete(listener)
    }
  }, [types, about, everyMs])
  useEffect(() => {
    if (askMs === undefined || may('events:read')) return
    const timer = setInterval(() => void (document.hidden || latest.current([])), askMs)
    return () => clearInterval(timer)
  }, [askMs])
}

/** Reads the stream until it is stopped. */
export function follow(): () => void {
  const stop = new AbortController()
  let lastId: string | null = null
  const run = async (): Promise<void> => {
    for (let pauseMs = 1_000; !stop.signal.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const response = await eventsStream(api, {}, { signal: stop.signal, headers: resuming(lastId) })
        if (response.body) {
          isFollowing.set(true)
          pauseMs = 1_000
          await readStream(response.body, ({ id, type, text }) => {
            if (id) lastId = id
            if (type) for (const listener of listeners) listener.hear({ type, text })
          })
        }
      } catch {
        // Told below, and tried again.
      }
      if (stop.signal.aborted) return
      isFollowing.set(false)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  void run()
  return () => stop.abort()
}

const resuming = (id: string | null): Record<string, string> => (id === null ? {} : { 'last-event-id': id })

interface StreamMessage {
  readonly id: string | undefined
  readonly type: string | undefined
  readonly text: string
}

/** Reads server-sent events until the stream ends. */
export async function readStream(
  body: ReadableStream<Uint8Array>,
  hear: (message: StreamMessage) => void,
): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const field = (name: string): string | undefined =>
        lines
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim()
      hear({ id: field('id'), type: field('event'), text: field('data') ?? '' })
    }
  }
}
