// SPDX-License-Identifier: Apache-2.0
// Loads the program from the one file that bundle.mjs makes of it, together with what V8 compiled of it when it was built:
// without that every start would compile five megabytes of source. `node dist/program/load.mjs` writes the compiled code for
// the flags that it is started with; under another Node, other flags or another processor the program compiles as it goes.

import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { constants, Script } from 'node:vm'

const file = fileURLToPath(new URL('program.cjs', import.meta.url))
const compiledFile = fileURLToPath(new URL(`program.${cachedDataVersionTag()}.compiled`, import.meta.url))

/** The program's exports. `meta` is the import.meta of the file that the program is started by. */
export function load(meta) {
  return runScript(meta).exports
}

/** Whether the file of `meta` is what Node was started with. */
export function isStarted(meta) {
  return argv[1] !== undefined && realpathSync(argv[1]) === fileURLToPath(meta.url)
}

function runScript(meta) {
  const cachedData = existsSync(compiledFile) ? readFileSync(compiledFile) : undefined
  // esbuild writes ASCII only, of which V8 needs half the memory.
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  mapStackTraces()
  const module = { exports: {} }
  script.runInThisContext()(module, module.exports, createRequire(meta.url), meta)
  return { script, exports: module.exports }
}

/** Node maps the lines of files that it has loaded itself, which this one is not. The table is read for the first stack shown. */
function mapStackTraces() {
  let lineOf
  const place = (frame) => {
    const text = String(frame)
    if (frame.getFileName() !== file) return text
    lineOf ??= sourceLines()
    const found = lineOf(frame.getLineNumber() - 1, frame.getColumnNumber() - 1)
    return found === null ? text : text.replace(/[^ (]*program\.cjs:\d+:\d+/, () => found)
  }
  Error.prepareStackTrace = (error, frames) =>
    [String(error), ...frames.map((frame) => `    at ${place(frame)}`)].join('\n')
}

/** File and line that a place of the program was made from; null for what is in no file. Rows are those of source-places.mjs. */
function sourceLines() {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const sources = readFileSync(new URL('program.sources', import.meta.url), 'utf8').split('\n')
  const table = new Uint32Array(new Uint8Array(readFileSync(new URL('program.places', import.meta.url))).buffer)
  const isAfter = (row, line, column) =>
    table[4 * row] > line || (table[4 * row] === line && table[4 * row + 1] > column)
  return (line, column) => {
    let [low, high] = [0, table.length / 4]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isAfter(middle, line, column)) high = middle
      else low = middle + 1
    }
    return low === 0 ? null : `${root}${sources[table[4 * low - 2]]}:${table[4 * low - 1] + 1}`
  }
}

if (isStarted(import.meta)) {
  const { script, exports } = runScript({ url: new URL('main.js', import.meta.url).href })
  // V8 keeps what it has compiled by now: what every start runs.
  await exports.loadAll()
  writeFileSync(compiledFile, script.createCachedData())
}
