// SPDX-License-Identifier: Apache-2.0
// For messages that must not go out twice: noted as under way before they are, so that it is known if this node dies.
import type { App } from '../../../platform/app.ts'
import { operation } from '../../../platform/commit.ts'
import { tenantColumns, tenantOf } from '../../../platform/tenant.ts'
import type { StoredMessage } from './load.ts'
import type { SubmitRun } from './queue.ts'
import { commitSurely } from './status.ts'

/** A carrier: it is about to be asked. Null: it did not take the message. */
const markUnderWay = operation.tenant(
  'sms.mark',
  {
    ...tenantColumns,
    id: 'uuid',
    job: 'uuid',
    attempt: 'int',
    carrier: 'text',
  },
  { marked: 'boolean' },
)

export class Permit {
  readonly #app: App
  readonly #message: StoredMessage
  readonly #run: SubmitRun
  #isGiven = false

  constructor(app: App, message: StoredMessage, run: SubmitRun) {
    this.#app = app
    this.#message = message
    this.#run = run
  }

  /** False: another node has the message. */
  async ask(carrier: string): Promise<boolean> {
    this.#isGiven = await this.#note(carrier)
    return this.#isGiven
  }

  /** It did not go out after all. */
  async takeBack(): Promise<void> {
    if (this.#isGiven) await this.#note(null)
    this.#isGiven = false
  }

  async #note(carrier: string | null): Promise<boolean> {
    const { id: job, attempt } = this.#run
    const item = { ...tenantOf(this.#message), id: this.#message.id, job, attempt, carrier }
    // What did not go out must not be taken for out because the database was away for a moment.
    const { marked } = await (carrier === null
      ? commitSurely(this.#app, markUnderWay, item)
      : this.#app.commit(markUnderWay, item))
    return marked === true
  }
}
