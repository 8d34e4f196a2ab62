// SPDX-License-Identifier: Apache-2.0
// Reader of a message by User-Agent: a mail program on a device, or a bot.

/** Bots: programs that prefetch images and links. */
const machines =
  /GoogleImageProxy|YahooMailProxy|Barracuda|Proofpoint|Mimecast|SafeLinks|BingPreview|Symantec|FireEye|bot\b|crawler|spider|curl\/|python-requests|Go-http-client/i
/** User-Agent of Apple's privacy proxy. */
const applePrivacy = /^Mozilla\/5\.0$/
const tooSoonMs = 2_000

/** Whether an open is a bot's: by User-Agent, or sooner after delivery than a person can read (sandbox phones may). */
export function isMachine(userAgent: string | null, atMs: number, deliveredAt: Date | null): boolean {
  if (userAgent === null || machines.test(userAgent) || applePrivacy.test(userAgent.trim())) return true
  const isSandbox = userAgent.includes('SandboxPhone')
  return !isSandbox && deliveredAt !== null && atMs - deliveredAt.getTime() < tooSoonMs
}

export function clientOf(userAgent: string | null) {
  if (userAgent === null) return null
  const name = /Thunderbird|Outlook|Edg(?=\/)|Firefox|Chrome|Safari/.exec(userAgent)?.[0] ?? null
  const os = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(userAgent)?.[0] ?? null
  const device = /Mobile|iPhone|Android/.test(userAgent) ? 'mobile' : os === null ? null : 'desktop'
  return { name: name === 'Edg' ? 'Edge' : name, os, device }
}
