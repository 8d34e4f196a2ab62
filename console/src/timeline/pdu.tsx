// SPDX-License-Identifier: Apache-2.0
// A PDU: its fields as a table and its octets beside them. A field and its octets light up together, by pointer or keyboard.
import { useState } from 'preact/hooks'
import { t } from '../words.ts'

export interface Pdu {
  command: string
  hex: string
  fields: { name: string; start: number; length: number; value: string }[]
}

const octetsInLine = 16

export function PduView({ pdu: { command, hex, fields } }: { pdu: Pdu }) {
  const [lit, setLit] = useState<number | null>(null)
  const octets = hex.match(/../g) ?? []
  const fieldOf = (at: number): number => fields.findIndex(({ start, length }) => at >= start && at < start + length)
  const lines = Array.from({ length: Math.ceil(octets.length / octetsInLine) }, (_, i) => i * octetsInLine)
  return (
    <figure class="code pdu-view">
      <figcaption>
        {command}
        <button type="button" class="btn small push" onClick={() => void navigator.clipboard.writeText(hex)}>
          {t('Copy as hex')}
        </button>
      </figcaption>
      <table class="pdu">
        <tbody>
          {fields.map(({ name, value }, i) => (
            <tr
              key={name}
              class={lit === i ? 'lit' : undefined}
              onMouseEnter={() => setLit(i)}
              onMouseLeave={() => setLit(null)}
            >
              <th scope="row">
                <button type="button" onFocus={() => setLit(i)} onBlur={() => setLit(null)} onClick={() => setLit(i)}>
                  {name}
                </button>
              </th>
              <td dir="ltr">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="hex" dir="ltr" role="img" aria-label={t('{count} octets', { count: octets.length })}>
        {lines.map((from) => (
          <div key={from}>
            <span class="off">{from.toString(16).padStart(4, '0')}</span>{' '}
            {octets.slice(from, from + octetsInLine).map((octet, i) => {
              const field = fieldOf(from + i)
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: the fields do the same for the keyboard
                <span key={i} class={field === lit ? 'lit' : undefined} onMouseEnter={() => setLit(field)}>
                  {octet}{' '}
                </span>
              )
            })}
          </div>
        ))}
      </div>
    </figure>
  )
}
