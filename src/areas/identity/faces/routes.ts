// SPDX-License-Identifier: Apache-2.0
// Routes of face comparison and liveness. Pictures are processed, not stored.
import { randomBytes } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { chargeFor, costFields, type Price, requireFunds } from '../charging.ts'
import { engine, viewerOf } from '../engines/engines.ts'
import { examine, type FoundFace, measureFrames } from '../engines/tasks.ts'
import { faceIn, maxPictureBytes, maxRequestBytes, Picture, pictureOf } from '../pictures.ts'
import { judgePassive } from './active-liveness.ts'
import { answerChallenge, Frames, makeChallenge } from './frames.ts'
import { Confidence, likeness, matchThreshold, reviewThreshold } from './match.ts'

const pictureErrors = [
  'IMAGE_QUALITY_LOW',
  'IMAGE_TOO_LARGE',
  'NO_FACE_DETECTED',
  'MULTIPLE_FACES',
  'DESTINATION_NOT_ALLOWED',
  'INSUFFICIENT_BALANCE',
  'PROVIDER_UNAVAILABLE',
] as const

const FaceMatch = Type.Object({
  image_a: Type.Optional(Picture('First face; alias source_image')),
  image_b: Type.Optional(Picture('Second face; alias target_image')),
  source_image: Type.Optional(Picture('Alias of image_a')),
  target_image: Type.Optional(Picture('Alias of image_b')),
  threshold: Type.Optional(
    Type.Number({
      minimum: reviewThreshold,
      maximum: 1,
      rule: 'must be 0.5 to 1',
      description: `Similarity from which the faces are one person; default ${matchThreshold}`,
    }),
  ),
  strict: Type.Optional(
    Type.Boolean({ description: 'True replies to a similarity below `threshold` with 422 FACE_MISMATCH' }),
  ),
  reference: Type.Optional(
    Type.String({ maxLength: 128, description: 'Your own id for the case, returned in the reply' }),
  ),
})

const FaceShown = Type.Object(
  {
    count: Type.Integer({ description: 'Number of faces in the picture' }),
    box: Type.Array(Type.Integer(), { description: 'Position of the compared face: x, y, width and height' }),
    quality: Type.Number({ description: 'Quality, 0 to 1; low if the face is small or hard to see' }),
  },
  { description: 'Face found in one picture' },
)

const FaceMatched = Type.Object(
  {
    face_match_id: Type.String({ description: 'Id of the comparison, such as `fmt_…`' }),
    match: Type.Boolean({ description: 'True if the similarity reaches the threshold' }),
    confidence: Confidence,
    similarity_score: Type.Number({ description: 'Similarity of the faces, 0 to 1, which decides' }),
    threshold: Type.Number({ description: 'Threshold that was applied' }),
    faces: Type.Object({ image_a: FaceShown, image_b: FaceShown }, { description: 'Faces found in each picture' }),
    reference: Nullable(Type.String({ description: 'Your own id of the case; null if none was given' })),
    created_at: At({ description: 'Time of the comparison' }),
    ...costFields,
  },
  { title: 'IdentityFaceMatch' },
)

interface Compared {
  readonly id: string
  readonly similarity: number
  readonly confidence: number
  readonly threshold: number
  readonly faces: { readonly image_a: Static<typeof FaceShown>; readonly image_b: Static<typeof FaceShown> }
  readonly price: Price
}

async function compare(app: App, caller: Caller, input: Static<typeof FaceMatch>): Promise<Compared> {
  const [a, b] = [input.image_a ?? input.source_image, input.image_b ?? input.target_image]
  if (a === undefined) throw invalid('image_a', 'is needed')
  if (b === undefined) throw invalid('image_b', 'is needed')
  const fields = ['image_a', 'image_b']
  const pictures = [
    { bytes: await pictureOf(app, caller, 'image_a', a), use: 'face' as const },
    { bytes: await pictureOf(app, caller, 'image_b', b), use: 'face' as const },
  ]
  const price = await requireFunds(app, caller, 'face_match')
  const { pictures: examined } = await engine(app, viewerOf(caller), examine, { pictures }, fields)
  const [first, second] = examined
  if (!first || !second) throw new Error('the engine examined fewer pictures than it was given')
  const [left, right] = [faceIn('image_a', first), faceIn('image_b', second)]
  const { similarity, confidence } = likeness(left.descriptor ?? [], right.descriptor ?? [])
  const shown = (face: FoundFace, count: number) => ({
    count,
    box: [face.box.x, face.box.y, face.box.width, face.box.height].map(Math.round),
    quality: Math.round(face.score * Math.min(1, face.eyeDistance / 60) * 100) / 100,
  })
  return {
    id: newUuid(caller.receivedMs),
    similarity,
    confidence,
    threshold: input.threshold ?? matchThreshold,
    faces: { image_a: shown(left, first.faces?.length ?? 0), image_b: shown(right, second.faces?.length ?? 0) },
    price,
  }
}

const faceMatch = write({
  method: 'POST',
  path: '/v1/identity/face-match',
  operation: 'identity.matchFaces',
  summary: 'Compare two faces',
  description: 'A mismatch is returned with status 200, unless `strict` is true.',
  scope: 'identity:write',
  limit: 'identity',
  body: FaceMatch,
  bodyLimitBytes: maxRequestBytes,
  files: {
    image_a: { maxBytes: maxPictureBytes, optional: true },
    image_b: { maxBytes: maxPictureBytes, optional: true },
  },
  reply: { status: 200, schema: FaceMatched },
  errors: [...pictureErrors, 'FACE_MISMATCH'],
  examples: [{ name: 'Two pictures of one person', body: { image_a: 'sandbox:face_a', image_b: 'sandbox:face_a2' } }],
  prepare: (app, { body }, caller) => compare(app, caller, body),
  handle: async (app, tx, { body }, caller, compared) => {
    const { tenant, receivedMs, nowMs } = caller
    const { similarity, confidence, threshold, faces, price } = compared
    const match = similarity >= threshold
    if (!match && body.strict)
      throw new AppError('FACE_MISMATCH', 'the pictures show different people', {
        extra: { similarity_score: similarity },
      })
    await chargeFor(tx, caller, 'face_match', compared.id, price)
    const face_match_id = idOf('faceMatch', compared.id)
    await appendAudit(app, tx, tenant, {
      resourceId: face_match_id,
      action: 'face_match.completed',
      actor: actorOf(caller),
      details: { match, threshold },
      receivedMs,
      nowMs,
    })
    const created_at = new Date(nowMs)
    const reference = body.reference ?? null
    const shown = { threshold, faces, reference, created_at, ...price }
    return { face_match_id, match, confidence, similarity_score: similarity, ...shown }
  },
})

const LivenessCheck = Type.Object({
  method: OneOf(['passive', 'active'], {
    description: '`active` requires movements, and detects a picture of a picture; `passive` is one picture',
  }),
  selfie: Type.Optional(Picture('Picture for the passive method')),
  challenge_id: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Id of the challenge that the `frames` answer; single use, valid for two minutes',
    }),
  ),
  frames: Type.Optional(Frames),
  light: Type.Optional(
    Type.Boolean({
      description:
        'For a challenge: true adds a screen colour for each frontal frame, see `lights` of the reply; default false',
    }),
  ),
  strict: Type.Optional(Type.Boolean({ description: 'True replies to a failure with 422 LIVENESS_FAILED' })),
})

const LivenessReply = Type.Object(
  {
    challenge_id: Type.Optional(
      Type.String({ description: 'Id of the challenge, sent with the frames; only for a challenge' }),
    ),
    lights: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Screen colours in order, such as `red`: one for the first `frontal` frame, and one for the `frontal` frame after each step',
      }),
    ),
    nonce: Type.Optional(Type.String({ description: 'Nonce of the challenge; only for a challenge' })),
    expires_at: Type.Optional(At({ description: 'Expiry time of the challenge' })),
    liveness_id: Type.Optional(Type.String({ description: 'Id of the check, such as `liv_…`' })),
    passed: Type.Optional(Type.Boolean({ description: 'True if a living person was detected' })),
    confidence: Type.Optional(Type.Number({ description: 'Confidence, 0 to 100; at most 80 for `passive`' })),
    method: OneOf(['passive', 'active'], { description: 'Method of the check' }),
    steps: Type.Array(
      Type.Union([
        Type.String(),
        Type.Object({
          step: Type.String({ description: 'Movement that was requested, such as `turn_left`' }),
          passed: Type.Boolean({ description: 'True if the movement was made' }),
          measure: Type.Record(Type.String(), Type.Number(), { description: 'Name of the measurement, such as `yaw`' }),
        }),
      ]),
      { description: 'Requested movements in order, or their results' },
    ),
    signals: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.String()]), {
        description: 'Measurements of the check',
      }),
    ),
    created_at: At({ description: 'Time of the check, or of the challenge' }),
    cost: Type.Optional(costFields.cost),
    currency: Type.Optional(costFields.currency),
  },
  { title: 'IdentityLiveness' },
)
type LivenessReply = Static<typeof LivenessReply>

/** Result before the transaction; null: a challenge is requested and created inside it. */
type Judged = Omit<LivenessReply, 'created_at' | 'cost' | 'currency'> & { readonly id: string; readonly price: Price }

async function judge(app: App, caller: Caller, input: Static<typeof LivenessCheck>): Promise<Judged | null> {
  if (input.method === 'active' && input.challenge_id === undefined) return null
  const price = await requireFunds(app, caller, 'liveness')
  if (input.challenge_id === undefined || input.method === 'passive')
    return { ...(await screen(app, caller, input.selfie)), price }
  if (input.frames === undefined) throw invalid('frames', 'is needed with a challenge_id')
  const { id, result } = await answerChallenge(
    app,
    caller,
    viewerOf(caller),
    input.challenge_id,
    input.frames,
    'frames',
  )
  const { passed, confidence, steps, signals } = result
  return {
    id,
    price,
    liveness_id: idOf('liveness', id),
    passed,
    confidence,
    method: 'active',
    steps: [...steps],
    signals: { ...signals },
  }
}

async function screen(app: App, caller: Caller, selfie: string | undefined): Promise<Omit<Judged, 'price'>> {
  if (selfie === undefined) throw invalid('selfie', 'is needed for the passive method')
  const bytes = await pictureOf(app, caller, 'selfie', selfie)
  const { frames } = await engine(app, viewerOf(caller), measureFrames, { frames: [bytes] }, ['selfie'])
  const [frame] = frames
  if (!frame) throw new Error('the engine measured no frame')
  faceIn('selfie', frame)
  const { passed, confidence } = judgePassive(frame)
  const id = newUuid(caller.receivedMs)
  const signals = { recaptured: frame.isRecaptured === true, one_face: frame.faces.length === 1 }
  return { id, liveness_id: idOf('liveness', id), passed, confidence, method: 'passive', steps: [], signals }
}

const liveness = write({
  method: 'POST',
  path: '/v1/identity/liveness',
  operation: 'identity.checkLiveness',
  summary: 'Check liveness',
  description:
    'Active: request a challenge without `frames`, then send its frames. Passive: send one picture; for screening only, with a confidence of at most 80.',
  scope: 'identity:write',
  limit: 'identity',
  body: LivenessCheck,
  bodyLimitBytes: maxRequestBytes,
  reply: {
    status: 201,
    schema: LivenessReply,
    existed: ({ liveness_id }) => liveness_id !== undefined,
    location: ({ challenge_id, liveness_id }) => `/v1/identity/audit/${challenge_id ?? liveness_id}`,
  },
  errors: [...pictureErrors, 'NOT_FOUND', 'CHALLENGE_USED', 'CHALLENGE_EXPIRED', 'LIVENESS_FAILED'],
  examples: [{ name: 'A challenge', body: { method: 'active' } }],
  prepare: (app, { body }, caller) => judge(app, caller, body),
  handle: async (app, tx, { body }, caller, judged) => {
    const { tenant, receivedMs, nowMs } = caller
    const created_at = new Date(nowMs)
    if (!judged) {
      const { challengeId, steps, lights, expires } = await makeChallenge(tx, caller, { hasLight: body.light ?? false })
      await appendAudit(app, tx, tenant, {
        resourceId: challengeId,
        action: 'liveness.challenge_created',
        actor: actorOf(caller),
        details: { steps, light: lights !== null },
        receivedMs,
        nowMs,
      })
      const nonce = randomBytes(12).toString('base64url')
      const asked = {
        challenge_id: challengeId,
        method: 'active' as const,
        steps,
        expires_at: expires,
        nonce,
        created_at,
      }
      return lights ? { ...asked, lights } : asked
    }
    if (body.strict && !judged.passed)
      throw new AppError('LIVENESS_FAILED', 'the pictures do not show a living person', {
        extra: { steps: judged.steps.map((step) => (typeof step === 'string' ? step : `${step.step} ${step.passed}`)) },
      })
    const { id, price, ...reply } = judged
    await chargeFor(tx, caller, 'liveness', id, price)
    await appendAudit(app, tx, tenant, {
      resourceId: idOf('liveness', id),
      action: 'liveness.completed',
      actor: actorOf(caller),
      details: { method: judged.method, passed: judged.passed ?? false },
      receivedMs,
      nowMs,
    })
    return { ...reply, created_at, ...price }
  },
})

export const faceRoutes: readonly Route[] = [faceMatch, liveness]
