// SPDX-License-Identifier: Apache-2.0
// Messages between the program and the threads that carry browser audio.

/** Addresses of browser audio. */
export interface AudioPlace {
  /** Address of plain RTP, towards the rooms. */
  readonly host: string
  /** Address announced to browsers. */
  readonly browserHost: string
  readonly ports: readonly [number, number] | null
}

/** Plain RTP endpoint of a leg. */
export interface PlainEnd {
  readonly host: string
  readonly port: number
}

export type AudioCommand =
  | { do: 'open'; browser: string; place: AudioPlace }
  | { do: 'answer'; browser: string; sdp: string }
  | { do: 'candidate'; browser: string; candidate: string; sdpMid: string | null; sdpMLineIndex: number | null }
  | { do: 'bridge'; browser: string; to: PlainEnd | null }
  | { do: 'close'; browser: string }

export interface AudioAnswer {
  readonly id: number
  /** Reply to an open: the SDP offer for the browser, and the plain RTP port. */
  readonly opened?: { readonly sdp: string; readonly port: number }
  readonly error?: string
}

export type FromAudioWorker = { readonly answer: AudioAnswer } | { readonly browser: string; readonly state: string }
