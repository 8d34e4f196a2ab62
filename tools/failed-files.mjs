// SPDX-License-Identifier: Apache-2.0
// A reporter for node:test that only names the files in which something failed.

export default async function* failedFiles(events) {
  const files = new Set()
  for await (const { type, data } of events) if (type === 'test:fail' && data.file) files.add(data.file)
  yield [...files].join('\n')
}
