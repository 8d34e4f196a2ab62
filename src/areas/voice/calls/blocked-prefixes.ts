// SPDX-License-Identifier: Apache-2.0
// Blocked number prefixes: satellite and premium-rate numbers, which attract fraud. No call may go there.
import type { App } from '../../../platform/app.ts'

export function isBlocked(app: App, number: string): boolean {
  const prefixes = app.config.PAMOJA_VOICE_BLOCKED_PREFIXES.split(',').map((prefix) => prefix.trim())
  return prefixes.some((prefix) => prefix !== '' && number.startsWith(prefix))
}
