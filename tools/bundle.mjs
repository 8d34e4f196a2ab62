// SPDX-License-Identifier: Apache-2.0
// Puts the program and the packages it starts with into a few files. Node takes half a millisecond for each file that it
// finds, reads and links, and there are more than a thousand: that had been half of a second start.

import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const outdir = join(root, 'dist', 'program')

// Files have their content in their names, so those of the last time would stay.
rmSync(outdir, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  // Beside the program, the node that tests and benchmarks start by the dozen.
  entryPoints: { main: 'src/main.ts', node: 'test/node.ts' },
  outdir,
  bundle: true,
  // What a command needs stays in files of its own, which are read when it runs.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifyWhitespace: true,
  legalComments: 'none',
  sourcemap: true,
  // These have the line and the file already, without a copy of the text.
  sourcesContent: false,
  // What is read later, or never, stays where it is; pdfkit looks for its fonts beside itself.
  external: ['@opentelemetry/*', 'pdfkit', 'pg-native', 'undici'],
  // The driver of PostgreSQL asks who runs it. Where nobody says so, as in Node 20, it reads all of `fetch` to find out.
  define: { navigator: '{"userAgent":"Node.js"}' },
  // Packages of the older kind ask for Node's own modules by this name.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
})
