// SPDX-License-Identifier: Apache-2.0
// Spelling: how far one word is from another, for "did you mean".

/** Most mistakes with which a word may still be meant: one for every four letters, and at least one. */
export function maxMistakes(word: string): number {
  return Math.max(1, Math.floor(word.length / 4))
}

/** Known word that was probably meant; null when none is near. Only the first 60 letters are compared. */
export function nearest(word: string, known: readonly string[]): string | null {
  const best = known
    .map((candidate) => ({ candidate, distance: editDistance(word.slice(0, 60), candidate) }))
    .sort((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= maxMistakes(best.candidate) ? best.candidate : null
}

/** Edits distance of two words: letters missing, added, changed, or swapped with the next, one each. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : changed
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed, swapped)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
