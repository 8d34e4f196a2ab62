// SPDX-License-Identifier: Apache-2.0
// Audio of one SIP call in its room: the descriptions of this side, and the connection to what the other side describes.
import type { Environment } from '../../../platform/tenant.ts'
import { newSrtpKey, type SrtpKey } from '../../../protocols/rtp/srtp.ts'
import { answerAudio, offerAudio, type SrtpPolicy } from '../../../protocols/sdp/session-description.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import type { CallRoom } from './room-audio.ts'

export class SipAudio {
  readonly port: number
  readonly #network: TelephoneNetwork
  readonly #room: CallRoom
  readonly #member: string
  readonly #environment: Environment
  #version = 0
  /** Key of what this side sends, where audio is encrypted. */
  /** Whether audio is encrypted, as it was offered; null takes what goes for the peer. */
  #srtp: SrtpPolicy | null = null
  #key: SrtpKey = newSrtpKey()
  /** Key of the other side that ours goes with. */
  #theirKey: string | null = null

  constructor(network: TelephoneNetwork, room: CallRoom, member: string, environment: Environment, port: number) {
    this.#network = network
    this.#room = room
    this.#member = member
    this.#environment = environment
    this.port = port
  }

  /** Offer to a peer. Each has a key of its own, since not every peer that is asked answers. */
  offer(to: Peer, srtp: SrtpPolicy = this.#network.srtpAt(to)): string {
    this.#key = newSrtpKey()
    this.#srtp = srtp
    return offerAudio(this.#own(srtp))
  }

  /** Connects to the other side; false when there is nothing in common, or nowhere that its audio may go. */
  connect(description: string, from: Peer): boolean {
    const srtp = this.#policyFor(from)
    const remote = this.#network.audioOf(description, from, this.#environment, srtp)
    if (!remote) return false
    const { crypto, ...plain } = remote
    // A changed key of the other side begins to count anew, and so does ours.
    if (this.#theirKey !== null && crypto && crypto.key !== this.#theirKey) this.#key = newSrtpKey()
    if (crypto) this.#theirKey = crypto.key
    const send = { suite: crypto?.suite ?? this.#key.suite, key: this.#key.key }
    this.#room.connect(this.#member, { ...plain, ...(crypto ? { srtp: { send, receive: crypto } } : {}) })
    return true
  }

  /** Connects to an offer; returns the answer, or null when the offer cannot be taken and all stays as it is. */
  answer(offer: string, from: Peer): string | null {
    return this.connect(offer, from) ? answerAudio(offer, this.#own(this.#policyFor(from))) : null
  }

  #policyFor(peer: Peer): SrtpPolicy {
    return this.#srtp ?? this.#network.srtpAt(peer)
  }

  #own(policy: SrtpPolicy) {
    const { mediaHost, publicHost } = this.#network
    return {
      host: this.#environment === 'live' ? publicHost : mediaHost,
      port: this.port,
      version: ++this.#version,
      srtp: { policy, key: this.#key },
    }
  }
}
