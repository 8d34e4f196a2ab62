// SPDX-License-Identifier: Apache-2.0
// Queues and agents as they are now: the stream of the realtime metrics, opened again when it breaks.
import { useEffect, useState } from 'preact/hooks'
import { callcenterRealtime } from '#sdk/operations.ts'
import type { RealtimeMetrics } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { tellTimesAhead } from '../../kit/words.ts'
import { readStream } from '../../live.ts'

const pauseMs = 2_000

export interface Board {
  readonly now: RealtimeMetrics | null
  readonly error: Error | null
}

export function useBoard(): Board {
  const [board, setBoard] = useState<Board>({ now: null, error: null })
  useEffect(() => {
    const stop = new AbortController()
    void follow(stop.signal, setBoard)
    return () => stop.abort()
  }, [])
  return board
}

async function follow(signal: AbortSignal, tell: (change: (before: Board) => Board) => void): Promise<void> {
  const path = callcenterRealtime.at({ query: { stream: '1' } })
  while (!signal.aborted) {
    try {
      const { body } = await api.send('GET', path, { signal, headers: { accept: 'text/event-stream' } })
      if (body)
        await readStream(body, ({ text }) => {
          if (text === '') return
          const now: RealtimeMetrics = JSON.parse(text)
          tellTimesAhead(Date.parse(now.generated_at) - Date.now())
          tell(() => ({ now, error: null }))
        })
    } catch (error) {
      if (!signal.aborted)
        tell(({ now }) => ({ now, error: error instanceof Error ? error : new Error(String(error)) }))
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
