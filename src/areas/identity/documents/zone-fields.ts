// SPDX-License-Identifier: Apache-2.0
// Fields of a machine-readable zone by position (ICAO 9303 parts 4 to 7).

export interface Zone {
  readonly format: string
  readonly lines: readonly string[]
}

export interface DocumentFields {
  readonly document_number: string | null
  readonly personal_number: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly date_of_birth: string | null
  readonly sex: string | null
  readonly nationality: string | null
  readonly issue_date: string | null
  readonly expiry_date: string | null
}

export const noFields: DocumentFields = {
  document_number: null,
  personal_number: null,
  first_name: null,
  last_name: null,
  date_of_birth: null,
  sex: null,
  nationality: null,
  issue_date: null,
  expiry_date: null,
}

export function fieldsOfZone({ format, lines }: Zone, nowMs: number): DocumentFields {
  const [first = '', second = '', third = ''] = lines
  const isCard = format === 'TD1'
  const dates = isCard
    ? {
        birth: second.slice(0, 6),
        sex: second.slice(7, 8),
        expiry: second.slice(8, 14),
        nationality: second.slice(15, 18),
      }
    : {
        birth: second.slice(13, 19),
        sex: second.slice(20, 21),
        expiry: second.slice(21, 27),
        nationality: second.slice(10, 13),
      }
  const [last = '', given = ''] = (isCard ? third : first.slice(5)).split('<<')
  const thisYear = new Date(nowMs).getUTCFullYear()
  return {
    ...noFields,
    ...numbersOf(format, first, second),
    first_name: words(given),
    last_name: words(last),
    date_of_birth: dateOf(dates.birth, thisYear),
    sex: /[MF]/.test(dates.sex) ? dates.sex : null,
    nationality: plain(dates.nationality),
    expiry_date: dateOf(dates.expiry, thisYear + 30),
  }
}

/** Number of the document, and the other one that a zone may have: a long number goes on behind the filler of its check digit. */
function numbersOf(format: string, first: string, second: string) {
  const [head, rest] =
    format === 'TD1'
      ? [first.slice(5, 15), first.slice(15)]
      : [second.slice(0, 10), format === 'TD2' ? second.slice(28, 35) : '']
  const [long = ''] = head.endsWith('<') ? rest.split('<') : []
  const other = format === 'TD1' ? (plain(second.slice(18, 29)) ?? plain(rest.slice(long.length))) : null
  return {
    document_number: plain(head.slice(0, 9) + long.slice(0, -1)),
    personal_number: format === 'TD3' ? plain(second.slice(28, 42)) : other,
  }
}

function plain(text: string): string | null {
  return text.replaceAll('<', '') || null
}

function words(text: string): string | null {
  return text.replaceAll('<', ' ').trim() || null
}

/** Date whose two-digit year is the latest not after `latest`. */
function dateOf(digits: string, latest: number): string | null {
  if (!/^\d{6}$/.test(digits)) return null
  const century = Math.floor(latest / 100) * 100
  const year = century + Number(digits.slice(0, 2))
  const whole = year > latest ? year - 100 : year
  const text = `${whole}-${digits.slice(2, 4)}-${digits.slice(4, 6)}`
  const date = new Date(`${text}T00:00:00Z`)
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text ? null : text
}
