// SPDX-License-Identifier: Apache-2.0
// `npm start`: makes the checkout ready, then runs the server in this same process. That is why package.json gives Node its
// --initial-old-space-size: V8 takes a small heap for a small program, and under load collects it every other second, each
// time with a thread on another core for 60 ms. With 256 MB to fill first it is once in half a minute.

import { existsSync } from 'node:fs'
import { prepare } from './bootstrap.mjs'
import { addLaterBeside } from './install.mjs'

process.setSourceMapsEnabled(true)
// What the environment says already, wins.
if (existsSync('.env')) process.loadEnvFile('.env')

const isReady = await prepare(process.argv[2]).then(
  () => true,
  (problem) => {
    process.stderr.write(`${problem.message}\n`)
    process.exitCode = 1
    return false
  },
)
if (isReady) {
  const { run, serving } = await import('../dist/program/main.js')
  if ((process.argv[2] ?? 'serve') === 'serve') addLaterBeside(serving)
  await run(process.argv.slice(2))
}
