// SPDX-License-Identifier: Apache-2.0
// Templates of email, and one of them as a mailbox shows it, on a computer and on a phone.
import { useEffect, useState } from 'preact/hooks'
import {
  emailDeleteTemplate,
  emailGetTemplate,
  emailListTemplates,
  emailPreviewTemplate,
  emailReplaceTemplate,
} from '#sdk/operations.ts'
import type { EmailTemplate } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { Pairs } from '../../kit/choose.tsx'
import { removing, say } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Choice, Field, problemOf, TextField } from '../../kit/fields.tsx'
import { Card, Problem } from '../../kit/kit.tsx'
import type { ListOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { recordPage } from '../../kit/record-page.tsx'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { newTemplate } from './forms.ts'

export const templates: ListOf = {
  title: 'Email templates',
  icon: 'template',
  path: emailListTemplates.at(),
  keyField: 'id',
  open: ['/email-templates/', 'id'],
  deeds: [{ name: 'Create template', icon: 'plus', isMain: true, scope: 'email:write', form: newTemplate }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title' },
    { name: 'Subject', field: 'subject', priority: 1, card: 'sub', grows: true },
    { name: 'Variables', field: 'variables', priority: 3 },
    { name: 'Changed', field: 'updated_at', as: 'time', priority: 2, card: 'end' },
  ],
  none: { title: 'No templates', advice: 'Templates are sent with the values of each recipient.' },
}

export const TemplatePage = recordPage<EmailTemplate>({
  in: ['/email-templates', 'Email templates'],
  get: (id) => emailGetTemplate(api, { id }),
  at: (id) => emailGetTemplate.at({ id }),
  title: ({ name }) => name,
  note: ({ subject }) => subject,
  facts: [
    { name: 'Variables', field: 'variables' },
    { name: 'Version', field: 'version', as: 'count' },
    { name: 'Description', field: 'description' },
    { name: 'Changed', field: 'updated_at', as: 'time' },
  ],
  deeds: (template) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'email:write',
      asks: removing(template.name, t('Emails that use it are refused.')),
      run: async () => {
        await emailDeleteTemplate(api, { id: template.id })
        go('/email-templates')
      },
    },
  ],
  more: (template, reload) => <Editor key={template.version} template={template} onSaved={reload} />,
})

/** Letters of the template and what a mailbox makes of them, side by side; nothing is saved until somebody says so. */
function Editor({ template, onSaved }: { template: EmailTemplate; onSaved(): Promise<void> }) {
  const { id, subject, html, text, description, defaults } = template
  const [draft, setDraft] = useState({ subject, html, text: text ?? '', description: description ?? '' })
  const [values, setValues] = useState(JSON.stringify(defaults))
  const { run, error, isBusy } = useDoing()
  const problem = (field: string) => problemOf(error, field)
  const isNamed = ['subject', 'html', 'text', 'description', 'defaults'].some((field) => problem(field) !== undefined)
  const set = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part })
  const body = { ...draft, text: draft.text || null, description: draft.description || null }
  const isChanged = Object.entries(draft).some(([name, now]) => now !== (Object(template)[name] ?? ''))
  const saved = JSON.stringify(defaults)
  const save = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      await emailReplaceTemplate(api, { id, body: { ...body, defaults: JSON.parse(values || '{}') } })
      say(t('Saved'))
      await onSaved()
    })
  }
  return (
    <div class="template-editor">
      <Card title="Content">
        {error && !isNamed && <Problem error={error} />}
        <form class="form" onSubmit={save}>
          <fieldset class="bare letter" disabled={!may('email:write')}>
            <Field
              label="Subject"
              value={draft.subject}
              onInput={(now) => set({ subject: now })}
              required
              problem={problem('subject')}
            />
            <TextField
              label="HTML"
              value={draft.html}
              onInput={(now) => set({ html: now })}
              rows={14}
              required
              hint="{{name}} is a variable"
              problem={problem('html')}
            />
            <TextField
              label="Text"
              value={draft.text}
              onInput={(now) => set({ text: now })}
              hint="Empty: generated from the HTML"
              problem={problem('text')}
            />
            <Field
              label="Description"
              value={draft.description}
              onInput={(now) => set({ description: now })}
              problem={problem('description')}
            />
            <button type="submit" class="btn primary" disabled={isBusy || !(isChanged || values !== saved)}>
              {t('Save')}
            </button>
          </fieldset>
        </form>
      </Card>
      <Preview id={id} draft={body} values={values} onValues={setValues} problem={problem('defaults')} />
    </div>
  )
}

const typingMs = 300

function Preview({
  id,
  draft,
  values,
  onValues,
  problem,
}: {
  id: string
  draft: { subject: string; html: string; text: string | null }
  values: string
  onValues(values: string): void
  problem: string | undefined
}) {
  const [size, setSize] = useState('desktop')
  const { subject, html, text } = draft
  const typed = JSON.stringify({ subject, html, text, variables: JSON.parse(values || '{}') })
  const [asked, setAsked] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), typingMs)
    return () => clearTimeout(timer)
  }, [typed])
  const shown = useLoad(`${id} ${asked}`, () => emailPreviewTemplate(api, { id, body: JSON.parse(asked) }), {
    keeps: true,
  })
  const { value } = shown
  return (
    <Card
      title="Preview"
      action={<Choice label="Shown on" value={size} among={['desktop', 'phone']} isRequired onChange={setSize} />}
    >
      {shown.error && <Problem error={shown.error} />}
      {value && value.missing.length > 0 && (
        <div class="callout bad">
          <p>{t('Not given: {names}', { names: value.missing.join(', ') })}</p>
        </div>
      )}
      {value && (
        <>
          <p class="strong" dir="auto">
            {value.subject}
          </p>
          <iframe
            class={size === 'phone' ? 'mail-preview phone' : 'mail-preview'}
            sandbox=""
            title={t('Preview')}
            srcDoc={value.html}
          />
          <Pairs
            label="Default variables"
            hint="Used if an email does not set its own."
            value={values}
            names={value.variables}
            problem={problem}
            onInput={onValues}
          />
        </>
      )}
    </Card>
  )
}
