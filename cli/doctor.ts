// SPDX-License-Identifier: Apache-2.0
// `pamoja doctor`: what may be wrong between this machine and a platform, and on the machine itself. Each line says what was
// found and, where it is wrong, what to do.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { env, versions } from 'node:process'
import { TLSSocket } from 'node:tls'
import { PamojaError } from '../sdk/typescript/src/errors.ts'
import { clientOf } from './operations.ts'
import { faint, green, red, say } from './output.ts'
import { type Chosen, profileOf } from './profiles.ts'

interface Finding {
  readonly name: string
  readonly isFine: boolean
  readonly words: string
}

const fine = (name: string, words: string): Finding => ({ name, isFine: true, words })
const wrong = (name: string, words: string): Finding => ({ name, isFine: false, words })

const minFreeBytes = 1024 ** 3
const maxSkewMs = 5_000
const minCertificateDays = 14

/** Prints the findings; false when something is wrong. */
export async function doctor(named: string | undefined, isJson: boolean): Promise<boolean> {
  const findings = [nodeVersion(), disk(), ...(await server(profileOf(named))), ...engines(), await port()]
  for (const { name, isFine, words } of findings)
    say(
      isJson
        ? JSON.stringify({ name, ok: isFine, words })
        : `${isFine ? green('ok   ') : red('wrong')}  ${name.padEnd(12)} ${isFine ? faint(words) : words}`,
    )
  return findings.every(({ isFine }) => isFine)
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = versions.node.split('.').map(Number)
  const isRecent = major > 20 || (major === 20 && minor >= 19)
  return isRecent ? fine('node', versions.node) : wrong('node', `${versions.node}: 20.19 or later is needed`)
}

function disk(): Finding {
  const home = resolve(env.PAMOJA_HOME ?? '.pamoja')
  const { bavail, bsize } = statfsSync(existsSync(home) ? home : '.')
  const gigabytes = ((bavail * bsize) / 1024 ** 3).toFixed(1)
  return bavail * bsize >= minFreeBytes
    ? fine('disk', `${gigabytes} GB free`)
    : wrong('disk', `${gigabytes} GB free at ${home}: free some, or choose another directory with PAMOJA_HOME`)
}

/** Whether the platform is there, with a certificate that lasts, the time of day, a database, and a key that works. */
async function server(profile: Chosen | null): Promise<Finding[]> {
  if (!profile) return [wrong('profile', 'none: start a platform here with `npm start`, or run `pamoja login`')]
  const about = fine('profile', `${profile.from}, ${profile.baseUrl}`)
  try {
    const { status, body, date, validTo } = await probe(profile)
    return [
      about,
      fine('address', 'answers'),
      ...(validTo ? [certificate(validTo)] : []),
      clock(date),
      ...readiness(status, body),
      await key(profile),
    ]
  } catch (error) {
    const reason = error instanceof Error ? error.message || String(Reflect.get(error, 'code')) : String(error)
    return [
      about,
      wrong(
        'address',
        `${profile.baseUrl} cannot be reached (${reason}): check that it runs, and --ca for its certificate`,
      ),
    ]
  }
}

interface Probed {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly date: string | undefined
  readonly validTo: string | null
}

function probe({ baseUrl, caFile }: Chosen): Promise<Probed> {
  const ca = caFile ? { ca: readFileSync(caFile) } : {}
  return new Promise((done, failed) => {
    const asked = request(`${baseUrl}/readyz`, { ...ca, timeout: 10_000, agent: false }, (response) => {
      const validTo = response.socket instanceof TLSSocket ? response.socket.getPeerCertificate().valid_to : null
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, body: parsed(text), date: response.headers.date, validTo }),
      )
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer in 10 s')))
    asked.on('error', failed)
    asked.end()
  })
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function certificate(validTo: string): Finding {
  const days = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000)
  return days >= minCertificateDays
    ? fine('certificate', `valid for ${days} days`)
    : wrong('certificate', `valid for ${days} days more: renew it`)
}

function clock(date: string | undefined): Finding {
  if (date === undefined) return fine('clock', 'the server does not return its time')
  const skewMs = Math.abs(Date.parse(date) - Date.now())
  return skewMs <= maxSkewMs
    ? fine('clock', 'as the server’s')
    : wrong(
        'clock',
        `${Math.round(skewMs / 1000)} s away from the server’s: signatures of webhooks will not hold; set the time`,
      )
}

/** Parts of the platform as /readyz tells them: the database, binds, listeners, engines. */
function readiness(status: number, body: Readonly<Record<string, unknown>>): Finding[] {
  const checks = Object.entries(Object(body.checks ?? {})).map(([name, state]) =>
    state === 'ok' ? fine(name, 'ready') : wrong(name, String(state)),
  )
  return checks.length > 0
    ? checks
    : [status === 200 ? fine('platform', 'ready') : wrong('platform', `not ready (${status})`)]
}

async function key(profile: Chosen): Promise<Finding> {
  try {
    const { account_id, environment } = await clientOf(profile).auth.whoami()
    return fine('key', `${environment} of ${account_id}`)
  } catch (error) {
    return wrong(
      'key',
      error instanceof PamojaError ? `${error.message} (${error.code}): \`pamoja login\` takes another` : String(error),
    )
  }
}

/** Programs that a platform on this machine uses for speech. */
function engines(): Finding[] {
  const hasSpeech = spawnSync('espeak-ng', ['--version']).error === undefined
  return [
    fine(
      'speech',
      hasSpeech ? 'espeak-ng is installed' : 'espeak-ng is not installed: text-to-speech is not available without it',
    ),
  ]
}

async function port(): Promise<Finding> {
  const wanted = Number(env.PAMOJA_PORT ?? 8443)
  const isFree = await new Promise<boolean>((done) => {
    const probe = createServer()
    probe.once('error', () => done(false))
    probe.listen(wanted, '127.0.0.1', () => probe.close(() => done(true)))
  })
  const isOurs = existsSync(join(resolve(env.PAMOJA_HOME ?? '.pamoja'), 'credentials.json'))
  if (isFree) return fine('port', `${wanted} is free`)
  return isOurs
    ? fine('port', `${wanted} is in use, as it is while a platform runs`)
    : wrong('port', `${wanted} is in use: choose another with PAMOJA_PORT`)
}
