// SPDX-License-Identifier: Apache-2.0
// Routing rules in the order in which they are looked at, one rule, and where a call would go.
import { useState } from 'preact/hooks'
import {
  callcenterDeleteRule,
  callcenterGetRule,
  callcenterListRules,
  callcenterSimulateRouting,
} from '#sdk/operations.ts'
import type { CallDestination, RoutingRule, RoutingSimulation } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Choice, Field, problemOf } from '../../kit/fields.tsx'
import { Card, Problem } from '../../kit/kit.tsx'
import { type ListOf, ListPage, type Row } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { language as languageName, momentAt, words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { placeName } from './choose.tsx'
import { conditionWords } from './conditions.tsx'
import { changeRule, makeRule } from './forms.tsx'
import { useNames } from './names.ts'
import { clockOf } from './states.tsx'

const scope = 'callcenter:write'

function Place({ place }: { place: CallDestination | null }) {
  return <span dir="auto">{placeName(place, useNames())}</span>
}

/** A row of the list is a rule as the API gives it. */
const ruleOf = (row: Row): RoutingRule => JSON.parse(JSON.stringify(row))

const rules: ListOf = {
  title: 'Routing rules',
  note: 'the lowest order first',
  icon: 'route',
  deeds: [{ name: 'Create rule', icon: 'plus', isMain: true, scope, form: makeRule }],
  path: callcenterListRules.at(),
  keyField: 'rule_id',
  open: ['/routing-rules/', 'rule_id'],
  columns: [
    { name: 'Order', field: 'priority', as: 'count', priority: 1 },
    { name: 'Name', field: 'name', priority: 1, card: 'title' },
    {
      name: 'Conditions',
      field: 'conditions',
      priority: 2,
      card: 'sub',
      grows: true,
      text: (_, row) => conditionWords(ruleOf(row)),
    },
    {
      name: 'Destination',
      field: 'action',
      priority: 1,
      card: 'end',
      show: (row) => <Place place={ruleOf(row).action} />,
    },
    { name: 'Enabled', field: 'enabled', as: 'flag', priority: 3, card: 'state' },
  ],
  none: {
    title: 'No rules',
    advice: 'Rules route calls to unassigned numbers by country, language, time or customer.',
  },
}

export function Rules() {
  return <ListPage {...rules}>{may(scope) && <WhatIf />}</ListPage>
}

export const RulePage = recordPage<RoutingRule>({
  in: ['/routing-rules', 'Routing rules'],
  get: (rule_id) => callcenterGetRule(api, { rule_id }),
  at: (rule_id) => callcenterGetRule.at({ rule_id }),
  title: ({ name }) => name,
  state: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
  facts: [
    { name: 'Order', field: 'priority', as: 'count' },
    { name: 'Conditions', field: 'conditions', text: (_, row) => conditionWords(ruleOf(row)) },
    { name: 'Destination', field: 'action', show: (row) => <Place place={ruleOf(row).action} /> },
    { name: 'Updated', field: 'updated_at', as: 'time' },
  ],
  deeds: (rule) => [
    { name: 'Change', icon: 'pencil', scope, form: changeRule(rule) },
    {
      ...{ name: 'Remove', isDanger: true, scope, leadsTo: '/routing-rules' },
      asks: removing(rule.name, t('Calls are then routed by the other rules.')),
      run: () => callcenterDeleteRule(api, { rule_id: rule.rule_id }),
    },
  ],
})

/** Languages that callers speak, as rules and menus name them. */
const languages = ['sw-KE', 'en-KE', 'en-NG', 'en-ZA', 'fr-SN', 'pt-AO', 'ar-EG', 'am-ET', 'ha-NG', 'zu-ZA'] as const

/** Where a caller would go, told step by step; nobody is called. */
function WhatIf() {
  const { run, error, isBusy } = useDoing()
  const [to, setTo] = useState('')
  const [from, setFrom] = useState('')
  const [at, setAt] = useState('')
  const [digits, setDigits] = useState('')
  const [language, setLanguage] = useState<(typeof languages)[number]>()
  const [told, setTold] = useState<RoutingSimulation | null>(null)
  const ask = (event: Event): void => {
    event.preventDefault()
    const keys = digits.split(/[\s,]+/).filter(Boolean)
    const body = {
      ...{ to, from },
      ...(at === '' ? {} : { at: momentAt(at) }),
      ...(language === undefined ? {} : { language }),
      ...(keys.length > 0 ? { digits: keys } : {}),
    }
    run(async () => setTold(await callcenterSimulateRouting(api, { body })))
  }
  const isNamed = ['to', 'from', 'at', 'language', 'digits'].some((name) => problemOf(error, name) !== undefined)
  return (
    <Card title="Simulate routing">
      <form class="form in-line" onSubmit={ask}>
        <Field
          label="Called number"
          type="phone"
          value={to}
          onInput={setTo}
          required
          problem={problemOf(error, 'to')}
        />
        <Field label="Caller" type="phone" value={from} onInput={setFrom} required problem={problemOf(error, 'from')} />
        <Field label="At" type="moment" value={at} onInput={setAt} problem={problemOf(error, 'at')} />
        <Choice
          label="Language of the caller"
          value={language ?? ''}
          among={['', ...languages]}
          names={{ '': t('Not known'), ...Object.fromEntries(languages.map((tag) => [tag, languageName(tag)])) }}
          isRequired
          onChange={(tag) => setLanguage(languages.find((one) => one === tag))}
        />
        <Field label="Keys pressed" value={digits} onInput={setDigits} problem={problemOf(error, 'digits')} />
        <button type="submit" class="btn primary" disabled={isBusy}>
          {t('Try the menu')}
        </button>
      </form>
      {error && !isNamed && <Problem error={error} />}
      {told && <Told told={told} />}
    </Card>
  )
}

const kindNames: Readonly<Record<RoutingSimulation['trace'][number]['kind'], string>> = {
  ...{ number: 'Number', rule: 'Rule', business_hours: 'Business hours', ivr: 'Voice menu', queue: 'Queue' },
  ...{ overflow: 'Overflow', agent: 'Agent' },
}

function Told({
  told: { destination, trace, warnings, eligible_agents, estimated_wait_seconds },
}: {
  told: RoutingSimulation
}) {
  const names = useNames()
  const free = eligible_agents.map(({ agent_id }) => names.agents[agent_id] ?? agent_id).join(', ')
  return (
    <div role="status">
      <p class="strong">{t('The caller goes to: {name}', { name: placeName(destination, names) })}</p>
      {free !== '' && <p>{t('Free for it: {names}', { names: free })}</p>}
      {estimated_wait_seconds !== null && (
        <p>{t('Expected wait: {time}', { time: clockOf(estimated_wait_seconds) })}</p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="callout warn">
          {warning}
        </p>
      ))}
      <ol class="story">
        {trace.map(({ step, kind, id, result, reason }) => (
          <li key={step}>
            <span class="strong">{t(kindNames[kind])}</span>
            <span dir="auto">{(id && Object.values(names).find((of) => of[id] !== undefined)?.[id]) ?? id}</span>
            <span class="soft push">
              {words(result)}: {reason}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
