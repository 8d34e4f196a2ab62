// SPDX-License-Identifier: Apache-2.0
// Builds the console for browsers: script and style in files that are named by their content, and the page that loads them.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import { writeSdk } from './sdk.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const outdir = join(root, 'dist', 'console')

const source = join(root, 'console', 'src')
const areas = readdirSync(join(source, 'areas')).filter((name) => existsSync(join(source, 'areas', name, 'area.ts')))
/** Languages in the order of the columns that translations.ts declares, which are those of every area's words.ts too. */
const [, columns = ''] =
  /readonly \[([^\]]+)\]/.exec(readFileSync(join(source, 'kit', 'translations.ts'), 'utf8')) ?? []
const languages = [...columns.matchAll(/(\w+): string/g)].map(([, language]) => language)

/** What a module of data exports, without the types. */
async function dataOf(file) {
  const { code } = await transform(readFileSync(file, 'utf8'), { loader: 'ts', format: 'esm' })
  return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
}

/** All words of a language: those of the frame, and those of every area. */
async function bookOf(language) {
  const all = {}
  const files = [
    join(source, 'kit', 'translations.ts'),
    ...areas.map((area) => join(source, 'areas', area, 'words.ts')),
  ]
  for (const file of files) {
    if (!existsSync(file)) continue
    const { words } = await dataOf(file)
    for (const [phrase, row] of Object.entries(words)) all[phrase] = row[languages.indexOf(language)]
  }
  return all
}

const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))

/** A schema without references; nothing where it may be null. */
function schemaOf(schema = {}) {
  if (schema.$ref) return schemaOf(openapi.components.schemas[schema.$ref.split('/').at(-1)])
  const real = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
  const { anyOf: _, ...rest } = schema
  return real.length > 0 ? { ...schemaOf(real[0]), ...rest } : schema
}

/** Fields that a reply shows, of one thing in its `data`. */
function shownBy({ responses }) {
  const reply = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const whole = schemaOf(reply?.content?.['application/json']?.schema)
  const parts = [whole, ...(whole.allOf ?? []).map(schemaOf)]
  const data = parts.map(({ properties }) => properties?.data).find(Boolean)
  return new Set([...parts, schemaOf(data)].flatMap(({ properties }) => Object.keys(properties ?? {})))
}

const isRequired = (schema, name) => (schema.required ?? []).includes(name)

/** Field of a form from a property of a request: its kind, what it is chosen among, and what the reference says of it. */
function fieldOf(name, property, schema, shown) {
  const { type, enum: among, default: usual, description: hint, items, maxLength = 0, ...rest } = schemaOf(property)
  const isList = type === 'array'
  return {
    name,
    as: among
      ? 'choice'
      : ({ boolean: 'flag', integer: 'number', number: 'number', array: 'list', object: 'json' }[type] ?? 'text'),
    ...(among && !isList ? { among: usual ? [usual, ...among.filter((one) => one !== usual)] : among } : {}),
    ...(hint ? { hint } : {}),
    ...(isRequired(schema, name) ? { isRequired: true } : {}),
    ...(type === 'string' && !among && !shown.has(name) ? { isSecret: true } : {}),
    ...(maxLength > 4_000 ? { isLong: true } : {}),
    ...(rest['x-providers'] ? { needs: rest['x-providers'], pays: rest['x-payouts-of'] } : {}),
  }
}

/** Form of an operation, by the schema of its body: the same that the server checks with. */
function formOf(id) {
  const all = Object.values(openapi.paths).flatMap((path) => Object.values(path))
  const operation = all.find(({ operationId }) => operationId === id)
  const schema = schemaOf(operation.requestBody.content['application/json'].schema)
  const shown = shownBy(operation)
  return Object.entries(schema.properties).map(([name, property]) => fieldOf(name, property, schema, shown))
}

/** Scopes that a key of an account can have. */
function scopes() {
  const all = Object.values(openapi.paths).flatMap((path) => Object.values(path).map((one) => one['x-required-scope']))
  return [...new Set(all)].filter((scope) => scope && !scope.startsWith('operator')).sort()
}

/** Modules that are made of what lies in console/src/areas: `#areas` lists them, `#words/<language>` has their words,
 * `#form/<operation>` the fields of an operation's body, `#lists` the scopes and the events that there are. */
const gathered = {
  name: 'gathered',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#(areas|lists|words\/\w+|form\/[\w.]+)$/ }, ({ path }) => ({ path, namespace: 'gathered' }))
    onLoad({ filter: /^#areas$/, namespace: 'gathered' }, () => ({
      contents: [
        ...areas.map((name, i) => `import { area as area${i} } from './areas/${name}/area.ts'`),
        `export const areas = [${areas.map((_, i) => `area${i}`).join(', ')}]`,
      ].join('\n'),
      resolveDir: source,
    }))
    onLoad({ filter: /^#lists$/, namespace: 'gathered' }, () => ({
      contents: `export const scopes = ${JSON.stringify(scopes())}, events = ${JSON.stringify(Object.keys(openapi.webhooks))}`,
    }))
    onLoad({ filter: /^#form\//, namespace: 'gathered' }, ({ path }) => ({
      contents: `export const fields = ${JSON.stringify(formOf(path.slice('#form/'.length)))}`,
    }))
    onLoad({ filter: /^#words\//, namespace: 'gathered' }, async ({ path }) => ({
      contents: `export const book = ${JSON.stringify(await bookOf(path.slice('#words/'.length)))}`,
    }))
  },
}

writeSdk()
rmSync(outdir, { recursive: true, force: true })
mkdirSync(outdir, { recursive: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { console: 'console/src/main.tsx' },
  outdir,
  bundle: true,
  plugins: [gathered],
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
