// SPDX-License-Identifier: Apache-2.0
// Expected dials: a sandbox dial arrives over SMPP like any other, and is matched by phone and code to the tenant that
// requested it.
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { DialOutcome } from '../dial.ts'

export interface Expected {
  readonly phone: string
  readonly dialled: string
  readonly tenant: Tenant
  readonly clockOffsetMs: number
  arrived(outcome: DialOutcome): void
}

const expected = onePerApp(() => new Set<Expected>())

export function expectDial(app: App, dial: Expected): () => void {
  expected(app).add(dial)
  return () => expected(app).delete(dial)
}

export function expectedDial(app: App, phone: string, dialled: string): Expected | undefined {
  for (const dial of expected(app)) if (dial.phone === phone && dial.dialled === dialled) return dial
  return undefined
}
