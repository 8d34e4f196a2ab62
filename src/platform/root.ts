// SPDX-License-Identifier: Apache-2.0
// Where the program lies. What is not compiled (migrations, styles, the package's own description) is read from where it
// was written; compiled, the same file is in one folder for tests and in another, with all others, for `npm start`.
import { existsSync } from 'node:fs'

/** The folder of package.json. */
export const root = rootAbove(new URL('./', import.meta.url))

function rootAbove(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder
  const above = new URL('../', folder)
  if (above.href === folder.href)
    throw new Error('The program does not lie in its checkout: package.json is not above it.')
  return rootAbove(above)
}
