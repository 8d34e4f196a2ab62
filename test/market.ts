// SPDX-License-Identifier: Apache-2.0
// A world in which money moves, for journeys about it: no rate limits, providers that are as fast as the file needs them, a
// look at the tables, and somebody who hears webhooks. It ends after the last test of its file, and the ledger must add up.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type pg from 'pg'
import { verifyLedger } from '../src/ledger/verify.ts'
import { lookInto } from './looking.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { startWorld, type World } from './world.ts'

export interface Market {
  world: World
  sql: pg.Client
  receiver: Receiver
}

/** `timeScale` says which part of their ordinary time payers and providers take. */
export async function startMarket(timeScale: number): Promise<Market> {
  const world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: timeScale })
  const receiver = await startReceiver()
  const sql = lookInto(world)
  await sql.connect()
  after(async () => {
    const { problems } = await verifyLedger(world.app.db)
    await sql.end()
    await receiver.stop()
    await world.stop()
    assert.deepEqual(problems, [])
  })
  return { world, sql, receiver }
}
