// SPDX-License-Identifier: Apache-2.0
// One plan: its limits, changed for every account on it.
import { operatorGetPlan, operatorUpdatePlan } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { confirm, say } from '../../kit/dialogs.tsx'
import { FormFields } from '../../kit/form.tsx'
import { Card } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { limited, limitFields, limitsOf } from './business.ts'

export function PlanPage({ id }: PageProps) {
  const plan = useLoad(id, () => operatorGetPlan(api, { name: id }))
  return (
    <Opened record={plan}>
      {({ name, limits, ...rest }) => (
        <Detail
          in={['/operator/plans', 'Plans']}
          id={name}
          title={name}
          path={operatorGetPlan.at({ name })}
          raw={{ name, limits, ...rest }}
        >
          <Card title={t('Requests a minute')}>
            <FormFields
              key={JSON.stringify(limits)}
              initial={Object.fromEntries(limited.map((area) => [area, limits[area]?.toString()]))}
              form={{
                title: 'Requests a minute',
                action: 'Save the changes',
                fields: limitFields.map((field) => ({ ...field, hint: 'Empty: no limit' })),
                make: async (filled) => {
                  const answer = await confirm({
                    title: t('Change the plan {name}?', { name }),
                    consequences: [t('It applies at once to every account on the plan.')],
                    action: t('Change {name}', { name }),
                    keep: t('Leave it as it is'),
                    isDanger: false,
                  })
                  if (answer === null) return null
                  await operatorUpdatePlan(api, { name, body: { limits: limitsOf(filled) } })
                  say(t('Done: {name}', { name: t('Save the changes') }))
                  return null
                },
              }}
              onMade={() => void plan.reload()}
            />
          </Card>
        </Detail>
      )}
    </Opened>
  )
}
