// SPDX-License-Identifier: Apache-2.0
// Audio of browsers on this node: the addresses that they are told, and the threads that carry it.
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { AudioPlace } from './audio-command.ts'
import { AudioPool, type BrowserAudio } from './audio-pool.ts'

export const audioPoolOf = onePerApp(() => new AudioPool())

/** Opens a browser's audio. `changed` gets every state of its connection. */
export function openBrowserAudio(app: App, id: string, changed: (state: string) => void): Promise<BrowserAudio> {
  return audioPoolOf(app).open(id, placeOf(app), changed)
}

function placeOf({ config }: App): AudioPlace {
  const { PAMOJA_SIP_HOST: host, PAMOJA_DESK_HOST: browserHost, PAMOJA_RTP_PORTS: ports } = config
  const [low, high] = ports.split('-').map(Number)
  return {
    host,
    browserHost: browserHost === '' ? host : browserHost,
    ports: low !== undefined && high !== undefined ? [low, high] : null,
  }
}

/** STUN servers by which browsers find their public address. */
export function iceServers({ config }: App): { urls: string }[] {
  return config.PAMOJA_DESK_ICE_SERVERS.split(',').flatMap((urls) =>
    urls.trim() === '' ? [] : [{ urls: urls.trim() }],
  )
}
