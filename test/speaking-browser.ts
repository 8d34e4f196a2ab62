// SPDX-License-Identifier: Apache-2.0
// Members of an account in a browser whose microphone hears a tone, so that it can be told who hears whom.
import type { Browser, Page } from 'playwright-core'
import { done } from './callcentre.ts'
import { patienceMs } from './eventually.ts'
import { type Account, eventually } from './world.ts'

/** Microphone of a browser without one; its sound is replaced by a tone. */
export const fakeAudio = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]

/** Signs a member in by an invitation. Errors of the page are added to the complaints. */
export async function memberIn(
  browser: Browser,
  ada: Account,
  { role, name, hertz }: { role: string; name: string; hertz: number },
  complaints: string[],
): Promise<Page> {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const { invite_url } = await done(ada, '/v1/team/members', { email, name, role }, 201)
  const context = await browser.newContext({
    ...{ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } },
    permissions: ['microphone', 'notifications'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs(45_000))
  page.on('pageerror', ({ message }) => complaints.push(message))
  await page.addInitScript(keepSound, hertz)
  await page.goto(invite_url)
  await page.getByLabel('Choose a password').fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  return page
}

/** PAMOJA_TEST_SHOTS names a folder for pictures, wide and narrow, light and dark. */
export async function shot(page: Page, name: string): Promise<void> {
  const { PAMOJA_TEST_SHOTS: folder } = process.env
  if (!folder) return
  for (const theme of ['light', 'dark']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
    for (const [width, height] of [[390, 844] as const, [1280, 800] as const]) {
      await page.setViewportSize({ width, height })
      await page.screenshot({ path: `${folder}/${name}-${width}-${theme}.png` })
    }
  }
  await page.evaluate("document.documentElement.dataset.theme = 'light'")
}

/** Gives the page a microphone that hears a tone, and keeps what it plays, shows and connects where a test can look at it. */
function keepSound(hertz: number): void {
  const scope = Object(globalThis)
  scope.navigator.mediaDevices.getUserMedia = async (wanted: unknown) => {
    heard.wanted = wanted
    // One context for all: each is a thread that computes sound for as long as the page is there.
    scope.speech ??= new scope.AudioContext()
    const context = scope.speech
    const tone = new scope.OscillatorNode(context, { frequency: heard.hertz })
    const loudness = new scope.GainNode(context, { gain: 0.3 })
    const spoken = context.createMediaStreamDestination()
    tone.connect(loudness).connect(spoken)
    tone.start()
    return spoken.stream
  }
  const notices: string[] = []
  const sockets: unknown[] = []
  const peers: unknown[] = []
  const sinks: string[] = []
  const heard: Record<string, unknown> & { tones: number; loudest: number } = {
    ...{ tones: 0, loudest: 0, hertz, wanted: null },
    ...{ notices, sockets, peers, sinks, silence: undefined },
  }
  // Devices that sound was sent to, and a state in which a browser has muted the page.
  for (const { prototype } of [scope.AudioContext, scope.HTMLMediaElement]) {
    const { setSinkId } = prototype
    prototype.setSinkId = function (this: unknown, id: string) {
      sinks.push(id)
      return setSinkId.call(this, id)
    }
  }
  const { get: stateOf } = Object(Object.getOwnPropertyDescriptor(scope.BaseAudioContext.prototype, 'state'))
  Object.defineProperty(scope.AudioContext.prototype, 'state', {
    get() {
      return heard.silence ?? stateOf.call(this)
    },
  })
  const { start } = scope.OscillatorNode.prototype
  scope.OscillatorNode.prototype.start = function (this: unknown, ...given: unknown[]) {
    heard.tones++
    return start.apply(this, given)
  }
  const { start: startFile } = scope.AudioBufferSourceNode.prototype
  scope.AudioBufferSourceNode.prototype.start = function (this: {
    buffer: { getChannelData(channel: 0): Float32Array }
  }) {
    heard.loudest = this.buffer.getChannelData(0).reduce((most, one) => Math.max(most, one), heard.loudest)
    return startFile.apply(this)
  }
  const keeping = (kept: unknown[]) => ({
    construct(target: new () => object, given: unknown[]) {
      const made = Object(Reflect.construct(target, given))
      kept.push(made)
      return made
    },
  })
  scope.WebSocket = new Proxy(scope.WebSocket, keeping(sockets))
  scope.RTCPeerConnection = new Proxy(scope.RTCPeerConnection, keeping(peers))
  scope.Notification = class {
    static permission = 'granted'
    constructor(title: string) {
      notices.push(title)
    }
    close(): void {}
  }
  scope.heard = heard
}

/** Waits until a tone is in what the browser is sent, or is in it no more. */
export async function browserHears(page: Page, hertz: number, isHeard = true): Promise<void> {
  const isSo = async () => Number(await page.evaluate(loudnessAt, hertz)) > -60 === isHeard
  await eventually(isSo, `the browser ${isHeard ? 'to hear' : 'not to hear'} ${hertz} Hz`)
}

/** Decibels that the browser hears at a frequency; as few as there are before it is sent anything. */
function loudnessAt(hertz: number): number {
  const scope = Object(globalThis)
  scope.context ??= new scope.AudioContext()
  const track = scope.heard.peers.at(-1)?.getReceivers()[0]?.track
  if (!track) return Number.NEGATIVE_INFINITY
  if (scope.ear?.track !== track) {
    const analyser = scope.context.createAnalyser()
    analyser.fftSize = 4_096
    scope.context.createMediaStreamSource(new scope.MediaStream([track])).connect(analyser)
    scope.ear = { track, analyser }
  }
  const bins = new Float32Array(scope.ear.analyser.frequencyBinCount)
  scope.ear.analyser.getFloatFrequencyData(bins)
  const middle = Math.round((hertz * 4_096) / scope.context.sampleRate)
  return Math.max(...bins.subarray(middle - 3, middle + 4))
}
