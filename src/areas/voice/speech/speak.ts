// SPDX-License-Identifier: Apache-2.0
// Text to speech: one engine behind an interface, and a cache by what was said. The engine that is known here is espeak-ng, a
// program of its own that is started for each sentence and talks over pipes; nothing of it is linked. Text goes in by its
// standard input, so that no sentence is ever part of a command line.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { readWav } from '../../../protocols/audio/wav.ts'
import { type Reading, readingOf } from './reading.ts'
import { ssmlProblem } from './ssml.ts'
import { engineVoiceOf } from './voices.ts'

export interface Utterance {
  text: string
  language: string
  style?: number
  voice?: string
}

const engineMs = 10_000
const mostBytes = 64 * 1_024 * 1_024
const mostRunning = 4
const mostCachedSamples = 8_000 * 60 * 30

/** Why something cannot be said: an error code of the API and a sentence. */
export class Unspeakable extends AppError {}

export class Speaker {
  private readonly cache = new Map<string, Int16Array>()
  private cachedSamples = 0
  private running = 0
  private readonly queue: (() => void)[] = []
  private isInstalled: boolean | null = null
  private readonly program: string

  constructor(program: string) {
    this.program = program
  }

  /** Whether there is an engine; asked once, and again while there is none. */
  async available(): Promise<boolean> {
    if (this.isInstalled) return true
    const found = await new Promise<boolean>((done) => {
      const child = spawn(this.program, ['--version'], { stdio: 'ignore' })
      child.on('error', () => done(false))
      child.on('exit', (code) => done(code === 0))
    })
    this.isInstalled = found
    return found
  }

  /** Telephone audio of a text, plain or SSML. */
  async speak({ text, language, style = 0, voice }: Utterance): Promise<Int16Array> {
    const problem = ssmlProblem(text)
    if (problem) throw new Unspeakable('VALIDATION_ERROR', `text: ${problem}`)
    const engineVoice = engineVoiceOf(language, style, voice)
    const reading = readingOf(language, text)
    const what = `${this.program}\0${engineVoice}\0${reading.text}`
    const key = createHash('sha256').update(what).digest('base64')
    const known = this.cache.get(key)
    if (known) return known
    if (!(await this.available()))
      throw new Unspeakable(
        'PROVIDER_UNAVAILABLE',
        `no speech engine is installed: install the package ${this.program}`,
      )
    const samples = await this.inTurn(() => this.synthesise(reading, engineVoice))
    this.keep(key, samples)
    return samples
  }

  private keep(key: string, samples: Int16Array): void {
    this.cache.set(key, samples)
    this.cachedSamples += samples.length
    for (const [oldest, sound] of this.cache) {
      if (this.cachedSamples <= mostCachedSamples) break
      this.cache.delete(oldest)
      this.cachedSamples -= sound.length
    }
  }

  /** A few at a time; the others wait for their turn. */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= mostRunning) await new Promise<void>((turn) => this.queue.push(turn))
    this.running++
    try {
      return await work()
    } finally {
      this.running--
      this.queue.shift()?.()
    }
  }

  private async synthesise({ text, isMarkup }: Reading, voice: string): Promise<Int16Array> {
    const marked = isMarkup ? ['-m'] : []
    const file = await this.run(['-v', voice, ...marked, '-s', '150', '--stdin', '--stdout'], text)
    // The engine writes to a pipe and cannot state the length at the start of the file.
    if (file.length > 44) file.writeUInt32LE(Math.max(0, file.length - 44), 40)
    const samples = readWav(file)
    if (typeof samples === 'string')
      throw new Unspeakable('PROVIDER_UNAVAILABLE', `the speech engine failed: ${samples}`)
    return samples
  }

  private run(args: readonly string[], input: string): Promise<Buffer> {
    return new Promise((done, failed) => {
      const child = spawn(this.program, args, {
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: engineMs,
        env: { PATH: process.env.PATH },
      })
      const chunks: Buffer[] = []
      let bytes = 0
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) child.kill()
        else chunks.push(chunk)
      })
      child.on('error', failed)
      child.stdin.on('error', () => undefined)
      child.on('close', (code) => {
        if (code === 0) done(Buffer.concat(chunks))
        else failed(new Unspeakable('PROVIDER_UNAVAILABLE', 'the speech engine did not finish'))
      })
      child.stdin.end(input)
    })
  }
}
