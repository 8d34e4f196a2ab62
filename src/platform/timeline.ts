// SPDX-License-Identifier: Apache-2.0
// Timelines: wire frames of a message or payment, for its account. Always in test; in live where the operator enables
// it. All of what an account does now and then is recorded; of a busy one a sample, each resource whole or not at all, so
// that a load test in the sandbox costs what it costs in live. Frames are buffered and written by COPY a few times a
// second, like the request log: a crash may lose the last moment, and an overload drops some (counted).
import { withoutCardNumbers } from '../kernel/card.ts'
import { firstUuidAt, msOfId, newUuidOf, timeOfUuid, uuidOf } from '../kernel/ids.ts'
import { type Database, type Queryable, statement } from './db.ts'
import { findRequest } from './http/logged-requests.ts'
import { copyField } from './http/request-log.ts'
import type { Logger } from './telemetry/log.ts'
import { type Environment, mine, type Tenant } from './tenant.ts'
import { Sample } from './timeline/sample.ts'

const flushMs = 250
const maxRows = 500
const maxWaiting = 10_000
/** Frame limit per resource, against endless retries. */
const maxOfOne = 100
const maxTextLength = 4_096
const mask = '[redacted]'

type FrameKind = 'smpp' | 'provider' | 'callback' | 'webhook'

export interface Frame {
  readonly kind: FrameKind
  /** `out`: sent by us. */
  readonly direction: 'in' | 'out'
  readonly title: string
  readonly peer: string | null
  readonly status: string | null
  readonly isOk: boolean | null
  readonly durationMs: number | null
  readonly request: string | null
  readonly answer: string | null
}

/** Records a frame that started `durationMs` ago. */
export type Note = (frame: Frame) => void

const columns = [
  ...['bucket', 'account_id', 'environment', 'resource', 'id', 'kind', 'direction', 'title', 'peer', 'status', 'is_ok'],
  ...['duration_ms', 'request', 'answer'],
]

interface FrameRow {
  id: string
  kind: FrameKind
  direction: 'in' | 'out'
  title: string
  peer: string | null
  status: string | null
  is_ok: boolean | null
  duration_ms: number | null
  request: string | null
  answer: string | null
}

const select = statement.tenant<Tenant & { resource: string; from: string; most: number }, FrameRow>(
  'platform.frames_of',
  `select id, kind, direction, title, peer, status, is_ok, duration_ms, request, answer from platform.frames
    where ${mine} and resource = $resource and id >= $from::uuid
    order by id limit $most::int`,
)

const forget = statement.tenant<{ bucket: number; account: string; before: string }, object>(
  'platform.forget_frames',
  `delete from platform.frames
    where bucket = $bucket and account_id = $account and environment in ('test', 'live') and id < $before::uuid`,
)

export class Timeline {
  readonly #db: Database
  readonly #log: Logger
  readonly #nowMs: () => number
  readonly #keepsLive: boolean
  #rows: string[] = []
  readonly #sample: Sample
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  dropped = 0

  constructor(db: Database, log: Logger, options: { nowMs(): number; keepsLive: boolean }) {
    this.#db = db
    this.#log = log
    this.#nowMs = options.nowMs
    this.#keepsLive = options.keepsLive
    this.#sample = new Sample(options.nowMs)
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), flushMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.flush()
  }

  keeps(environment: Environment): boolean {
    return environment === 'test' || this.#keepsLive
  }

  /** Recorder for a resource; null when its frames are not kept, so that building them can be skipped. */
  of(tenant: Tenant, resource: string, clockOffsetMs: number): Note | null {
    if (!this.keeps(tenant.environment) || !this.#sample.has(tenant.account, resource)) return null
    return (frame) => this.#add(tenant, resource, clockOffsetMs, frame)
  }

  #add({ bucket, account, environment }: Tenant, resource: string, clockOffsetMs: number, frame: Frame): void {
    if (this.#rows.length >= maxWaiting || this.#sample.count(resource) > maxOfOne) {
      this.dropped++
      return
    }
    const { kind, direction, title, peer, status, isOk, durationMs, request, answer } = frame
    const nowMs = this.#nowMs()
    const id = newUuidOf(nowMs + clockOffsetMs - (durationMs ?? 0), nowMs)
    const took = durationMs === null ? null : String(Math.round(durationMs))
    const texts = [title, peer, status, isOk === null ? null : String(isOk), took, cut(request), cut(answer)]
    const head = [bucket, account, environment, resource, id, kind, direction].join('\t')
    this.#rows.push(`${head}\t${texts.map(copyField).join('\t')}\n`)
    if (this.#rows.length % maxRows === 0) void this.flush()
  }

  /** Writes the buffer, one batch after the other. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  async #write(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.#rows.splice(0, maxRows)
      try {
        await this.#db.copyIn('platform.frames', columns, rows)
      } catch (error) {
        this.dropped += rows.length
        this.#log.warn(
          { error, frames: rows.length },
          'frames of timelines dropped: the database is slow or away; check it',
        )
        return
      }
    }
  }

  /** Deletes an account's frames older than its message retention. */
  async forget(account: { bucket: number; account: string }, beforeMs: number): Promise<void> {
    await this.#db.query(forget, { ...account, before: firstUuidAt(beforeMs) })
  }
}

/** Frame as read: with its time, and whether it is a status of ours or a wire frame. */
export interface Told extends Omit<Frame, 'kind' | 'direction'> {
  readonly at: Date
  readonly kind: FrameKind | 'request' | 'state'
  readonly direction: 'in' | 'out' | null
}

export interface Subject {
  /** Public id of the message or payment. */
  readonly resource: string
  readonly createdAt: Date
  /** Id of the causing request; null without one. */
  readonly requestId: string | null
  readonly states: readonly { readonly at: Date; readonly state: string; readonly note: string | null }[]
}

/** Timeline of a resource, from its request to its last frame. */
export async function timelineOf(db: Queryable, tenant: Tenant, subject: Subject): Promise<Told[]> {
  const from = firstUuidAt(subject.createdAt.getTime() - 1_000)
  const [request, frames] = await Promise.all([
    requestOf(db, tenant, subject),
    db.query(select, { ...tenant, resource: subject.resource, from, most: 2 * maxOfOne }),
  ])
  const states = subject.states.map(({ at, state, note }): Told => {
    return { ...nothing, at, kind: 'state', title: state, status: note, isOk: state === 'failed' ? false : null }
  })
  // Within a millisecond, frames come before the status they caused.
  const told = [...request, ...frames.map(toldOf), ...states]
  return told.sort((a, b) => a.at.getTime() - b.at.getTime())
}

const nothing = { direction: null, peer: null, status: null, isOk: null, durationMs: null, request: null, answer: null }

async function requestOf(db: Queryable, tenant: Tenant, subject: Subject): Promise<Told[]> {
  const { requestId } = subject
  const id = requestId === null ? null : uuidOf('request', requestId)
  const logged = id && (await findRequest(db, tenant, id))
  if (!logged) return []
  return [
    {
      at: new Date(timeOfUuid(logged.id).getTime() + clockOffsetMsOf(subject)),
      kind: 'request',
      direction: 'in',
      title: `${logged.method} ${logged.path}`,
      peer: logged.ip,
      status: String(logged.status),
      isOk: logged.status < 400,
      durationMs: logged.duration_us / 1_000,
      request: logged.request_body,
      answer: logged.response_body,
    },
  ]
}

/** How far the account's clock was ahead when the subject was made, in whole seconds: ids and requests have the real time. */
function clockOffsetMsOf({ resource, createdAt }: Subject): number {
  const madeMs = msOfId(resource)
  return madeMs === null ? 0 : Math.round((createdAt.getTime() - madeMs) / 1_000) * 1_000
}

function toldOf({ id, is_ok, duration_ms, ...row }: FrameRow): Told {
  return { ...row, at: timeOfUuid(id), isOk: is_ok, durationMs: duration_ms }
}

const secretNames =
  /pass|secret|token|credential|authori[sz]ation|^pin$|cvv|cvc|^pan$|cookie|signature|card_?number|(api|merchant)_?key|^sign$/i

/** Our callback URLs, which authenticate a provider and are hidden from customers too. */
const ownHooks = /(\/hooks\/)[^"\\\s?#]+/g

/** Redacted JSON of a frame: without secrets, our callback URLs and card numbers. */
export function redacted(value: unknown): string | null {
  if (value === null || value === undefined) return null
  const text = JSON.stringify(value, (name, part: unknown) => (secretNames.test(name) ? mask : part))
  return withoutCardNumbers(text.replace(ownHooks, `$1${mask}`))
}

function cut(text: string | null): string | null {
  if (text === null) return null
  // PostgreSQL cannot store U+0000.
  const held = text.replaceAll('\u0000', '\ufffd')
  return held.length > maxTextLength ? held.slice(0, maxTextLength) : held
}
