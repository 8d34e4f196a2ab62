// SPDX-License-Identifier: Apache-2.0
// RSA key for secrets that a provider wants encrypted. It is made when first needed: that takes a fifth of a second,
// and most nodes never pay out through a simulated provider.
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'

const keyBits = 2_048

export class ProviderKey {
  #pair: KeyPairKeyObjectResult | null = null

  /** As an operator enters it. */
  get publicPem(): string {
    return this.#made.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  }

  get private(): KeyPairKeyObjectResult['privateKey'] {
    return this.#made.privateKey
  }

  get #made(): KeyPairKeyObjectResult {
    this.#pair ??= generateKeyPairSync('rsa', { modulusLength: keyBits })
    return this.#pair
  }
}
