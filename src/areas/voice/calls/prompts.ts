// SPDX-License-Identifier: Apache-2.0
// Prompt queue of a room: sounds played by request, beside the flow, one at a time per listener.
import type { One } from '../../../platform/tenant.ts'
import { ringback, silence, tone, tune } from '../../../protocols/audio/tones.ts'
import { fetchSound } from '../media/sounds.ts'
import { Unspeakable } from '../speech/speak.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import type { CallRoom, Circle } from './room.ts'

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

const mostWaiting = 20

interface Line {
  playing: string | null
  waiting: Prompt[]
}

export class Prompts {
  private readonly network: TelephoneNetwork
  private readonly room: CallRoom
  private readonly owner: { readonly one: One; readonly isOver: boolean }
  private readonly lines = new Map<string, Line>()

  constructor(network: TelephoneNetwork, room: CallRoom, owner: Prompts['owner']) {
    this.network = network
    this.room = room
    this.owner = owner
  }

  /** Play or queue a prompt: true, or the reason why not. */
  async add(prompt: Prompt): Promise<string | true> {
    const line = this.lineOf(prompt.to)
    if (line.playing !== null && !prompt.interrupt) {
      if (line.waiting.length >= mostWaiting) return 'too many prompts wait'
      line.waiting.push(prompt)
      return true
    }
    this.stop(prompt.to)
    return this.play(line, prompt)
  }

  private async play(line: Line, prompt: Prompt): Promise<string | true> {
    const sound = await this.soundOf(prompt)
    if (typeof sound === 'string') return sound
    if (this.owner.isOver) return 'not active'
    line.playing = prompt.id
    this.room.play(prompt.id, sound, { loop: prompt.loop, to: prompt.to })
    return true
  }

  private async soundOf(prompt: Prompt): Promise<Int16Array | string> {
    const { text, language = 'en-US', voice, url = '', music } = prompt
    if (music !== undefined) return (await this.holdSound(music)) ?? silence(1_000)
    if (text === undefined) return fetchSound(this.network.app, this.owner.one, url)
    return this.network.speaker
      .speak({ text, language, ...(voice === undefined ? {} : { voice }) })
      .catch((error) => (error instanceof Unspeakable ? (error.details ?? error.message) : 'it failed'))
  }

  stop(to: Circle): boolean {
    const line = this.lineOf(to)
    line.waiting.length = 0
    if (line.playing === null) return false
    this.room.stop(line.playing)
    line.playing = null
    return true
  }

  /** The id of one that was playing; null if none was. */
  stopAll(): string | null {
    let stopped: string | null = null
    for (const line of this.lines.values()) {
      line.waiting.length = 0
      if (line.playing === null) continue
      stopped = line.playing
      this.room.stop(line.playing)
      line.playing = null
    }
    return stopped
  }

  ended(player: string): void {
    for (const line of this.lines.values()) {
      if (line.playing !== player) continue
      line.playing = null
      void this.playNext(line)
    }
  }

  /** Plays the first of those that wait whose sound can be had. */
  private async playNext(line: Line): Promise<void> {
    for (let next = line.waiting.shift(); next; next = line.waiting.shift())
      if ((await this.play(line, next)) === true) return
  }

  private lineOf(to: Circle): Line {
    const key = to === 'all' ? to : [...to].sort().join(' ')
    const known = this.lines.get(key)
    if (known) return known
    const line: Line = { playing: null, waiting: [] }
    this.lines.set(key, line)
    return line
  }

  /** Hold music; null for `silence` and for a URL without a sound. */
  async holdSound(music: string): Promise<Int16Array | null> {
    if (music === 'silence') return null
    if (music === 'ringback') return ringback()
    if (music === 'beep') return tone([1_000], 200)
    if (music === 'default') return tune()
    const sound = await fetchSound(this.network.app, this.owner.one, music)
    return typeof sound === 'string' ? tune() : sound
  }
}
