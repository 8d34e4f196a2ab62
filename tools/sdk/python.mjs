// SPDX-License-Identifier: Apache-2.0
// Printer of the Python SDK: shapes as TypedDict, a class for each area with a method for each operation, the same for asyncio,
// and where times stand in replies.
import { inputFields, line, queryNames, snake, timePaths, timesOfShapes } from './model.mjs'

const head = (about) =>
  `# SPDX-License-Identifier: Apache-2.0\n"""${about} Made by tools/sdk.mjs from openapi.json: do not edit."""\n`

const reserved = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

/** File name -> text. */
export function pythonOf(model) {
  const { areas, operator, events, shapes, version } = model
  const times = timesOfShapes(model)
  return {
    '_version.py': `${head('Version of the client.')}\nVERSION = "${version}"\n`,
    '_shapes.py': `${head('Shapes of the API that have a name.')}from __future__ import annotations\n\nfrom datetime import datetime\nfrom typing import Any, Dict, List, Literal, TypedDict, Union\n\n${shapes.map((shape) => printShape(shape, shapes)).join('\n')}`,
    '_times.py': `${head('Where times stand in replies and events.')}\nSHAPES = {\n${[...times].map(([name, paths]) => `    "${name}": ${tuple(paths)},\n`).join('')}}\n\nEVENTS = {\n${events.map(({ name, type }) => `    "${name}": ${tuple(timePaths(type, times))},\n`).join('')}}\n`,
    '_areas.py': areasFile(areas, times, 'sync', 'Areas'),
    '_async_areas.py': areasFile(areas, times, 'async', 'AsyncAreas'),
    '_operator_areas.py': areasFile(operator, times, 'sync', 'OperatorAreas'),
    '_async_operator_areas.py': areasFile(operator, times, 'async', 'AsyncOperatorAreas'),
  }
}

function areasFile(areas, times, mode, name) {
  const isAsync = mode === 'async'
  const prefix = isAsync ? 'Async' : ''
  const received = areas.some((area) => area.name === 'webhooks') ? 'from . import webhooks as _received\n' : ''
  return `${head('Areas of the client.')}from __future__ import annotations

from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Union

${received}from ._call import UNSET, ${prefix}Area, Download, File, ${prefix}Listing, ${prefix}Messages, RequestOptions

if TYPE_CHECKING:
    from . import _shapes as s

${areas.map((area) => printArea(area, times, prefix)).join('\n')}
class ${name}:
    """Areas of a client."""

    def __init__(self, core: Any) -> None:
${areas.map((area) => `        self.${snake(area.name)} = ${className(area.name, prefix)}(core)\n`).join('')}`
}

const className = (area, prefix) => `${prefix}${area.charAt(0).toUpperCase()}${area.slice(1)}Api`

function printArea({ name, operations }, times, prefix) {
  const waits = operations.some((op) => op.name === 'get' && op.canWait)
  const methods = operations.map((op) => printMethod(op, times, prefix === 'Async'))
  const own =
    name === 'webhooks'
      ? '    verify = staticmethod(_received.verify)\n    sign = staticmethod(_received.sign)\n\n'
      : ''
  return `class ${className(name, prefix)}(${prefix}Area):\n${own}${methods.join('\n')}${
    waits
      ? `\n${waitMethod(
          operations.find((op) => op.name === 'get'),
          prefix === 'Async',
        )}`
      : ''
  }\n`
}

function waitMethod(op, isAsync) {
  return `    ${isAsync ? 'async ' : ''}def wait(self, ${op.params[0]}: str, *, within: float = 120.0, request_options: Optional[RequestOptions] = None) -> ${resultOf(op)}:
        """Wait until it has ended, or the time is over, and give it as it is then."""
        return ${isAsync ? 'await ' : ''}self._wait(self.get, ${op.params[0]}, within, request_options)
`
}

function printMethod(op, times, isAsync) {
  const fields = op.body?.kind === 'csv' ? [] : inputFields(op)
  const named = fields ?? []
  const needed = named.filter(({ isRequired }) => isRequired)
  const others = named.filter(({ isRequired }) => !isRequired)
  const keywords = [
    ...(op.body?.kind === 'csv' ? ['csv: str'] : []),
    ...needed.map((field) => `${safe(field.name)}: ${print(field.type, true)}`),
    ...others.map((field) => `${safe(field.name)}: ${print(field.type, true)} = UNSET`),
    'request_options: Optional[RequestOptions] = None',
    ...(fields === null ? ['**fields: Any'] : []),
  ]
  const signature = ['self', ...op.params.map((name) => `${safe(name)}: str`), '*', ...keywords].join(', ')
  const inQuery = new Set(op.method === 'GET' ? named.map(({ name }) => name) : queryNames(op))
  const dict = (wanted) =>
    `{${named
      .filter(({ name }) => inQuery.has(name) === wanted)
      .map(({ name }) => `"${name}": ${safe(name)}`)
      .join(', ')}}`
  const body = op.body === null ? 'None' : op.body.kind === 'csv' ? 'csv' : fields === null ? '{**fields}' : dict(false)
  const path =
    op.params.length === 0
      ? `"${op.path}"`
      : `self._path("${op.path}", ${op.params.map((name) => `${safe(name)}=${safe(name)}`).join(', ')})`
  const paths = timePaths(op.reply, times)
  const call = { page: '_list', stream: '_stream', file: '_download' }[op.gives] ?? '_call'
  const isAwaited = isAsync && op.gives !== 'page' && op.gives !== 'stream'
  const given = [`"${op.method}"`, path, dict(true), body, `"${op.gives}"`, tuple(paths), 'request_options']
  return `    ${isAwaited ? 'async ' : ''}def ${safe(snake(op.name))}(${signature}) -> ${resultOf(op, isAsync)}:
        """${text(op.summary)}${op.about ? `\n\n        ${text(op.about)}\n        ` : ''}"""
        return ${isAwaited ? 'await ' : ''}self.${call}(${given.join(', ')})
`
}

function resultOf({ gives, reply }, isAsync = false) {
  const prefix = isAsync ? 'Async' : ''
  if (gives === 'page') return `${prefix}Listing[${print(reply, false)}]`
  if (gives === 'stream') return `${prefix}Messages[${print(reply, false)}]`
  if (gives === 'file') return 'Download'
  return gives === 'none' ? 'Dict[str, Any]' : print(reply, false)
}

const plain = {
  text: 'str',
  time: 'datetime',
  number: 'float',
  integer: 'int',
  flag: 'bool',
  nothing: 'None',
  file: 'Union[bytes, IO[bytes], File]',
  unknown: 'Any',
}

/** Type as Python says it. `isInput`: what a caller gives, such as a time as text. */
function print(type, isInput, from = 's.') {
  switch (type.kind) {
    case 'ref':
      return `${from}${type.name}`
    case 'literals':
      return `Literal[${type.values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : value)).join(', ')}]`
    case 'union': {
      const kinds = [...new Set(type.of.map((one) => print(one, isInput, from)))]
      return kinds.includes('Any') ? 'Any' : kinds.length === 1 ? kinds[0] : `Union[${kinds.join(', ')}]`
    }
    case 'list':
      return `List[${print(type.of, isInput, from)}]`
    case 'time':
      return isInput ? 'Union[str, datetime]' : 'datetime'
    case 'object':
    case 'all':
      return isInput ? 'Mapping[str, Any]' : 'Dict[str, Any]'
    case 'map':
      return `${isInput ? 'Mapping' : 'Dict'}[str, ${print(type.of, isInput, from)}]`
    default:
      return plain[type.kind]
  }
}

/** Shape with fields as a TypedDict, whose names that Python cannot write stand in a table; any other as an alias. */
function printShape({ name, about, type }, shapes) {
  const fields = fieldsOf(type, shapes)
  const doc = about ? `    """${text(about)}"""\n` : '    pass\n'
  if (fields === null) return `${name} = ${quoted(print(type, false, ''))}\n`
  const [needed, others] = [true, false].map((wanted) => fields.filter(({ isRequired }) => isRequired === wanted))
  const table = (of) => `{${of.map((field) => `"${field.name}": ${quoted(print(field.type, false, ''))}`).join(', ')}}`
  return `_${name} = TypedDict("_${name}", ${table(needed)})\n_${name}More = TypedDict("_${name}More", ${table(others)}, total=False)\n\n\nclass ${name}(_${name}, _${name}More):\n${doc}\n`
}

/** A shape that is named before it is declared stands in quotes. */
const quoted = (type) => JSON.stringify(type)

function fieldsOf(type, shapes) {
  if (type.kind === 'object') return type.fields
  if (type.kind === 'ref') return fieldsOf(shapes.find(({ name }) => name === type.name).type, shapes)
  if (type.kind !== 'all') return null
  const parts = type.of.map((one) => fieldsOf(one, shapes))
  if (parts.includes(null)) return null
  return [...new Map(parts.flat().map((field) => [field.name, field])).values()]
}

const safe = (name) => (reserved.has(name) ? `${name}_` : name)
const tuple = (paths) =>
  `(${paths
    .map((path) => `"${path}", `)
    .join('')
    .trimEnd()})`
const text = (words) => line(words).replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '".')
