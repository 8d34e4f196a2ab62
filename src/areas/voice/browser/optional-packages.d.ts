// SPDX-License-Identifier: Apache-2.0
// Types of the optional package werift, as far as used, so that the program compiles without it.

declare module 'werift' {
  interface Told<Values extends unknown[]> {
    subscribe(hear: (...values: Values) => void): unknown
  }

  interface RtpPacket {
    readonly header: { readonly payloadType: number; readonly timestamp: number }
    readonly payload: Buffer
  }

  interface Description {
    readonly type: 'offer' | 'answer'
    readonly sdp: string
  }

  export class MediaStreamTrack {
    constructor(properties: { kind: 'audio' })
    readonly onReceiveRtp: Told<[packet: RtpPacket]>
    writeRtp(packet: Buffer): void
  }

  export class RTCRtpCodecParameters {
    constructor(properties: { mimeType: string; clockRate: number; channels: number; payloadType: number })
  }

  interface Transceiver {
    readonly onTrack: Told<[track: MediaStreamTrack]>
    readonly sender: { replaceTrack(track: MediaStreamTrack): Promise<void> }
    setDirection(direction: 'sendrecv'): void
  }

  export interface PeerConfiguration {
    readonly codecs: {
      readonly audio: readonly RTCRtpCodecParameters[]
      readonly video: readonly RTCRtpCodecParameters[]
    }
    readonly headerExtensions: { readonly audio: readonly never[]; readonly video: readonly never[] }
    readonly iceServers: readonly { urls: string }[]
    readonly iceUseIpv4: boolean
    readonly iceUseIpv6: boolean
    readonly iceAdditionalHostAddresses: readonly string[]
    readonly iceInterfaceAddresses?: { readonly udp4?: string; readonly udp6?: string }
    readonly icePortRange?: readonly [number, number]
  }

  export class RTCPeerConnection {
    constructor(configuration: PeerConfiguration)
    readonly connectionStateChange: Told<[state: string]>
    readonly localDescription: Description | null
    readonly onTrack: Told<[track: MediaStreamTrack]>
    addTransceiver(track: MediaStreamTrack, options: { direction: 'sendrecv' }): Transceiver
    getTransceivers(): Transceiver[]
    createOffer(): Promise<Description>
    createAnswer(): Promise<Description>
    setLocalDescription(description: Description): Promise<unknown>
    setRemoteDescription(description: Description): Promise<unknown>
    addIceCandidate(candidate: { candidate: string; sdpMid?: string; sdpMLineIndex?: number }): Promise<void>
    close(): Promise<void>
  }
}
