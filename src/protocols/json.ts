// SPDX-License-Identifier: Apache-2.0
// Reading JSON of others, who write what they like: a member that is missing or of another type is nothing, never a throw.

export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** Codes and amounts come as texts here and as numbers there. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
