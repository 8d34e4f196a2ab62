// SPDX-License-Identifier: Apache-2.0
// Evidence of a disputed payment: what is known of the dispute, of the payment and of its payer, of what was given back, and when
// each thing happened; as the beginning of what is sent to the acquirer, and as a file.
import { eventsList, paymentsGet } from '#sdk/operations.ts'
import type { Dispute } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { words } from '../../kit/words.ts'
import { t } from '../../words.ts'

/** What concerns only us and says nothing about the payer. */
const ours = ['wallet_id', 'new_balance', 'fee', 'net_amount', 'success', 'data', 'risk', 'amount_held', 'amount_owed']
const keptMs = 10_000

/** `Name: value` of what is known, of inner objects too. */
function linesOf(record: object, before = ''): string[] {
  return Object.entries(record).flatMap(([name, value]): string[] => {
    if (value === null || value === undefined || value === '' || ours.includes(name)) return []
    const title = `${before}${words(name)}`
    if (typeof value === 'object') return linesOf(value, `${title} / `)
    return [`${title}: ${String(value)}`]
  })
}

/** What is known, as the statement of evidence begins. */
export async function evidenceOf(dispute: Dispute): Promise<string> {
  const { payment_id } = dispute
  const [payment, events] = await Promise.all([
    paymentsGet(api, { payment_id }),
    may('events:read')
      ? eventsList(api, { query: { resource_id: payment_id, order: 'asc', limit: 100 } })
      : { data: [] },
  ])
  const parts: readonly (readonly [title: string, lines: readonly string[]])[] = [
    [t('Dispute'), linesOf(dispute)],
    [t('Payment'), linesOf(payment)],
    [t('Timeline'), events.data.map(({ event, created_at }) => `${created_at} ${event}`)],
  ]
  return parts.map(([title, lines]) => [title, '', ...lines, ''].join('\n')).join('\n')
}

export async function saveEvidence(dispute: Dispute): Promise<void> {
  const text = await evidenceOf(dispute)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  link.download = `${dispute.dispute_id}.txt`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMs)
}
