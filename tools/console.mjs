// SPDX-License-Identifier: Apache-2.0
// Builds the console for browsers: script and style in files that are named by their content, and the page that loads them.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const outdir = join(root, 'dist', 'console')

rmSync(outdir, { recursive: true, force: true })
mkdirSync(outdir, { recursive: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { console: 'console/src/main.tsx' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  minify: true,
  legalComments: 'none',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfig: 'console/tsconfig.json',
  metafile: true,
  logLevel: 'warning',
})
const main = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === 'console/src/main.tsx')
const script = Object.keys(metafile.outputs).find((file) => metafile.outputs[file] === main)
const icon = readFileSync(join(root, 'console', 'icon.svg'))
const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`
writeFileSync(join(outdir, iconName), icon)
const page = readFileSync(join(root, 'console', 'index.html'), 'utf8')
writeFileSync(
  join(outdir, 'index.html'),
  page
    .replace('/console/icon.svg', `/console/assets/${iconName}`)
    .replace('/console/src/main.css', `/console/assets/${basename(main.cssBundle)}`)
    .replace('/console/src/main.tsx', `/console/assets/${basename(script)}`),
)
