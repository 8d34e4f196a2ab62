// SPDX-License-Identifier: Apache-2.0
// The project's own files, as paths from its root. Tests run with the root as working directory.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export function sourceFiles(folders: readonly string[], ending = '.ts'): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name)),
  )
}
