// SPDX-License-Identifier: Apache-2.0
// A reporter for node:test that only names what something failed in: the file, and the tests outside all others, which stand
// for a file where several share a process.

export default async function* failedFiles(events) {
  const names = new Set()
  for await (const { type, data } of events) {
    if (type !== 'test:fail') continue
    if (data.file) names.add(data.file)
    if (data.nesting === 0) names.add(data.name)
  }
  yield [...names].join('\n')
}
