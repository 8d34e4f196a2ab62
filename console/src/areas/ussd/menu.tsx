// SPDX-License-Identifier: Apache-2.0
// Builder of a USSD menu: its screens, their letters counted, and the phone beside it that answers as the network would. What is
// not saved yet is kept by the tab.
import { useState } from 'preact/hooks'
import { ussdDeleteMenu, ussdGetMenu, ussdReplaceMenu, ussdTestMenu } from '#sdk/operations.ts'
import type { UssdMenu } from '#sdk/schemas.ts'
import { api, may, ownCurrency } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { removing, say } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { NotSaved, useDraft } from '../../kit/draft.tsx'
import { Choice, Field, TextField } from '../../kit/fields.tsx'
import { Card, Pill, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, language as languageName } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

type Nodes = UssdMenu['nodes']
type Node = Nodes[string]

/** Letters that fit one screen of most networks. */
const maxLetters = 182

/** What the phone shows: the words and the answers below them. */
function screenOf({ text, options = [] }: Node, writing: Writing): string {
  return [writing.of(text), ...options.map(({ key, label }, i) => `${key ?? i + 1} ${writing.of(label)}`)].join('\n')
}

export function MenuPage({ id }: PageProps) {
  const menu = useLoad(id, () => ussdGetMenu(api, { id }))
  return (
    <Opened record={menu}>
      {(value) => (
        <Detail
          in={['/menus', 'USSD menus']}
          id={id}
          title={value.name}
          note={t('Version {count}', { count: value.version })}
          deeds={[
            {
              name: 'Remove',
              isDanger: true,
              scope: 'ussd:write',
              asks: removing(value.name, t('Its short codes are no longer answered.')),
              run: async () => {
                await ussdDeleteMenu(api, { id })
                go('/menus')
              },
            },
          ]}
          path={ussdGetMenu.at({ id })}
          raw={value}
        >
          <div class="menu-builder">
            <Builder key={value.version} menu={value} onSaved={menu.reload} />
            <Try key={`try ${value.version}`} id={id} />
          </div>
        </Detail>
      )}
    </Opened>
  )
}

type Text = string | Record<string, string>

/** Texts of one language, and what becomes of them when they are changed: the other languages stay. */
interface Writing {
  of(text: Text | undefined): string
  changed(before: Text | undefined, text: string): Text
}

function writingIn(languages: readonly string[] | undefined, language: string): Writing {
  const isOne = languages === undefined || languages.length === 0
  return {
    of: (text) => (typeof text === 'string' ? text : (text?.[language] ?? '')),
    changed: (before, text) => {
      if (isOne && typeof before !== 'object') return text
      const others =
        typeof before === 'object' ? before : Object.fromEntries((languages ?? []).map((one) => [one, before ?? '']))
      return { ...others, [language]: text }
    },
  }
}

function Builder({ menu, onSaved }: { menu: UssdMenu; onSaved(): Promise<void> }) {
  const { languages = [] } = menu
  const draft = useDraft(`${menu.id} ${menu.version}`, { nodes: menu.nodes, start: menu.start })
  const { nodes, start } = draft.value
  const setNodes = (next: Nodes): void => draft.change({ nodes: next, start })
  const setStart = (next: string): void => draft.change({ nodes, start: next })
  const [shown, setShown] = useState(menu.start)
  const [language, setLanguage] = useState(languages[0] ?? '')
  const [added, setAdded] = useState('')
  const { run, error, isBusy } = useDoing()
  const writing = writingIn(languages, language)
  const node = nodes[shown]
  const change = (part: Partial<Node>): void => {
    const next = Object.entries({ ...node, ...part }).filter(([, what]) => what !== undefined)
    setNodes({ ...nodes, [shown]: Object.fromEntries(next) })
  }
  const save = (): void =>
    run(async () => {
      const body = { name: menu.name, ...(languages.length > 0 ? { languages } : {}), start, nodes }
      await ussdReplaceMenu(api, { id: menu.id, body })
      draft.forget()
      say(t('Saved'))
      await onSaved()
    })
  const add = (): void => {
    const name = added
      .trim()
      .replaceAll(/[^\w-]+/g, '_')
      .slice(0, 40)
    if (name === '' || nodes[name]) return
    setNodes({ ...nodes, [name]: { text: '', end: true } })
    setShown(name)
    setAdded('')
  }
  const remove = (): void => {
    const { [shown]: _, ...rest } = nodes
    setNodes(rest)
    setShown(start)
  }
  return (
    <div>
      {error && <Problem error={error} />}
      <Card
        title="Screens"
        action={
          languages.length > 1 ? (
            <Choice
              label="Language"
              value={language}
              among={languages}
              names={Object.fromEntries(languages.map((one) => [one, languageName(one)]))}
              isRequired
              onChange={setLanguage}
            />
          ) : undefined
        }
      >
        <ul class="screen-names">
          {Object.entries(nodes).map(([name, one]) => (
            <li key={name}>
              <button
                type="button"
                class="btn small quiet"
                aria-pressed={name === shown}
                onClick={() => setShown(name)}
              >
                <span class="mono">{name}</span>{' '}
                {name === start && <Pill state="active" tone="note" word={t('First')} />}
                {problemsOf(one, nodes, writing).length > 0 && <Pill state="incomplete" tone="warn" />}
              </button>
            </li>
          ))}
        </ul>
        <div class="form in-line">
          <Field label="Name of another screen" value={added} onInput={setAdded} />
          <button type="button" class="btn small" onClick={add} disabled={added.trim() === ''}>
            {t('Add a screen')}
          </button>
        </div>
      </Card>
      {node && (
        <Card
          title={shown}
          action={
            shown === start ? undefined : (
              <>
                <button type="button" class="btn small" onClick={() => setStart(shown)}>
                  {t('Set as first screen')}
                </button>
                <button type="button" class="btn small" onClick={remove}>
                  {t('Remove')}
                </button>
              </>
            )
          }
        >
          <ScreenFields
            key={`${shown} ${language}`}
            node={node}
            names={Object.keys(nodes)}
            writing={writing}
            problems={problemsOf(node, nodes, writing)}
            change={change}
          />
        </Card>
      )}
      {node && (
        <Card title="Preview on the phone">
          <pre class="ussd-screen" dir="auto">
            {screenOf(node, writing)}
          </pre>
          <div class="form in-line">
            {nextOf(node)
              .filter((next) => nodes[next])
              .map((next) => (
                <button type="button" key={next} class="btn small" onClick={() => setShown(next)}>
                  {t('On to {name}', { name: next })}
                </button>
              ))}
          </div>
        </Card>
      )}
      {may('ussd:write') && (
        <div class="form in-line">
          <button type="button" class="btn primary" disabled={isBusy || !draft.isChanged} onClick={save}>
            {t('Save menu')}
          </button>
          <NotSaved isChanged={draft.isChanged} onDiscard={draft.discard} />
        </div>
      )}
    </div>
  )
}

/** Screens that follow one. */
const nextOf = ({ options = [], next }: Node): string[] => [
  ...new Set([...options.map((option) => option.next), ...(next === undefined ? [] : [next])]),
]

/** What is still wrong with a screen, before the server is asked. */
function problemsOf(node: Node, nodes: Nodes, writing: Writing): string[] {
  const letters = screenOf(node, writing).length
  return [
    ...(letters > maxLetters
      ? [t('{count} of {limit} letters', { count: count(letters), limit: count(maxLetters) })]
      : []),
    ...(nextOf(node).some((next) => !nodes[next]) ? [t('An answer has no destination yet')] : []),
    ...(writing.of(node.text) === '' && !node.fetch ? [t('The screen has no text yet')] : []),
  ]
}

const kinds = ['answers', 'input', 'end'] as const

function ScreenFields({
  node,
  names,
  writing,
  problems,
  change,
}: {
  node: Node
  names: readonly string[]
  writing: Writing
  problems: readonly string[]
  change(part: Partial<Node>): void
}) {
  const { options = [], input, end = false, pay, sms, fetch } = node
  const letters = screenOf(node, writing).length
  const setOption = (at: number, part: Partial<(typeof options)[number]>): void =>
    change({ options: options.map((option, i) => (i === at ? { ...option, ...part } : option)) })
  const kind = end ? 'end' : input ? 'input' : 'answers'
  const become = (next: string): void => {
    if (next === 'end') return change({ end: true, options: undefined, input: undefined, next: undefined })
    if (next === 'input')
      return change({ end: undefined, pay: undefined, options: undefined, input: { save: 'answer' }, next: names[0] })
    change({ end: undefined, pay: undefined, input: undefined, next: undefined, options: [{ label: '', next: '' }] })
  }
  return (
    <div class="form">
      <TextField
        label="Text"
        value={writing.of(node.text)}
        onInput={(text) => change({ text: writing.changed(node.text, text) })}
        rows={3}
        hint={t('{count} of {limit} letters', { count: count(letters), limit: count(maxLetters) })}
        problem={problems.length > 0 ? problems.join(', ') : undefined}
      />
      <Choice
        label="After this screen"
        value={kind}
        among={kinds}
        names={{
          answers: t('Choice of answers'),
          input: t('Free input'),
          end: t('The session ends'),
        }}
        isRequired
        onChange={become}
      />
      {kind === 'answers' &&
        options.map((option, i) => (
          <div class="form in-line" key={i}>
            <Field
              label="Answer"
              value={writing.of(option.label)}
              onInput={(label) => setOption(i, { label: writing.changed(option.label, label) })}
            />
            <LeadsTo value={option.next} names={names} onChange={(next) => setOption(i, { next })} />
            <button
              type="button"
              class="btn small"
              onClick={() => change({ options: options.filter((_, at) => at !== i) })}
            >
              {t('Remove')}
            </button>
          </div>
        ))}
      {kind === 'answers' && (
        <div>
          <button
            type="button"
            class="btn small"
            onClick={() => change({ options: [...options, { label: '', next: '' }] })}
          >
            {t('Add an answer')}
          </button>
        </div>
      )}
      {input && (
        <div class="form in-line">
          <Field
            label="Variable"
            value={input.save}
            onInput={(save) => change({ input: { ...input, save } })}
            hint="Use it as {{data.answer}} in later screens"
          />
          <LeadsTo value={node.next ?? ''} names={names} onChange={(next) => change({ next })} />
        </div>
      )}
      <details class="more" open={sms !== undefined || pay !== undefined || fetch !== undefined}>
        <summary>{t('Further actions')}</summary>
        <div class="form">
          <TextField
            label="Text message to the subscriber"
            value={writing.of(sms?.message)}
            onInput={(text) =>
              change({ sms: text === '' ? undefined : { ...sms, message: writing.changed(sms?.message, text) } })
            }
            rows={2}
          />
          {end && (
            <div class="form in-line">
              <Field
                label="Payment requested from the phone"
                type="number"
                value={String(pay?.amount ?? '')}
                onInput={(amount) =>
                  change({ pay: amount === '' ? undefined : { currency: ownCurrency(), ...pay, amount } })
                }
                hint="An amount, or {{data.amount}}"
              />
              {pay && (
                <Field
                  label="Currency"
                  value={pay.currency}
                  onInput={(currency) => change({ pay: { ...pay, currency } })}
                />
              )}
            </div>
          )}
          {!end && (
            <Field
              label="URL called before the screen is shown"
              value={fetch?.url ?? ''}
              onInput={(url) => change({ fetch: url === '' ? undefined : { ...fetch, url } })}
              hint="https://…"
            />
          )}
        </div>
      </details>
    </div>
  )
}

function LeadsTo({ value, names, onChange }: { value: string; names: readonly string[]; onChange(to: string): void }) {
  return (
    <Choice
      label="Leads to"
      value={value}
      among={[...(names.includes(value) ? [] : [value]), ...names]}
      names={{ '': t('No destination yet'), ...Object.fromEntries(names.map((name) => [name, name])) }}
      isRequired
      onChange={onChange}
    />
  )
}

/** The menu as it was saved, on a phone: each answer is asked of the server anew. */
function Try({ id }: { id: string }) {
  const [inputs, setInputs] = useState<readonly string[]>([])
  const [typed, setTyped] = useState('')
  const run = useLoad(inputs.join('*'), () => ussdTestMenu(api, { id, body: { inputs: [...inputs] } }), { keeps: true })
  const shown = run.value?.screens.at(-1)?.message ?? ''
  const send = (event: Event): void => {
    event.preventDefault()
    setInputs([...inputs, typed])
    setTyped('')
  }
  return (
    <Card title="Try the menu">
      {run.error && <Problem error={run.error} />}
      <pre class="ussd-screen" dir="auto">
        {shown}
      </pre>
      {run.value?.action === 'continue' && (
        <form class="form in-line" onSubmit={send}>
          <Field label="Answer" value={typed} onInput={setTyped} autocomplete="off" />
          <button type="submit" class="btn primary">
            {t('Send')}
          </button>
        </form>
      )}
      <button type="button" class="btn small" onClick={() => setInputs([])}>
        {t('Start again')}
      </button>
    </Card>
  )
}
