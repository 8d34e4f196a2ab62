// SPDX-License-Identifier: Apache-2.0
// Ways to sign in to the console beside a password, in a real browser: a passkey of Chromium's own authenticator, and an identity
// provider as it is (oidc-provider). And what must not work: a foreign browser, a person who is no member, an address that is
// not verified, an account that makes a member of somebody's address, another person with the address of a member, a copy of a passkey, an answer that is sent twice.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { after, before, describe, test } from 'node:test'
import Provider from 'oidc-provider'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { totpOf } from '../../src/kernel/totp.ts'
import { statement } from '../../src/platform/db.ts'
import { accessibilityProblems, buildConsole, openBrowser, withoutChromium } from '../chromium.ts'
import type { Client } from '../client.ts'
import { patienceMs } from '../eventually.ts'
import { eventually, startWorld, type World } from '../world.ts'

const password = 'correct horse battery staple'

/** People at the identity provider, by the name that they sign in with there. */
const people: Record<string, { email: string; email_verified: boolean }> = {
  ada: { email: 'Ada@example.com', email_verified: true },
  eve: { email: 'ada@example.com', email_verified: true },
  mallory: { email: 'owner@localhost', email_verified: false },
  nobody: { email: 'nobody@example.com', email_verified: true },
  victim: { email: 'victim@example.com', email_verified: true },
  lin: { email: 'lin@example.com', email_verified: true },
  elsewhere: { email: 'elsewhere@example.com', email_verified: true },
}

const failedSignIns = statement.home<Record<never, never>, object>(
  'test.failed_sign_ins',
  'select hash from accounts.failed_sign_ins',
)

describe('ways to sign in', { skip: withoutChromium() }, () => {
  let world: World
  let browser: Browser
  let server: Server

  const console_ = (): { url: string; email: string; password: string } => {
    assert.ok(world.credentials.console)
    return world.credentials.console
  }
  const window_ = async (): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs(45_000))
    return page
  }
  const isIn = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).waitFor()

  before(async () => {
    buildConsole()
    let answer: ReturnType<Provider['callback']> | null = null
    server = createServer((request, response) => answer?.(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const at = server.address()
    const issuer = `http://localhost:${typeof at === 'object' ? at?.port : ''}`
    world = await startWorld({
      ...{ PAMOJA_OIDC_ISSUER: issuer, PAMOJA_OIDC_CLIENT_ID: 'pamoja', PAMOJA_OIDC_CLIENT_SECRET: 'client secret' },
      PAMOJA_OIDC_NAME: 'Example Login',
    })
    const redirect = `${new URL(console_().url).origin}/console/api/oidc/callback`
    answer = new Provider(issuer, {
      clients: [{ client_id: 'pamoja', client_secret: 'client secret', redirect_uris: [redirect] }],
      cookies: { keys: ['of the test'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    }).callback()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
    server?.close()
    server?.closeAllConnections()
  })

  /** From the sign-in page through the provider's own pages, as far as it leads. */
  const throughProvider = async (page: Page, who: string): Promise<void> => {
    await toProvider(page)
    await signInThere(page, who)
  }
  const toProvider = async (page: Page): Promise<void> => {
    await page.goto(console_().url)
    await page.getByRole('link', { name: 'Sign in with Example Login' }).click()
    await page.locator('input[name=login]').waitFor()
  }
  const signInThere = async (page: Page, who: string): Promise<void> => {
    await page.locator('input[name=login]').fill(who)
    await page.locator('input[name=password]').fill('anything')
    await page.locator('button[type=submit]').click()
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  /** The link that the inviter is shown. */
  const shownLink = async (email: string, by: Client = world.demo): Promise<string> => {
    const invited = await by.post('/v1/team/members', { email, role: 'developer' })
    assert.equal(invited.status, 201, invited.text)
    return invited.body.invite_url
  }
  /** The link that is mailed to whom the address belongs. */
  const mailedLink = async (email: string): Promise<string> => {
    const box = `/v1/sandbox/email/messages?to=${encodeURIComponent(email)}`
    const mail = await eventually(async () => (await world.demo.get(box)).body.data[0], 'the invitation')
    const { body } = await world.demo.get(`/v1/sandbox/email/messages/${mail.id}`)
    return /href="([^"]+\/console\/join#[\w-]{43})"/.exec(body.html)?.[1] ?? ''
  }
  const invite = async (email: string): Promise<Page> => accepted(await shownLink(email))
  const accepted = async (link: string): Promise<Page> => {
    const page = await window_()
    await page.goto(link)
    await page.getByLabel('Choose a password').fill(password)
    await page.getByRole('button', { name: 'Begin', exact: true }).click()
    await isIn(page)
    return page
  }
  const memberOf = async (email: string, by: Client = world.demo) => {
    const { body } = await by.get('/v1/team/members?limit=200')
    return body.data.find((one: { email: string }) => one.email === email)
  }
  const accountOf = async (page: Page): Promise<string> =>
    (await (await page.request.get(`${console_().url}/api/session`)).json()).account.id
  const isRefused = async (page: Page): Promise<void> => {
    await page.getByText('The sign-in is unknown here').waitFor()
    assert.equal((await page.request.get(`${console_().url}/api/session`)).status(), 401)
    await page.context().close()
  }

  test('a member signs in through the identity provider, by an address that it says is verified', async () => {
    const shown = await shownLink('ada@example.com')
    const mailed = await mailedLink('ada@example.com')
    assert.notEqual(mailed, shown)
    await (await accepted(mailed)).context().close()
    assert.equal((await memberOf('ada@example.com')).email_verified, true)
    const page = await window_()
    await throughProvider(page, 'ada')
    await isIn(page)
    const session = await (await page.request.get(`${console_().url}/api/session`)).json()
    assert.equal(session.member.email, 'ada@example.com')
    await page.context().close()
    const again = await window_()
    await throughProvider(again, 'ada')
    await isIn(again)
    await again.context().close()
  })

  test('nobody is put into an account that made a member of their address: only whoever accepted is found by it', async () => {
    const { client: crook } = await world.account()
    const shown = await shownLink('victim@example.com', crook)
    const mailed = await mailedLink('victim@example.com')
    const page = await accepted(shown)
    assert.equal((await memberOf('victim@example.com', crook)).email_verified, false)
    await page.context().close()
    const victim = await window_()
    await throughProvider(victim, 'victim')
    await isRefused(victim)
    const late = await window_()
    await late.goto(mailed)
    await late.getByRole('button', { name: 'Begin with Example Login' }).click()
    await late.getByText('this invitation was taken up').waitFor()
    await late.context().close()
  })

  test('an invitation is accepted through the provider by the person of its address only, and without a password', async () => {
    const shown = await shownLink('lin@example.com')
    const other = await window_()
    await other.goto(shown)
    await other.getByRole('button', { name: 'Begin with Example Login' }).click()
    await signInThere(other, 'elsewhere')
    await isRefused(other)
    const page = await window_()
    await page.goto(shown)
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('button', { name: 'Begin with Example Login' }).click()
    await signInThere(page, 'lin')
    await isIn(page)
    const { status, email_verified } = await memberOf('lin@example.com')
    assert.deepEqual([status, email_verified], ['active', true])
    await page.context().close()
    const again = await window_()
    await throughProvider(again, 'lin')
    await isIn(again)
    await again.context().close()
  })

  test('a member who is signed in connects the provider, and is found by who they are there from then on', async () => {
    const page = await invite('other-address@example.com')
    const account = await accountOf(page)
    await page.goto(`${console_().url}/security`)
    await page.getByRole('button', { name: 'Connect Example Login' }).click()
    await signInThere(page, 'elsewhere')
    await page.getByText('Connected. You can sign in').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.context().close()
    const later = await window_()
    await throughProvider(later, 'elsewhere')
    await isIn(later)
    assert.equal(await accountOf(later), account)
    await later.context().close()
  })

  test('nobody else signs in through it: no member, an address that is not verified, another person with the same one', async () => {
    for (const who of ['nobody', 'mallory', 'eve']) {
      const page = await window_()
      await throughProvider(page, who)
      await isRefused(page)
    }
  })

  test('what the provider sends back is worth nothing in another browser, and nothing the second time', async () => {
    const page = await window_()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await toProvider(page)
    const state = new URL(asked.find((url) => url.includes('code_challenge=')) ?? '').searchParams.get('state')
    assert.ok(state)
    const foreign = await window_()
    await foreign.goto(`${console_().url}/api/oidc/callback?code=stolen&state=${state}`)
    await isRefused(foreign)
    await signInThere(page, 'ada')
    await isIn(page)
    const sentBack = asked.find((url) => url.includes('/oidc/callback?')) ?? ''
    await signOut(page.context())
    await page.goto(sentBack)
    await isRefused(page)
  })

  test('whoever has an authenticator is asked for its code after the provider as well', async () => {
    const page = await window_()
    await throughProvider(page, 'ada')
    await isIn(page)
    await page.goto(`${console_().url}/security`)
    await page.getByRole('button', { name: 'Set up' }).click()
    const secret = (await page.locator('p.mono.text').textContent()) ?? ''
    await page.getByLabel('Code from the app').fill(totpOf(bytesOf(secret.trim()), Math.floor(Date.now() / 30_000)))
    await page.getByRole('button', { name: 'Turn it on' }).click()
    const recovery = (await page.locator('.callout.good li').first().textContent()) ?? ''
    await page.context().close()
    const later = await window_()
    await throughProvider(later, 'ada')
    await later.getByLabel('Code from the authenticator').fill('000000')
    await later.getByRole('button', { name: 'Sign in' }).click()
    await later.getByText('The code is wrong').waitFor()
    const counted = async () => (await world.app.db.query(failedSignIns, {})).length
    const failed = await counted()
    assert.ok(failed > 0)
    assert.equal((await later.request.get(`${console_().url}/api/session`)).status(), 401)
    await later.getByLabel('Code from the authenticator').fill(recovery)
    await later.getByRole('button', { name: 'Sign in' }).click()
    await isIn(later)
    assert.equal(await counted(), failed - 1, 'codes that were right are no attempts to guess one')
    await later.context().close()
  })

  /** Chromium's own authenticator, which recognises whoever is there. */
  const authenticatorOf = async (page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> => {
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    })
    return { cdp, authenticatorId }
  }
  const signOut = (context: BrowserContext) => context.clearCookies({ name: '__Host-pamoja' })

  test('a passkey signs in, confirms what takes a password, and is removed; its copy and its answer are refused', async () => {
    const page = await invite('grace@example.com')
    const { cdp, authenticatorId } = await authenticatorOf(page)
    await page.goto(`${console_().url}/security`)
    await page.getByLabel('Name of this device').fill('Laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('not used yet').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await signOut(page.context())
    const answers: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/passkeys/login')) answers.push(request.postData() ?? '')
    })
    await page.goto(console_().url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn(page)
    assert.deepEqual(await accessibilityProblems(page), [])
    const post = (data: string): Promise<number> =>
      page.request
        .post(`${console_().url}/api/passkeys/login`, { data, headers: { 'content-type': 'application/json' } })
        .then((answer) => answer.status())
    assert.equal(await post(answers[0] ?? ''), 401, 'a challenge is answered once')

    // A copy of the key, as it was before it was used again.
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    const [credential] = credentials
    assert.ok(credential)
    await signOut(page.context())
    await page.goto(console_().url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn(page)
    await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId })
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount: 1 } })
    await signOut(page.context())
    await page.goto(console_().url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('This passkey is not registered here').waitFor()

    await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId })
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount: 100 } })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn(page)
    await page.goto(`${console_().url}/security`)
    await page.getByRole('button', { name: 'Remove Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove Laptop' }).click()
    await page.getByText('last used').waitFor({ state: 'detached' })
    await signOut(page.context())
    await page.goto(console_().url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('This passkey is not registered here').waitFor()
    await page.context().close()
  })
})

/** Bytes of a secret as an authenticator takes it, in base32. */
function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((one) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'))
  const octets = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(octets.map((octet) => Number.parseInt(octet, 2)))
}
