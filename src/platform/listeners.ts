// SPDX-License-Identifier: Apache-2.0
// Ports beside that of the API: the admin listener, and those that areas declare. Each takes its own port, or a free one when
// that is taken or when the API is not at its usual port either; the real addresses are in credentials.json.
import { type Config, type Role, type SettingName, settings } from '../config.ts'
import { errorCode } from '../kernel/error-code.ts'
import { StartError } from '../kernel/start-error.ts'
import type { App } from './app.ts'

type PortSetting = { [K in SettingName]: Config[K] extends number ? K : never }[SettingName]
type HostSetting = { [K in SettingName]: Config[K] extends string ? K : never }[SettingName]

/** Something that an area listens on, such as a mail server. */
export interface AreaListener {
  /** What credentials.json calls it under `listeners`. */
  readonly name: string
  /** Nodes with this role open it. */
  readonly role: Role
  readonly over: 'tcp' | 'udp'
  /** Of its URL: `smtp` of smtp://127.0.0.1:2525. */
  readonly scheme: string
  readonly host: HostSetting
  readonly port: PortSetting
  /** Listens, or fails with what the system said. */
  open(app: App, at: Place): Promise<OpenListener>
}

/** Where to listen, and the certificate of this node. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly identity: { readonly key: string; readonly cert: string }
}

export interface OpenListener {
  /** The port that it has. */
  readonly port: number
  /** Takes nothing more; those that are here end by themselves, or at the deadline. */
  close(withinMs: number): Promise<void>
}

/** Opens a listener at its own port or a free one. */
export async function openListener(
  app: App,
  listener: Pick<AreaListener, 'name' | 'scheme' | 'host' | 'port' | 'open'>,
  identity: Place['identity'],
): Promise<OpenListener & { readonly url: string }> {
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
    close: (withinMs) => opened.close(withinMs),
    url: `${listener.scheme}://${host.includes(':') ? `[${host}]` : host}:${opened.port}`,
  }
}

/** Two installations on one machine differ in the port of the API; what else they listen on must differ too. */
function wantedPort(config: Config, setting: PortSetting): number {
  const isChosen = config.PAMOJA_PORT === settings.PAMOJA_PORT.default || config[setting] !== settings[setting].default
  return isChosen ? config[setting] : 0
}
