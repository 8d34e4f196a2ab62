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
import { resample } from '../../src/protocols/audio/resample.ts'
import { readWav, writeWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'
import { withoutVoice } from '../hearing.ts'

/** Reason that the phone cannot be had; false when it can. */
export function withoutBaresip(): string | false {
  if (process.env.PAMOJA_REQUIRE_BARESIP === '1') return false
  return spawnSync('sh', ['-c', 'command -v baresip']).status === 0 ? withoutVoice() : 'not installed: baresip'
}

interface BaresipPhone {
  says(word: string): Promise<void>
  /** Lines that it has printed. */
  printed(): string
  press(key: string): void
  stop(): Promise<void>
  /** Sound that it has heard until now, as it wrote it down. */
  heard(): Promise<Int16Array | string>
}

/** Size of a WAV file before its sound. */
const wavHeadBytes = 44

interface PhoneOptions {
  /** Address that it dials at once; absent waits for calls, and answers them. */
  dials?: string
  speech: Int16Array
  /** Name in its address, by which it is called. */
  user?: string
  /** Address and port of SIP over UDP and TCP; TLS is at the port after it. */
  listens?: string
  codec?: 'pcmu/8000/1' | 'g722/16000/1' | 'opus/48000/2'
  /** Further parameters of its account, such as how audio is encrypted. */
  account?: string
  /** File with its certificate and key, for calls that come over TLS. */
  certificate?: string
  /** Network namespace that it runs in, and its address there. */
  within?: { namespace: string; host: string }
}

/** A phone of its own that dials or answers, speaks and writes down what it hears. It hangs up when it has spoken. */
export async function startBaresip(t: TestContext, options: PhoneOptions): Promise<BaresipPhone> {
  const { dials, speech, user = 'phone', codec = 'pcmu/8000/1', account = '', within } = options
  const host = within?.host ?? '127.0.0.1'
  const listens = options.listens ?? `${host}:0`
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-baresip-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'say.wav'), wavFor(codec, speech))
  await writeFile(
    join(dir, 'accounts'),
    `<sip:${user}@${host}${account.includes('srtp') ? ';transport=tls' : ''}>;regint=0;audio_codecs=${codec}${account}\n`,
  )
  const config = [
    'module_path /usr/lib/baresip/modules',
    'module stdio.so',
    'module g711.so',
    'module g722.so',
    'module opus.so',
    'opus_inbandfec yes',
    'module srtp.so',
    'module aufile.so',
    'module aubridge.so',
    'module sndfile.so',
    'module_app account.so',
    'module_app menu.so',
    // The kernel chooses the port: one that was free a moment ago may be taken by now.
    `sip_listen ${listens}`,
    ...(options.certificate ? [`sip_certificate ${options.certificate}`] : []),
    `audio_source aufile,${join(dir, 'say.wav')}`,
    'audio_player aubridge,nobody',
    'audio_alert aubridge,nobody',
    `snd_path ${dir}`,
    `net_interface ${host}`,
  ]
  await writeFile(join(dir, 'config'), `${config.join('\n')}\n`)
  const [program = '', ...given] = [
    ...(within ? ['ip', 'netns', 'exec', within.namespace] : []),
    ...['baresip', '-f', dir],
    ...(dials === undefined ? [] : ['-e', `/dial ${dials}`]),
  ]
  const child = spawn(program, given, {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
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
      const sound = file === undefined ? Buffer.alloc(0) : await readFile(join(dir, file))
      // The length in its header is written when it ends.
      if (sound.length > wavHeadBytes) sound.writeUInt32LE(sound.length - wavHeadBytes, wavHeadBytes - 4)
      return readWav(sound)
    },
    says: (word) =>
      eventually(async () => output.includes(word) || null, `baresip to say ${word}`).then(() => undefined),
    printed: () => output,
    press: (key) => void child.stdin.write(key),
    stop,
  }
}

/** File of the rate and channels of a codec, which are those that the phone wants. */
function wavFor(codec: NonNullable<PhoneOptions['codec']>, speech: Int16Array): Buffer {
  const [, rate = '', channels = ''] = codec.split('/')
  const sound = resample(speech, 8_000, Number(rate))
  const file = writeWav(new Array<Int16Array>(Number(channels)).fill(sound))
  file.writeUInt32LE(Number(rate), 24)
  file.writeUInt32LE(2 * Number(channels) * Number(rate), 28)
  return file
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
