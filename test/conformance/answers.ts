// SPDX-License-Identifier: Apache-2.0
// What holds of whatever a provider of mobile money is asked for, a payment or a payout: what its answers mean, and what
// is known when there is none. The carrier is asked over a real socket, and a provider that is told what to say answers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patienceMs } from '../eventually.ts'
import { type Answer, matches, startScripted, strange } from './provider.ts'

export type Expected = Partial<Record<'kind' | 'reason' | 'code' | 'receipt' | 'words' | 'currency', string>>
export type Told = readonly [answer: Answer, expected: Expected]

/** Answers of a provider, and what they mean. */
export interface Words {
  accepts: Answer
  /** Meaning of its acceptance, where the payer must do something first. */
  acceptedAs?: 'action'
  /** Says that the token is not good; null where there is none. */
  forgets: Answer | null
  /** Answers to a request. */
  says: readonly Told[]
  /** Answers at once, when it is asked how a request went. */
  queries: readonly Told[]
}

interface Verdict {
  kind: string
}

export interface Asking<Carrier> {
  connect(baseUrl: string, patienceMs?: number): Carrier
  request(carrier: Carrier): Promise<Verdict>
  query(carrier: Carrier): Promise<Verdict>
}

export function testAnswers<Carrier>(provider: string, words: Words, asking: Asking<Carrier>): void {
  const { accepts, acceptedAs = 'accepted', forgets, says, queries } = words
  const nobodyKnows = strange.map((answer): Told => [answer, { kind: 'unknown' }])

  /** A provider with these answers, and what it makes of a request and of a question. */
  const scripted = async (answers: readonly (Answer | 'silence')[], patienceMs?: number) => {
    const { baseUrl, asked, close } = await startScripted(answers)
    const carrier = asking.connect(baseUrl, patienceMs)
    return { request: () => asking.request(carrier), query: () => asking.query(carrier), asked, close }
  }

  test(`${provider}: whoever waits too long for an answer does not know`, async () => {
    const { request, query, asked } = await scripted([accepts, 'silence', 'silence'], patienceMs(1_000))
    // The first request also asks for a token, where the provider wants one: that it does answer.
    assert.equal((await request()).kind, acceptedAs)
    assert.equal((await request()).kind, 'unknown')
    assert.equal((await query()).kind, 'unknown')
    assert.equal(asked.requests, 3)
  })

  test(`${provider}: what it says to a request`, async () => {
    for (const [answer, expected] of [[accepts, { kind: acceptedAs }] as const, ...says, ...nobodyKnows]) {
      const { request, asked } = await scripted([answer])
      matches(await request(), expected, answer)
      assert.equal(asked.requests, 1, 'nothing is sent twice by itself')
    }
  })

  test(`${provider}: what it says when it is asked`, async () => {
    const rows = [...queries, ...nobodyKnows]
    const { query } = await scripted(rows.map(([answer]) => answer))
    for (const [answer, expected] of rows) matches(await query(), expected, answer)
    assert.equal((await query()).kind, 'unknown', 'a connection that is cut')
  })

  if (forgets)
    test(`${provider}: a token that is no longer good is replaced once`, async () => {
      const renewed = await scripted([accepts, forgets, accepts])
      assert.equal((await renewed.request()).kind, acceptedAs)
      assert.equal(renewed.asked.tokens, 1, 'a good token is kept')
      assert.equal((await renewed.request()).kind, acceptedAs)
      assert.deepEqual(renewed.asked, { tokens: 2, requests: 3 })
      const refused = await scripted([forgets, forgets])
      assert.equal((await refused.request()).kind, 'unavailable')
      assert.deepEqual(refused.asked, { tokens: 2, requests: 2 })
    })

  test(`${provider}: a provider that is not there was not asked`, async () => {
    const { request, query, close } = await scripted([])
    close()
    assert.equal((await request()).kind, 'unavailable')
    assert.equal((await query()).kind, 'unknown')
  })
}
