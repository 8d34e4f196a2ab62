// SPDX-License-Identifier: Apache-2.0
// `node tools/capacity.mjs [--accounts=10000] [--texts=50] [--payments=5] [--skew=1] [...]`: what an installation needs as it is, and at
// 10, 100 and 1,000 times its accounts: nodes, databases, disks, connections, and what breaks first. Arithmetic on what
// docs/benchmarks.md has measured; docs/scale.md tells how it counts. Nothing is started.
import { parseArgs } from 'node:util'

/**
 * Of one operation: µs of Node, µs of PostgreSQL, bytes of log, bytes kept for `--days`. The source is docs/benchmarks.md; nobody has
 * measured what a mail keeps: it is taken for what it logs.
 */
const costs = {
  texts: { node: 709, database: 367, log: 6_100, kept: 1_420, callbacks: 2 },
  payments: { node: 10_000, database: 6_400, log: 15_600, kept: 12_600, callbacks: 1 },
  payouts: { node: 1_990, database: 2_360, log: 15_300, kept: 11_600, callbacks: 1 },
  mails: { node: 3_125, database: 850, log: 5_700, kept: 5_700, callbacks: 2 },
}

const numbers = {
  accounts: [10_000, 'accounts'],
  texts: [50, 'texts a day of an average account, from end to end with two callbacks'],
  payments: [5, 'payments a day of an average account'],
  payouts: [1, 'payouts a day of an average account'],
  mails: [10, 'mails a day of an average account'],
  skew: [1, 'how unequal accounts are: the second does 1/2^skew of the first, the third 1/3^skew (0: all the same)'],
  peak: [4, 'busiest second to average second'],
  days: [30, 'days that what is kept is kept'],
  cores: [16, 'cores of one database'],
  disk: [4_000, 'GB of disk of one database'],
  log: [200, 'MB of log a second that one database and its standby take'],
  restore: [500, 'MB a second of a restore'],
  hours: [4, 'hours that a restore may take'],
  connections: [400, 'max_connections of a database'],
}
/** Parts of a core or a disk that are planned with; the rest is for what is not planned. */
const [nodePart, databasePart, diskPart] = [0.65, 0.6, 0.8]
const connectionsOfNode = 8
const callbackSeconds = 0.1
const factors = [1, 10, 100, 1_000]
const secondsOfDay = 86_400

const given = read()
process.stdout.write(`${report(given)}\n`)

function read() {
  const names = Object.keys(numbers)
  const options = Object.fromEntries(
    [...names, 'help'].map((name) => [name, { type: name === 'help' ? 'boolean' : 'string' }]),
  )
  try {
    const { values } = parseArgs({ options })
    if (values.help) stop(0, usage())
    return Object.fromEntries(names.map((name) => [name, numberOf(name, values[name])]))
  } catch (error) {
    return stop(2, `${error.message}\n\n${usage()}`)
  }
}

function numberOf(name, value) {
  const number = value === undefined ? numbers[name][0] : Number(value)
  const isCount = name === 'accounts'
  if (value === '' || !Number.isFinite(number) || number < 0 || (isCount && !(Number.isInteger(number) && number > 0)))
    throw new Error(
      `--${name} must be ${isCount ? 'a whole number above 0' : 'a number'}, not ${JSON.stringify(value)}`,
    )
  return number
}

function usage() {
  const lines = Object.entries(numbers).map(([name, [usual, what]]) => `  --${name}=${usual}`.padEnd(20) + what)
  return ['node tools/capacity.mjs [options]', '', ...lines].join('\n')
}

function stop(code, text) {
  ;(code === 0 ? process.stdout : process.stderr).write(`${text}\n`)
  process.exit(code)
}

/** Needs of the whole installation in its busiest second, with so many accounts. */
function needs(asked, accounts) {
  const sum = { node: 0, database: 0, log: 0, kept: 0, callbacks: 0, operations: 0 }
  for (const [kind, cost] of Object.entries(costs)) {
    const aDay = asked[kind] * accounts
    const aSecond = (aDay / secondsOfDay) * asked.peak
    sum.operations += aSecond
    for (const part of ['node', 'database', 'log', 'callbacks']) sum[part] += aSecond * cost[part]
    sum.kept += aDay * cost.kept * asked.days
  }
  return {
    perSecond: sum.operations,
    // Two at least, so that one can be lost.
    nodes: Math.max(2, Math.ceil(sum.node / 1e6 / nodePart)),
    cores: sum.database / 1e6 / databasePart,
    log: sum.log / 1e6,
    logOfDay: (sum.log / asked.peak) * secondsOfDay,
    kept: sum.kept,
    callbacks: sum.callbacks * callbackSeconds,
    restoreHours: sum.kept / 1e6 / asked.restore / 3_600,
  }
}

/** Of each thing that bounds one database: the part of it that is taken, and what to do beyond. */
function bounds(asked, need) {
  return [
    ['cores of PostgreSQL', need.cores / asked.cores],
    ['log', need.log / asked.log],
    ['disk', need.kept / (asked.disk * 1e9 * diskPart)],
    ['time to restore', need.restoreHours / asked.hours],
  ].sort(([, one], [, other]) => other - one)
}

/** Part of everything that each of the largest accounts does, largest first, and what is left for all others. */
function shares(accounts, skew) {
  const single = Math.min(accounts, 2_000)
  const weights = Array.from({ length: single }, (_, index) => (index + 1) ** -skew)
  // The others are so many and so small that an integral counts them.
  const [from, to] = [single + 0.5, accounts + 0.5]
  const others = skew === 1 ? Math.log(to / from) : (to ** (1 - skew) - from ** (1 - skew)) / (1 - skew)
  const all = weights.reduce((sum, weight) => sum + weight, 0) + others
  return weights.map((weight) => weight / all)
}

/** Part of everything that the fullest of some databases has, when each large account is put where most room is. */
function fullest(large, databases) {
  // Each has one of its own.
  if (databases > large.length) return Math.max(1 / databases, large[0])
  const filled = new Float64Array(databases)
  // Smaller ones level out.
  for (const share of large.filter((one) => one > 0.01 / databases)) {
    const emptiest = filled.indexOf(filled.reduce((least, one) => Math.min(least, one)))
    filled[emptiest] += share
  }
  return Math.max(1 / databases, ...filled)
}

/** How many databases it takes; null when the largest account alone is more than one carries. */
function databasesFor(taken, large) {
  if (taken <= 1) return 1
  if (large[0] * taken > 1) return null
  for (let many = Math.ceil(taken); ; many = Math.ceil(many * 1.02)) if (fullest(large, many) * taken <= 1) return many
}

function column(asked, factor) {
  const accounts = asked.accounts * factor
  const need = needs(asked, accounts)
  const [[first, taken]] = bounds(asked, need)
  const large = shares(accounts, asked.skew)
  const databases = databasesFor(taken, large)
  const nodesOfOne = Math.ceil(need.nodes / (databases ?? 1))
  const connections = nodesOfOne * connectionsOfNode
  // Ten are kept for superusers, backups and whoever looks.
  const isPooled = connections > asked.connections - 10
  const breaks = databases === null ? 'largest account' : taken > 1 ? first : isPooled ? 'connections' : 'nothing'
  return {
    '': `x ${count(factor)}`,
    accounts: count(accounts),
    'operations a second, at the peak': count(need.perSecond),
    'largest account does': `${(large[0] * 100).toFixed(1)} %`,
    'nodes (a core each)': count(need.nodes),
    databases: databases === null ? 'none fits' : count(databases),
    'cores of PostgreSQL, together': count(need.cores),
    'log, MB/s at the peak': count(need.log),
    'log archived a day': bytes(need.logOfDay),
    [`disk, kept ${asked.days} days`]: bytes(need.kept),
    'restore of a database': databases === null ? '-' : hours(need.restoreHours / databases),
    'connections to a database': databases === null ? '-' : `${count(connections)}${isPooled ? ', pooled' : ''}`,
    'connections of callbacks': count(need.callbacks),
    'breaks first in one database': breaks,
  }
}

/** At how many times the accounts each thing is full. All but the last grow as accounts do. */
function order(asked) {
  const need = needs(asked, asked.accounts * 1_000)
  const full = bounds(asked, need).map(([what, taken]) => [what, 1_000 / taken])
  const nodesAtOnce = Math.floor((asked.connections - 10) / connectionsOfNode)
  full.push(['connections without a pooler', (1_000 * nodesAtOnce) / need.nodes])
  return full
    .sort(([, one], [, other]) => one - other)
    .map(([what, at]) => `  ${what.padEnd(30)} x ${at < 10 ? at.toFixed(1) : count(at)}`)
}

function report(asked) {
  const columns = factors.map((factor) => column(asked, factor))
  const width = Math.max(...columns.flatMap((one) => Object.values(one).map(({ length }) => length))) + 2
  const rows = Object.keys(columns[0]).map(
    (name) => name.padEnd(36) + columns.map((one) => one[name].padStart(width)).join(''),
  )
  return [...rows, '', 'One database is full, by what grows with accounts:', ...order(asked)].join('\n')
}

function count(number) {
  return number > 0 && number < 10 && !Number.isInteger(number)
    ? number.toFixed(1)
    : Math.round(number).toLocaleString('en')
}

function bytes(number) {
  const [unit, size] = number < 1e12 ? ['GB', 1e9] : ['TB', 1e12]
  return `${count(number / size)} ${unit}`
}

function hours(number) {
  return number < 1 ? `${count(number * 60)} min` : `${count(number)} h`
}
