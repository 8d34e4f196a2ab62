// SPDX-License-Identifier: Apache-2.0
// Writes what the SDKs have of openapi.json, which the route table makes: one model, printed in each language. The files are
// not committed: the build writes them, and `node tools/sdk.mjs` does at any time. It writes only what has changed.
// `node tools/sdk.mjs pack [folder]` makes the packs that are published.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { modelOf } from './sdk/model.mjs'
import { pack } from './sdk/pack.mjs'
import { phpOf } from './sdk/php.mjs'
import { pythonOf } from './sdk/python.mjs'
import { typescriptOf } from './sdk/typescript.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Path from the root -> text of what is made from a document. */
export function sdkOf(document) {
  const model = modelOf(document)
  return {
    ...prefixed('sdk/typescript/src', typescriptOf(model)),
    ...prefixed('sdk/python/pamoja', pythonOf(model)),
    ...prefixed('sdk/php/src', phpOf(model)),
  }
}

function prefixed(folder, files) {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))
}

/** Brings the files up to date. */
export function writeSdk() {
  const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
  for (const [name, text] of Object.entries(sdkOf(document))) {
    const file = join(root, name)
    if (textOf(file) === text) continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Brings the files up to date and writes the packs into a folder. */
export function packSdks(folder) {
  writeSdk()
  return pack(root, folder)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  if (argv[2] === 'pack')
    process.stdout.write(`${Object.values(packSdks(resolve(argv[3] ?? 'dist/packs'))).join('\n')}\n`)
  else writeSdk()
}
