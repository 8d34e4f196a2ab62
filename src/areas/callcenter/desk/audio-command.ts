// SPDX-License-Identifier: Apache-2.0
// What the program and the threads that carry the audio of desks say to each other.

/** Where audio of desks arrives. */
export interface AudioPlace {
  /** Address that plain RTP is exchanged at, with the rooms. */
  readonly host: string
  /** Address that browsers are told. */
  readonly deskHost: string
  readonly ports: readonly [number, number] | null
}

/** End of a leg that speaks plain RTP. */
export interface PlainEnd {
  readonly host: string
  readonly port: number
}

export type AudioCommand =
  | { do: 'open'; desk: string; place: AudioPlace }
  | { do: 'answer'; desk: string; sdp: string }
  | { do: 'candidate'; desk: string; candidate: string; sdpMid: string | null; sdpMLineIndex: number | null }
  | { do: 'bridge'; desk: string; to: PlainEnd | null }
  | { do: 'close'; desk: string }

export interface AudioAnswer {
  readonly id: number
  /** Of an open: what the browser is offered, and where plain RTP is taken. */
  readonly opened?: { readonly sdp: string; readonly port: number }
  readonly error?: string
}

export type FromAudioWorker = { readonly answer: AudioAnswer } | { readonly desk: string; readonly state: string }
