// SPDX-License-Identifier: Apache-2.0
// Who opened a message, as far as the User-Agent says: a mail program on a device, or a machine that loads everything.

/** Programs that load pictures and links before, or instead of, a person. */
const machines =
  /GoogleImageProxy|YahooMailProxy|Barracuda|Proofpoint|Mimecast|SafeLinks|BingPreview|Symantec|FireEye|bot\b|crawler|spider|curl\/|python-requests|Go-http-client/i
/** Apple's privacy proxy says only this. */
const applePrivacy = /^Mozilla\/5\.0$/
const tooSoonMs = 2_000

/** Opens sooner after the delivery than a person can read are a machine's, unless the program says that it is a person's. */
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
