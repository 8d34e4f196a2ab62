// SPDX-License-Identifier: Apache-2.0
// What is installed is what was chosen: every package in the lock has a digest, runs on the oldest Node that is promised, and is
// named with its licence in docs/third-party.md.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { root } from '../program.ts'

interface Locked {
  link?: boolean
  integrity?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  engines?: { node?: string }
}

const { packages }: { packages: Record<string, Locked> } = JSON.parse(
  await readFile(join(root, 'package-lock.json'), 'utf8'),
)
const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link)

test('every package that this platform may install has a digest in the lock', () => {
  const isElsewhere = ({ os = ['linux'], cpu = ['x64'] }: Locked) =>
    !os.includes('linux') || !cpu.some((one) => ['x64', 'arm64'].includes(one))
  const bare = installed.filter(([, one]) => !one.integrity && !(one.dev && one.optional && isElsewhere(one)))
  assert.deepEqual(
    bare.map(([path]) => path),
    [],
  )
})

test('no package that the product needs wants a later Node than is promised', () => {
  const oldest = 20
  const later = installed.filter(([, { dev, engines }]) => {
    const ranges = (engines?.node ?? '*').split('||')
    const least = ranges.map((range) => Number(/(\d+)/.exec(range)?.[1] ?? 0))
    return !dev && Math.min(...least) > oldest
  })
  assert.deepEqual(
    later.map(([path]) => path),
    [],
  )
})

test('docs/third-party.md names every package that is shipped with its version, and every model and font of the repository', async () => {
  const page = await readFile(join(root, 'docs/third-party.md'), 'utf8')
  const { dependencies, optionalDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const lines = page.split('\n')
  const shipped: [string, string][] = Object.entries({ ...dependencies, ...optionalDependencies })
  const unnamed = shipped.filter(
    ([name, version]) => !lines.some((line) => line.includes(`\`${name}\``) && line.includes(version)),
  )
  assert.deepEqual(unnamed, [])
  const files = await readdir(join(root, 'src'), { recursive: true })
  const binaries = files.filter((file) => /\.(onnx|bin|ttf|otf|woff2?|wasm)$/.test(file)).map((file) => basename(file))
  assert.ok(binaries.length > 0)
  assert.deepEqual(
    binaries.filter((file) => !page.includes(`\`${file}\``)),
    [],
  )
})

test('the networks are those whose training is told beside it', async () => {
  const told = await readFile(join(root, 'tools/models/mrz/README.md'), 'utf8')
  for (const name of ['mrz.onnx', 'mrz-lines.onnx']) {
    const bytes = await readFile(join(root, 'src/areas/identity/engines/models', name))
    assert.ok(told.includes(createHash('sha256').update(bytes).digest('hex')), name)
  }
})
