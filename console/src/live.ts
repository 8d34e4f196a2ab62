// SPDX-License-Identifier: Apache-2.0
// Stream of events, one for the whole page: parts of the page listen for the events that change what they show. After a
// break it is opened again, with growing delays, and resumes where it was.
import { useEffect, useRef } from 'preact/hooks'
import { eventsStream } from '#sdk/operations.ts'
import { api } from './api.ts'

interface LiveEvent {
  type: string
}

type Listener = (event: LiveEvent) => void

const listeners = new Set<Listener>()
const longestPauseMs = 30_000

/** Calls back for every event whose type begins so. */
export function useLive(prefix: string, then: () => void): void {
  const latest = useRef(then)
  latest.current = then
  useEffect(() => {
    const listener: Listener = ({ type }) => {
      if (type.startsWith(prefix)) latest.current()
    }
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [prefix])
}

/** Reads the stream until it is stopped; says whether it is there. */
export function follow(tell: (isConnected: boolean) => void): () => void {
  const stop = new AbortController()
  let lastId: string | null = null
  const run = async (): Promise<void> => {
    for (let pauseMs = 1_000; !stop.signal.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const response = await eventsStream(api, {}, { signal: stop.signal, headers: resuming(lastId) })
        if (response.body) {
          tell(true)
          pauseMs = 1_000
          await read(response.body, (id) => {
            lastId = id
          })
        }
      } catch {
        // Told below, and tried again.
      }
      if (stop.signal.aborted) return
      tell(false)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  void run()
  return () => stop.abort()
}

const resuming = (id: string | null): Record<string, string> => (id === null ? {} : { 'last-event-id': id })

async function read(body: ReadableStream<Uint8Array>, keepId: (id: string) => void): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string): string | undefined =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim()
      const [id, type] = [field('id'), field('event')]
      if (id) keepId(id)
      if (type) for (const listener of listeners) listener({ type })
    }
  }
}
