// SPDX-License-Identifier: Apache-2.0
// Root folder of the program. Files that are not compiled (migrations, styles, package.json) are read from there;
// compiled code is in one folder for tests and bundled in another for `npm start`.
import { existsSync } from 'node:fs'

/** Folder of package.json. */
export const root = rootAbove(new URL('./', import.meta.url))

function rootAbove(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder
  const above = new URL('../', folder)
  if (above.href === folder.href)
    throw new Error('The program does not lie in its checkout: package.json is not above it.')
  return rootAbove(above)
}
