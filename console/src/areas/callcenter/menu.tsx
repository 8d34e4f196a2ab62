// SPDX-License-Identifier: Apache-2.0
// A voice menu as a map and a list of its steps: what is said, where each key leads, and what happens when nothing or something else is
// pressed. A fault stands at the step that has it; changes can be undone one by one until they are saved, which the tab keeps
// meanwhile, and a saved version stays among the earlier ones.
import { useState } from 'preact/hooks'
import {
  callcenterChangeIvr,
  callcenterGetIvr,
  callcenterRestoreIvrVersion,
  sandboxVoiceInbound,
  voiceListNumbers,
} from '#sdk/operations.ts'
import type { Ivr } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { undoable } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { NotSaved, useDraft } from '../../kit/draft.tsx'
import { Choice, Field, problemOf, TextField } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, Facts, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { language, numberText } from '../../kit/words.ts'
import { calling, phoneNumber } from '../../phone/number.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { placeName, Where } from './choose.tsx'
import { DirectoryFields } from './directory.tsx'
import { changeMenu } from './forms.tsx'
import { HearIt } from './hear.tsx'
import { MenuMap } from './menu-map.tsx'
import { useNames } from './names.ts'
import { PromptField } from './prompts.tsx'
import { Versions } from './versions.tsx'

type Steps = Ivr['menus']
type Step = Steps[string]
type Options = NonNullable<Step['options']>
type Option = Options[string]
type Action = Option['action']

const scope = 'callcenter:write'

export function MenuPage({ id: ivr_id }: PageProps) {
  const menu = useLoad(ivr_id, () => callcenterGetIvr(api, { ivr_id }))
  return (
    <Opened record={menu}>
      {(value) => (
        <Detail
          in={['/voice-menus', 'Voice menus']}
          id={ivr_id}
          title={value.name}
          note={t('Version {count}', { count: value.version })}
          state={value.status}
          deeds={[
            { name: 'Change', icon: 'pencil', scope, form: changeMenu(value) },
            value.status === 'active'
              ? {
                  ...{ name: 'Make it a draft', scope },
                  run: () => callcenterChangeIvr(api, { ivr_id, body: { status: 'draft' } }),
                }
              : {
                  ...{ name: 'Publish', isMain: true, scope },
                  run: () => callcenterChangeIvr(api, { ivr_id, body: { status: 'active' } }),
                },
          ]}
          onDone={menu.reload}
          path={callcenterGetIvr.at({ ivr_id })}
          raw={value}
        >
          <Opening menu={value} />
          {value.status === 'active' && currentEnvironment() === 'test' && may('sandbox:write') && (
            <TryIt id={ivr_id} />
          )}
          <Builder key={value.version} menu={value} onSaved={menu.reload} />
          <Versions menu={value} onRestored={menu.reload} />
        </Detail>
      )}
    </Opened>
  )
}

/** Language, hours and variables of the menu. */
function Opening({ menu: { language: spoken, business_hours_id, closed, variables } }: { menu: Ivr }) {
  const names = useNames()
  const kept = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  return (
    <Card title="Details">
      <Facts
        rows={[
          [t('Language'), language(spoken)],
          [
            t('Business hours'),
            business_hours_id === null ? t('Always open') : (names.hours[business_hours_id] ?? business_hours_id),
          ],
          ...(business_hours_id === null
            ? []
            : [
                [t('Destination outside business hours'), closed ? placeName(closed, names) : t('Default')] as [
                  string,
                  string,
                ],
              ]),
          ...(kept.length > 0 ? [[t('Variables'), kept.join(', ')] as [string, string]] : []),
        ]}
      />
    </Card>
  )
}

/** Numbers that the menu answers, called by the phone beside the page. */
function TryIt({ id }: { id: string }) {
  const numbers = useLoad('numbers', () => voiceListNumbers(api, { query: { limit: 200 } }), { keeps: true })
  const { run, error, isBusy } = useDoing()
  const own = (numbers.value?.data ?? []).filter(({ assigned_to }) => assigned_to?.id === id)
  if (!numbers.value) return null
  const call = (to: string) => (): void =>
    run(async () => {
      await sandboxVoiceInbound(api, { body: { from: phoneNumber(), to } })
      calling.set(calling.get() + 1)
    })
  return (
    <Card title="Try it">
      {own.length === 0 && (
        <p class="soft">
          {t('No number leads here yet.')} <Link to="/voice-numbers">{t('Numbers to call')}</Link>
        </p>
      )}
      <p class="row">
        {own.map(({ number }) => (
          <button key={number} type="button" class="btn" disabled={isBusy} onClick={call(number)}>
            <Icon name="call" />
            {t('Call {number} from the phone', { number: numberText(number) })}
          </button>
        ))}
      </p>
      {own.length > 0 && <p class="hint">{t('The saved version answers. Press keys and speak on the phone.')}</p>}
      {error && <Problem error={error} />}
    </Card>
  )
}

interface Plan {
  readonly steps: Steps
  readonly entry: string
}

/** Changes that can be undone. */
const maxUndo = 50

function Builder({ menu, onSaved }: { menu: Ivr; onSaved(): Promise<void> }) {
  const draft = useDraft<Plan>(`${menu.ivr_id} ${menu.version}`, { steps: menu.menus, entry: menu.entry })
  const { steps, entry } = draft.value
  const [past, setPast] = useState<readonly (Plan & { readonly what: string })[]>([])
  const [added, setAdded] = useState('')
  const { run, error, isBusy } = useDoing()
  /** Changes to the same thing one after the other, such as letters of a prompt, are undone together. */
  const change = (what: string, part: Partial<Plan>): void => {
    if (past.at(-1)?.what !== what) setPast([...past, { steps, entry, what }].slice(-maxUndo))
    draft.change({ steps, entry, ...part })
  }
  const undo = (): void => {
    const before = past.at(-1)
    if (before) draft.change({ steps: before.steps, entry: before.entry })
    setPast(past.slice(0, -1))
  }
  const set = (name: string, part: Partial<Step>): void =>
    change(`${name} ${Object.keys({ ...part, ...part.prompt }).join(' ')}`, {
      steps: { ...steps, [name]: { ...steps[name], ...part } },
    })
  const remove = (name: string): void =>
    change(`without ${name}`, { steps: Object.fromEntries(Object.entries(steps).filter(([other]) => other !== name)) })
  const add = (): void => {
    const name = added.trim()
    if (name !== '' && steps[name] === undefined)
      change(`with ${name}`, { steps: { ...steps, [name]: { prompt: { text: '' }, options: {} } } })
    setAdded('')
  }
  const save = (): void =>
    run(async () => {
      const { ivr_id, version } = menu
      const change = () => callcenterChangeIvr(api, { ivr_id, body: { entry, menus: steps } })
      const back = async () => {
        await callcenterRestoreIvrVersion(api, { ivr_id, version: String(version) })
        await onSaved()
      }
      await undoable(t('Saved'), change, back)
      draft.forget()
      await onSaved()
    })
  const discard = (): void => {
    draft.discard()
    setPast([])
  }
  const names = Object.keys(steps)
  const isNamed = names.some((name) => problemOf(error, `menus.${name}`) !== undefined)
  return (
    <>
      {error && !isNamed && <Problem error={error} />}
      <MenuMap
        entry={entry}
        steps={steps}
        hours={menu.business_hours_id === null ? null : { closed: menu.closed }}
        problem={(name) => problemOf(error, `menus.${name}`)}
        onOpen={(name) => document.querySelector<HTMLElement>(`[id="step-${name}"] :is(textarea, input)`)?.focus()}
      />
      <Choice
        label="Calls begin with"
        value={entry}
        among={names}
        names={Object.fromEntries(names.map((name) => [name, name]))}
        isRequired
        onChange={(first) => change('entry', { entry: first })}
      />
      {names.map((name) => (
        <Card
          key={name}
          title={name}
          action={
            name === entry ? null : (
              <button type="button" class="btn small push" onClick={() => remove(name)}>
                {t('Remove')}
              </button>
            )
          }
        >
          <div id={`step-${name}`}>
            <StepFields
              menu={menu}
              step={steps[name] ?? {}}
              among={names}
              set={(part) => set(name, part)}
              replace={(step) => change(`${name} anew`, { steps: { ...steps, [name]: step } })}
              problem={(part) => problemOf(error, `menus.${name}${part}`)}
            />
          </div>
        </Card>
      ))}
      <div class="form in-line">
        <Field label="Name of another step" value={added} onInput={setAdded} />
        <button type="button" class="btn" onClick={add}>
          {t('Add a step')}
        </button>
        <button type="button" class="btn quiet" disabled={past.length === 0} onClick={undo}>
          <Icon name="undo" />
          {t('Undo')}
        </button>
        {may(scope) && (
          <>
            <button type="button" class="btn primary" disabled={isBusy} onClick={save}>
              {t('Save menu')}
            </button>
            <NotSaved isChanged={draft.isChanged} onDiscard={discard} />
          </>
        )}
      </div>
    </>
  )
}

const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0', '*', '#']

type Otherwise = NonNullable<Step['on_timeout']>

/** What happens otherwise, led to another place; as usual where there is none. */
function otherwise({ action: _before, ...rest }: Otherwise = {}, action: Action | undefined): Otherwise {
  return action ? { ...rest, action } : rest
}

interface StepProps {
  menu: Ivr
  step: Step
  among: readonly string[]
  set(part: Partial<Step>): void
  replace(step: Step): void
  /** What is wrong with a part, such as `.prompt`; with the whole step where none is given. */
  problem(part: string): string | undefined
}

function StepFields({ menu, step, among, set, replace, problem }: StepProps) {
  const { prompt, options, collect, directory } = step
  const kind = prompt?.prompt_id !== undefined ? 'prompt_id' : prompt?.url !== undefined ? 'url' : 'text'
  const parts = [
    '.prompt',
    '.collect',
    '.directory',
    '.on_timeout',
    '.on_invalid',
    ...Object.keys(options ?? {}).map((key) => `.options.${key}`),
  ]
  const isWhole = problem('') !== undefined && !parts.some((part) => problem(part) !== undefined)
  const places = {
    ...Object.fromEntries(among.map((name) => [`menu:${name}`, t('Step {name}', { name })])),
    repeat: t('Repeat the menu'),
    back: t('The step before'),
  }
  const place = (
    label: string,
    part: string,
    action: Action | undefined,
    keep: (action: Action | undefined) => void,
  ) => (
    <Where
      label={label}
      more={places}
      value={action ? JSON.stringify(action) : ''}
      problem={problem(part)}
      none={t('Default')}
      onInput={(text) => keep(text === '' ? undefined : JSON.parse(text))}
    />
  )
  const setOption = (key: string, part: Partial<Option>): void => {
    const before: Option = options?.[key] ?? { action: {} }
    set({ options: { ...options, [key]: { ...before, ...part } } })
  }
  const rename = (from: string, to: string): void =>
    set({
      options: Object.fromEntries(Object.entries(options ?? {}).map(([key, one]) => [key === from ? to : key, one])),
    })
  /** What the step takes, in place of what it took. */
  const take = (part: Pick<Step, 'options' | 'collect' | 'directory'>): void => {
    const { options: _options, collect: _collect, directory: _directory, ...rest } = step
    replace({ ...rest, ...part })
  }
  const free = keys.find((key) => options?.[key] === undefined)
  return (
    <div class="form">
      {isWhole && (
        <p class="callout bad" role="alert">
          {problem('')}
        </p>
      )}
      <Choice
        label="Audio"
        value={kind}
        among={['text', 'prompt_id', 'url']}
        names={{
          text: t('Text to speech'),
          prompt_id: t('An uploaded sound'),
          url: t('Audio file by URL'),
        }}
        isRequired
        onChange={(to) => set({ prompt: { [to]: '' } })}
      />
      {kind === 'text' && (
        <TextField
          label="Prompt"
          value={prompt?.text ?? ''}
          rows={2}
          problem={problem('.prompt')}
          onInput={(text) => set({ prompt: { ...prompt, text } })}
        />
      )}
      {kind === 'prompt_id' && (
        <PromptField
          value={prompt?.prompt_id ?? ''}
          problem={problem('.prompt')}
          onInput={(prompt_id) => set({ prompt: { prompt_id } })}
        />
      )}
      {kind === 'url' && (
        <Field
          label="URL of the audio file"
          value={prompt?.url ?? ''}
          problem={problem('.prompt')}
          onInput={(url) => set({ prompt: { url } })}
        />
      )}
      {kind === 'text' && may('voice:read') && (
        <div class="row">
          <HearIt text={prompt?.text ?? ''} language={prompt?.language ?? menu.language} variables={menu.variables} />
        </div>
      )}
      {Object.entries(options ?? {}).map(([key, option], i) => (
        <div class="form in-line option" key={i}>
          <Choice
            label="Key"
            value={key}
            among={[...new Set([key, ...keys.filter((one) => options?.[one] === undefined)])]}
            isRequired
            onChange={(to) => rename(key, to)}
          />
          <Field label="Meaning" value={option.label ?? ''} onInput={(label) => setOption(key, { label })} />
          {place('Leads to', `.options.${key}`, option.action, (action) => setOption(key, { action: action ?? {} }))}
          <button
            type="button"
            class="btn small"
            onClick={() =>
              set({ options: Object.fromEntries(Object.entries(options ?? {}).filter(([one]) => one !== key)) })
            }
          >
            {t('Remove')}
          </button>
        </div>
      ))}
      {collect ? (
        <div class="form in-line">
          <Field
            label="Variable for the digits"
            value={collect.variable}
            onInput={(variable) => set({ collect: { ...collect, variable } })}
          />
          {place('Leads to', '.collect', collect.next, (next) => set({ collect: { ...collect, next: next ?? {} } }))}
          <button type="button" class="btn small" onClick={() => take({ options: {} })}>
            {t('Keys instead')}
          </button>
        </div>
      ) : directory ? (
        <DirectoryFields
          directory={directory}
          place={(action, keep) => place('Leads to', '.directory', action, (next) => keep(next ?? {}))}
          onChange={(changed) => set({ directory: changed })}
          onKeys={() => take({ options: {} })}
        />
      ) : (
        <div class="row">
          {free !== undefined && (
            <button
              type="button"
              class="btn small"
              onClick={() => setOption(free, { label: '', action: { repeat: true } })}
            >
              {t('Add a key')}
            </button>
          )}
          {Object.keys(options ?? {}).length === 0 && (
            <>
              <button type="button" class="btn small" onClick={() => take({ collect: { variable: '', next: {} } })}>
                {t('Ask for digits')}
              </button>
              <button type="button" class="btn small" onClick={() => take({ directory: {} })}>
                {t('Dial by name')}
              </button>
            </>
          )}
        </div>
      )}
      <div class="form in-line">
        {place('No key is pressed', '.on_timeout', step.on_timeout?.action, (action) =>
          set({ on_timeout: otherwise(step.on_timeout, action) }),
        )}
        {place('Another key is pressed', '.on_invalid', step.on_invalid?.action, (action) =>
          set({ on_invalid: otherwise(step.on_invalid, action) }),
        )}
      </div>
    </div>
  )
}
