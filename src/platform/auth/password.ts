// SPDX-License-Identifier: Apache-2.0
// Passwords: scrypt with a salt of their own, so that a stolen table is of little use. Two are worked out at a time, because
// each takes 32 MiB and a tenth of a second of a processor; more than wait in line are told to come again.
import { randomBytes, randomInt, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'

const cost = 2 ** 15
const blockSize = 8
const keyBytes = 32
const atOnce = 2
const maxWaiting = 50

let running = 0
const waiting: (() => void)[] = []

/** Hash as `scrypt$N$r$salt$key`: stored hashes stay valid when the cost is raised later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, cost, blockSize)
  return ['scrypt', cost, blockSize, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Takes as long for a person who does not exist (`null`) as for a wrong password. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, n = String(cost), r = String(blockSize), salt = '', key = ''] = (stored ?? '').split('$')
  const expected = Buffer.from(key, 'base64url')
  const given = await derive(password, Buffer.from(salt, 'base64url'), Number(n), Number(r))
  return stored !== null && expected.length === given.length && timingSafeEqual(given, expected)
}

const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'

/** New password that a person can type: four groups of five characters, 98 bits. */
export function newPassword(): string {
  const group = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}

async function derive(password: string, salt: Buffer, n: number, r: number): Promise<Buffer> {
  await turn()
  try {
    return await scrypted(password.normalize('NFKC'), salt, { N: n, r, p: 1, maxmem: 256 * n * r })
  } finally {
    running--
    waiting.shift()?.()
  }
}

async function turn(): Promise<void> {
  if (running >= atOnce) {
    if (waiting.length >= maxWaiting)
      throw new AppError('RATE_LIMITED', 'too many sign-ins at this moment', { retryAfterSeconds: 2 })
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  running++
}

function scrypted(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
