// SPDX-License-Identifier: Apache-2.0
// `npm start`: makes the checkout ready, then runs the server in this same process.

import { prepare } from './bootstrap.mjs'

process.setSourceMapsEnabled(true)

const isReady = await prepare(process.argv[2]).then(
  () => true,
  (problem) => {
    process.stderr.write(`${problem.message}\n`)
    process.exitCode = 1
    return false
  },
)
if (isReady) {
  const { run } = await import('../dist/program/main.js')
  await run(process.argv.slice(2))
}
