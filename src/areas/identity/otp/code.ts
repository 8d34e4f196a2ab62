// SPDX-License-Identifier: Apache-2.0
// One-time codes, derived from their id and purpose under a key of the installation: no code is stored, and a resend
// repeats it.
import { timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets.ts'
import type { Environment } from '../../../platform/tenant.ts'

/** Code of test keys, cut to the requested length. */
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

/** Compares codes in constant time. */
export function isSameCode(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given.trim()), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

export const maxAttempts = 5
export const maxSends = 5
const cooldownSeconds = [30, 60, 120, 240]

/** Cooldown before the next send. */
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

/** Subject of a code's email, without the code, which notifications would show. */
export function subjectIn(language = 'en'): string {
  return subjects[language.slice(0, 2).toLowerCase()] ?? subjects.en ?? ''
}

export interface Wording {
  readonly message?: string | undefined
  readonly language?: string | undefined
  readonly app_hash?: string | undefined
  readonly web_origin?: string | undefined
}

/** Text with a code, and the lines for autofill on phones and in browsers. */
export function messageWith(code: string, { message, language = 'en', app_hash, web_origin }: Wording): string {
  const text = message ?? texts[language.slice(0, 2).toLowerCase()] ?? texts.en ?? '{{code}}'
  const lines = [text.replace('{{code}}', code)]
  if (web_origin) lines.push(`@${web_origin.replace(/^https:\/\//, '')} #${code}`)
  if (app_hash) lines.push(app_hash)
  return lines.join('\n')
}

/** Masked phone number: country code and end only. */
export function masked(phone: string): string {
  return `${phone.slice(0, 5)}****${phone.slice(-4)}`
}
