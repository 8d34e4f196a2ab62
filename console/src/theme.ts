// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, unless the reader chose otherwise on this device.

export const themes = ['light', 'dark', 'system'] as const
export type Theme = (typeof themes)[number]

const name = 'pamoja-theme'
const system = window.matchMedia('(prefers-color-scheme: dark)')

export function currentTheme(): Theme {
  const chosen = localStorage.getItem(name)
  return themes.find((one) => one === chosen) ?? 'system'
}

export function applyTheme(): void {
  const chosen = currentTheme()
  const isDark = chosen === 'system' ? system.matches : chosen === 'dark'
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}

export function chooseTheme(wanted: Theme): void {
  localStorage.setItem(name, wanted)
  applyTheme()
}

system.addEventListener('change', applyTheme)
