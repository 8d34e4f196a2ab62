// SPDX-License-Identifier: Apache-2.0
// Looking up where the lines of a node deliver to: the endpoints of one turn of the event loop with one statement.
import type { App } from '../../../platform/app.ts'
import { adopt, type Line } from './lines.ts'
import { loadCallbackTarget, loadTargets, type Target } from './targets.ts'

/** Time that a target is cached. Changes are signalled, so this is for lost signals. */
const targetForMs = 30_000
/** Waits after a lookup that failed. */
export const reloadMs = 500

export class TargetLookup {
  readonly #app: () => App
  readonly #done: (lines: readonly Line[]) => void
  readonly #wanted = new Set<Line>()

  /** `done` is told the lines whose targets are known now, or must be looked up again. */
  constructor(app: () => App, done: (lines: readonly Line[]) => void) {
    this.#app = app
    this.#done = done
  }

  request(line: Line): void {
    if (line.isLoading) return
    line.isLoading = true
    this.#wanted.add(line)
    if (this.#wanted.size === 1) setImmediate(() => this.#begin())
  }

  /** One lookup for each database, so that one that is away keeps nobody else's lines waiting. */
  #begin(): void {
    const lines = [...this.#wanted]
    this.#wanted.clear()
    const app = this.#app()
    for (const part of app.db.separate(lines, ({ tenant }) => tenant.bucket)) void this.#lookUp(app, part)
  }

  async #lookUp(app: App, lines: readonly Line[]): Promise<void> {
    // A target that changes during the lookup is looked up again.
    for (const line of lines) line.targetUntilMs = performance.now() + targetForMs
    try {
      await Promise.all([adoptEndpoints(app, lines), ...lines.map((line) => adoptCallback(app, line))])
    } catch (error) {
      app.log.warn({ error }, 'endpoints of deliveries not read: tried again; check the database if this repeats')
      await new Promise((resolve) => setTimeout(resolve, reloadMs))
      for (const line of lines) line.targetUntilMs = 0
    }
    for (const line of lines) line.isLoading = false
    this.#done(lines)
  }
}

async function adoptEndpoints(app: App, lines: readonly Line[]): Promise<void> {
  const wanted = lines.flatMap(({ tenant, endpoint }) => (endpoint === null ? [] : [{ tenant, endpoint }]))
  const targets = wanted.length > 0 ? await loadTargets(app, wanted) : new Map<string, Target>()
  for (const line of lines) if (line.endpoint !== null) adopt(line, targets.get(line.endpoint) ?? null)
}

async function adoptCallback(app: App, line: Line): Promise<void> {
  if (line.endpoint === null) line.target = await loadCallbackTarget(app, line.tenant)
}
