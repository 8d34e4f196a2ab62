// SPDX-License-Identifier: Apache-2.0
// Pages of records, by the prefix of their ids; the areas say which they have.

const places = new Map<string, string>()

/** Tells where ids of a prefix are shown. */
export function showRecords(records: Readonly<Record<string, string>>): void {
  for (const [prefix, place] of Object.entries(records)) places.set(prefix, place)
}

/** Address of the page of a record; null when its kind has none. */
export function placeOf(id: string): string | null {
  const place = places.get(id.slice(0, id.indexOf('_')))
  return place === undefined ? null : `${place}/${id}`
}
