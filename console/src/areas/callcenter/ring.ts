// SPDX-License-Identifier: Apache-2.0
// Ring of the desk: a sound, a title that flashes and a notification.
import { playBell } from '../../kit/sound.ts'
import { t } from '../../words.ts'

let sound: { stop(): void } | null = null
let flashing: { readonly timer: ReturnType<typeof setInterval>; readonly title: string } | null = null
let notice: Notification | null = null

export function ring(who: string, about: string, show: () => void): void {
  hush()
  sound = playBell()
  const title = document.title
  const calling = `(1) ${t('{name} is calling', { name: who })}`
  const flash = (): void => {
    document.title = document.title === calling ? title : calling
  }
  flash()
  flashing = { timer: setInterval(flash, 1_000), title }
  if (typeof Notification === 'undefined' || Notification.permission !== 'granted') return
  notice = new Notification(t('{name} is calling', { name: who }), {
    body: about,
    tag: 'pamoja-desk',
    requireInteraction: true,
  })
  notice.onclick = () => {
    window.focus()
    show()
  }
}

export function hush(): void {
  sound?.stop()
  sound = null
  notice?.close()
  notice = null
  if (flashing === null) return
  clearInterval(flashing.timer)
  document.title = flashing.title
  flashing = null
}

/** Asks whether notifications may be shown; the desk works without. */
export async function allowNotices(): Promise<void> {
  if (typeof Notification !== 'undefined' && Notification.permission === 'default')
    await Notification.requestPermission()
}
