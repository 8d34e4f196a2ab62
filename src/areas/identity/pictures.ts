// SPDX-License-Identifier: Apache-2.0
// Pictures of a request: base64, a data URL, the id of an upload, or a sandbox specimen. URLs are never fetched.
import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { root } from '../../platform/program/root.ts'
import { fileKind } from '../../platform/storage/file-kind.ts'
import type { Examined, Flaws } from './engines/tasks.ts'

export const maxPictureBytes = 5 * 1_024 * 1_024
export const maxRequestBytes = 28 * 1_024 * 1_024
const maxPictureText = Math.ceil(maxPictureBytes / 3) * 4 + 1_000

/** A picture in a request. */
export const Picture = (description: string) =>
  Type.String({
    minLength: 1,
    sensitive: true,
    rule: 'must be a picture of at most 5 MB: base64, a data URL, an id that begins with imd_, or sandbox:name',
    description,
  })

/** Declared types of uploads; the real type is detected from the bytes. */
const types = { 'image/jpeg': maxPictureBytes, 'image/png': maxPictureBytes, 'image/webp': maxPictureBytes }

/** Files of verifications, kept until their record is erased. */
export const imageFile = fileKind({ name: 'identity.image', types, keepDays: null })
/** Files uploaded ahead of a request. */
export const mediaFile = fileKind({ name: 'identity.media', types: { ...types, '*': maxPictureBytes }, keepDays: 1 })

const specimens = [
  'passport_ke',
  'passport_expired',
  'passport_bad_mrz',
  'passport_altered',
  'passport_blurred',
  'id_gh_front',
  'id_gh_back',
  'id_za',
  'face_a',
  'face_a2',
  'face_b',
  'no_face',
] as const

/** Bytes of a picture. `field` is its request field, for errors. */
export async function pictureOf(
  app: App,
  caller: Pick<Caller, 'tenant'>,
  field: string,
  text: string,
): Promise<Buffer> {
  if (text.length > maxPictureText) throw tooLarge(field, `${field} has ${text.length} characters of base64`)
  if (text.startsWith('sandbox:')) return specimenNamed(caller, field, text.slice('sandbox:'.length))
  if (text.startsWith('imd_')) return upload(app, caller, field, text)
  return checkedSize(field, decoded(field, text))
}

async function specimenNamed({ tenant }: Pick<Caller, 'tenant'>, field: string, name: string): Promise<Buffer> {
  if (tenant.environment !== 'test') throw invalid(field, 'accepts specimens with test keys only')
  const known = specimens.find((one) => one === name)
  if (!known) throw invalid(field, `is not the name of a specimen; available: ${specimens.join(', ')}`)
  return specimen(known)
}

export function specimen(name: string): Promise<Buffer> {
  return readFile(new URL(`src/areas/identity/specimens/${name}.jpg`, root))
}

async function upload(app: App, { tenant }: Pick<Caller, 'tenant'>, field: string, id: string): Promise<Buffer> {
  const uuid = uuidOf('identityMedia', id)
  const opened = uuid && (await app.storage.open(tenant, uuid))
  if (!opened || opened.file.kind !== mediaFile.name)
    throw invalid(field, 'is not the id of a picture, or its 24 hours have passed')
  const parts: Buffer[] = []
  for await (const part of opened.read()) parts.push(part)
  return Buffer.concat(parts)
}

const dataUrl = /^data:([a-z0-9/+.-]+);base64,/i
const base64Form = /^[A-Za-z0-9+/]+={0,2}$/

function decoded(field: string, text: string): Buffer {
  const declared = dataUrl.exec(text)
  const body = (declared ? text.slice(declared[0].length) : text).replace(/\s+/g, '')
  if (!base64Form.test(body)) throw invalid(field, 'must be a picture in base64')
  const bytes = Buffer.from(body, 'base64')
  const type = declared?.[1]?.toLowerCase()
  if (type && type !== looksLike(bytes)) throw invalid(field, `is declared as ${type}, but has another type`)
  return bytes
}

/** Type by signature; the engine checks again. */
function looksLike(bytes: Buffer): string | null {
  if (bytes.length < 12) return null
  if (bytes.readUIntBE(0, 3) === 0xffd8ff) return 'image/jpeg'
  if (bytes.readUInt32BE(0) === 0x89504e47) return 'image/png'
  return bytes.toString('latin1', 8, 12) === 'WEBP' ? 'image/webp' : null
}

function checkedSize(field: string, bytes: Buffer): Buffer {
  if (bytes.length <= maxPictureBytes) return bytes
  throw tooLarge(field, `${field} has ${bytes.length} bytes`)
}

function tooLarge(field: string, what: string): AppError {
  const details = `${what}; a picture of at most ${maxPictureBytes} bytes is taken`
  return new AppError('IMAGE_TOO_LARGE', details, { extra: { image: field } })
}

const advice: Readonly<Record<string, string>> = {
  blurred: 'Hold the camera steady: the picture is blurred.',
  too_small: 'Go nearer: the picture is too small.',
  too_dark: 'Find more light: the picture is too dark.',
  too_bright: 'Find less light: the picture is too bright.',
  glare: 'Turn the document a little: a light is reflected on it.',
  cut_off: 'Show the whole face: it is cut off at the edge.',
}

/** Refuses a picture of poor quality, and says where what is wrong. */
export function refusePoor(field: string, problems: readonly string[], regions: Flaws = []): void {
  const [first] = problems
  if (first)
    throw new AppError('IMAGE_QUALITY_LOW', `${field}: ${advice[first] ?? 'The picture cannot be judged.'}`, {
      extra: { image: field, problems, regions },
    })
}

/** Requires exactly one usable face. `leastEyes` is the minimum distance of the eyes in pixels. */
export function faceIn(field: string, { faces, quality }: Pick<Examined, 'faces' | 'quality'>, leastEyes = 40) {
  const [face, second] = faces ?? []
  if (!face) throw new AppError('NO_FACE_DETECTED', `${field}: no face was found`, { extra: { image: field } })
  if (second && second.box.width > face.box.width / 2)
    throw new AppError('MULTIPLE_FACES', `${field}: more than one person is in the picture`, {
      extra: { image: field },
    })
  refusePoor(field, [
    ...quality.problems,
    ...(face.eyeDistance < leastEyes ? ['too_small'] : []),
    ...(face.isCut ? ['cut_off'] : []),
  ])
  return face
}
