// SPDX-License-Identifier: Apache-2.0
// Short results: what an assistant reads costs its attention, so long texts and lists are cut until a result fits.

/** Characters of a result as JSON. */
const maxLength = 16_000
/** Ever shorter: characters of a text, and entries of a list. */
const cuts = [
  { text: 2_000, entries: 50 },
  { text: 400, entries: 20 },
  { text: 120, entries: 5 },
] as const
/** Words without a space, such as ids, cursors and addresses, are useless when cut. */
const maxWord = 1_000

type Cut = (typeof cuts)[number]

/** Result as JSON that fits, and whether something was cut. */
export function shortened(value: object): { value: object; isCut: boolean } {
  const whole = JSON.stringify(value)
  for (const cut of cuts) {
    const short = cutTo(cut, value)
    const length = JSON.stringify(short).length
    if (length <= maxLength) return { value: Object(short), isCut: length !== whole.length }
  }
  return { value: { beginning: whole.slice(0, maxLength) }, isCut: true }
}

function cutTo(cut: Cut, value: unknown): unknown {
  if (typeof value === 'string') return cutText(value, cut.text)
  if (Array.isArray(value)) return value.slice(0, cut.entries).map((one) => cutTo(cut, one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTo(cut, one)]))
}

function cutText(text: string, length: number): string {
  const most = /\s/.test(text) ? length : maxWord
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`
}
