// SPDX-License-Identifier: Apache-2.0
// Verdict on a mail server's reply: delivered, bounced, or deferred until when.
import type { SmtpError } from '../../../protocols/smtp/client.ts'
import { type Reply, replyLine } from '../../../protocols/smtp/reply.ts'

type BounceCategory = 'invalid_recipient' | 'mailbox_full' | 'policy' | 'spam' | 'domain_error' | 'expired' | 'other'

export type Verdict =
  | { kind: 'delivered'; reply: Reply }
  | {
      kind: 'bounced'
      type: 'hard' | 'soft'
      category: BounceCategory
      reason: string
      reply: Reply | null
      suppresses: boolean
    }
  /** Deferred, to be retried; `isThrottled`: the server wants less traffic, the recipient is fine. */
  | { kind: 'deferred'; reason: string; reply: Reply | null; isThrottled: boolean }

/** Retry delays in seconds. */
const retrySeconds = [60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 57_600, 86_400] as const
const jitter = 0.1

/** Delay before the next attempt; null when there is none or the message expires first. */
export function retryAfterMs(attempts: number, expiresInMs: number, random: number): number | null {
  const seconds = retrySeconds[attempts - 1]
  if (seconds === undefined) return null
  const ms = Math.round(seconds * 1000 * (1 - jitter + 2 * jitter * random))
  return ms <= expiresInMs ? ms : null
}

export function verdictOf(reply: Reply): Verdict {
  if (reply.code >= 200 && reply.code < 300) return { kind: 'delivered', reply }
  const reason = replyLine(reply).slice(0, 500)
  if (reply.code >= 500) return refused(reply, reason)
  return {
    kind: 'deferred',
    reason,
    reply,
    isThrottled: reply.code === 421 || /^4\.7\.(?!1$)/.test(reply.enhanced ?? '') || isBlocked(reason),
  }
}

/** A block of our IP address says nothing about the recipient: defer without a suppression. */
function refused(reply: Reply, reason: string): Verdict {
  if (isBlocked(reason)) return { kind: 'deferred', reason, reply, isThrottled: true }
  const category = categoryOf(reply, reason)
  return {
    kind: 'bounced',
    type: category === 'mailbox_full' ? 'soft' : 'hard',
    category,
    reason,
    reply,
    suppresses: category === 'invalid_recipient',
  }
}

function isBlocked(reason: string): boolean {
  return /\b(?:block(?:ed|ing)? ?list|blacklist|spamhaus|barracuda|rbl|dnsbl|ip (?:address )?.{0,40}(?:blocked|reputation)|poor reputation|rate limit|too many (?:messages|connections))/i.test(
    reason,
  )
}

function categoryOf({ enhanced }: Reply, reason: string): BounceCategory {
  const code = enhanced ?? ''
  if (/^5\.1\.[12]$|^5\.1\.(?:3|6|10)$|^5\.2\.1$/.test(code))
    return code === '5.1.2' ? 'domain_error' : 'invalid_recipient'
  if (code === '5.2.2') return 'mailbox_full'
  if (/\bspam\b|unsolicited|junk/i.test(reason)) return 'spam'
  if (code.startsWith('5.7.')) return 'policy'
  if (
    /no such (?:user|mailbox)|user unknown|does not exist|unknown (?:user|recipient)|mailbox unavailable/i.test(reason)
  )
    return 'invalid_recipient'
  if (/over quota|mailbox (?:is )?full/i.test(reason)) return 'mailbox_full'
  if (/^5\.4\./.test(code)) return 'domain_error'
  return 'other'
}

/**
 * Verdict on a connection error. After the content was sent its acceptance is unknown: it is sent again with the same
 * Message-ID.
 */
export function verdictOfError(error: SmtpError): Verdict {
  if (error.reply && error.reply.code >= 500)
    return { kind: 'deferred', reason: replyLine(error.reply).slice(0, 500), reply: error.reply, isThrottled: true }
  return {
    kind: 'deferred',
    reason: error.message.slice(0, 500),
    reply: error.reply,
    isThrottled: error.reply?.code === 421,
  }
}

export function exhausted(verdict: Extract<Verdict, { kind: 'deferred' }>): Extract<Verdict, { kind: 'bounced' }> {
  const isFull = verdict.reply?.enhanced === '4.2.2' || verdict.reply?.enhanced === '5.2.2'
  return {
    kind: 'bounced',
    type: 'soft',
    category: isFull ? 'mailbox_full' : 'expired',
    reason: verdict.reason,
    reply: verdict.reply,
    suppresses: false,
  }
}
