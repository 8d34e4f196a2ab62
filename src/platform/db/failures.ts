// SPDX-License-Identifier: Apache-2.0
// Failures of the database: which are temporary, which tell of a lost server, and which are errors of the statement.
import pg from 'pg'
import { errorCode } from '../../kernel/error-code.ts'

/** Whether the connection timed out and must be discarded. */
export function isUnanswered(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Whether the server refused a write because it is a standby now. */
export function isReadOnly(error: unknown): error is Error {
  return sqlState(error) === '25006'
}

/** Whether the database is unreachable, restarting, full or gives a bucket away, as opposed to an error in the statement. */
export function isUnavailable(error: unknown): boolean {
  return isLost(error) || isMoving(error)
}

/** Whether a cell refused rows of a bucket that is not its own, or no longer: the caller asks again, where it is now. */
export function isMoving(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === '23514' && error.constraint === 'own_bucket'
  return error instanceof Error && error.cause !== undefined && isMoving(error.cause)
}

/** Whether the database is unreachable, restarting or full. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = errorCode(error)
  if (/^(08|53|57P0|58)/.test(code)) return true
  if (unreachable.has(code)) return true
  return unreachableMessages.test(error.message) || (error.cause !== undefined && isLost(error.cause))
}

/** Whether the database is up but refuses writes: disk full or read-only. */
export function refusesWrites(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ['53100', '58030', '25006'].includes(sqlState(error)) || refusesWrites(error.cause)
}

/** Reason of a temporary failure that a retry may solve; null otherwise. */
export function temporaryFailure(error: unknown): string | null {
  return passing.get(sqlState(error)) ?? null
}

const passing = new Map([
  ['40001', 'another request changed the same at the same time'],
  ['40P01', 'it and another request waited for each other'],
  ['55P03', 'another request held what it needs'],
  ['57014', 'the database took too long over it'],
])

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
])
const unreachableMessages =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|server closed the connection|Connection ended|Query read timeout/i

/** SQLSTATE of a database error, or an empty string. */
export function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : ''
}
