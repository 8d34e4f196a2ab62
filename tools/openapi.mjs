// SPDX-License-Identifier: Apache-2.0
// `npm run openapi`: writes openapi.json from the route table, and from it what is made of it: the operations of the SDKs. Only
// the program is built for it: the console is made from the new document. The document is replaced only once the new one is whole.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeSdk } from './sdk.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const run = (...given) =>
  spawnSync(process.execPath, given, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const built = run(join(root, 'tools', 'bundle.mjs'))
const { status, stdout } = built.status === 0 ? run(join(root, 'dist', 'program', 'main.js'), 'openapi') : built
if (status === 0) {
  writeFileSync(join(root, 'openapi.json'), stdout)
  writeSdk()
} else process.exitCode = status ?? 1
