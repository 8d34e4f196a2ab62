// SPDX-License-Identifier: Apache-2.0
// Template engine: {{placeholders}}, sections and fallbacks, compiled once and rendered often. Values are data, never
// code: only own properties are read, html is escaped, href and src allow safe schemes only, and the output size is
// limited.
import { AppError } from '../../../kernel/errors.ts'

const maxOutputLength = 4 * 1024 * 1024
const maxIterations = 10_000
/** Step limit of one rendering, counting placeholders and sections: about 50 ms, and a bulk renders once per recipient. */
const maxSteps = 50_000
const maxDepth = 20
const name = /^(?:\.|[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)$/
const harmless = /^(?:https?:|mailto:|tel:|cid:)/i

export type Kind = 'html' | 'text' | 'subject'
type Scope = Readonly<Record<string, unknown>>

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: string; fallback: string | null; isRaw: boolean }
  | { kind: 'section'; path: string; isInverted: boolean; nodes: Node[] }

export interface Template {
  readonly kind: Kind
  readonly nodes: readonly Node[]
  /** Variable names in order of appearance, without built-in ones. */
  readonly variables: readonly string[]
}

const builtIn = new Set(['unsubscribe_url', 'email', 'message_id', '.'])

/** Compiles a template; throws with line and column. */
export function compile(source: string, kind: Kind, field: string = kind): Template {
  const root: Node[] = []
  const open: { path: string; nodes: Node[]; at: number }[] = [{ path: '', nodes: root, at: 0 }]
  const variables = new Set<string>()
  const bad = (at: number, what: string): AppError => syntaxError(source, at, field, what)
  let from = 0
  for (let at = source.indexOf('{{'); at >= 0; at = source.indexOf('{{', from)) {
    const current = open.at(-1)?.nodes ?? root
    if (at > from) current.push({ kind: 'text', text: source.slice(from, at) })
    const isRaw = source.startsWith('{{{', at)
    const close = isRaw ? '}}}' : '}}'
    const end = source.indexOf(close, at)
    if (end < 0) throw bad(at, `${isRaw ? '{{{' : '{{'} is never closed`)
    const inside = source.slice(at + close.length, end).trim()
    from = end + close.length
    const sign = inside[0] ?? ''
    const path =
      '#^/'.includes(sign) && !isRaw && sign !== '' ? inside.slice(1).trim() : (inside.split('|')[0] ?? '').trim()
    if (!name.test(path)) throw bad(at, `"${inside.slice(0, 40)}" is not a name`)
    if (!isRaw && (sign === '#' || sign === '^')) {
      const nodes: Node[] = []
      if (open.length > maxDepth) throw bad(at, 'sections are nested too deeply')
      current.push({ kind: 'section', path, isInverted: sign === '^', nodes })
      open.push({ path, nodes, at })
    } else if (!isRaw && sign === '/') {
      const opened = open.length > 1 ? open.pop() : undefined
      if (opened?.path !== path) throw bad(at, `{{/${path}}} closes nothing that is open`)
    } else {
      if (isRaw && kind === 'subject') throw bad(at, 'a subject takes no {{{unescaped}}} values')
      const fallback = inside.includes('|') ? inside.slice(inside.indexOf('|') + 1).trim() : null
      current.push({ kind: 'value', path, fallback, isRaw })
    }
    if (sign !== '/' && !builtIn.has(path)) variables.add(path)
  }
  const unclosed = open.at(-1)
  if (unclosed && open.length > 1) throw bad(unclosed.at, `the section ${unclosed.path} is never closed`)
  if (from < source.length) root.push({ kind: 'text', text: source.slice(from) })
  return { kind, nodes: root, variables: [...variables] }
}

function syntaxError(source: string, at: number, field: string, what: string): AppError {
  const lines = source.slice(0, at).split('\n')
  const [line, column] = [lines.length, (lines.at(-1)?.length ?? 0) + 1]
  return new AppError('TEMPLATE_SYNTAX', `${field}, line ${line}, column ${column}: ${what}`, {
    extra: { field, line, column },
  })
}

export interface Rendered {
  readonly text: string
  /** Variables without value or fallback. */
  readonly missing: readonly string[]
}

/** Renders; a variable is looked up in the first scope that has it. */
export function render(template: Template, scopes: readonly Scope[]): Rendered {
  const { kind } = template
  const run: Run = { output: [], length: 0, iterations: 0, steps: 0, tail: '', missing: new Set(), kind }
  renderNodes(template.nodes, [...scopes], undefined, run)
  return { text: run.output.join(''), missing: [...run.missing] }
}

interface Run {
  output: string[]
  length: number
  iterations: number
  steps: number
  /** End of the output with spaces collapsed. */
  tail: string
  missing: Set<string>
  kind: Kind
}

function renderNodes(nodes: readonly Node[], scopes: readonly Scope[], item: unknown, run: Run): void {
  for (const node of nodes) {
    if (++run.steps > maxSteps)
      throw new AppError('VALIDATION_ERROR', `the template has more than ${maxSteps} steps, repetitions included`)
    if (node.kind === 'text') write(run, node.text)
    else if (node.kind === 'value') write(run, valueText(node, scopes, item, run))
    else renderSection(node, scopes, item, run)
  }
}

function renderSection(
  node: Extract<Node, { kind: 'section' }>,
  scopes: readonly Scope[],
  item: unknown,
  run: Run,
): void {
  const value = lookUp(node.path, scopes, item)
  const isEmpty =
    value === undefined ||
    value === null ||
    value === false ||
    value === '' ||
    value === 0 ||
    (Array.isArray(value) && value.length === 0)
  if (node.isInverted) return isEmpty ? renderNodes(node.nodes, scopes, item, run) : undefined
  if (isEmpty) return
  for (const one of Array.isArray(value) ? value : [value]) {
    if (++run.iterations > maxIterations)
      throw new AppError('VALIDATION_ERROR', `the template repeats more than ${maxIterations} times`)
    renderNodes(node.nodes, isScope(one) ? [one, ...scopes] : scopes, one, run)
  }
}

function valueText(node: Extract<Node, { kind: 'value' }>, scopes: readonly Scope[], item: unknown, run: Run): string {
  const value = lookUp(node.path, scopes, item)
  const isMissing = value === undefined || value === null
  if (isMissing && node.fallback === null && !builtIn.has(node.path)) run.missing.add(node.path)
  const text = isMissing
    ? (node.fallback ?? '')
    : isScope(value) || Array.isArray(value)
      ? JSON.stringify(value)
      : String(value)
  if (run.kind !== 'html') return text.replace(/[\r\n]+/g, ' ')
  if (!isMissing && text !== '' && beginsAddress(run.tail) && !harmless.test(text.trim())) {
    spend(run, text.length)
    return '#'
  }
  return node.isRaw ? text : escapeHtml(text)
}

/** Whether a value of href or src begins here, whatever produced the text before it. */
function beginsAddress(tail: string): boolean {
  return /\b(?:href|src) ?= ?["']? ?$/i.test(tail)
}

function lookUp(path: string, scopes: readonly Scope[], item: unknown): unknown {
  if (path === '.') return item
  const [first = '', ...rest] = path.split('.')
  const scope = scopes.find((one) => Object.hasOwn(one, first))
  let value: unknown = scope?.[first]
  for (const step of rest) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return typeof value === 'function' ? undefined : value
}

function isScope(value: unknown): value is Scope {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const tailLength = 20

function write(run: Run, text: string): void {
  if (text === '') return
  spend(run, text.length)
  run.output.push(text)
  if (run.kind === 'html') run.tail = tailOf(run.tail, text)
}

function spend(run: Run, length: number): void {
  run.length += length
  if (run.length > maxOutputLength) throw new AppError('VALIDATION_ERROR', 'the template renders to more than 4 MiB')
}

/** Last characters of a growing text; runs of spaces count once, so that they cannot hide an attribute. */
function tailOf(before: string, text: string): string {
  let tail = ''
  for (let at = text.length - 1; at >= 0 && tail.length < tailLength; at--) {
    const character = /\s/.test(text[at] ?? '') ? ' ' : (text[at] ?? '')
    if (character !== ' ' || tail[0] !== ' ') tail = character + tail
  }
  return `${before}${tail}`.replace(/ +/g, ' ').slice(-tailLength)
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => escapes[character] ?? character)
}
