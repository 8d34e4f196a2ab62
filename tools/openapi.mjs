// SPDX-License-Identifier: Apache-2.0
// `npm run openapi`: writes openapi.json from the route table, and from it what is made of it: the operations of the SDKs. The
// document is replaced only once the new one is whole, because the build reads the old one.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeSdk } from './sdk.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { status, stdout } = spawnSync(process.execPath, [join(root, 'tools', 'start.mjs'), 'openapi'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (status === 0) {
  writeFileSync(join(root, 'openapi.json'), stdout)
  writeSdk()
} else process.exitCode = status ?? 1
