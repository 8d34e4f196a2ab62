// SPDX-License-Identifier: Apache-2.0
// One side of many telephone calls: legs of the media engine that speak and hear at once. The benchmark is one side in its own
// process and starts this file as the other, so that each has a core to itself.
import { argv } from 'node:process'
import { tone } from '../src/protocols/audio/tones.ts'
import { type LegEnd, MediaEngine } from '../src/protocols/media/engine.ts'

const host = '127.0.0.1'

export class Streams {
  readonly #engine: MediaEngine
  readonly #count: number

  private constructor(count: number) {
    const nothing = () => undefined
    this.#count = count
    this.#engine = new MediaEngine(
      { nowMs: () => performance.now(), maxLegs: count, silentMs: 600_000, latestMs: 60_000 },
      {
        digit: nothing,
        silent: nothing,
        played: nothing,
        recorded: nothing,
        recordingEnded: nothing,
        speechBegan: nothing,
        speechEnded: nothing,
        answerer: nothing,
      },
    )
  }

  /** Opens legs, each in a room of its own with a hum that never ends; gives their ports. */
  static async open(count: number): Promise<{ streams: Streams; ports: number[] }> {
    const streams = new Streams(count)
    const ports: number[] = []
    for (let i = 0; i < count; i++) {
      ports.push(await streams.#engine.open(`leg ${i}`, `leg ${i}`, host))
      streams.#engine.play(`leg ${i}`, `hum ${i}`, tone([400], 1_000), { loop: 0, level: 1, to: null })
    }
    return { streams, ports }
  }

  connect(ports: readonly number[]): void {
    ports.forEach((port, i) => {
      const remote = { host, port, rtcpPort: port + 1, codec: 'PCMU' as const, payloadType: 0, digits: 101 }
      this.#engine.connect(`leg ${i}`, { ...remote, hears: true, sends: true })
    })
  }

  get lateMs(): number {
    return this.#engine.lateMs
  }

  end(): LegEnd[] {
    const ends = Array.from({ length: this.#count }, (_, i) => this.#engine.close(`leg ${i}`))
    this.#engine.closeAll()
    return ends
  }
}

/** The other side: told how many, says its ports, is told those of the first, and says at last how it heard. */
if (argv[2] === 'peer') {
  const { streams, ports } = await Streams.open(Number(argv[3]))
  process.on('message', (message: number[] | 'end') => {
    if (message !== 'end') return streams.connect(message)
    process.send?.(streams.end(), () => process.exit(0))
  })
  process.send?.(ports)
}
