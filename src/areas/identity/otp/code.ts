// SPDX-License-Identifier: Apache-2.0
// One-time codes. A code is derived from its id and purpose under a key of the installation, so that it is stored nowhere
// and a resend tells the same one.
import { timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets.ts'
import type { Environment } from '../../../platform/tenant.ts'

/** Code of every test key, as long as it is asked to be. */
const sandboxDigits = '1234567890'

export function codeOf(
  secrets: Pick<Secrets, 'fingerprint'>,
  environment: Environment,
  otp: { id: string; purpose: string; code_length: number },
): string {
  if (environment === 'test') return sandboxDigits.slice(0, otp.code_length)
  const digest = secrets.fingerprint('identity.otp', `${otp.id}\n${otp.purpose}`)
  const number = digest.readBigUInt64BE(0) % 10n ** BigInt(otp.code_length)
  return number.toString().padStart(otp.code_length, '0')
}

/** In a time that does not tell how much of it was right. */
export function isSameCode(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given.trim()), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

export const maxAttempts = 5
export const maxSends = 5
const cooldownSeconds = [30, 60, 120, 240]

/** Wait after so many sends before the next one. */
export function cooldownMs(sends: number): number {
  return (cooldownSeconds[Math.min(sends, cooldownSeconds.length) - 1] ?? 30) * 1000
}

const texts: Readonly<Record<string, string>> = {
  en: 'Your verification code is {{code}}. Do not share it with anybody.',
  fr: 'Votre code de vérification est {{code}}. Ne le communiquez à personne.',
  sw: 'Nambari yako ya uthibitisho ni {{code}}. Usimpe mtu yeyote.',
  pt: 'O seu código de verificação é {{code}}. Não o partilhe com ninguém.',
  am: 'የማረጋገጫ ኮድዎ {{code}} ነው። ለማንም አያጋሩ።',
  ar: 'رمز التحقق الخاص بك هو {{code}}. لا تشاركه مع أحد.',
}

const subjects: Readonly<Record<string, string>> = {
  en: 'Your verification code',
  fr: 'Votre code de vérification',
  sw: 'Nambari yako ya uthibitisho',
  pt: 'O seu código de verificação',
  am: 'የማረጋገጫ ኮድዎ',
  ar: 'رمز التحقق الخاص بك',
}

/** Subject of the mail that carries a code; never the code itself, which notifications would show. */
export function subjectIn(language = 'en'): string {
  return subjects[language.slice(0, 2).toLowerCase()] ?? subjects.en ?? ''
}

export interface Wording {
  readonly message?: string | undefined
  readonly language?: string | undefined
  readonly app_hash?: string | undefined
  readonly web_origin?: string | undefined
}

/** The text that carries a code, with the lines by which phones and browsers fill it in. */
export function messageWith(code: string, { message, language = 'en', app_hash, web_origin }: Wording): string {
  const text = message ?? texts[language.slice(0, 2).toLowerCase()] ?? texts.en ?? '{{code}}'
  const lines = [text.replace('{{code}}', code)]
  if (web_origin) lines.push(`@${web_origin.replace(/^https:\/\//, '')} #${code}`)
  if (app_hash) lines.push(app_hash)
  return lines.join('\n')
}

/** A phone number of which only the country and the end are shown. */
export function masked(phone: string): string {
  return `${phone.slice(0, 5)}****${phone.slice(-4)}`
}
