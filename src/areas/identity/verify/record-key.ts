// SPDX-License-Identifier: Apache-2.0
// Encryption key of one record, stored sealed under the account's key. Deleting it from the row makes the record
// unreadable, in backups too.
import { createSecretKey, randomBytes } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { dataKeyHeader, decrypt, encrypt, keyBytes } from '../../../platform/secrets/sealing.ts'
import type { Tenant } from '../../../platform/tenant.ts'

type Column = 'claims_sealed' | 'findings_sealed' | 'template_sealed'

export class RecordKey {
  readonly #key: Buffer
  readonly #tenant: Tenant
  readonly #id: string

  private constructor(key: Buffer, tenant: Tenant, id: string) {
    this.#key = key
    this.#tenant = tenant
    this.#id = id
  }

  static make(tenant: Tenant, id: string): RecordKey {
    return new RecordKey(randomBytes(keyBytes), tenant, id)
  }

  static async open(app: App, tenant: Tenant, id: string, sealed: Buffer): Promise<RecordKey> {
    return new RecordKey(await app.secrets.open(tenant, keyPlace(id), sealed), tenant, id)
  }

  /** Sealed key for the row. */
  sealed(app: App): Promise<Buffer> {
    return app.secrets.seal(this.#tenant, keyPlace(this.#id), this.#key)
  }

  seal(column: Column, value: unknown): Buffer {
    const key = createSecretKey(this.#key)
    return encrypt(key, dataKeyHeader(1), this.#tenant.account, this.#place(column), JSON.stringify(value))
  }

  unseal(column: Column, sealed: Buffer): unknown {
    const plain = decrypt(createSecretKey(this.#key), this.#tenant.account, this.#place(column), sealed)
    return JSON.parse(plain.toString('utf8'))
  }

  #place(column: Column): string {
    return `identity.verifications.${column}:${this.#id}`
  }
}

function keyPlace(id: string): string {
  return `identity.verifications.record_key:${id}`
}
