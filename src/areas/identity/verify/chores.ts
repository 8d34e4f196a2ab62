// SPDX-License-Identifier: Apache-2.0
// Chores of verifications: documents expire, undecided reviews end, pictures and records are erased.
import { buckets } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Statement } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { system } from '../audit-chain.ts'
import { eraseImages, eraseRecord } from './erase.ts'
import { type DueRow, dueExpiries, dueImages, dueRecords, dueReviews, findVerification } from './store.ts'
import { move, outcomeOf } from './transition.ts'

const most = 500

type Due = Statement<{ buckets: readonly number[]; now: Date; most: number }, DueRow>

/** Chore that handles each due verification in its own transaction. */
function each(name: string, due: Due, act: (app: App, occasion: Occasion, id: string) => Promise<void>): Chore {
  return {
    name,
    run: async (app) => {
      for (const row of await app.db.query(due, { buckets, now: new Date(app.clock.nowMs()), most }))
        await act(app, occasionNow(app.clock, tenantOf(row), row.offset_ms), row.id)
    },
  }
}

const expire = each('identity.expire', dueExpiries, (app, occasion, id) =>
  end(app, occasion, id, 'expired', 'DOCUMENT_EXPIRED', 'the document is past its expiry date', false),
)

const endReviews = each('identity.end_reviews', dueReviews, (app, occasion, id) =>
  end(app, occasion, id, 'rejected', 'REVIEW_TIMEOUT', 'no decision within 7 days', true),
)

async function end(
  app: App,
  occasion: Occasion,
  id: string,
  status: 'expired' | 'rejected',
  code: string,
  message: string,
  retryable: boolean,
): Promise<void> {
  await app.db.tx(occasion.tenant, async (tx) => {
    const row = await maybe(tx.query(findVerification, { ...occasion.tenant, id }))
    const outcome = row && outcomeOf(row)
    if (!outcome) return
    const failure_reasons = [...outcome.failure_reasons, { code, check: null, message, retryable }]
    await move(app, tx, occasion, row, { status, stage: 'done', outcome: { ...outcome, failure_reasons } }, system)
  })
}

const forgetPictures = each('identity.erase_images', dueImages, (app, occasion, id) =>
  app.db.tx(occasion.tenant, (tx) => eraseImages(app, tx, occasion, id, system)),
)

const forgetRecords = each('identity.erase_records', dueRecords, async (app, occasion, id) => {
  await app.db.tx(occasion.tenant, (tx) => eraseRecord(app, tx, occasion, id, system, 'retention'))
})

export const verificationChores: readonly Chore[] = [expire, endReviews, forgetPictures, forgetRecords]
