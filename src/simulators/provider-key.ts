// SPDX-License-Identifier: Apache-2.0
// The RSA key for which a provider wants secrets encrypted. It is made when somebody first asks for it, once for all simulated
// providers of a process: that takes a fifth of a second, and most nodes never pay out through them.
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'

const keyBits = 2_048

let pair: KeyPairKeyObjectResult | null = null

export class ProviderKey {
  /** Public key as an operator enters it. */
  get publicPem(): string {
    return this.#made.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  }

  get private(): KeyPairKeyObjectResult['privateKey'] {
    return this.#made.privateKey
  }

  get #made(): KeyPairKeyObjectResult {
    pair ??= generateKeyPairSync('rsa', { modulusLength: keyBits })
    return pair
  }
}
