// SPDX-License-Identifier: Apache-2.0
// Timeout for a promise.

/** Result of `promise`, or `otherwise` after the timeout. The promise is not cancelled. */
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
