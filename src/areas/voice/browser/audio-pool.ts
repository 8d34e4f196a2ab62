// SPDX-License-Identifier: Apache-2.0
// Threads of this node that carry audio of browsers; the first starts with the first browser. A crashed thread loses its
// browsers, which are notified and reconnect.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../../kernel/errors.ts'
import { root } from '../../../platform/program/root.ts'
import type { AudioAnswer, AudioCommand, AudioPlace, FromAudioWorker, PlainEnd } from './audio-command.ts'

const workerFile = new URL('dist/src/areas/voice/browser/audio-worker.js', root)
const maxWorkers = Math.max(1, Math.min(4, availableParallelism() - 1))
/** Browsers per thread; measured in docs/benchmarks.md. */
const maxBrowsers = 40

interface Thread {
  readonly worker: Worker
  readonly browsers: Map<string, (state: string) => void>
  readonly answers: Map<number, { done(answer: AudioAnswer): void; failed(error: Error): void }>
}

export interface BrowserAudio {
  /** SDP offer for the browser. */
  readonly sdp: string
  /** Plain RTP endpoint for a room. */
  readonly end: PlainEnd
  answer(sdp: string): Promise<void>
  candidate(candidate: string, sdpMid: string | null, sdpMLineIndex: number | null): Promise<void>
  bridge(to: PlainEnd | null): Promise<void>
  close(): void
}

export class AudioPool {
  readonly #threads: Thread[] = []
  #lastId = 0
  #isClosed = false

  /** Opens a browser's audio. `changed` gets every connection state of the browser, and `gone` when the thread crashed. */
  async open(browser: string, place: AudioPlace, changed: (state: string) => void): Promise<BrowserAudio> {
    const thread = this.#freest()
    thread.browsers.set(browser, changed)
    const { opened } = await this.#ask(thread, { do: 'open', browser, place }).catch((error: Error) => {
      thread.browsers.delete(browser)
      throw new AppError('PROVIDER_UNAVAILABLE', error.message, { retryAfterSeconds: 60 })
    })
    if (!opened) throw new Error('a browser without an offer')
    const ask = async (command: AudioCommand) => void (await this.#ask(thread, command))
    return {
      sdp: opened.sdp,
      end: { host: place.host, port: opened.port },
      answer: (sdp) => ask({ do: 'answer', browser, sdp }),
      candidate: (candidate, sdpMid, sdpMLineIndex) =>
        ask({ do: 'candidate', browser, candidate, sdpMid, sdpMLineIndex }),
      bridge: (to) => ask({ do: 'bridge', browser, to }),
      close: () => {
        thread.browsers.delete(browser)
        ask({ do: 'close', browser }).catch(() => undefined)
      },
    }
  }

  #freest(): Thread {
    const [first] = [...this.#threads].sort((a, b) => a.browsers.size - b.browsers.size)
    if (first && (first.browsers.size === 0 || this.#threads.length >= maxWorkers)) {
      if (first.browsers.size < maxBrowsers) return first
      throw new AppError('SERVICE_UNAVAILABLE', 'this node has reached its limit of browser connections', {
        retryAfterSeconds: 30,
      })
    }
    return this.#start()
  }

  #start(): Thread {
    const worker = new Worker(workerFile)
    const thread: Thread = { worker, browsers: new Map(), answers: new Map() }
    worker.on('message', (message: FromAudioWorker) => take(thread, message))
    worker.on('error', () => undefined)
    worker.on('exit', () => this.#lost(thread))
    worker.unref()
    this.#threads.push(thread)
    return thread
  }

  #lost(thread: Thread): void {
    this.#threads.splice(this.#threads.indexOf(thread), 1)
    for (const { failed } of thread.answers.values()) failed(new Error('the thread of this audio is gone'))
    if (!this.#isClosed) for (const changed of thread.browsers.values()) changed('failed')
  }

  #ask(thread: Thread, command: AudioCommand): Promise<AudioAnswer> {
    return new Promise((done, failed) => {
      if (!this.#threads.includes(thread)) return failed(new Error('the thread of this audio is gone'))
      const id = ++this.#lastId
      thread.answers.set(id, { done, failed })
      thread.worker.postMessage({ id, command })
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()))
  }
}

function take(thread: Thread, message: FromAudioWorker): void {
  if ('state' in message) return thread.browsers.get(message.browser)?.(message.state)
  const waiting = thread.answers.get(message.answer.id)
  thread.answers.delete(message.answer.id)
  if (message.answer.error === undefined) waiting?.done(message.answer)
  else waiting?.failed(new Error(message.answer.error))
}
