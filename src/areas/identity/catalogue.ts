// SPDX-License-Identifier: Apache-2.0
// Catalogue of documents of the 54 countries of Africa. Passports follow ICAO 9303. The layout of other documents was
// not checked with the issuer unless `isVerified`: such entries only warn.
import { AppError } from '../../kernel/errors.ts'
import { type NumberRule, numberRules } from './number-rules.ts'

export const documentTypes = [
  'passport',
  'national_id',
  'drivers_license',
  'voter_id',
  'residence_permit',
  'refugee_id',
  'nin_slip',
  'proof_of_address',
] as const
type DocumentType = (typeof documentTypes)[number]

export interface DocumentEntry {
  readonly country: string
  readonly type: DocumentType
  readonly sides: 1 | 2
  /** A zone that has to be there. */
  readonly hasMrz: boolean
  readonly hasBarcode: boolean
  /** The back has a zone or a barcode, which is read where a picture of it is given. */
  readonly helpsBack: boolean
  readonly rule: NumberRule | null
  readonly source: string
  readonly isVerified: boolean
}

/** ISO 3166-1 alpha-2 and alpha-3 codes, and further documents of the country. */
const countries: readonly (readonly [two: string, three: string, more?: readonly DocumentType[]])[] = [
  ['DZ', 'DZA'],
  ['AO', 'AGO', ['voter_id']],
  ['BJ', 'BEN', ['voter_id']],
  ['BW', 'BWA'],
  ['BF', 'BFA', ['voter_id']],
  ['BI', 'BDI'],
  ['CV', 'CPV'],
  ['CM', 'CMR', ['voter_id']],
  ['CF', 'CAF'],
  ['TD', 'TCD'],
  ['KM', 'COM'],
  ['CG', 'COG'],
  ['CD', 'COD', ['voter_id']],
  ['CI', 'CIV', ['voter_id']],
  ['DJ', 'DJI'],
  ['EG', 'EGY'],
  ['GQ', 'GNQ'],
  ['ER', 'ERI'],
  ['SZ', 'SWZ'],
  ['ET', 'ETH'],
  ['GA', 'GAB'],
  ['GM', 'GMB', ['voter_id']],
  ['GH', 'GHA', ['voter_id']],
  ['GN', 'GIN', ['voter_id']],
  ['GW', 'GNB', ['voter_id']],
  ['KE', 'KEN', ['voter_id']],
  ['LS', 'LSO', ['voter_id']],
  ['LR', 'LBR', ['voter_id']],
  ['LY', 'LBY'],
  ['MG', 'MDG', ['voter_id']],
  ['MW', 'MWI', ['voter_id']],
  ['ML', 'MLI', ['voter_id']],
  ['MR', 'MRT'],
  ['MU', 'MUS'],
  ['MA', 'MAR'],
  ['MZ', 'MOZ', ['voter_id']],
  ['NA', 'NAM', ['voter_id']],
  ['NE', 'NER', ['voter_id']],
  ['NG', 'NGA', ['voter_id', 'nin_slip']],
  ['RW', 'RWA'],
  ['ST', 'STP'],
  ['SN', 'SEN', ['voter_id']],
  ['SC', 'SYC'],
  ['SL', 'SLE', ['voter_id']],
  ['SO', 'SOM'],
  ['ZA', 'ZAF'],
  ['SS', 'SSD'],
  ['SD', 'SDN'],
  ['TZ', 'TZA', ['voter_id']],
  ['TG', 'TGO', ['voter_id']],
  ['TN', 'TUN'],
  ['UG', 'UGA'],
  ['ZM', 'ZMB', ['voter_id']],
  ['ZW', 'ZWE'],
]

const everywhere: readonly DocumentType[] = [
  'passport',
  'national_id',
  'drivers_license',
  'residence_permit',
  'refugee_id',
  'proof_of_address',
]

/** Documents whose machine-readable zone is on the back. */
const zoneOnBack: readonly string[] = ['GH national_id']

/** National cards with a machine-readable zone on the back, by what makers of readers publish. */
const zoneOnSomeBacks: readonly string[] = ['KE', 'UG', 'SN', 'CI', 'NG', 'TZ'].map(
  (country) => `${country} national_id`,
)

/** Documents with a barcode that is read. */
const barcodeOnBack: readonly string[] = ['ZA national_id', 'ZA drivers_license']

const icao = 'ICAO Doc 9303, part 4'
const unchecked = 'layout not checked against the issuer'

export const catalogue: readonly DocumentEntry[] = countries.flatMap(([country, , more = []]) =>
  [...everywhere, ...more].map((type): DocumentEntry => {
    const isPassport = type === 'passport'
    const name = `${country} ${type}`
    const isOnBack = zoneOnBack.includes(name)
    const rule =
      numberRules.find((one) => one.type === type && (one.country === country || one.country === '*')) ?? null
    return {
      country,
      type,
      sides: isOnBack ? 2 : 1,
      hasMrz: isPassport || isOnBack,
      hasBarcode: barcodeOnBack.includes(name),
      helpsBack: isOnBack || barcodeOnBack.includes(name) || zoneOnSomeBacks.includes(name),
      rule,
      source: isPassport ? icao : (rule?.source ?? unchecked),
      isVerified: isPassport || (rule?.isVerified ?? false),
    }
  }),
)

/** Alpha-2 code of a country in either form; null when not in the catalogue. */
export function countryOf(text: string): string | null {
  const upper = text.toUpperCase()
  return countries.find(([two, three]) => two === upper || three === upper)?.[0] ?? null
}

export function alpha3Of(country: string): string | null {
  return countries.find(([two]) => two === country)?.[1] ?? null
}

/** Catalogue entry of a document; throws with the list of supported ones. */
export function entryFor(type: string, country: string): DocumentEntry {
  const code = countryOf(country)
  const offered = catalogue.filter((entry) => entry.country === code)
  const entry = offered.find((one) => one.type === type)
  if (entry) return entry
  const supported = offered.length > 0 ? offered.map((one) => one.type) : []
  throw new AppError(
    'INVALID_DOCUMENT_TYPE',
    code ? `${type} is not a document of ${code}` : `${country} is not a country whose documents are known here`,
    { extra: { supported_types: supported } },
  )
}
