// SPDX-License-Identifier: Apache-2.0
// Rules of document numbers. A rule verified with the issuer can fail a document; others, from secondary sources, only
// warn.

export interface NumberRule {
  /** `*`: every country. */
  readonly country: string
  readonly type: string
  readonly name: string
  readonly pattern: RegExp
  readonly source: string
  readonly isVerified: boolean
  /** Whether its check digit holds. */
  checksum?(number: string): boolean
  /** Birth date (or its beginning) and sex encoded in the number. */
  embeds?(number: string): { birth?: string; sex?: string }
}

const secondary = 'secondary sources, not checked against the issuer'

export const numberRules: readonly NumberRule[] = [
  {
    country: '*',
    type: 'passport',
    name: 'passport',
    pattern: /^[A-Z0-9]{6,9}$/,
    source: 'ICAO Doc 9303, part 4',
    isVerified: true,
  },
  {
    country: 'ZA',
    type: 'national_id',
    name: 'ZA identity number',
    pattern: /^\d{13}$/,
    source: 'Identification Act 68 of 1997, section 7; checksum confirmed by an independent library',
    isVerified: true,
    checksum: luhnHolds,
    embeds: (number) => ({
      birth: `${yearOf(number.slice(0, 2))}-${number.slice(2, 4)}-${number.slice(4, 6)}`,
      sex: Number(number.slice(6, 10)) >= 5000 ? 'M' : 'F',
    }),
  },
  {
    country: 'NG',
    type: 'national_id',
    name: 'NG national identification number',
    pattern: /^\d{11}$/,
    source: secondary,
    isVerified: false,
  },
  { country: 'NG', type: 'nin_slip', name: 'NG NIN', pattern: /^\d{11}$/, source: secondary, isVerified: false },
  { country: 'NG', type: 'voter_id', name: 'NG VIN', pattern: /^[A-Z0-9]{19}$/, source: secondary, isVerified: false },
  { country: 'KE', type: 'national_id', name: 'KE id', pattern: /^\d{7,9}$/, source: secondary, isVerified: false },
  {
    country: 'GH',
    type: 'national_id',
    name: 'Ghana Card',
    pattern: /^[A-Z]{3}-?\d{9}-?\d$/,
    source: secondary,
    isVerified: false,
  },
  {
    country: 'RW',
    type: 'national_id',
    name: 'RW NID',
    pattern: /^\d{16}$/,
    source: secondary,
    isVerified: false,
    embeds: (number) => ({ birth: number.slice(1, 5), sex: number[5] === '7' ? 'F' : 'M' }),
  },
  {
    country: 'UG',
    type: 'national_id',
    name: 'UG NIN',
    pattern: /^C[MF][A-Z0-9]{12}$/,
    source: secondary,
    isVerified: false,
    embeds: (number) => ({ birth: yearOf(number.slice(2, 4)), sex: number[1] ?? '' }),
  },
  {
    country: 'TZ',
    type: 'national_id',
    name: 'TZ NIDA',
    pattern: /^\d{20}$/,
    source: secondary,
    isVerified: false,
    embeds: (number) => ({ birth: `${number.slice(0, 4)}-${number.slice(4, 6)}-${number.slice(6, 8)}` }),
  },
  {
    country: 'EG',
    type: 'national_id',
    name: 'EG national number',
    pattern: /^[23]\d{13}$/,
    source: secondary,
    isVerified: false,
    embeds: (number) => ({
      birth: `${number[0] === '2' ? '19' : '20'}${number.slice(1, 3)}-${number.slice(3, 5)}-${number.slice(5, 7)}`,
      sex: Number(number[12]) % 2 === 1 ? 'M' : 'F',
    }),
  },
  {
    country: 'ET',
    type: 'national_id',
    name: 'ET Fayda',
    pattern: /^(\d{12}|\d{16})$/,
    source: secondary,
    isVerified: false,
  },
  {
    country: 'ZM',
    type: 'national_id',
    name: 'ZM NRC',
    pattern: /^\d{6}\/\d{2}\/\d$/,
    source: secondary,
    isVerified: false,
  },
  {
    country: 'ZW',
    type: 'national_id',
    name: 'ZW id',
    pattern: /^\d{2}-?\d{6,7}-?[A-Z]-?\d{2}$/,
    source: secondary,
    isVerified: false,
  },
]

/** Luhn check. */
function luhnHolds(number: string): boolean {
  const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
  const sum = [...number]
    .reverse()
    .reduce((all, digit, i) => all + (i % 2 ? (doubled[Number(digit)] ?? 0) : Number(digit)), 0)
  return sum % 10 === 0
}

/** Century cut-off of two-digit birth years. */
const lastYearOfThisCentury = 26

function yearOf(two: string): string {
  return `${Number(two) > lastYearOfThisCentury ? '19' : '20'}${two}`
}
