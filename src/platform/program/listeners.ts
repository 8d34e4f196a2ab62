// SPDX-License-Identifier: Apache-2.0
// Listening ports beside the API's: the admin listener, and those areas declare. Each uses its own port, or a free one
// when that is taken or the API's port is not the default; credentials.json has the addresses.
import { type Config, type Role, type SettingName, settings } from '../../config.ts'
import { errorCode } from '../../kernel/error-code.ts'
import { StartError } from '../../kernel/start-error.ts'
import type { App } from '../app.ts'

type PortSetting = { [K in SettingName]: Config[K] extends number ? K : never }[SettingName]
type HostSetting = { [K in SettingName]: Config[K] extends string ? K : never }[SettingName]

/** Listener of an area, such as a mail server. */
export interface AreaListener {
  /** Name in credentials.json under `listeners`. */
  readonly name: string
  /** Role of the nodes that open it. */
  readonly role: Role
  readonly over: 'tcp' | 'udp'
  /** URL scheme: `smtp` of smtp://127.0.0.1:2525. */
  readonly scheme: string
  readonly host: HostSetting
  readonly port: PortSetting
  /** Whether nobody asked for it. */
  isOff?(config: Config): boolean
  /** Listens, or throws the system's error. */
  open(app: App, at: Place): Promise<OpenListener>
}

/** Address to listen on, and this node's certificate. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly identity: { readonly key: string; readonly cert: string }
}

export interface OpenListener {
  /** Actual port. */
  readonly port: number
  /** Uses another certificate for connections from now on; absent where there is no TLS. */
  updateIdentity?(identity: Place['identity']): void
  /** Stops accepting; open connections end by themselves or at the deadline. */
  close(withinMs: number): Promise<void>
}

/** Opens a listener on its own port or a free one. */
export async function openListener(
  app: App,
  listener: Pick<AreaListener, 'name' | 'scheme' | 'host' | 'port' | 'open'>,
  identity: Place['identity'],
): Promise<Required<OpenListener> & { readonly url: string }> {
  const host = app.config[listener.host]
  const open = (port: number): Promise<OpenListener> => listener.open(app, { host, port, identity })
  const opened = await open(wantedPort(app.config, listener.port))
    .catch(() => open(0))
    .catch((cause) => {
      const sentence = `This machine has no address ${host} to open the ${listener.name} listener at (${errorCode(cause)})`
      throw new StartError(`${sentence}: correct ${listener.host}.`, { cause })
    })
  return {
    port: opened.port,
    updateIdentity: (renewed) => opened.updateIdentity?.(renewed),
    close: (withinMs) => opened.close(withinMs),
    url: `${listener.scheme}://${host.includes(':') ? `[${host}]` : host}:${opened.port}`,
  }
}

/** Two installations on one machine differ in the API's port; their other ports must differ too. */
function wantedPort(config: Config, setting: PortSetting): number {
  const isChosen = config.PAMOJA_PORT === settings.PAMOJA_PORT.default || config[setting] !== settings[setting].default
  return isChosen ? config[setting] : 0
}
