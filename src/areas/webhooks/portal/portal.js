// SPDX-License-Identifier: Apache-2.0
// The page of the webhook portal. Everything it shows comes from the public API, asked with the token of its session; the
// token stands behind the # of the address and is kept for this tab only. `texts` stands before it where it is served.

const token = location.hash.slice(1) || kept('') || ''
if (location.hash) {
  kept(token)
  history.replaceState(null, '', location.pathname + location.search)
}

/** In the frame of another site, a browser may refuse to keep anything: then the page is there until it is loaded anew. */
function kept(value) {
  try {
    if (value) sessionStorage.setItem('token', value)
    return sessionStorage.getItem('token')
  } catch {
    return null
  }
}

/** The language that the address asks for, else the first that the browser names. */
const asked = [new URLSearchParams(location.search).get('lang') ?? '', ...(navigator.languages ?? [])]
const language = asked.map((tag) => tag.split('-')[0].toLowerCase()).find((one) => texts.webhooks[one]) ?? 'en'
/** Times are written as the browser writes them, if it speaks the language. */
const locale = navigator.language?.startsWith(language) ? undefined : language
const say = (name, values = {}) => texts[name][language].replaceAll(/\{(\w+)\}/g, (all, key) => values[key] ?? all)
/** A word of the API in the language of the page, where it has one. */
const wordFor = (word) => texts[word]?.[language] ?? word

document.documentElement.lang = language
document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr'
document.title = say('webhooks')
for (const element of document.querySelectorAll('[data-text]')) element.textContent = say(element.dataset.text)

const view = document.querySelector('#view')
const notice = document.querySelector('#notice')
const editor = document.querySelector('#editor')
const form = editor.querySelector('form')
const problem = editor.querySelector('.problem')
const question = document.querySelector('#question')
const add = document.querySelector('#add')
let mayWrite = false
let catalogue = []

async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${token}`, 'pamoja-envelope': 'data' }
  if (body) headers['content-type'] = 'application/json'
  const response = await fetch(`/v1${path}`, { method, headers, body: body && JSON.stringify(body) }).catch(() => null)
  if (!response) throw new Error(say('unreachable'))
  if (response.status === 401) throw new Error(say('expired'))
  const answer = await response.json().catch(() => null)
  if (response.ok && answer) return answer
  const { details, message } = answer?.error ?? {}
  throw new Error(details || message || say('serverSaid', { status: response.status }))
}

/** An element with its texts and children: nothing that came from the API is ever read as HTML. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (key === 'click') element.addEventListener('click', () => attempt(value, element))
    else if (value !== null && value !== false) element.setAttribute(key, value)
  element.append(...children.filter((child) => child !== null && child !== false))
  return element
}

const button = (text, click, kind = null) => make('button', { type: 'button', class: kind, click }, text)
const stateOf = (state) => make('span', { class: `state ${state}` }, wordFor(state))
const moment = (text) => (text ? new Date(text).toLocaleString(locale) : '–')

function tell(text, isProblem = false, ...more) {
  notice.className = isProblem ? 'problem' : ''
  notice.replaceChildren(text, ...more)
  notice.hidden = text === ''
}

/** Does something that may fail, and cannot be begun again before it is over. */
async function attempt(what, pressed = null) {
  if (pressed) pressed.disabled = true
  try {
    await what()
  } catch (error) {
    tell(error.message, true)
  } finally {
    if (pressed) pressed.disabled = false
  }
}

/** Asks on the page itself: the browser's own question is not asked in the frame of another site. */
function sure(text, action) {
  question.querySelector('#question-text').textContent = text
  question.querySelector('[value=yes]').textContent = action
  question.returnValue = ''
  question.showModal()
  return new Promise((resolve) =>
    question.addEventListener('close', () => resolve(question.returnValue === 'yes'), { once: true }),
  )
}

/** Shows something else, and lets whoever listens to the page or moves by keys begin at its top. */
function show(...children) {
  view.replaceChildren(...children.filter((child) => child !== null && child !== false))
  view.removeAttribute('aria-busy')
  view.querySelector('h2[tabindex]')?.focus()
}

// Endpoints ------------------------------------------------------------------------------------------------------------

async function showEndpoints() {
  const webhooks = await allOf('/webhooks')
  add.hidden = !mayWrite
  const nothing = say(mayWrite ? 'none' : 'noneToSee')
  show(...(webhooks.length > 0 ? webhooks.map(endpoint) : [make('p', { class: 'empty' }, nothing)]))
}

/** A list with all its pages; a plan bounds how many there are. */
async function allOf(path) {
  const rows = []
  for (let cursor = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: '100', ...(cursor && { cursor }) })
    const { data, next_cursor: next } = await ask('GET', `${path}?${query}`)
    rows.push(...data)
    cursor = next
  }
  return rows
}

function endpoint(webhook) {
  const { id, url, events, description, enabled, disabled_reason: reason, health } = webhook
  // A delivery may be tried many times, so that tries are named for what they are.
  const { success_24h: delivered, failure_24h: failed } = health
  const figures =
    delivered + failed === 0
      ? say('nothingIn24h')
      : say('deliveredIn24h', { delivered }) + (failed === 0 ? '' : say('triesFailed', { failed }))
  const speed = health.p50_ms === null ? '' : say('halfWithin', { ms: health.p50_ms })
  const waiting = health.pending === 0 ? '' : say('waiting', { count: health.pending })
  return make(
    'article',
    {},
    make('div', { class: 'row head' }, make('h2', { class: 'address', dir: 'ltr' }, url), stateOf(health.state)),
    description && make('p', {}, description),
    reason && make('p', { class: 'quiet' }, say('disabledFor', { reason })),
    make('div', { class: 'events' }, ...events.map((name) => make('code', {}, name))),
    make('p', { class: 'quiet' }, `${figures}${speed}${waiting}.`),
    make(
      'div',
      { class: 'row actions' },
      button(say('deliveries'), () => showDeliveries(webhook)),
      mayWrite && button(say('sendTest'), () => test(id)),
      mayWrite && button(say('edit'), () => edit(webhook)),
      mayWrite && button(say('newSecret'), () => rotate(id)),
      mayWrite && button(say(enabled ? 'disable' : 'enable'), () => change(id, { enabled: !enabled })),
      mayWrite && button(say('delete'), () => remove(webhook), 'danger'),
    ),
  )
}

async function test(id) {
  const { data } = await ask('POST', `/webhooks/${id}/test`, {})
  const answer = data.response_status === null ? data.error : say('answered', { status: data.response_status })
  const values = { event: data.event, answer, ms: data.duration_ms }
  tell(say(data.delivered ? 'testDelivered' : 'testFailed', values), !data.delivered)
  await showEndpoints()
}

async function change(id, changes) {
  await ask('PATCH', `/webhooks/${id}`, changes)
  tell(say('saved'))
  await showEndpoints()
}

async function rotate(id) {
  if (!(await sure(say('sureSecret'), say('makeSecret')))) return
  const { data } = await ask('POST', `/webhooks/${id}/rotate-secret`, {})
  tellSecret(say('secretShown'), data.secret)
}

/** It is shown this once. */
function tellSecret(what, secret) {
  const copy = button(say('copy'), () => navigator.clipboard.writeText(secret))
  tell(`${what} `, false, make('code', {}, secret), ' ', ...(navigator.clipboard ? [copy] : []))
}

async function remove({ id, url }) {
  if (!(await sure(say('sureDelete', { url }), say('delete')))) return
  await ask('DELETE', `/webhooks/${id}`)
  tell(say('deleted'))
  await showEndpoints()
}

function edit(webhook) {
  const chosen = new Set(webhook?.events ?? [])
  const areas = [...new Set(catalogue.map(({ area }) => `${area}.*`))]
  const names = new Set(['*', ...chosen, ...areas, ...catalogue.map(({ name }) => name)])
  editor.querySelector('h2').textContent = say(webhook ? 'changeTitle' : 'addTitle')
  problem.hidden = true
  form.url.value = webhook?.url ?? ''
  form.description.value = webhook?.description ?? ''
  document.querySelector('#choices').replaceChildren(
    ...Array.from(names, (name) => {
      const box = make('input', { type: 'checkbox', name: 'event', value: name })
      box.checked = chosen.has(name)
      return make('label', { title: catalogue.find((event) => event.name === name)?.summary ?? '' }, box, ` ${name}`)
    }),
  )
  form.onsubmit = (event) => {
    event.preventDefault()
    attempt(() => save(webhook), form.querySelector('[value=save]'))
  }
  editor.showModal()
}

/** What was written stays until it is taken. */
async function save(webhook) {
  const body = {
    url: form.url.value,
    events: [...form.querySelectorAll('[name=event]:checked')].map(({ value }) => value),
    description: form.description.value || null,
  }
  const path = webhook ? `/webhooks/${webhook.id}` : '/webhooks'
  const saved = await ask(webhook ? 'PATCH' : 'POST', path, body).catch((error) => {
    problem.textContent = error.message
    problem.hidden = false
  })
  if (!saved) return
  editor.close()
  if (webhook) tell(say('saved'))
  else tellSecret(say('addedShown'), saved.data.secret)
  await showEndpoints()
}

// Deliveries -----------------------------------------------------------------------------------------------------------

const heading = (text, kind = null) => make('h2', { tabindex: '-1', class: kind }, text)

async function showDeliveries(webhook, status = '', cursor = '') {
  const query = new URLSearchParams({ limit: '50', ...(status && { status }), ...(cursor && { cursor }) })
  const { data, next_cursor: next } = await ask('GET', `/webhooks/${webhook.id}/deliveries?${query}`)
  const filter = make('select', { 'aria-label': say('showThose') })
  for (const name of ['', 'pending', 'delivered', 'failed', 'cancelled'])
    filter.append(
      make('option', { value: name, selected: name === status && '' }, name ? wordFor(name) : say('everyStatus')),
    )
  filter.addEventListener('change', () => attempt(() => showDeliveries(webhook, filter.value)))
  const heads = ['when', 'event', 'status', 'attempts', 'answer'].map((name) => say(name))
  const rows = data.map((delivery) =>
    row(
      heads,
      moment(delivery.created_at),
      make('code', {}, delivery.event),
      stateOf(delivery.status),
      String(delivery.attempts),
      String(delivery.response_status ?? delivery.last_error ?? '–'),
      button(say('show'), () => showDelivery(webhook, delivery.id)),
    ),
  )
  add.hidden = true
  show(
    make('div', { class: 'row head' }, heading(webhook.url, 'address'), filter, button(say('back'), showEndpoints)),
    rows.length > 0
      ? table([...heads, ''], rows)
      : make('p', { class: 'empty' }, status ? say('nothingIs', { status: wordFor(status) }) : say('nothingYet')),
    next && button(say('older'), () => showDeliveries(webhook, status, next)),
  )
}

async function showDelivery(webhook, id) {
  const path = `/webhooks/${webhook.id}/deliveries/${id}`
  const { data } = await ask('GET', path)
  const heads = ['attempt', 'when', 'took', 'answer', 'said'].map((name) => say(name))
  const attempts = data.attempts_log.map(({ attempt, at, duration_ms, status, error, response_body }) =>
    row(heads, String(attempt), moment(at), `${duration_ms} ms`, String(status ?? error ?? '–'), response_body ?? ''),
  )
  show(
    make(
      'div',
      { class: 'row head' },
      heading(`${data.event}, ${moment(data.created_at)}`),
      stateOf(data.status),
      mayWrite &&
        button(say('sendAgain'), async () => {
          await ask('POST', `${path}/redeliver`, {})
          tell(say('onItsWay'))
          await showDeliveries(webhook)
        }),
      button(say('back'), () => showDeliveries(webhook)),
    ),
    make('h3', {}, say('attempts')),
    attempts.length > 0 ? table(heads, attempts) : make('p', { class: 'quiet' }, say('noneYet')),
    make('h3', {}, say('whatWasSent')),
    make('pre', { tabindex: '0', dir: 'ltr' }, data.request ? sent(data.request) : say('notKept')),
  )
}

function sent({ headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${lines.join('\n')}\n\n${pretty(body)}`
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return String(text)
  }
}

const table = (heads, rows) =>
  make(
    'table',
    {},
    make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', { scope: 'col' }, head)))),
    make('tbody', {}, ...rows),
  )

const row = (heads, ...cells) =>
  make('tr', {}, ...cells.map((cell, i) => make('td', { 'data-name': heads[i] ?? null }, cell)))

// Start ----------------------------------------------------------------------------------------------------------------

add.addEventListener('click', () => edit(null))
form.querySelector('[value=cancel]').addEventListener('click', () => editor.close())
await attempt(async () => {
  const { data: me } = await ask('GET', '/auth/whoami')
  mayWrite = me.scopes.includes('webhooks:write')
  const environment = document.querySelector('#environment')
  environment.textContent = wordFor(me.environment)
  environment.className = me.environment
  catalogue = (await ask('GET', '/webhooks/events')).data
  await showEndpoints()
})
if (view.hasAttribute('aria-busy')) show()
