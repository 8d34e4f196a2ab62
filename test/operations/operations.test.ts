// SPDX-License-Identifier: Apache-2.0
// The day of an operator, as scripts that can be read: each makes an installation of its own, does to it what its first lines
// say, and proves that nothing that was acknowledged is lost.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { root } from '../program.ts'

const folder = join(root, 'test/operations')
const scripts = readdirSync(folder).filter((name) => name.endsWith('.sh') && name !== 'lib.sh')
/** Day that runs each time; the others, which take a minute each, with `npm test -- --full`. */
const everyTime = 'backup.sh'
const isFull = process.env.PAMOJA_TEST_FULL === 'true'
const isRequired = process.env.PAMOJA_REQUIRE_OPERATIONS !== undefined

for (const script of scripts)
  test(script, { skip: script !== everyTime && !isFull && 'run with --full' }, async (t) => {
    // Fewer texts than an operator has: the machine is shared, and what counts is that none of them fails.
    const child = spawn('bash', [join(folder, script)], { env: { PATH: process.env.PATH, RATE: '30' } })
    const [said, wrong] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    assert.equal(child.exitCode, 0, `${said}\n${wrong}`)
    for (const line of said.split('\n')) if (/^(restored|longest|LEFT OUT|\{)/.test(line)) t.diagnostic(line)
    if (!said.startsWith('LEFT OUT')) return
    assert.ok(!isRequired, said)
    t.skip(said.trim())
  })
