// SPDX-License-Identifier: Apache-2.0
// Pamoja from a program: one client with the areas of the API on it.
import { Areas, type OperationCodes, type PaymentsApi, type WebhooksApi } from './api.ts'
import { areaOf, waited } from './call.ts'
import type { Options } from './client.ts'
import { PamojaError } from './errors.ts'
import { areas } from './table.ts'
import { sign, verify } from './webhooks.ts'

export type { OperationCodes } from './api.ts'
export {
  type Answer,
  List,
  type MessageStream,
  type ResponseInfo,
  type StreamMessage,
  type WaitOptions,
} from './call.ts'
export type { Options, Page, RequestLog, RequestOptions, ResponseLog } from './client.ts'
export * from './errors.ts'
export type * from './events.ts'
export { flow, ussd } from './flows.ts'
export type * as shapes from './schemas.ts'
export { version } from './version.ts'
export { type WebhookProblem, WebhookVerificationError } from './webhooks.ts'

/** Webhooks that were received, without a client. */
export const webhooks = { verify, sign }

export class Pamoja extends Areas {
  declare readonly webhooks: WebhooksApi & typeof webhooks

  constructor(options: Options = {}) {
    super(options)
    for (const [name, rows] of Object.entries(areas)) lazily(this, name, () => this.#area(name, rows))
  }

  #area(name: string, rows: Readonly<Record<string, string>>): object {
    const area = areaOf(this, rows)
    if (name === 'webhooks') return { ...area, ...webhooks }
    if (name === 'payments') return { ...area, wait: this.#wait }
    return area
  }

  #wait: PaymentsApi['wait'] = (id, options) =>
    waited((wait) => this.payments.get(id, { wait }, options), options?.within)
}

/** Member that is made when it is first asked for. */
export function lazily(on: object, name: string, make: () => object): void {
  let made: object | undefined
  Object.defineProperty(on, name, {
    enumerable: true,
    get: () => {
      made ??= make()
      return made
    },
  })
}

/** Whether an error is a refusal of this operation, whose codes are then known: `isErrorOf('sms.send', error)`. */
export function isErrorOf<Name extends keyof OperationCodes>(
  _operation: Name,
  error: unknown,
): error is PamojaError & { readonly code: OperationCodes[Name] } {
  return error instanceof PamojaError
}
