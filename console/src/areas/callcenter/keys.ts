// SPDX-License-Identifier: Apache-2.0
// Keys of the desk: a letter does one thing, and nothing while something is typed.
import { useLayoutEffect } from 'preact/hooks'
import { isTyping } from '../../kit/table.tsx'

/** Does what a key stands for, unless something is typed. */
export function useKeys(keys: Readonly<Record<string, (() => void) | undefined>>): void {
  // With the page that is drawn, not after it: a second press at once must do what is shown then.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const name = `${event.ctrlKey || event.metaKey ? 'Ctrl ' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`
      const act = keys[name]
      // Escape leaves a field, so that letters are keys again.
      if (name === 'Escape' && event.target instanceof HTMLElement && event.target.matches('input, textarea'))
        return event.target.blur()
      if (!act || (isTyping(event) && !name.startsWith('Ctrl '))) return
      if (name === 'Enter' && event.target instanceof HTMLElement && event.target.closest('button, a, summary')) return
      event.preventDefault()
      event.stopImmediatePropagation()
      act()
    }
    window.addEventListener('keydown', press, { capture: true })
    return () => window.removeEventListener('keydown', press, { capture: true })
  })
}
