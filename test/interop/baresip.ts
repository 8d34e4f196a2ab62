// SPDX-License-Identifier: Apache-2.0
// Baresip, a SIP phone that is not ours: it calls, speaks and writes down what it hears. Debian has it in the package
// `baresip`; PAMOJA_REQUIRE_BARESIP=1 makes its absence a failure.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { readWav, writeWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'

/** Reason that the phone cannot be had; false when it can. */
export function withoutBaresip(): string | false {
  const missing = ['baresip', 'espeak-ng'].filter(
    (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
  )
  return missing.length > 0 && process.env.PAMOJA_REQUIRE_BARESIP !== '1'
    ? `not installed: ${missing.join(', ')}`
    : false
}

interface BaresipPhone {
  says(word: string): Promise<void>
  /** Lines that it has printed. */
  printed(): string
  press(key: string): void
  stop(): Promise<void>
  /** Sound that it heard, as it wrote it down. */
  heard(): Promise<Int16Array | string>
}

/** A phone of its own that dials at once, speaks and writes down what it hears. It hangs up when it has spoken. */
export async function startBaresip(t: TestContext, uri: string, speech: Int16Array): Promise<BaresipPhone> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-baresip-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'say.wav'), writeWav([speech]))
  await writeFile(join(dir, 'accounts'), '<sip:phone@127.0.0.1>;regint=0;audio_codecs=pcmu/8000/1\n')
  const config = [
    'module_path /usr/lib/baresip/modules',
    'module stdio.so',
    'module g711.so',
    'module aufile.so',
    'module aubridge.so',
    'module sndfile.so',
    'module_app account.so',
    'module_app menu.so',
    // The kernel chooses the port: one that was free a moment ago may be taken by now.
    'sip_listen 127.0.0.1:0',
    `audio_source aufile,${join(dir, 'say.wav')}`,
    'audio_player aubridge,nobody',
    'audio_alert aubridge,nobody',
    `snd_path ${dir}`,
    'net_interface 127.0.0.1',
  ]
  await writeFile(join(dir, 'config'), `${config.join('\n')}\n`)
  const child = spawn('baresip', ['-f', dir, '-e', `/dial ${uri}`], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const stop = () => ended(child)
  t.after(stop)
  return {
    heard: async () => {
      const file = (await readdir(dir)).find((name) => name.endsWith('-dec.wav'))
      return readWav(file === undefined ? Buffer.alloc(0) : await readFile(join(dir, file)))
    },
    says: (word) =>
      eventually(async () => output.includes(word) || null, `baresip to say ${word}`).then(() => undefined),
    printed: () => output,
    press: (key) => void child.stdin.write(key),
    stop,
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** A file of ours, by its signed address. */
export function fetched(url: string, ca: string): Promise<Buffer> {
  return new Promise((done, failed) => {
    get(url, { ca }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => done(Buffer.concat(chunks)))
    }).on('error', failed)
  })
}
