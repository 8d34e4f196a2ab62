// SPDX-License-Identifier: Apache-2.0
// Looks into the database, gathered: what is asked while a look is under way goes together into the next one.

/** How many one look takes, and how many looks may be under way. */
const maxTogether = 256
const maxLooks = 2

/** Makes a function that answers one question out of one that answers many, in their order. */
export function gathered<Question, Answer>(
  lookAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  interface Asked {
    question: Question
    resolve(answer: Answer): void
    reject(error: unknown): void
  }
  const asked: Asked[] = []
  let looks = 0
  let isScheduled = false

  const look = async (): Promise<void> => {
    const batch = asked.splice(0, maxTogether)
    looks++
    try {
      const answers = await lookAll(batch.map(({ question }) => question))
      batch.forEach(({ resolve, reject }, i) => {
        const answer = answers[i]
        if (answer === undefined) reject(new Error('a question was not answered'))
        else resolve(answer)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      looks--
      schedule()
    }
  }
  const schedule = (): void => {
    if (isScheduled || asked.length === 0 || looks >= maxLooks) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      void look()
      schedule()
    })
  }
  return (question) =>
    new Promise((resolve, reject) => {
      asked.push({ question, resolve, reject })
      schedule()
    })
}
