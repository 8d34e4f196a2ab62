// SPDX-License-Identifier: Apache-2.0
// Puts the program and the packages it starts with into one file, and beside it what V8 makes of that file, so that a start
// neither looks for a thousand files (half a millisecond for each) nor compiles them (program-loader.mjs).

import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { writeSdk } from './sdk.mjs'
import { placesOf } from './source-places.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const outdir = join(root, 'dist', 'program')

/** Flags with which the program is started: as a bare command, and by npm and containers. */
const startedWith = [[], ['--initial-old-space-size=256']]

/** Packages of engines are loaded by the processes that use them, if they are installed. */
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Beside the program, the node that tests and benchmarks start by the dozen. `loadAll` is for the compiled code. */
const contents = `
export * as main from './src/main.ts'
export const testNode = () => import('./test/node.ts')
export const loadAll = () =>
  Promise.all([import('./src/node/server.ts'), import('./src/areas.ts'), import('./src/commands/welcome.ts')])
`

writeSdk()
rmSync(outdir, { recursive: true, force: true })
mkdirSync(outdir, { recursive: true })
await build({
  absWorkingDir: root,
  stdin: { contents, resolveDir: root, sourcefile: 'program.ts', loader: 'ts' },
  outfile: join(outdir, 'program.cjs'),
  bundle: true,
  // V8 keeps compiled code of scripts, not of modules. What a command needs is run when the command imports it.
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minifyWhitespace: true,
  legalComments: 'none',
  sourcemap: 'external',
  sourcesContent: false,
  // What is read later, or never, stays where it is; pdfkit looks for its fonts beside itself.
  external: [
    '@opentelemetry/exporter-*',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-*',
    'pdfkit',
    'pg-native',
    'undici',
    ...Object.keys(optionalDependencies),
  ],
  define: {
    'import.meta': 'startedBy',
    // The driver of PostgreSQL asks who runs it. Where nobody says so, as in Node 20, it reads all of `fetch` to find out.
    navigator: '{"userAgent":"Node.js"}',
  },
  banner: { js: '(function (module, exports, require, startedBy) {' },
  footer: { js: '})' },
  logLevel: 'warning',
})
const map = join(outdir, 'program.cjs.map')
const { sources, table } = placesOf(JSON.parse(readFileSync(map, 'utf8')))
writeFileSync(join(outdir, 'program.sources'), sources.map((source) => relative(root, join(outdir, source))).join('\n'))
writeFileSync(join(outdir, 'program.places'), table)
rmSync(map)
// Commands of the API have a small file of their own, for `pamoja`.
await build({
  absWorkingDir: root,
  entryPoints: ['cli/main.ts'],
  outfile: join(outdir, 'cli.js'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
})
copyFileSync(join(root, 'tools', 'program-loader.mjs'), join(outdir, 'load.mjs'))
writeFileSync(
  join(outdir, 'main.js'),
  `import { isStarted, load } from './load.mjs'
export const { run, serving } = load(import.meta).main
if (isStarted(import.meta)) await run(process.argv.slice(2))
`,
)
writeFileSync(
  join(outdir, 'node.js'),
  `import { load } from './load.mjs'
await load(import.meta).testNode()
`,
)
const compile = (flags) => promisify(execFile)(process.execPath, [...flags, join(outdir, 'load.mjs')])
await Promise.all(startedWith.map(compile))
