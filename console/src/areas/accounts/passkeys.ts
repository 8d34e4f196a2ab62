// SPDX-License-Identifier: Apache-2.0
// Passkeys in the browser: making one, and signing in with one. Bytes travel as base64url. And the way to the identity provider.
import { enter, ofConsole, type Session } from '../../api.ts'

/** Ways to sign in that this installation has. */
export interface Ways {
  /** Name of the identity provider; null where there is none. */
  readonly oidc: string | null
  /** Host that passkeys belong to. */
  readonly rp_id: string
}

export const waysToSignIn = (): Promise<Ways> => ofConsole<Ways>('GET', 'ways')

/** Leaves for the identity provider: to accept an invitation, or without one to connect the member who is signed in. */
export async function throughProvider(body: { invitation?: string }): Promise<void> {
  window.location.assign((await ofConsole<{ url: string }>('POST', 'oidc', body)).url)
}

/** Whether this page, in this browser, can use passkeys of the installation. */
export const canUsePasskeys = ({ rp_id }: Ways): boolean =>
  'PublicKeyCredential' in window && window.location.hostname === rp_id

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))

const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

export async function signInWithPasskey(): Promise<Session> {
  const { challenge, rp_id } = await ofConsole<{ challenge: string; rp_id: string }>('POST', 'passkeys/challenge', {})
  const found = await navigator.credentials.get({
    publicKey: { challenge: bytesOf(challenge), rpId: rp_id, userVerification: 'required' },
  })
  if (!(found instanceof PublicKeyCredential) || !(found.response instanceof AuthenticatorAssertionResponse))
    throw new Error('no passkey was given')
  const { clientDataJSON, authenticatorData, signature } = found.response
  return enter(
    ofConsole<Session>('POST', 'passkeys/login', {
      credential: textOf(found.rawId),
      client_data: textOf(clientDataJSON),
      authenticator_data: textOf(authenticatorData),
      signature: textOf(signature),
    }),
  )
}

interface Begun {
  readonly challenge: string
  readonly rp_id: string
  readonly user: { readonly id: string; readonly name: string }
  readonly known: readonly string[]
}

/** Algorithms by their numbers in COSE: ECDSA on P-256, Ed25519, RSA. */
const algorithms = [-7, -8, -257]

export async function makePasskey(name: string): Promise<void> {
  const { challenge, rp_id, user, known } = await ofConsole<Begun>('POST', 'passkeys', {})
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(challenge),
      rp: { id: rp_id, name: 'Pamoja' },
      user: { id: bytesOf(user.id), name: user.name, displayName: user.name },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: known.map((id) => ({ type: 'public-key', id: bytesOf(id) })),
      attestation: 'none',
    },
  })
  const response = made instanceof PublicKeyCredential ? made.response : null
  const key = response instanceof AuthenticatorAttestationResponse ? response.getPublicKey() : null
  if (!(made instanceof PublicKeyCredential) || !(response instanceof AuthenticatorAttestationResponse) || !key)
    throw new Error('no passkey was made')
  await ofConsole('POST', 'passkeys/confirm', {
    name,
    credential: textOf(made.rawId),
    client_data: textOf(response.clientDataJSON),
    authenticator_data: textOf(response.getAuthenticatorData()),
    public_key: textOf(key),
  })
}
