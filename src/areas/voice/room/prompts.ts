// SPDX-License-Identifier: Apache-2.0
// Prompt queue of a room: sounds played by request, beside the flow, one at a time per listener.
import type { One } from '../../../platform/tenant.ts'
import { ringback, silence, tone, tune } from '../../../protocols/audio/tones.ts'
import { fetchSound } from '../media/sounds.ts'
import { Unspeakable } from '../speech/engine.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import type { CallRoom, Circle } from './room-audio.ts'

export interface Prompt {
  id: string
  text?: string
  language?: string
  voice?: string
  url?: string
  /** `default`, `ringback`, `silence`, `beep` or a URL. */
  music?: string
  loop: number
  interrupt: boolean
  to: Circle
}

const maxWaiting = 20

/** Prompt with its sound. */
interface Ready {
  prompt: Prompt
  sound: Int16Array
}

interface Line {
  playing: string | null
  waiting: Prompt[]
  /** Music without an end, which comes back after what interrupts it. */
  music: Ready | null
  /** Ids of the prompts whose sound is being fetched or spoken. */
  readonly preparing: Set<string>
  /** Number of times the line was stopped: what was being prepared then is not played. */
  stops: number
}

export class Prompts {
  readonly #network: TelephoneNetwork
  readonly #room: CallRoom
  readonly #owner: { readonly one: One; readonly isOver: boolean }
  readonly #lines = new Map<string, Line>()

  constructor(network: TelephoneNetwork, room: CallRoom, owner: { readonly one: One; readonly isOver: boolean }) {
    this.#network = network
    this.#room = room
    this.#owner = owner
  }

  /** Plays or queues a prompt: true, or the reason why not. */
  async add(prompt: Prompt): Promise<string | true> {
    const line = this.#lineOf(prompt.to)
    if ((line.playing !== null || line.preparing.size > 0) && !prompt.interrupt) {
      if (line.waiting.length >= maxWaiting) return 'too many prompts wait'
      line.waiting.push(prompt)
      return true
    }
    const played = await this.#play(line, prompt)
    if (played !== true && line.playing === null) void this.#playNext(line)
    return played
  }

  /** Plays a prompt once its sound is there; until then what plays goes on. */
  async #play(line: Line, prompt: Prompt): Promise<string | true> {
    const { stops } = line
    line.preparing.add(prompt.id)
    const sound = await this.#soundOf(prompt).finally(() => line.preparing.delete(prompt.id))
    if (typeof sound === 'string') return sound
    if (this.#owner.isOver || line.stops !== stops) return 'not active'
    if (line.playing !== null) this.#room.stop(line.playing)
    if (prompt.interrupt) line.waiting.length = 0
    if (prompt.loop === 0) line.music = { prompt, sound }
    this.#start(line, { prompt, sound })
    return true
  }

  #start(line: Line, { prompt: { id, loop, to }, sound }: Ready): void {
    line.playing = id
    this.#room.play(id, sound, { loop, to })
  }

  async #soundOf(prompt: Prompt): Promise<Int16Array | string> {
    const { text, language = 'en-US', voice, url = '', music } = prompt
    if (music !== undefined) return (await this.holdSound(music)) ?? silence(1_000)
    if (text === undefined) return fetchSound(this.#network.app, this.#owner.one, url)
    return this.#network.speaker
      .speak({ text, language, account: this.#owner.one.account, ...(voice === undefined ? {} : { voice }) })
      .catch((error) => (error instanceof Unspeakable ? (error.details ?? error.message) : 'it failed'))
  }

  stop(to: Circle): boolean {
    return this.#stopLine(this.#lineOf(to)) !== null
  }

  /** The id of the prompt that was playing, or whose sound was being made; null if none was. */
  #stopLine(line: Line): string | null {
    const { playing } = line
    line.waiting.length = 0
    line.music = null
    line.stops++
    if (playing !== null) this.#room.stop(playing)
    line.playing = null
    const [prepared = null] = line.preparing
    line.preparing.clear()
    return playing ?? prepared
  }

  /** The id of one that was playing or being made; null if none was. */
  stopAll(): string | null {
    let stopped: string | null = null
    for (const line of this.#lines.values()) stopped = this.#stopLine(line) ?? stopped
    return stopped
  }

  ended(player: string): void {
    for (const line of this.#lines.values()) {
      if (line.playing !== player) continue
      line.playing = null
      void this.#playNext(line)
    }
  }

  /** Plays the first of those that wait whose sound can be had, or the music that was interrupted. */
  async #playNext(line: Line): Promise<void> {
    for (let next = line.waiting.shift(); next; next = line.waiting.shift())
      if ((await this.#play(line, next)) === true) return
    if (line.music && line.playing === null && !this.#owner.isOver) this.#start(line, line.music)
  }

  #lineOf(to: Circle): Line {
    const key = to === 'all' ? to : [...to].sort().join(' ')
    const known = this.#lines.get(key)
    if (known) return known
    const line: Line = { playing: null, waiting: [], music: null, preparing: new Set(), stops: 0 }
    this.#lines.set(key, line)
    return line
  }

  /** Hold music; null for `silence` and for a URL without a sound. */
  async holdSound(music: string): Promise<Int16Array | null> {
    if (music === 'silence') return null
    if (music === 'ringback') return ringback()
    if (music === 'beep') return tone([1_000], 200)
    if (music === 'default') return tune()
    const sound = await fetchSound(this.#network.app, this.#owner.one, music)
    return typeof sound === 'string' ? tune() : sound
  }
}
