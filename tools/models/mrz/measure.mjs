// SPDX-License-Identifier: Apache-2.0
// `node tools/models/mrz/measure.mjs <folder>`: reads the pages that pages.mjs drew with the reader of the product (after
// `npm run build`) and says how many documents were read exactly, by level of difficulty and by confidence.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode, greyOf } from '../../../dist/src/areas/identity/engines/image.js'
import { readMrz } from '../../../dist/src/areas/identity/engines/mrz/read.js'

const [folder = 'pages'] = process.argv.slice(2)
const maxSide = 2_000
const truth = JSON.parse(await readFile(join(folder, 'truth.json'), 'utf8'))
const counts = new Map()

for (const { file, level, lines } of truth) {
  const { image } = await decode(await readFile(join(folder, file)), maxSide)
  const reading = await readMrz(greyOf(image))
  const isExact = reading !== null && reading.lines.join('\n') === lines.join('\n')
  const confidence = reading?.confidence ?? 0
  const sureness = [0.98, 0.9, 0.5, 0].find((bound) => confidence >= bound)
  for (const group of ['all', `level ${level}`, `confidence ${sureness} and over`]) {
    const { documents, exact } = counts.get(group) ?? { documents: 0, exact: 0 }
    counts.set(group, { documents: documents + 1, exact: exact + Number(isExact) })
  }
}
for (const [group, { documents, exact }] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
  process.stdout.write(`${group}: ${exact} of ${documents} documents exact\n`)
