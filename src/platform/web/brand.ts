// SPDX-License-Identifier: Apache-2.0
// Brand of an account on pages and documents: from `accounts.brand_of` and the account's settings.

export interface Brand {
  /** `#0a7d4f` */
  readonly color?: string
  /** A data URL. */
  readonly logo?: string
  readonly tax_number?: string
  readonly address?: string
}

const colorForm = /^#[0-9a-f]{6}$/i
const logoForm = /^data:image\/(?:png|jpeg);base64,[A-Za-z0-9+/]+=*$/

/** Brand colour readable with white text, or null; the stored value is validated again. */
export function markColor({ color = '' }: Brand): string | null {
  return colorForm.test(color) ? color : null
}

export function logoOf({ logo = '' }: Brand): string | null {
  return logoForm.test(logo) ? logo : null
}

/** Black or white, whichever contrasts more with a colour. */
export function inkOn(color: string): '#000' | '#fff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#000' : '#fff'
}
