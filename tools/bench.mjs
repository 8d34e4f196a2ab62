// SPDX-License-Identifier: Apache-2.0
// Installs and builds what is missing, then runs benchmarks: `npm run bench -- durable-write`.
import { prepare } from './bootstrap.mjs'

await prepare('bench')
await import('../dist/bench/run.js')
