// SPDX-License-Identifier: Apache-2.0
// Menu: a button and a panel below it, which a click elsewhere or Escape closes.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { usePlace } from '../place.tsx'

export function Menu({
  label,
  button,
  class: more = 'btn quiet',
  isWide = false,
  children,
}: {
  label: string
  button: ComponentChildren
  class?: string
  isWide?: boolean
  children(close: () => void): ComponentChildren
}) {
  const [isOpen, setIsOpen] = useState(false)
  const room = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const id = useId()
  const { path } = usePlace()
  useEffect(() => setIsOpen(false), [path])
  useEffect(() => {
    if (!isOpen) return
    const leave = (event: Event): void => {
      if (event.target instanceof Node && !room.current?.contains(event.target)) setIsOpen(false)
    }
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      setIsOpen(false)
      opener.current?.focus()
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('keydown', press)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('keydown', press)
    }
  }, [isOpen])
  return (
    <div class="has-menu" ref={room}>
      <button
        type="button"
        class={more}
        ref={opener}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        {button}
        <span class="hidden">{label}</span>
      </button>
      {isOpen && (
        <section class={isWide ? 'menu wide' : 'menu'} id={id} aria-label={label}>
          {children(() => setIsOpen(false))}
        </section>
      )}
    </div>
  )
}
