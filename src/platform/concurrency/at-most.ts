// SPDX-License-Identifier: Apache-2.0
// Waiting for something, but not for ever.

/** What comes of `promise`, or `otherwise` if nothing has come of it by then. It is not ended: it only is not waited for. */
export async function atMost<T, U>(ms: number, promise: Promise<T>, otherwise: U): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<U>((resolve) => {
    timer = setTimeout(resolve, ms, otherwise)
  })
  try {
    return await Promise.race([promise, enough])
  } finally {
    clearTimeout(timer)
  }
}
