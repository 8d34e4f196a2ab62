// SPDX-License-Identifier: Apache-2.0
// Numbers that moved to another network: looked up one by one, recorded and taken out again.
import { useState } from 'preact/hooks'
import { operatorGetPortedSmsNumber, operatorPortSmsNumber, operatorUnportSmsNumber } from '#sdk/operations.ts'
import type { SmsPortedNumber } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Deeds } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Field } from '../../kit/fields.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts, PageHead, Problem } from '../../kit/kit.tsx'
import { t } from '../../words.ts'

export function PortedNumbers() {
  const [phone, setPhone] = useState('')
  const [found, setFound] = useState<SmsPortedNumber | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const look = (number: string): void => {
    setError(null)
    setFound(null)
    operatorGetPortedSmsNumber(api, { phone: number }).then(setFound, setError)
  }
  const port = formOf(operatorPortSmsNumber, {
    title: 'Record a ported number',
    action: 'Save',
    fields: [
      { name: 'phone', label: 'Phone', isRequired: true, hint: 'With the country, such as +254711000001' },
      { name: 'network', label: 'Network', isRequired: true, hint: 'Current network' },
    ],
    done: (made) => {
      setError(null)
      setFound(made)
      return null
    },
  })
  return (
    <div class="page narrow">
      <PageHead title="Ported numbers" note="Texts to the number use the routes of its new network">
        <Deeds deeds={[{ name: 'Record a ported number', icon: 'plus', isMain: true, form: port }]} />
      </PageHead>
      <Card title="Look up a number">
        <form
          class="form in-line"
          onSubmit={(event) => {
            event.preventDefault()
            look(phone.trim())
          }}
        >
          <Field label={t('Phone')} value={phone} onInput={setPhone} required />
          <button type="submit" class="btn primary">
            {t('Find')}
          </button>
        </form>
        {error && <Problem error={error} />}
      </Card>
      {found && (
        <Card
          title={found.phone}
          action={
            <Deeds
              deeds={[
                {
                  name: 'Remove',
                  isDanger: true,
                  asks: removing(found.phone, t('Texts to it then use the routes of the network of its prefix.')),
                  run: () => operatorUnportSmsNumber(api, { phone: found.phone }),
                },
              ]}
              onDone={() => setFound(null)}
            />
          }
        >
          <Facts
            rows={[
              ['Network', found.network],
              ['Before', found.original_network],
              ['Network code', found.mcc_mnc],
              ['Changed', <Ago at={found.updated_at} />],
            ]}
          />
        </Card>
      )}
    </div>
  )
}
