// SPDX-License-Identifier: Apache-2.0
// Pictures of payment methods, for lists shown to payers: the provider's name on a tile of its own colour. These are
// ours; the providers' own marks must be had from them.
import { fileHook } from '../../../platform/http/static-files.ts'
import { kinds } from '../carriers/kinds.ts'
import type { Tile } from '../providers/facts.ts'

/** URL of a provider's picture. */
export function logoUrl({ publicUrl }: { publicUrl: string }, provider: string): string {
  return `${publicUrl}/logos/${provider}.svg`
}

export const logoHooks = kinds.map(({ facts: { provider, tile } }) =>
  fileHook('payments.logo', {
    path: `/logos/${provider}.svg`,
    type: 'image/svg+xml',
    contentSecurityPolicy: "default-src 'none'",
    make: () => drawn(tile),
  }),
)

/** Tile with fitted text: each line is as wide as the tile allows, in any font. */
function drawn([lines, ground, ink]: Tile): string {
  const middle = 48 - (lines.length - 1) * 13
  const texts = lines.map(
    (line, at) =>
      `<text x="48" y="${middle + at * 26}" text-anchor="middle" dominant-baseline="central" textLength="64" lengthAdjust="spacingAndGlyphs">${line}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="${lines.join(' ')}"><rect width="96" height="96" rx="18" fill="${ground}"/><g fill="${ink}" font-family="system-ui, sans-serif" font-size="22" font-weight="700">${texts.join('')}</g></svg>\n`
}
