// SPDX-License-Identifier: Apache-2.0
// Networks of files that a process keeps open: each takes about as much memory as its file.
interface Closing {
  close(): Promise<void>
}

/** Opens by path, and keeps the last ones: that which was not used for the longest time is closed for a new one. */
export function keeping<T extends Closing>(
  max: number,
  open: (path: string) => Promise<T>,
): (path: string) => Promise<T> {
  const kept = new Map<string, Promise<T>>()
  return async (path) => {
    const opening = kept.get(path) ?? open(path)
    kept.delete(path)
    kept.set(path, opening)
    for (const [oldest, dropped] of kept) {
      if (kept.size <= max) break
      kept.delete(oldest)
      void dropped.then((network) => network.close()).catch(() => undefined)
    }
    try {
      return await opening
    } catch (problem) {
      kept.delete(path)
      throw problem
    }
  }
}
