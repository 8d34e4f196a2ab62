// SPDX-License-Identifier: Apache-2.0
// The code by which Node, PostgreSQL and libraries tell their errors apart, such as ENOENT, 28P01 or ECONNRESET.

/** Code of a thrown value; empty when it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(errorCode(error))
}
