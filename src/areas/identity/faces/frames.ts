// SPDX-License-Identifier: Apache-2.0
// Frames of an active liveness check and their challenge.
import { randomInt } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, statement, type Tx } from '../../../platform/db.ts'
import { mine, type One } from '../../../platform/tenant.ts'
import { engine, type Viewer } from '../engines/engines.ts'
import { measureFrames } from '../engines/tasks.ts'
import { Picture, pictureOf, specimen } from '../pictures.ts'
import { type ActiveResult, judgeActive, randomSteps } from './active-liveness.ts'
import { randomLights } from './light.ts'

const maxFrameBytes = 1_024 * 1_024
const maxFramesBytes = 10 * maxFrameBytes

export const Frames = Type.Union(
  [
    Type.Array(
      Type.Object({
        image: Picture('Picture of the frame'),
        step: Type.String({ maxLength: 20, description: 'The step of the challenge that it shows, such as `blink`' }),
        at_ms: Type.Integer({ minimum: 0, maximum: 600_000, description: 'Milliseconds since the first frame' }),
      }),
      { minItems: 3, maxItems: 30 },
    ),
    Type.String({ maxLength: 40 }),
  ],
  {
    rule: 'must be 3 to 30 frames, or sandbox:frames_live or sandbox:frames_still',
    description: 'Pictures taken while the person follows the steps, at most 1 MB each and 10 MB together',
  },
)
export type Frames = Static<typeof Frames>

export const ActiveSubmission = Type.Object(
  {
    challenge_id: Type.String({
      maxLength: 40,
      description: 'Id of the challenge from POST /v1/identity/liveness; single use, valid for two minutes',
    }),
    frames: Frames,
  },
  { description: 'Frames of an active liveness check; the best one serves as the selfie if none is given' },
)

const addChallenge = statement.tenant<
  One & { steps: readonly string[]; lights: readonly string[] | null; made: Date; expires: Date },
  object
>(
  'identity.add_challenge',
  `insert into identity.challenges (bucket, account_id, environment, id, steps, lights, made_at, expires_at)
   values ($bucket, $account, $environment, $id, $steps::text[], $lights::text[], $made, $expires)`,
)

interface ChallengeRow {
  readonly steps: string[]
  readonly lights: string[] | null
  readonly made_at: Date | null
  readonly expires_at: Date
  readonly used_at: Date | null
}

const findChallenge = statement.tenant<One, ChallengeRow>(
  'identity.find_challenge',
  `select steps, lights, made_at, expires_at, used_at from identity.challenges where ${mine} and id = $id`,
)

const useChallenge = statement.tenant<One & { at: Date }, { id: string }>(
  'identity.use_challenge',
  `update identity.challenges set used_at = $at where ${mine} and id = $id and used_at is null returning id`,
)

const challengeMs = 120_000
/** On a hosted page the answer may come over a poor network. */
export const slowChallengeMs = 600_000

type Asker = Pick<Caller, 'tenant' | 'receivedMs' | 'nowMs'>

/** A challenge; with light, the screen shines a colour for each frontal frame: the first, and one after each step. */
export async function makeChallenge(
  tx: Tx,
  { tenant, receivedMs, nowMs }: Asker,
  { lastsMs = challengeMs, hasLight = false } = {},
) {
  const id = newUuid(receivedMs)
  const steps = randomSteps(randomInt)
  const lights = hasLight ? randomLights(randomInt, steps.length + 1) : null
  const [made, expires] = [new Date(nowMs), new Date(nowMs + lastsMs)]
  await tx.query(addChallenge, { ...tenant, id, steps, lights, made, expires })
  return { id, challengeId: idOf('liveness', id), steps, lights, expires }
}

export interface Answered {
  readonly id: string
  readonly result: ActiveResult
  /** Frontal frame, for a comparison. */
  readonly frontal: Buffer
}

/** Checks frames against their challenge, which is used up by any outcome. */
export async function answerChallenge(
  app: App,
  caller: Asker,
  viewer: Viewer,
  challengeId: string,
  frames: Frames,
  field: string,
): Promise<Answered> {
  const { tenant, nowMs } = caller
  const id = uuidOf('liveness', challengeId)
  const challenge = id && (await maybe(app.db.query(findChallenge, { ...tenant, id })))
  if (!id || !challenge) throw new AppError('NOT_FOUND', 'there is no such challenge')
  if (challenge.used_at) throw new AppError('CHALLENGE_USED', 'this challenge was used before')
  if (challenge.expires_at.getTime() <= nowMs) throw new AppError('CHALLENGE_EXPIRED', 'the challenge has expired')
  const pictures = await picturesOf(app, caller, frames, challenge.steps, field)
  if (!(await maybe(app.db.query(useChallenge, { ...tenant, id, at: new Date(nowMs) }))))
    throw new AppError('CHALLENGE_USED', 'this challenge was used before')
  const names = pictures.map((_, i) => `${field}[${i}].image`)
  const shown = { frames: pictures.map(({ bytes }) => bytes) }
  const { frames: measured } = await engine(app, viewer, measureFrames, shown, names)
  const timed = pictures.flatMap(({ step, atMs }, i) => {
    const frame = measured[i]
    return frame ? [{ step, atMs, frame }] : []
  })
  const { steps, lights, made_at: made } = challenge
  const withinMs = made && typeof frames !== 'string' ? nowMs - made.getTime() : null
  const result = judgeActive({ steps, lights, withinMs }, timed)
  return { id, result, frontal: pictures[result.frontal]?.bytes ?? Buffer.alloc(0) }
}

interface TimedPicture {
  readonly bytes: Buffer
  readonly step: string
  readonly atMs: number
}

async function picturesOf(
  app: App,
  caller: Asker,
  frames: Frames,
  steps: readonly string[],
  field: string,
): Promise<TimedPicture[]> {
  if (typeof frames === 'string') return sandboxFrames(caller, frames, steps, field)
  const pictures: TimedPicture[] = []
  let total = 0
  for (const [i, { image, step, at_ms: atMs }] of frames.entries()) {
    const bytes = await pictureOf(app, caller, `${field}[${i}].image`, image)
    total += bytes.length
    if (bytes.length > maxFrameBytes || total > maxFramesBytes)
      throw new AppError('IMAGE_TOO_LARGE', `${field}: a frame may have 1 MB, all of them 10 MB`, {
        extra: { image: field },
      })
    pictures.push({ bytes, step, atMs })
  }
  return pictures
}

/** Sandbox frames: `frames_live` performs each step and returns; `frames_still` repeats one picture. */
async function sandboxFrames(
  { tenant }: Asker,
  name: string,
  steps: readonly string[],
  field: string,
): Promise<TimedPicture[]> {
  const isLive = name === 'sandbox:frames_live'
  if (tenant.environment !== 'test' || (!isLive && name !== 'sandbox:frames_still'))
    throw invalid(field, 'must be 3 to 30 frames, or with a test key sandbox:frames_live or sandbox:frames_still')
  const shown = [
    { step: 'frontal', file: 'frame_frontal_1' },
    ...steps.flatMap((step, i) => [
      { step, file: isLive ? `frame_${step}` : 'frame_frontal_1' },
      { step: 'frontal', file: isLive ? `frame_frontal_${i + 2}` : 'frame_frontal_1' },
    ]),
  ]
  return Promise.all(shown.map(async ({ step, file }, i) => ({ step, atMs: i * 700, bytes: await specimen(file) })))
}
