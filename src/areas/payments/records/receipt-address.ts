// SPDX-License-Identifier: Apache-2.0
// Address of a receipt: it cannot be guessed, and having it is enough to see the receipt.
import type { App } from '../../../platform/app.ts'
import { newToken, secretName } from '../../../platform/web/secret-name.ts'

export function newReceipt(app: App, { bucket }: { bucket: number }): { receiptToken: Buffer; receiptUrl: string } {
  const receiptToken = newToken()
  return { receiptToken, receiptUrl: `${app.publicUrl}/r/${secretName({ bucket, token: receiptToken })}` }
}
