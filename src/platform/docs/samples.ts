// SPDX-License-Identifier: Apache-2.0
// Request samples in curl, Node, Python and PHP, complete and without packages.
import { type Html, html, json } from '../web/html.ts'

/** API address of the reader. */
export interface Place {
  url: string
  /** Directory of the program, as a command writes it; `$NAME` is a variable of the reader's shell. */
  home: string
  /** CA file a client must trust, if it is our own; `$NAME/…` begins with a variable of the reader's shell. */
  caFile: string | null
}

export interface Sample {
  method: string
  /** Path and query below `/api`, with `$name` for values of the reader, which are variables of their environment. */
  address: string
  /** Kind of the reply; a file and a stream are printed as they arrive. */
  gives?: 'json' | 'text' | 'file' | 'stream'
  /** Variable that holds the key. */
  key?: 'KEY' | 'OPERATOR'
  headers?: readonly string[]
  body?: unknown
  /** Parts of a multipart body, shown for curl only. */
  parts?: readonly string[]
}

/** Samples in all languages that apply. */
export function samplesOf(place: Place, sample: Sample): readonly (readonly [language: string, code: Html])[] {
  const curl = ['curl', curlCommand(place, sample)] as const
  if (sample.parts && sample.parts.length > 0) return [curl]
  return [curl, ['Node', node(place, sample)], ['Python', python(place, sample)], ['PHP', php(place, sample)]]
}

export function curlCommand(
  { url, caFile }: Place,
  { method, address, gives, key = 'KEY', headers = [], body, parts = [] }: Sample,
): Html {
  const target = `${url}/api${address}`
  const quoted = /[$?&]/.test(target) ? `"${target}"` : target
  const usual = body === undefined && parts.length === 0 ? 'GET' : 'POST'
  const lines = [
    html`<span class="f">curl</span>${gives === 'stream' && ' -N'}${gives === 'file' && ' -OJ'}${method === usual ? '' : ` -X ${method}`} ${quoted}`,
    ...(caFile ? [html`  --cacert ${caFile}`] : []),
    html`  -H <span class="s">"Authorization: Bearer $${key}"</span>`,
    ...parts.map((part) => html`  -F <span class="s">"${part}"</span>`),
    ...headers.map((header) => html`  -H <span class="s">"${header}"</span>`),
    ...(body === undefined
      ? []
      : [
          html`  -H <span class="s">"Content-Type: application/json"</span>`,
          html`  -d '${json(JSON.stringify(body, null, 2).replaceAll("'", "'\\''").replaceAll('\n', '\n  '))}'`,
        ]),
  ]
  return html`${lines.map((line, i) => (i < lines.length - 1 ? html`${line} \\\n` : line))}`
}

/** Sample for Node, which takes our own CA from NODE_EXTRA_CA_CERTS. */
function node({ url, caFile }: Place, { method, address, gives = 'json', key = 'KEY', body }: Sample): Html {
  const target = address.includes('$')
    ? html`\`${url}/api${address.replaceAll(/\$(\w+)/g, '$${process.env.$1}')}\``
    : html`<span class="s">'${url}/api${address}'</span>`
  const into = gives === 'file' ? ' > file' : ''
  return html`${caFile !== null && html`<span class="c">// NODE_EXTRA_CA_CERTS=${caFile} ${key}=… node this.mjs${into}</span>\n`}const reply = await <span class="f">fetch</span>(${target}, {
  method: <span class="s">'${method}'</span>,
  headers: {
    Authorization: \`Bearer $\{process.env.${key}}\`,${body !== undefined && html`\n    <span class="s">'Content-Type'</span>: <span class="s">'application/json'</span>,`}
  },${body !== undefined && html`\n  body: JSON.stringify(${json(indented(JSON.stringify(body, null, 2)))}),`}
})
${nodeReply[gives]}`
}

const nodeReply = {
  json: `${'console'}.log(reply.status, await reply.json())`,
  text: `${'console'}.log(reply.status, await reply.text())`,
  file: 'for await (const chunk of reply.body) process.stdout.write(chunk)',
  stream: 'for await (const chunk of reply.body) process.stdout.write(chunk)',
}

function python({ url, caFile }: Place, { method, address, gives = 'json', key = 'KEY', body }: Sample): Html {
  const target = address.includes('$')
    ? html`f<span class="s">"${url}/api${address.replaceAll(/\$(\w+)/g, "{os.environ['$1']}")}"</span>`
    : html`<span class="s">"${url}/api${address}"</span>`
  return html`import json, os, ssl, ${gives === 'file' && 'sys, '}urllib.request

request = urllib.request.<span class="f">Request</span>(
    ${target},
    method=<span class="s">"${method}"</span>,
    headers={<span class="s">"Authorization"</span>: <span class="s">"Bearer "</span> + os.environ[<span class="s">"${key}"</span>]${body !== undefined && html`, <span class="s">"Content-Type"</span>: <span class="s">"application/json"</span>`}},${
      body !== undefined &&
      html`
    data=json.dumps(${pythonic(body)}).encode(),`
    }
)
${caFile !== null && html`trust = ssl.create_default_context(cafile=${pythonicPath(caFile)})\n`}try:
    with urllib.request.<span class="f">urlopen</span>(request${caFile !== null && ', context=trust'}) as reply:
        ${pythonReply[gives]}
except urllib.request.HTTPError as refused:
    print(refused.code, json.load(refused))`
}

const pythonReply = {
  json: 'print(reply.status, json.load(reply))',
  text: 'print(reply.status, reply.read().decode())',
  file: 'sys.stdout.buffer.write(reply.read())',
  stream: 'for line in reply:\n            print(line.decode(), end="", flush=True)',
}

/** Sample in PHP. Without CURLOPT_RETURNTRANSFER curl prints the reply as it arrives. */
function php({ url, caFile }: Place, { method, address, gives = 'json', key = 'KEY', body }: Sample): Html {
  const target = `"${url}/api${address.replaceAll(/\$(\w+)/g, `" . getenv('$1') . "`)}"`.replace(/ \. ""$/, '')
  const isPrinted = gives === 'file' || gives === 'stream'
  return html`&lt;?php
$request = <span class="f">curl_init</span>(<span class="s">${target}</span>);
curl_setopt_array($request, [${!isPrinted && html`\n  CURLOPT_RETURNTRANSFER =&gt; true,`}
  CURLOPT_CUSTOMREQUEST =&gt; <span class="s">'${method}'</span>,
  CURLOPT_HTTPHEADER =&gt; [<span class="s">'Authorization: Bearer '</span> . getenv(<span class="s">'${key}'</span>)${body !== undefined && html`, <span class="s">'Content-Type: application/json'</span>`}],${caFile !== null && html`\n  CURLOPT_CAINFO =&gt; ${phpicPath(caFile)},`}${body !== undefined && html`\n  CURLOPT_POSTFIELDS =&gt; json_encode(${phpic(body)}),`}
]);
${isPrinted ? 'curl_exec($request);' : 'echo curl_exec($request);'}`
}

function pythonicPath(path: string): Html {
  const text = html`<span class="s">"${path}"</span>`
  return path.startsWith('$') ? html`os.path.expandvars(${text})` : text
}

function phpicPath(path: string): Html {
  const [, name, rest = path] = /^\$(\w+)(.*)$/.exec(path) ?? []
  const text = html`<span class="s">'${rest}'</span>`
  return name === undefined ? text : html`getenv(<span class="s">'${name}'</span>) . ${text}`
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

/** JSON as a Python literal. */
function pythonic(body: unknown): Html {
  const text = JSON.stringify(body, null, 4).replaceAll('\n', '\n    ')
  return json(outsideTexts(text, { true: 'True', false: 'False', null: 'None' }))
}

/** JSON as a PHP literal; a dollar sign would start a variable. */
function phpic(body: unknown): Html {
  const text = indented(JSON.stringify(body, null, 2))
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
