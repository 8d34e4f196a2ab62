// SPDX-License-Identifier: Apache-2.0
// Verify all audit chains in the database, without the platform running: `npm start -- identity verify-audit`.
import { buckets } from '../../kernel/ids.ts'
import { type Database, statement } from '../../platform/db.ts'
import { faultOf, type Link } from './audit-chain.ts'

interface Position {
  readonly bucket: number
  readonly account_id: string
  readonly environment: string
  readonly resource: string
  readonly sequence: number
}

const page = 2_000

const nextLinks = statement.tenant<
  { bucket: number; account: string; environment: string; resource: string; sequence: number; most: number },
  Link & Position
>(
  'identity.next_links',
  `select bucket, account_id, environment, resource, resource_id, sequence, id, at, action, actor, details, previous_hash, hash
     from identity.audit
    where bucket = $bucket
      and (account_id, environment, resource, sequence) > ($account::uuid, $environment::text, $resource::uuid, $sequence::int)
    order by account_id, environment, resource, sequence limit $most::int`,
)

const start = {
  account: '00000000-0000-0000-0000-000000000000',
  environment: '',
  resource: '00000000-0000-0000-0000-000000000000',
  sequence: 0,
}

export interface AuditVerdict {
  readonly chains: number
  readonly entries: number
  /** One sentence per broken chain. */
  readonly faults: readonly string[]
}

export async function verifyAudit(db: Database): Promise<AuditVerdict> {
  let [chains, entries] = [0, 0]
  const faults: string[] = []
  for (const bucket of buckets) {
    let chain: Link[] = []
    const close = () => {
      if (chain.length === 0) return
      chains += 1
      const fault = faultOf(chain)
      if (fault) faults.push(`${chain[0]?.resource_id}: ${fault}`)
      chain = []
    }
    for (let after = { ...start }; ; ) {
      const links = await db.query(nextLinks, { bucket, ...after, most: page })
      for (const link of links) {
        if (chain.at(-1)?.resource !== link.resource) close()
        chain.push(link)
        entries += 1
      }
      const last = links.at(-1)
      if (!last || links.length < page) break
      after = {
        account: last.account_id,
        environment: last.environment,
        resource: last.resource,
        sequence: last.sequence,
      }
    }
    close()
  }
  return { chains, entries, faults }
}
