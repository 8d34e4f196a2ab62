// SPDX-License-Identifier: Apache-2.0
// Languages of payment pages: the one in the URL, else the first supported one of the browser. All texts of a page are
// in one table, in every language.

export const languages = ['en', 'fr', 'pt', 'sw', 'ar'] as const
export type Language = (typeof languages)[number]

/** Language names in their own language. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  fr: 'Français',
  pt: 'Português',
  sw: 'Kiswahili',
  ar: 'العربية',
}

/** Locales for amounts and dates without a country: Portuguese of Africa, not of Brazil. */
const usualLocales: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr', pt: 'pt-MZ', sw: 'sw', ar: 'ar' }

/** Length limit of Accept-Language. */
const maxHeaderCharacters = 200

export type Texts<Name extends string> = Readonly<Record<Name, Readonly<Record<Language, string>>>>

/** Text function: `{amount}` is substituted. */
export type Words<Name extends string> = (name: Name, values?: Readonly<Record<string, string | number>>) => string

export function wordsIn<Name extends string>(texts: Texts<Name>, language: Language): Words<Name> {
  return (name, values = {}) =>
    texts[name][language].replaceAll(/\{(\w+)\}/g, (all, key: string) => String(values[key] ?? all))
}

export function directionOf(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr'
}

/** Headers that describe the reader. */
export interface Asked {
  /** Language in the URL. */
  readonly lang?: string | undefined
  readonly acceptLanguage?: string | undefined
}

interface Requested {
  readonly query: unknown
  readonly headers: { readonly 'accept-language'?: string | undefined }
}

export function askedBy({ query, headers }: Requested): Asked {
  const lang = typeof query === 'object' && query !== null && 'lang' in query ? query.lang : undefined
  return { lang: typeof lang === 'string' ? lang : undefined, acceptLanguage: headers['accept-language'] }
}

/** Language of the texts, and locale of amounts and dates. */
export function chosen({ lang = '', acceptLanguage = '' }: Asked): { language: Language; locale: string } {
  const tags = [lang, ...preferred(acceptLanguage.slice(0, maxHeaderCharacters))]
  for (const tag of tags) {
    const language = languages.find((one) => one === tag.split('-')[0]?.toLowerCase())
    if (language !== undefined) return { language, locale: localeOf(tag, language) }
  }
  return { language: 'en', locale: usualLocales.en }
}

/** Tags of Accept-Language by preference. */
function preferred(header: string): string[] {
  return header
    .split(',')
    .map((part) => {
      const [tag = '', ...rest] = part.split(';').map((piece) => piece.trim())
      const weight = rest.find((piece) => piece.startsWith('q='))
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

/** Locale of a tag with a country; it may be malformed. */
function localeOf(tag: string, language: Language): string {
  if (!/^[A-Za-z]{2}(-[A-Za-z0-9]{2,8}){1,2}$/.test(tag)) return usualLocales[language]
  try {
    return Intl.NumberFormat.supportedLocalesOf([tag])[0] ?? usualLocales[language]
  } catch {
    return usualLocales[language]
  }
}
