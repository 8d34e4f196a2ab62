// SPDX-License-Identifier: Apache-2.0
// Audio of one SIP call in its room: the descriptions of this side, and the connection to what the other side describes.
import type { Environment } from '../../../platform/tenant.ts'
import type { Codec } from '../../../protocols/audio/codec.ts'
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
  /** Whether the other side said that it sends no audio, as while it holds the call. */
  isHeld = false
  /** Whether audio is encrypted, as it was offered; null takes what goes for the peer. */
  #srtp: SrtpPolicy | null = null
  /** Codecs as they were offered; null takes what goes for the peer. */
  #codecs: readonly Codec[] | null = null
  /** Key of what this side sends, where audio is encrypted. */
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
  offer(to: Peer, { srtp = this.#network.srtpAt(to), codecs }: { srtp?: SrtpPolicy; codecs?: readonly Codec[] } = {}) {
    this.#key = newSrtpKey()
    this.#srtp = srtp
    this.#codecs = this.#network.codecsAt(to, codecs)
    return offerAudio(this.#own(to))
  }

  /** Connects to the answer of the other side; false when there is nothing in common, or nowhere that its audio may go. */
  connect(answer: string, from: Peer): boolean {
    return this.#connect(answer, from, true)
  }

  /** Connects to an offer; returns the answer, or null when the offer cannot be taken and all stays as it is. */
  answer(offer: string, from: Peer): string | null {
    return this.#connect(offer, from, false) ? answerAudio(offer, this.#own(from)) : null
  }

  #connect(description: string, from: Peer, isAnswer: boolean): boolean {
    const terms = { srtp: this.#srtpWith(from), codecs: this.#codecsWith(from), isAnswer }
    const remote = this.#network.audioOf(description, from, this.#environment, terms)
    if (!remote) return false
    const { crypto, ...plain } = remote
    this.isHeld = !remote.sends
    // A changed key of the other side begins to count anew, and so does ours.
    if (this.#theirKey !== null && crypto && crypto.key !== this.#theirKey) this.#key = newSrtpKey()
    if (crypto) this.#theirKey = crypto.key
    const send = { suite: crypto?.suite ?? this.#key.suite, key: this.#key.key }
    this.#room.connect(this.#member, { ...plain, ...(crypto ? { srtp: { send, receive: crypto } } : {}) })
    return true
  }

  #srtpWith(peer: Peer): SrtpPolicy {
    return this.#srtp ?? this.#network.srtpAt(peer)
  }

  #codecsWith(peer: Peer): readonly Codec[] {
    return this.#codecs ?? this.#network.codecsAt(peer)
  }

  #own(peer: Peer) {
    const { mediaHost, publicHost } = this.#network
    return {
      host: this.#environment === 'live' ? publicHost : mediaHost,
      port: this.port,
      version: ++this.#version,
      srtp: { policy: this.#srtpWith(peer), key: this.#key },
      codecs: this.#codecsWith(peer),
    }
  }
}
