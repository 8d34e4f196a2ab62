// SPDX-License-Identifier: Apache-2.0
// Credential lookup for the platform, on every request whose key is not cached: the key's account and rights.
import type { Config } from '../../config.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { recordAs } from '../../platform/api/audit.ts'
import type { CredentialStore } from '../../platform/auth.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Database, maybe } from '../../platform/db.ts'
import type { Outbox } from '../../platform/events.ts'
import type { Signals } from '../../platform/nodes/signals.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { openDoorKey } from './door-key.ts'
import { keyEvents } from './events.ts'
import { endings, sessionFacts } from './members/session.ts'
import { useSession } from './members/store.ts'
import {
  accountFacts,
  exposeKey,
  factsByAccount,
  factsByHash,
  factsById,
  factsOf,
  findDoorKey,
  touchKeys,
} from './store.ts'

export function credentialStore(
  db: Database,
  signals: Signals,
  clock: Clock,
  config: Config,
  outbox: Outbox,
  secrets: Secrets,
): CredentialStore {
  return {
    async findByHash(hash) {
      const row = await maybe(db.query(factsByHash, { hash }))
      return row && factsOf(row)
    },
    async findById(id) {
      const row = await maybe(db.query(factsById, { id }))
      return row && factsOf(row)
    },
    async factsOfAccount(account, environment) {
      const row = await maybe(db.query(factsByAccount, { account, environment }))
      return row && accountFacts(row, environment)
    },
    async doorKey(tenant, door) {
      const { account, environment } = tenant
      const row = await maybe(db.query(findDoorKey, { account, environment, door, at: new Date(clock.nowMs()) }))
      return row && openDoorKey(secrets, tenant, row.id, row.sealed_key)
    },
    async findSession(hash, environment) {
      const nowMs = clock.nowMs()
      const row = await maybe(db.query(useSession, { hash, now: new Date(nowMs), ...endings(nowMs) }))
      if (row?.totp_required && !row.totp_enabled)
        throw new AppError('FORBIDDEN', 'your account requires a second factor: turn it on in the console first', {
          extra: { confirm: 'second_factor' },
        })
      return row && sessionFacts(row, environment)
    },
    async used(uses) {
      await db.query(touchKeys, { ids: uses.map(({ keyUuid }) => keyUuid), ips: uses.map(({ ip }) => ip) })
    },
    async exposed(key, ip, requestId) {
      // An operator key opens every account, so in production it is revoked whatever the setting says.
      const opensAll = config.NODE_ENV === 'production' && key.scopes.includes('operator')
      const revoke = config.PAMOJA_REVOKE_EXPOSED_KEYS || opensAll
      await db.acrossTx(async (tx) => {
        const exposed = await maybe(tx.query(exposeKey, { id: key.keyUuid, revoke, at: new Date(clock.nowMs()) }))
        // A client that sends a key in the clear does so with every request: report it once.
        if (!exposed) return
        const tenant = { bucket: key.bucket, account: key.account, environment: key.environment }
        const keyId = idOf('apiKey', key.keyUuid)
        await recordAs(
          tx,
          { tenant, id: newUuid(clock.nowMs()), actor: `key:${keyId}`, ip, requestId },
          'apikey.exposed',
          keyId,
          {
            after: { revoked: revoke && key.environment === 'live' },
          },
        )
        if (exposed.revoked) {
          const { name, prefix, last4 } = exposed
          const nowMs = clock.nowMs()
          const occasion = { tenant, receivedMs: nowMs, nowMs, requestId }
          await outbox.emit(tx, keyEvents.revoked, occasion, keyId, { key_id: keyId, name, prefix, last4 })
        }
        await signals.send(tx, 'accounts', key.account)
      })
    },
  }
}
