// SPDX-License-Identifier: Apache-2.0
// Values of an email's variables: a field for each that the chosen template has.
import { emailListTemplates } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Pairs } from '../../kit/choose.tsx'
import type { Control } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'

export const variablesFor = (control: Control) => <Variables {...control} />

function Variables(control: Control) {
  const { value } = useLoad('templates', () => emailListTemplates(api, { query: { limit: 100 } }))
  const chosen = value?.data.find(({ name }) => name === control.typed?.template)
  return <Pairs key={chosen?.id ?? ''} {...control} names={chosen?.variables ?? []} />
}
