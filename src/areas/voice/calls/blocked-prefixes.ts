// SPDX-License-Identifier: Apache-2.0
// Numbers that nobody may call, however a call comes about: satellites and premium rates, where fraud pays.
import type { App } from '../../../platform/app.ts'

export function isBlocked(app: App, number: string): boolean {
  const prefixes = app.config.PAMOJA_VOICE_BLOCKED_PREFIXES.split(',').map((prefix) => prefix.trim())
  return prefixes.some((prefix) => prefix !== '' && number.startsWith(prefix))
}
