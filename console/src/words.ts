// SPDX-License-Identifier: Apache-2.0
// The words of the console in the reader's language: English stands in the pages themselves, another language is one file that
// tools/console.mjs gathers from kit/translations.ts and the `words.ts` of every area. What a language lacks is in English.

export const languages = { en: 'English', fr: 'Français', pt: 'Português', sw: 'Kiswahili', ar: 'العربية' } as const
export type Language = keyof typeof languages
type Book = Readonly<Record<string, string>>

const kept = 'pamoja-language'
let language: Language = 'en'
let book: Book = {}

const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name)

export const currentLanguage = (): Language => language

/** Language that was chosen on this device, otherwise the first of the browser's that there is. */
function wanted(): Language {
  const chosen = [localStorage.getItem(kept) ?? '', ...navigator.languages.map((name) => name.slice(0, 2))]
  return chosen.find(isLanguage) ?? 'en'
}

const books: Readonly<Record<Exclude<Language, 'en'>, () => Promise<{ book: Book }>>> = {
  fr: () => import('#words/fr'),
  pt: () => import('#words/pt'),
  sw: () => import('#words/sw'),
  ar: () => import('#words/ar'),
}

/** Loads the words of the language, before the first page is drawn. */
export async function loadWords(): Promise<void> {
  language = wanted()
  if (language !== 'en') book = (await books[language]().catch(() => ({ book: {} }))).book
  document.documentElement.lang = language
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr'
}

export function chooseLanguage(name: string): void {
  if (!isLanguage(name)) return
  localStorage.setItem(kept, name)
  window.location.reload()
}

/** Whether the reader's language has a phrase of its own for another. */
export const has = (phrase: string): boolean => Object.hasOwn(book, phrase)

/** A phrase in the reader's language; `{name}` in it is replaced. */
export function t(phrase: string, values: Readonly<Record<string, string | number>> = {}): string {
  const text = book[phrase] ?? phrase
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}
