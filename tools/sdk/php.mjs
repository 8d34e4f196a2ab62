// SPDX-License-Identifier: Apache-2.0
// Printer of the PHP SDK: a class for each area with a method for each operation, shapes as types of PHPStan and Psalm, and
// where times stand in replies.
import { inputFields, line, queryNames, timePaths, timesOfShapes } from './model.mjs'

const head =
  '<?php\n// SPDX-License-Identifier: Apache-2.0\n// Made by tools/sdk.mjs from openapi.json: do not edit.\ndeclare(strict_types=1);\n'

/** File name -> text. */
export function phpOf(model) {
  const { areas, operator, events, shapes, version } = model
  const times = timesOfShapes(model)
  const files = {
    'Version.php': `${head}\nnamespace Pamoja;\n\n/** Version of the client. */\nfinal class Version\n{\n    public const VERSION = '${version}';\n}\n`,
    'Shapes.php': `${head}\nnamespace Pamoja;\n\n/**\n * Shapes of the API that have a name.\n *\n${shapes.map(({ name, type }) => ` * @phpstan-type ${name} ${print(type)}\n`).join('')} */\nfinal class Shapes\n{\n}\n`,
    'Times.php': `${head}\nnamespace Pamoja;\n\n/** Where times stand in replies and events. */\nfinal class Times\n{\n    public const SHAPES = [\n${[...times].map(([name, paths]) => `        '${name}' => ${list(paths)},\n`).join('')}    ];\n\n    public const EVENTS = [\n${events.map(({ name, type }) => `        '${name}' => ${list(timePaths(type, times))},\n`).join('')}    ];\n}\n`,
    'Areas.php': areasClass('Areas', areas, 'Areas of a client.'),
  }
  for (const area of [...areas, ...operator]) files[`Api/${className(area.name)}.php`] = apiClass(area, times)
  return files
}

const className = (area) => `${area.charAt(0).toUpperCase()}${area.slice(1)}Api`

function areasClass(name, areas, about) {
  return `${head}\nnamespace Pamoja;\n\n/** ${about} */\nabstract class ${name} extends Client\n{\n${areas.map((area) => `    public readonly Api\\${className(area.name)} $${area.name};\n`).join('')}\n    /** @param array<string, mixed> $options */\n    public function __construct(array $options = [])\n    {\n        parent::__construct($options);\n${areas.map((area) => `        $this->${area.name} = new Api\\${className(area.name)}($this);\n`).join('')}    }\n}\n`
}

function apiClass({ name, operations }, times) {
  const methods = operations.map((op) => method(op, times))
  const waits = operations.find((op) => op.name === 'get' && op.canWait)
  const extra = name === 'webhooks' ? ['use \\Pamoja\\ReceivesWebhooks;\n'] : []
  const text = methods.join('\n') + (waits ? `\n${waitMethod(waits)}` : '')
  const used = [...new Set([...text.matchAll(/\b_([A-Z]\w*)\b/g)].map(([, shape]) => shape))].sort()
  return `${head}\nnamespace Pamoja\\Api;\n\nuse Pamoja\\Client;\nuse Pamoja\\Download;\nuse Pamoja\\Listing;\nuse Pamoja\\Messages;\nuse Pamoja\\Result;\nuse Pamoja\\Shapes;\n\n/**\n * Operations of ${name}.\n *\n${used.map((shape) => ` * @phpstan-import-type ${shape} from Shapes as _${shape}\n`).join('')} */\nfinal class ${className(name)}\n{\n${extra.map((one) => `    ${one}\n`).join('')}    public function __construct(private readonly Client $client)\n    {\n    }\n\n${text}}\n`
}

function waitMethod(op) {
  return `    /**
     * Waits until it has ended, or the time is over, and gives it as it is then.
     *
     * @param array<string, mixed> $options
     * @return ${resultDoc(op)}
     */
    public function wait(string $${op.params[0]}, float $within = 120.0, array $options = []): Result
    {
        return $this->client->waited(fn (int $wait): Result => $this->get($${op.params[0]}, ['wait' => $wait], $options), $within);
    }
`
}

function method(op, times) {
  const isCsv = op.body?.kind === 'csv'
  const fields = isCsv ? [] : inputFields(op)
  const takesInput = isCsv || fields === null || fields.length > 0
  const isNeeded = isCsv || op.body?.isRequired || op.query.some(({ isRequired }) => isRequired)
  const type = isCsv ? 'string' : 'array'
  const input = takesInput ? [`${type} $input${isNeeded ? '' : ' = []'}`] : []
  const signature = [...op.params.map((name) => `string $${name}`), ...input, 'array $options = []'].join(', ')
  const inputDoc = isCsv ? 'string' : fields === null ? 'array<string, mixed>' : print({ kind: 'object', fields }, '_')
  const path =
    op.params.length === 0
      ? `'${op.path}'`
      : `Client::path('${op.path}', [${op.params.map((name) => `'${name}' => $${name}`).join(', ')}])`
  const call = { page: 'list', stream: 'stream', file: 'download' }[op.gives] ?? 'call'
  const names = op.method === 'GET' ? 'null' : list(queryNames(op))
  const given = [
    `'${op.method}'`,
    path,
    takesInput ? '$input' : '[]',
    names,
    `'${op.gives}'`,
    list(timePaths(op.reply, times)),
    '$options',
  ]
  return `    /**
     * ${line(op.summary)}
${op.about ? `     *\n     * ${line(op.about)}\n` : ''}     *
${takesInput ? `     * @param ${inputDoc} $input\n` : ''}     * @param array{idempotencyKey?: string, timeout?: float, maxRetries?: int, headers?: array<string, string>} $options
     * @return ${resultDoc(op)}
     */
    public function ${op.name}(${signature}): ${{ page: 'Listing', stream: 'Messages', file: 'Download' }[op.gives] ?? 'Result'}
    {
        return $this->client->${call}(${given.join(', ')});
    }
`
}

function resultDoc({ gives, reply }) {
  if (gives === 'file') return 'Download'
  const type = gives === 'none' ? 'array<string, mixed>' : print(reply, '_')
  return `${{ page: 'Listing', stream: 'Messages' }[gives] ?? 'Result'}<${type}>`
}

const plain = {
  text: 'string',
  time: '\\DateTimeImmutable|string',
  number: 'float',
  integer: 'int',
  flag: 'bool',
  nothing: 'null',
  file: '\\Pamoja\\File',
  unknown: 'mixed',
}

/** Type as PHPStan says it; names of shapes begin with `from`. */
function print(type, from = '') {
  switch (type.kind) {
    case 'ref':
      return `${from}${type.name}`
    case 'literals':
      return [
        ...new Set(
          type.values.map((value) =>
            typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value),
          ),
        ),
      ].join('|')
    case 'union': {
      const kinds = [...new Set(type.of.map((one) => print(one, from)))]
      return kinds.includes('mixed') ? 'mixed' : kinds.join('|')
    }
    case 'all':
      return 'array<string, mixed>'
    case 'list':
      return `list<${print(type.of, from)}>`
    case 'map':
      return `array<string, ${print(type.of, from)}>`
    case 'object':
      return `array{${type.fields.map((field) => `${/^\w+$/.test(field.name) ? field.name : `'${field.name}'`}${field.isRequired ? '' : '?'}: ${print(field.type, from)}`).join(', ')}}`
    default:
      return plain[type.kind]
  }
}

const list = (paths) => `[${paths.map((path) => `'${path}'`).join(', ')}]`
