// SPDX-License-Identifier: Apache-2.0
// Alerts and dashboards speak of figures that there are; each alert has its runbook, and a runbook names routes and settings
// that exist.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { parse } from 'yaml'
import { areas } from '../../src/areas.ts'
import { settings } from '../../src/config.ts'
import { root } from '../program.ts'
import { sourceFiles } from './sources.ts'

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { groups }: { groups: { rules: Rule[] }[] } = parse(read('deploy/prometheus/alerts.yml'))
const rules = groups.flatMap((group) => group.rules)
const boards = readdirSync(join(root, 'deploy/grafana/dashboards'))
const pages = readdirSync(join(root, 'docs/runbooks')).filter((page) => page !== 'README.md')

/** Names of all figures: ours by where they are declared, those of the process, and those Prometheus makes itself. */
function figures(): Set<string> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const names = new Set(['up', 'ALERTS', ...registry.getMetricsAsArray().map(({ name }) => name)])
  for (const file of sourceFiles(['src']).filter((name) => !name.endsWith('.test.ts')))
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:gauges?\(|totals?\(|name(?::| =))\s*'(pamoja_\w+)'/g,
    ))
      names.add(name)
  return names
}

/** Figures that an expression names: what stands before braces, brackets and the like, and is no word of the language. */
function named(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|"[^"]*"|by \([^)]*\)|on \([^)]*\)/g, ' ')
  return [...bare.matchAll(/\b(?:pamoja|nodejs|process)_\w+|\bup\b|\bALERTS\b/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  )
}

test('every figure of an alert or a dashboard exists', () => {
  const known = figures()
  assert.ok(known.size > 40)
  const expressions = rules.map(({ alert, expr }) => ({ where: alert, expr }))
  for (const board of boards) {
    const text = read(`deploy/grafana/dashboards/${board}`)
    const { panels }: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(text)
    for (const { title, targets } of panels)
      for (const { expr } of targets) expressions.push({ where: `${board}: ${title}`, expr })
  }
  const unknown = expressions.flatMap(({ where, expr }) => {
    const names = named(expr)
    if (names.length === 0) return [`${where} names no figure`]
    return names.filter((name) => !known.has(name)).map((name) => `${where}: ${name}`)
  })
  assert.deepEqual(unknown, [])
})

test('every alert says what it is, how bad it is and where its runbook is; every runbook has its alert', () => {
  const index = read('docs/runbooks/README.md')
  for (const { alert, labels, annotations } of rules) {
    assert.match(alert, /^Pamoja[A-Z]\w+$/)
    assert.match(labels.severity, /^(page|ticket)$/, alert)
    assert.match(annotations.summary, /^[^\n]{10,}$/, alert)
    const [, page = ''] = /^docs\/runbooks\/([a-z-]+\.md)$/.exec(annotations.runbook) ?? []
    assert.ok(pages.includes(page), `${alert}: ${annotations.runbook}`)
    assert.ok(read(annotations.runbook).includes(`Alert \`${alert}\``), alert)
    assert.ok(index.includes(`| \`${alert}\` |`) && index.includes(`(${page})`), `${alert} is in the list of runbooks`)
  }
  const used = rules.map(({ annotations }) => annotations.runbook.replace('docs/runbooks/', ''))
  assert.deepEqual([...used].sort(), [...pages].sort())
})

test('a runbook names routes, settings and pages that there are', () => {
  const paths = new Set(areas.flatMap(({ routes }) => routes.map(({ path }) => path.replaceAll(/:(\w+)/g, '{}'))))
  const problems: string[] = []
  for (const page of pages) {
    const text = read(`docs/runbooks/${page}`)
    for (const [path] of text.matchAll(/\/v1\/[\w/{}-]+/g))
      if (!paths.has(path.replaceAll(/\{\w+\}/g, '{}'))) problems.push(`${page}: ${path}`)
    for (const [name] of text.matchAll(/\bPAMOJA_\w+/g)) if (!(name in settings)) problems.push(`${page}: ${name}`)
    for (const [, link = ''] of text.matchAll(/\]\(([\w-]+\.md)\)/g))
      if (!pages.includes(link)) problems.push(`${page}: ${link}`)
  }
  assert.deepEqual(problems, [])
})
