// SPDX-License-Identifier: Apache-2.0
// A reporter for node:test whose output is one JSON document for the test run that started it: how many tests passed,
// failed and were skipped, which files failed, and how long each file took. A test outside all others stands for a file
// (shared-process.ts); where a file is run by itself (PAMOJA_TEST_SEPARATE) its own tests are outside all others.

/** The tests that shared-process.ts adds to each file count only when they fail. */
const addedTests = ['the file is read', 'the process is as the file found it']

export default async function* counted(events) {
  const isSeparate = process.env.PAMOJA_TEST_SEPARATE === 'true'
  const result = { passed: 0, failed: 0, skipped: 0, milliseconds: {}, failedFiles: [] }
  let failedInFile = 0
  for await (const { type, data } of events) {
    if (type !== 'test:fail' && type !== 'test:pass') continue
    const hasFailed = type === 'test:fail'
    if (!isSeparate && data.nesting === 0) {
      // A process that came too late for a file stands for itself.
      if (data.name.endsWith('.test.ts')) result.milliseconds[data.name] = Math.round(data.details.duration_ms)
      if (hasFailed) result.failedFiles.push(data.name)
      // A file that could not be read, or a process that ended too soon, has no test that could have failed.
      if (hasFailed && failedInFile === 0) result.failed++
      failedInFile = 0
    } else if (hasFailed) {
      result.failed++
      failedInFile++
      if (isSeparate && data.file) result.failedFiles.push(data.file)
    } else if (data.skip !== undefined || data.todo !== undefined) result.skipped++
    else if (!addedTests.includes(data.name)) result.passed++
  }
  yield JSON.stringify(result)
}
