// SPDX-License-Identifier: Apache-2.0
// How the simulated network behaves: slow, refusing, or out of reach of some phones.
import { sandboxChangeSmsBehaviour, sandboxSmsBehaviour } from '#sdk/operations.ts'
import { api } from '../api.ts'
import { DeedButton } from '../kit/detail.tsx'
import { listOf } from '../kit/filled.ts'
import type { FormOf } from '../kit/form.tsx'
import { useLoad } from '../kit/load.ts'

const errors = ['UNDELIVERABLE', 'REJECTED', 'UNKNOWN_SUBSCRIBER', 'NO_RECEIPT', 'EXPIRED', 'THROTTLED'] as const

export function NetworkButton() {
  const { value, reload } = useLoad('network', () => sandboxSmsBehaviour(api))
  const form: FormOf = {
    title: 'Network of the sandbox',
    action: 'Save',
    fields: [
      { name: 'delay_ms', label: 'Delay, milliseconds', hint: 'Empty: default' },
      {
        ...{ name: 'error', label: 'Every text fails with' },
        among: ['none', ...errors],
      },
      { name: 'out_of_coverage', label: 'Phones out of coverage', hint: 'Numbers, comma-separated; * for all' },
    ],
    initial: {
      delay_ms: value?.delay_ms?.toString(),
      error: value?.error ?? 'none',
      out_of_coverage: value?.out_of_coverage.join(', ') || undefined,
    },
    async make({ delay_ms, error, out_of_coverage = '' }) {
      await sandboxChangeSmsBehaviour(api, {
        body: {
          delay_ms: delay_ms === undefined ? null : Number(delay_ms),
          error: errors.find((one) => one === error) ?? null,
          out_of_coverage: listOf(out_of_coverage),
        },
      })
      return null
    },
  }
  return <DeedButton deed={{ name: 'Network of the sandbox', icon: 'antenna', form }} onDone={reload} />
}
