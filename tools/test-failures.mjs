// SPDX-License-Identifier: Apache-2.0
// A reporter for node:test that shows what failed, and what tests wrote, as its own reporter `spec` does; thousands of tests
// that passed are only counted (test-report.mjs).

import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'

const shown = ['test:fail', 'test:stdout', 'test:stderr']

export default async function* failures(events) {
  yield* Readable.from(onlyShown(events)).pipe(new spec())
}

async function* onlyShown(events) {
  for await (const event of events) if (shown.includes(event.type)) yield event
}
