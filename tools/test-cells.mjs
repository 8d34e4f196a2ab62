// SPDX-License-Identifier: Apache-2.0
// Test files that are left out where each installation has two databases (PAMOJA_TEST_CELLS=2): they are about one, and say why.

export const noInstallation = 'no installation of several databases in it'

/** Reason, and the files that it is the reason of. */
const reasons = {
  'brings its two databases itself': ['test/faults/cells-down.test.ts'],
}

/** File -> why it is about one database. */
export const oneDatabase = Object.fromEntries(
  Object.entries(reasons).flatMap(([reason, files]) => files.map((file) => [file, reason])),
)
