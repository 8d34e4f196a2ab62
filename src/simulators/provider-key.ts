// SPDX-License-Identifier: Apache-2.0
// The RSA key for which a provider wants secrets encrypted. It is made when somebody first asks for it: that takes a fifth of
// a second, and most nodes that simulate a provider never pay out through it.
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
