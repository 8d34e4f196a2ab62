// SPDX-License-Identifier: Apache-2.0
// Calls of the SDKs for Node, Python and PHP as the reference shows them: whole programs, for those who have installed the SDK.
import { type Html, html, json } from '../web/html.ts'

/** API address of the reader. */
export interface Place {
  url: string
  /** Directory of the program, as a command writes it; `$NAME` is a variable of the reader's shell. */
  home: string
  /** CA file a client must trust, if it is our own; `$NAME/…` begins with a variable of the reader's shell. */
  caFile: string | null
}

/** Operation as an SDK calls it. */
export interface SdkCall {
  /** Such as `sms.send`. */
  operation: string
  /** Values of the path in order; `$name` is a variable of the reader's environment. */
  path: readonly string[]
  /** Query and body in one. */
  input: Readonly<Record<string, unknown>>
  /** Names of files that are uploaded. */
  files: readonly string[]
  gives: 'value' | 'list' | 'text' | 'file' | 'stream'
  isOperator: boolean
}

export function nodeSample({ url, caFile }: Place, call: SdkCall): Html {
  const { operation, path, input, files, gives, isOperator } = call
  const [name, from] = isOperator ? ['PamojaOperator', '@pamoja/sdk/operator'] : ['Pamoja', '@pamoja/sdk']
  const fields = [
    ...files.map((file) => html`${file}: await openAsBlob(<span class="s">'${file}'</span>)`),
    ...Object.entries(input).map(([field, value]) => html`${field}: ${json(indented(JSON.stringify(value, null, 2)))}`),
  ]
  const given = [
    ...path.map((value) => (value.startsWith('$') ? html`process.env.${value.slice(1)}` : text("'", value))),
    ...(fields.length > 0 ? [html`{${fields.map((field) => html`\n  ${field},`)}\n}`] : []),
  ]
  const called = html`pamoja.${operation}(${commas(given)})`
  return html`${files.length > 0 && html`import { openAsBlob } from <span class="s">'node:fs'</span>\n`}import { ${name} } from <span class="s">'${from}'</span>

const pamoja = new <span class="f">${name}</span>({
  baseUrl: ${text("'", url)},
  apiKey: process.env.${keyOf(call)},${caFile !== null && html`\n  caFile: ${nodePath(caFile)},`}
})
${nodeUse(gives, called)}`
}

function nodeUse(gives: SdkCall['gives'], called: Html): Html {
  const log = `${'console'}.log`
  if (gives === 'list') return html`for await (const row of ${called}) ${log}(row)`
  if (gives === 'stream') return html`for await (const { id, event, data } of ${called}) ${log}(id, event, data)`
  if (gives === 'text') return html`const reply = await ${called}\n${log}(await reply.text())`
  if (gives === 'file')
    return html`const file = await ${called}\nfor await (const chunk of file.body) process.stdout.write(chunk)`
  return html`${log}(await ${called})`
}

export function pythonSample({ url, caFile }: Place, call: SdkCall): Html {
  const { operation, path, input, files, gives, isOperator } = call
  const [name, from] = isOperator ? ['PamojaOperator', 'pamoja.operator'] : ['Pamoja', 'pamoja']
  const fields = [
    ...files.map((file) => html`${file}=open(<span class="s">"${file}"</span>, <span class="s">"rb"</span>)`),
    ...Object.entries(input).map(([field, value]) => html`${pythonName(field)}=${pythonic(value)}`),
  ]
  const given = [
    ...path.map((value) => (value.startsWith('$') ? html`os.environ[${text('"', value.slice(1))}]` : text('"', value))),
    ...fields,
  ]
  const words = operation.split('.').map((word) => pythonName(snake(word)))
  const called = html`pamoja.${words.join('.')}(${fields.length > 0 ? html`${given.map((one) => html`\n    ${one},`)}\n` : commas(given)})`
  return html`import os${gives === 'file' && ', sys'}
from ${from} import ${name}

pamoja = <span class="f">${name}</span>(
    base_url=${text('"', url)},
    api_key=os.environ[${text('"', keyOf(call))}],${caFile !== null && html`\n    ca_file=${pythonPath(caFile)},`}
)
${pythonUse(gives, called)}`
}

function pythonUse(gives: SdkCall['gives'], called: Html): Html {
  if (gives === 'list') return html`for row in ${called}:\n    print(row)`
  if (gives === 'stream')
    return html`for message in ${called}:\n    print(message.id, message.event, message.data, flush=True)`
  if (gives === 'text') return html`print(${called}.read().decode())`
  if (gives === 'file') return html`sys.stdout.buffer.write(${called}.read())`
  return html`print(${called})`
}

export function phpSample({ url, caFile }: Place, call: SdkCall): Html {
  const { operation, path, input, files, gives, isOperator } = call
  const name = isOperator ? 'PamojaOperator' : 'Pamoja'
  const fields = [
    ...files.map((file) => html`${text("'", file)} =&gt; Pamoja\\File::of(${text("'", file)})`),
    ...Object.entries(input).map(([field, value]) => html`${text("'", field)} =&gt; ${phpic(value)}`),
  ]
  const given = [
    ...path.map((value) => (value.startsWith('$') ? html`getenv(${text("'", value.slice(1))})` : text("'", value))),
    ...(fields.length > 0 ? [html`[${fields.map((field) => html`\n  ${field},`)}\n]`] : []),
  ]
  const called = html`$pamoja-&gt;${operation.replace('.', '->')}(${commas(given)})`
  return html`&lt;?php
require <span class="s">'vendor/autoload.php'</span>;

$pamoja = new Pamoja\\<span class="f">${name}</span>([
  <span class="s">'baseUrl'</span> =&gt; ${text("'", url)},
  <span class="s">'apiKey'</span> =&gt; getenv(${text("'", keyOf(call))}),${caFile !== null && html`\n  <span class="s">'caFile'</span> =&gt; ${phpPath(caFile)},`}
]);
${phpUse(gives, called)}`
}

function phpUse(gives: SdkCall['gives'], called: Html): Html {
  if (gives === 'list') return html`foreach (${called} as $row) {\n  print_r($row);\n}`
  if (gives === 'stream') return html`foreach (${called} as $message) {\n  print_r($message);\n}`
  if (gives === 'text' || gives === 'file') return html`echo ${called}-&gt;contents();`
  return html`print_r(${called}-&gt;toArray());`
}

/** Variable that holds the key. */
function keyOf({ isOperator }: SdkCall): string {
  return isOperator ? 'OPERATOR' : 'KEY'
}

function text(quote: string, words: string): Html {
  return html`<span class="s">${quote}${words.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`)}${quote}</span>`
}

function commas(parts: readonly Html[]): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`, ${part}`))}`
}

/** Path whose beginning is a variable of the reader's shell, or plain. */
function variableOf(path: string): [name: string | undefined, rest: string] {
  const [, name, rest = path] = /^\$(\w+)(.*)$/.exec(path) ?? []
  return [name, rest]
}

function nodePath(path: string): Html {
  const [name, rest] = variableOf(path)
  return name === undefined ? text("'", path) : html`\`$\{process.env.${name}}${rest}\``
}

function pythonPath(path: string): Html {
  const [name, rest] = variableOf(path)
  return name === undefined ? text('"', path) : html`os.environ[${text('"', name)}] + ${text('"', rest)}`
}

function phpPath(path: string): Html {
  const [name, rest] = variableOf(path)
  return name === undefined ? text("'", path) : html`getenv(${text("'", name)}) . ${text("'", rest)}`
}

/** sendBulk as Python writes it. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Names that Python keeps for itself end in a line. */
function pythonName(name: string): string {
  return ['from', 'continue', 'class', 'import', 'global', 'is', 'in'].includes(name) ? `${name}_` : name
}

function indented(words: string): string {
  return words.replaceAll('\n', '\n  ')
}

/** JSON as a Python literal. */
function pythonic(value: unknown): Html {
  const text = JSON.stringify(value, null, 4).replaceAll('\n', '\n    ')
  return json(outsideTexts(text, { true: 'True', false: 'False', null: 'None' }))
}

/** JSON as a PHP literal; a dollar sign would start a variable. */
function phpic(value: unknown): Html {
  const text = indented(JSON.stringify(value, null, 2))
  const parts = text.split(/("(?:[^"\\]|\\.)*")/).map((part, i) => {
    if (i % 2 === 1) return part.replaceAll('$', '\\$').replaceAll('\\/', '/')
    // Otherwise an object without members would become a list.
    return part.replaceAll('{}', '(object) []').replaceAll('{', '[').replaceAll('}', ']').replaceAll(':', ' =>')
  })
  return html`${parts.join('')}`
}

function outsideTexts(text: string, words: Readonly<Record<string, string>>): string {
  return text
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((part, i) => (i % 2 === 1 ? part : part.replaceAll(/\b(?:true|false|null)\b/g, (word) => words[word] ?? word)))
    .join('')
}
