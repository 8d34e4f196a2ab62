// SPDX-License-Identifier: Apache-2.0
// Bytes at an address of a world, as they are; the client of tests reads text.
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import type { World } from './world.ts'

interface Fetched {
  status: number
  headers: Record<string, unknown>
  bytes: Buffer
}

export function fetchedFrom(world: World, url: string, headers: Record<string, string> = {}): Promise<Fetched> {
  return fetched(readFileSync(world.node.caFile ?? '', 'utf8'), url, headers)
}

export function fetched(ca: string, url: string, headers: Record<string, string> = {}): Promise<Fetched> {
  return new Promise((done, failed) => {
    get(url, { ca, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    }).on('error', failed)
  })
}
