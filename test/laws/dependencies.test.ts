// SPDX-License-Identifier: Apache-2.0
// What is installed is what was chosen: every package in the lock has a digest, and runs on the oldest Node that is promised.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
