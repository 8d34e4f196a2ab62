// SPDX-License-Identifier: Apache-2.0
// Customers who send texts: `node load.mjs <url> <key> <file> <texts a second>`. Each text has its own reference and idempotency
// key; what is not acknowledged is repeated with the same key, and counted as failed. At the end it says what came of it.
import { appendFileSync } from 'node:fs'

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
process.removeAllListeners('warning')
const [, , url, key, file, rate] = process.argv
const said = { acknowledged: 0, failed: 0, longest_gap_seconds: 0, failures: {} }
let lastMs = Date.now()
let isOver = false
let number = 0
const running = new Set()

async function send() {
  const reference = `${process.pid}-${++number}`
  const body = JSON.stringify({ to: '+254711000001', from: 'DUKA', message: 'Habari', reference })
  for (;;) {
    const problem = await attempt(reference, body)
    if (problem === null) break
    said.failed++
    said.failures[problem] = (said.failures[problem] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  said.longest_gap_seconds = Math.max(said.longest_gap_seconds, (Date.now() - lastMs) / 1000)
  lastMs = Date.now()
  said.acknowledged++
  appendFileSync(file, `${reference}\n`)
}

/** Why it was not acknowledged; null when it was. */
async function attempt(reference, body) {
  try {
    const reply = await fetch(`${url}/api/v1/sms/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': reference },
      body,
      signal: AbortSignal.timeout(30_000),
    })
    const text = await reply.text()
    if (reply.status < 300) return null
    return `${reply.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim()
  } catch (error) {
    return error.cause?.code ?? error.name
  }
}

const startMs = Date.now()
let due = 0
const timer = setInterval(() => {
  // Never more under way than a second's worth of customers waits for, so that a pause is not followed by a flood.
  for (const now = Math.floor(((Date.now() - startMs) * Number(rate)) / 1000); due < now; due++) {
    if (isOver || running.size > Number(rate)) continue
    const one = send().finally(() => running.delete(one))
    running.add(one)
  }
}, 1000 / Number(rate))

process.on('SIGTERM', async () => {
  isOver = true
  clearInterval(timer)
  await Promise.all(running)
  said.per_second = Math.round((said.acknowledged * 1000) / (Date.now() - startMs))
  process.stdout.write(`${JSON.stringify(said)}\n`)
  process.exit(0)
})
