// SPDX-License-Identifier: Apache-2.0
// The version of the program, from its package.
import { readFileSync } from 'node:fs'
import { root } from '../platform/program/root.ts'

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  return version
}
