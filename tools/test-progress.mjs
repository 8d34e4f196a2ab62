// SPDX-License-Identifier: Apache-2.0
// Progress of a test run, which says how far it is while it runs: files done of all, elapsed time, and which files have been
// running longest. On a terminal one line that is written over; elsewhere a line every quarter of a minute. Test processes
// append what they begin and end to a journal (shared-process.ts), since node:test reports files in the order of their names.

import { existsSync, readFileSync } from 'node:fs'

/** Time between lines where they stay. */
const lineMs = 15_000
const refreshMs = 500

export class Progress {
  #journal
  #files
  #out
  #sinceMs = performance.now()
  #timer = null
  #readBytes = 0
  #begun = new Map()
  /** What each file that ended took: `{ ms, cpu_ms }`. */
  measured = {}

  /** `journal` is the file that test processes append to. */
  constructor(journal, files, out = process.stderr) {
    this.#journal = journal
    this.#files = files.length
    this.#out = out
  }

  begin() {
    this.#timer = setInterval(() => this.#show(), this.#out.isTTY ? refreshMs : lineMs)
  }

  end() {
    clearInterval(this.#timer)
    if (this.#out.isTTY) this.#out.write('\r\x1b[K')
    this.#read()
  }

  get elapsed() {
    return clock(performance.now() - this.#sinceMs)
  }

  #show() {
    this.#read()
    const line = this.#line()
    const { columns = 120 } = this.#out
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line.slice(0, columns - 1)}` : `${line}\n`)
  }

  #line() {
    const done = Object.keys(this.measured).length
    const running = [...this.#begun].sort(([, a], [, b]) => a - b).slice(0, 3)
    const slow = running.map(([file, sinceMs]) => `${shortName(file)} ${clock(Date.now() - sinceMs)}`).join(', ')
    return `${done} of ${this.#files} files, ${this.elapsed}${slow === '' ? '' : `; running: ${slow}`}`
  }

  /** Reads whole lines that were added since. */
  #read() {
    if (!existsSync(this.#journal)) return
    const bytes = readFileSync(this.#journal)
    const end = bytes.lastIndexOf('\n') + 1
    for (const line of bytes.subarray(this.#readBytes, end).toString().split('\n')) {
      if (line === '') continue
      const { begun, ended, atMs, ...took } = JSON.parse(line)
      if (begun !== undefined) this.#begun.set(begun, atMs)
      if (ended === undefined) continue
      this.#begun.delete(ended)
      this.measured[ended] = took
    }
    this.#readBytes = end
  }
}

export function clock(ms) {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function shortName(file) {
  return file.replace(/^test\//, '').replace(/\.test\.ts$/, '')
}
