// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { eventually } from '../../../../test/eventually.ts'
import { MediaPool } from './pool.ts'

const settings = { ports: null, silentMs: 30_000, maxLegs: 10, latestMs: 60 }

test('a worker that cannot start is logged, tried again with pauses, and calls are refused meanwhile', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-pool-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'worker.mjs')
  await writeFile(file, `throw new Error('no memory')`)
  const logged: unknown[] = []
  const log = { error: (...said: unknown[]) => void logged.push(said) }
  const pool = new MediaPool(settings, log, { count: 1, file: pathToFileURL(file) })
  t.after(() => pool.close())
  await eventually(async () => logged.length >= 2, 'a second try')
  assert.equal(pool.admits, false)
  assert.match(pool.refusal ?? '', /no process for audio starts/)
  assert.ok(logged.length < 10, `${logged.length} starts`)
  const state = { legs: 0, lateMs: 0, admits: true }
  const starts = `import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ state: ${JSON.stringify(state)} }); setInterval(() => 0, 1000)`
  await writeFile(file, starts)
  await eventually(async () => pool.refusal === null, 'a worker that starts')
})

test('lateness is told as the reason', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-pool-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'worker.mjs')
  const state = { legs: 1, lateMs: 81.4, admits: false }
  await writeFile(
    file,
    `import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ state: ${JSON.stringify(state)} }); setInterval(() => 0, 1000)`,
  )
  const pool = new MediaPool(settings, { error: () => undefined }, { count: 1, file: pathToFileURL(file) })
  t.after(() => pool.close())
  await eventually(async () => pool.refusal !== null, 'the state')
  assert.equal(pool.refusal, 'audio would be late: by 81 ms now, and 60 ms are the limit')
})
