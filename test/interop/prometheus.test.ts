// SPDX-License-Identifier: Apache-2.0
// Alerts as Prometheus itself reads them: each rings for the figures that it is made for, and for no others. Debian has
// promtool in the package `prometheus`.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { root } from '../program.ts'

const program = '/usr/bin/promtool'
const missing = existsSync(program) ? null : 'promtool not found: install the package prometheus'
if (missing !== null && process.env.PAMOJA_REQUIRE_PROMTOOL) throw new Error(missing)
const skip = missing ?? false
const promtool = (...words: string[]) => promisify(execFile)(program, words)
const alerts = join(root, 'deploy/prometheus/alerts.yml')

/** Series by name, as promtool writes their values: `a+bxn` is a, then n times b more, one a minute. */
type Series = Readonly<Record<string, string>>

const node = { job: 'pamoja', instance: 'one:9464' }
const series = (name: string, labels: object = {}): string =>
  `${name}{${Object.entries({ ...node, ...labels }).map(([label, value]) => `${label}="${value}"`)}}`
const check = (name: string, value: number): Series => ({
  [series('pamoja_ready_check', { check: name })]: `${value}x90`,
})
const gauge = (name: string, value: number, labels: object = {}): Series => ({
  [series(name, labels)]: `${value}x300`,
})
const grows = (name: string, perMinute: number, labels: object = {}): Series => ({
  [series(name, labels)]: `0+${perMinute}x90`,
})
const requests = (perMinute: number, status: string): Series =>
  grows('pamoja_http_duration_seconds_count', perMinute, { operation: 'sms.send', status })
const told = (event: string, perMinute: number, environment = 'live'): Series =>
  grows('pamoja_events_age_seconds_count', perMinute, { environment, event, status: '' })
/** A histogram of which all are above one bound and below the next. */
const between = (name: string, above: string, below: string, labels: object): Series => ({
  ...grows(`${name}_bucket`, 0, { ...labels, le: above }),
  ...grows(`${name}_bucket`, 60, { ...labels, le: below }),
  ...grows(`${name}_bucket`, 60, { ...labels, le: '+Inf' }),
  ...grows(`${name}_count`, 60, labels),
})

const slow = { operation: 'sms.send', status: '2xx' }
const sent = { environment: 'live', event: 'sms.sent', status: 'sent' }
const attempts = (delivered: number, retry: number): Series => ({
  ...grows('pamoja_webhooks_attempts_total', delivered, { outcome: 'delivered' }),
  ...grows('pamoja_webhooks_attempts_total', retry, { outcome: 'retry' }),
})

/** Alert -> figures for which it rings, and figures for which it does not, after an hour (or as many minutes as it says). */
const cases: Readonly<Record<string, { rings: Series; silent: Series; minutes?: number }>> = {
  PamojaNodeDown: { rings: gauge('up', 0), silent: gauge('up', 1) },
  PamojaNoNode: { rings: gauge('up', 0), silent: gauge('up', 1) },
  PamojaErrors: {
    rings: { ...requests(600, '2xx'), ...requests(60, '5xx') },
    silent: { ...requests(600, '2xx'), ...requests(2, '5xx') },
  },
  PamojaSlow: {
    rings: between('pamoja_http_duration_seconds', '2.5', '5', slow),
    silent: between('pamoja_http_duration_seconds', '0.05', '0.1', slow),
  },
  PamojaEventLoopBlocked: {
    rings: gauge('nodejs_eventloop_lag_p99_seconds', 0.4),
    silent: gauge('nodejs_eventloop_lag_p99_seconds', 0.03),
  },
  PamojaDiskAlmostFull: { rings: check('disk', 0), silent: check('disk', 1) },
  PamojaClockWrong: { rings: check('clock', 0), silent: check('clock', 1) },
  PamojaRefusals: {
    rings: grows('pamoja_limits_refusals_total', 600, { policy: 'key' }),
    silent: grows('pamoja_limits_refusals_total', 60, { policy: 'key' }),
  },
  PamojaLogDropped: {
    rings: grows('pamoja_request_log_dropped_total', 1),
    silent: grows('pamoja_request_log_dropped_total', 0),
  },
  PamojaDatabaseUnreachable: { rings: check('database', 0), silent: check('database', 1) },
  PamojaWritesRefused: { rings: check('writes', 0), silent: check('writes', 1) },
  PamojaSignalsLost: { rings: check('signals', 0), silent: check('signals', 1) },
  PamojaPoolExhausted: { rings: gauge('pamoja_db_pool_waiting', 3), silent: gauge('pamoja_db_pool_waiting', 0) },
  PamojaCommitsWait: { rings: gauge('pamoja_commit_waiting', 900), silent: gauge('pamoja_commit_waiting', 40) },
  PamojaQueueSlow: {
    rings: gauge('pamoja_work_queue_oldest_seconds', 300, { lane: 'sms.submit' }),
    silent: gauge('pamoja_work_queue_oldest_seconds', 20, { lane: 'sms.submit' }),
  },
  PamojaJobsFailed: {
    rings: gauge('pamoja_work_queue_jobs', 1, { lane: 'voice.transcribe', state: 'failed' }),
    silent: gauge('pamoja_work_queue_jobs', 5, { lane: 'voice.transcribe', state: 'due' }),
  },
  PamojaLedgerImbalance: { rings: gauge('pamoja_ledger_imbalance', 1), silent: gauge('pamoja_ledger_imbalance', 0) },
  PamojaLedgerUnproved: {
    rings: gauge('up', 1),
    silent: { ...gauge('up', 1), ...gauge('pamoja_ledger_imbalance', 0) },
    minutes: 200,
  },
  PamojaFloatDifference: {
    rings: gauge('pamoja_payments_float_difference', -12.5, { provider: 'daraja', currency: 'KES' }),
    silent: gauge('pamoja_payments_float_difference', 0, { provider: 'daraja', currency: 'KES' }),
    minutes: 90,
  },
  PamojaPaymentsFail: {
    rings: { ...told('payment.failed', 20), ...told('payment.completed', 2) },
    silent: { ...told('payment.failed', 20, 'test'), ...told('payment.failed', 2), ...told('payment.completed', 20) },
  },
  PamojaPayoutsFail: {
    rings: { ...told('payout.failed', 5), ...told('payout.completed', 5) },
    silent: { ...told('payout.failed', 1), ...told('payout.completed', 50) },
  },
  PamojaRefundsFail: { rings: told('refund.failed', 1), silent: told('refund.failed', 1, 'test') },
  PamojaCarrierDown: { rings: check('sms', 0), silent: check('sms', 1) },
  PamojaTextsFail: {
    rings: { ...told('sms.failed', 60), ...told('sms.delivered', 60) },
    silent: { ...told('sms.failed', 60, 'test'), ...told('sms.failed', 6), ...told('sms.delivered', 60) },
  },
  PamojaTextsSlow: {
    rings: between('pamoja_events_age_seconds', '60', '300', sent),
    silent: between('pamoja_events_age_seconds', '1', '2.5', sent),
  },
  PamojaTextsPile: {
    rings: gauge('pamoja_sms_pending', 5000, { bind: 'first' }),
    silent: gauge('pamoja_sms_pending', 500, { bind: 'first' }),
  },
  PamojaMailFails: {
    rings: { ...told('email.bounced', 10), ...told('email.delivered', 20) },
    silent: { ...told('email.bounced', 2), ...told('email.delivered', 200) },
    minutes: 90,
  },
  PamojaMailTlsRefused: {
    rings: grows('pamoja_email_tls_refusals_total', 1, { level: 'dane' }),
    silent: grows('pamoja_email_tls_refusals_total', 0, { level: 'dane' }),
  },
  PamojaCallsRefused: { rings: gauge('pamoja_voice_admits', 0), silent: gauge('pamoja_voice_admits', 1) },
  PamojaAudioLate: {
    rings: gauge('pamoja_voice_late_seconds', 0.06),
    silent: gauge('pamoja_voice_late_seconds', 0.004),
  },
  PamojaCallsFail: {
    rings: { ...told('call.failed', 5), ...told('call.completed', 10) },
    silent: { ...told('call.failed', 1), ...told('call.completed', 30) },
  },
  PamojaWebhooksFail: { rings: attempts(5, 60), silent: attempts(60, 5) },
  PamojaWebhooksPile: { rings: gauge('pamoja_webhooks_waiting', 15_000), silent: gauge('pamoja_webhooks_waiting', 90) },
}

test('promtool takes the rules and the configuration', { skip }, async () => {
  await promtool('check', 'rules', alerts)
  await promtool('check', 'config', join(root, 'deploy/prometheus/prometheus.yml'))
})

test('every alert rings for what it is made for, and for nothing else', { skip }, async (t) => {
  const { groups }: { groups: { rules: { alert: string }[] }[] } = parse(readFileSync(alerts, 'utf8'))
  const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  assert.deepEqual(Object.keys(cases).sort(), [...names].sort(), 'each alert has a case')
  const rung = (alert: string, isRung: boolean) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
    eval_time: `${cases[alert]?.minutes ?? 60}m`,
    exp_samples: isRung ? [{ labels: '{}', value: 1 }] : [],
  })
  const group = (chosen: string[], which: 'rings' | 'silent') => ({
    interval: '1m',
    input_series: Object.entries(Object.assign({}, ...chosen.map((alert) => cases[alert]?.[which]))).map(
      ([name, values]) => ({ series: name, values }),
    ),
    promql_expr_test: chosen.map((alert) => rung(alert, which === 'rings')),
  })
  // One evaluation for many alerts, because each takes seconds; what is missing for one would be there for another.
  const lacking = ['PamojaLedgerUnproved']
  const others = names.filter((alert) => !lacking.includes(alert))
  const tests = [group(others, 'rings'), group(lacking, 'rings'), group(others, 'silent'), group(lacking, 'silent')]
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-alerts-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  // JSON is YAML.
  const file = join(dir, 'cases.yml')
  await writeFile(file, JSON.stringify({ rule_files: [alerts], evaluation_interval: '1m', tests }))
  await promtool('test', 'rules', file)
})
