// SPDX-License-Identifier: Apache-2.0
// Binds that lead to one message centre. The centre numbers all messages alike, and sends receipts over any of its
// binds, not only over the one that a message came by. Pure.

import type { BindRow } from '../carriers/bind.ts'
import { carrierKinds } from '../carriers/kinds.ts'

type Row = Pick<BindRow, 'name' | 'kind' | 'settings'>

/** Bind -> all that lead where it leads, itself first; one that leads there alone is not in it. */
export function sharedCentres(rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const byCentre = new Map<string, string[]>()
  for (const { name, kind, settings } of rows) {
    const centre = carrierKinds.get(kind)?.centre(settings) ?? null
    if (centre !== null) byCentre.set(centre, [...(byCentre.get(centre) ?? []), name])
  }
  const shared = [...byCentre.values()].filter((names) => names.length > 1)
  return new Map(shared.flatMap((names) => names.map((own) => [own, [own, ...names.filter((name) => name !== own)]])))
}
