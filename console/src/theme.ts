// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, unless the reader chose otherwise on this device.

const name = 'pamoja-theme'

function isDark(): boolean {
  const chosen = localStorage.getItem(name)
  return chosen ? chosen === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'
}

export function switchTheme(): void {
  localStorage.setItem(name, isDark() ? 'light' : 'dark')
  applyTheme()
}
