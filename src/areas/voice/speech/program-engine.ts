// SPDX-License-Identifier: Apache-2.0
// espeak-ng of the system: a program that is started for each text and talks over pipes. Text goes in by its standard input, so
// that no sentence is ever part of a command line.
import { spawn } from 'node:child_process'
import { readWav } from '../../../protocols/audio/wav.ts'
import { maxSpeechSeconds, wordsPerMinute } from '../engines/tasks.ts'
import { type SpeechEngine, tooLong, Unspeakable } from './engine.ts'
import type { Reading } from './reading.ts'

const engineMs = 10_000
/** The engine's samples have 16 bits at 22,050 Hz, after a header of 44 bytes. */
const headerBytes = 44
const maxBytes = headerBytes + maxSpeechSeconds * 2 * 22_050

export class ProgramEngine implements SpeechEngine {
  readonly name: string
  readonly #read: (file: Buffer) => Promise<Int16Array | string>

  /** `read` makes telephone audio of the program's files; long ones do not belong on the event loop. */
  constructor(program: string, read: (file: Buffer) => Promise<Int16Array | string> = async (file) => readWav(file)) {
    this.name = program
    this.#read = read
  }

  isInstalled(): Promise<boolean> {
    return new Promise((done) => {
      const child = spawn(this.name, ['--version'], { stdio: 'ignore' })
      child.on('error', () => done(false))
      child.on('exit', (code) => done(code === 0))
    })
  }

  async say({ text, isMarkup }: Reading, voice: string): Promise<Int16Array> {
    const marked = isMarkup ? ['-m'] : []
    const file = await this.#run(['-v', voice, ...marked, '-s', String(wordsPerMinute), '--stdin', '--stdout'], text)
    // The engine writes to a pipe and cannot state the length at the start of the file.
    if (file.length > headerBytes) file.writeUInt32LE(file.length - headerBytes, headerBytes - 4)
    const samples = await this.#read(file)
    if (typeof samples === 'string')
      throw new Unspeakable('PROVIDER_UNAVAILABLE', `the speech engine failed: ${samples}`)
    return samples
  }

  #run(args: readonly string[], input: string): Promise<Buffer> {
    return new Promise((done, failed) => {
      const child = spawn(this.name, args, {
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: engineMs,
        env: { PATH: process.env.PATH },
      })
      const chunks: Buffer[] = []
      let bytes = 0
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) return void chunks.push(chunk)
        child.kill()
        child.stdout.destroy()
        failed(new Unspeakable('VALIDATION_ERROR', tooLong))
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
