// SPDX-License-Identifier: Apache-2.0
// The page of the webhook portal. Everything it shows comes from the public API, asked with the token of its session; the
// token stands behind the # of the address and is kept for this tab only.

const token = location.hash.slice(1) || sessionStorage.getItem('token') || ''
if (location.hash) {
  sessionStorage.setItem('token', token)
  history.replaceState(null, '', location.pathname)
}

const view = document.querySelector('#view')
const notice = document.querySelector('#notice')
const editor = document.querySelector('#editor')
const form = editor.querySelector('form')
const add = document.querySelector('#add')
let mayWrite = false
let catalogue = []

async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${token}`, 'pamoja-envelope': 'data' }
  if (body) headers['content-type'] = 'application/json'
  const response = await fetch(`/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
  const answer = await response.json()
  if (response.ok) return answer
  if (response.status === 401) throw new Error('This page has expired. Open it again from where you came.')
  throw new Error(`${answer.error.message} (${answer.error.details})`)
}

/** An element with its texts and children: nothing that came from the API is ever read as HTML. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (key === 'click') element.addEventListener('click', () => attempt(value))
    else if (value !== null && value !== false) element.setAttribute(key, value)
  element.append(...children.filter((child) => child !== null && child !== false))
  return element
}

const button = (text, click) => make('button', { type: 'button', click }, text)
const stateOf = (state) => make('span', { class: `state ${state}` }, state)
const moment = (text) => (text ? new Date(text).toLocaleString() : '–')

function tell(text, isProblem = false) {
  notice.hidden = text === ''
  notice.className = isProblem ? 'problem' : ''
  notice.textContent = text
}

async function attempt(what) {
  try {
    await what()
  } catch (error) {
    tell(error.message, true)
  }
}

// Endpoints ------------------------------------------------------------------------------------------------------------

async function showEndpoints() {
  const { data } = await ask('GET', '/webhooks?limit=100')
  view.replaceChildren(
    ...(data.length > 0
      ? data.map(endpoint)
      : [make('p', { class: 'quiet' }, 'No endpoints yet. Add one to be told what happens, as it happens.')]),
  )
}

function endpoint(webhook) {
  const { id, url, events, description, enabled, health } = webhook
  const tried = health.success_24h + health.failure_24h
  const figures = tried === 0 ? 'nothing sent in 24 hours' : `${health.success_24h} of ${tried} delivered in 24 hours`
  const speed = health.p50_ms === null ? '' : `, half within ${health.p50_ms} ms`
  return make(
    'article',
    {},
    make(
      'div',
      { class: 'row' },
      make('code', {}, url),
      stateOf(health.state),
      button('Deliveries', () => showDeliveries(webhook)),
      mayWrite && button('Test', () => test(id)),
      mayWrite && button('Edit', () => edit(webhook)),
      mayWrite && button(enabled ? 'Disable' : 'Enable', () => change(id, { enabled: !enabled })),
      mayWrite && button('New secret', () => rotate(id)),
      mayWrite && button('Delete', () => remove(webhook)),
    ),
    make('div', { class: 'quiet' }, `${events.join(', ')} · ${figures}${speed}, ${health.pending} waiting`),
    description && make('div', {}, description),
  )
}

async function test(id) {
  const { data } = await ask('POST', `/webhooks/${id}/test`, {})
  const answer = data.response_status === null ? data.error : `answered ${data.response_status}`
  tell(
    `${data.event}: ${data.delivered ? 'delivered' : 'not delivered'}, ${answer}, ${data.duration_ms} ms`,
    !data.delivered,
  )
  await showEndpoints()
}

async function change(id, changes) {
  await ask('PATCH', `/webhooks/${id}`, changes)
  tell('Saved.')
  await showEndpoints()
}

async function rotate(id) {
  if (!confirm('Make a new secret? The old one signs too, for 24 hours.')) return
  const { data } = await ask('POST', `/webhooks/${id}/rotate-secret`, {})
  tell(`New secret, shown this once: ${data.secret}`)
}

async function remove({ id, url }) {
  if (!confirm(`Delete ${url}? What it has not received yet will not be sent.`)) return
  await ask('DELETE', `/webhooks/${id}`)
  tell('Deleted.')
  await showEndpoints()
}

function edit(webhook) {
  const chosen = new Set(webhook?.events ?? [])
  const areas = [...new Set(catalogue.map(({ area }) => `${area}.*`))]
  const names = ['*', ...new Set([...areas, ...catalogue.map(({ name }) => name), ...chosen])]
  form.url.value = webhook?.url ?? ''
  form.description.value = webhook?.description ?? ''
  document.querySelector('#choices').replaceChildren(
    ...names.map((name) => {
      const box = make('input', { type: 'checkbox', name: 'event', value: name })
      box.checked = chosen.has(name)
      return make('label', { title: catalogue.find((event) => event.name === name)?.summary ?? '' }, box, ` ${name}`)
    }),
  )
  editor.onsubmit = (event) => {
    event.preventDefault()
    attempt(() => save(webhook))
  }
  editor.showModal()
}

async function save(webhook) {
  const body = {
    url: form.url.value,
    events: [...form.querySelectorAll('[name=event]:checked')].map(({ value }) => value),
    description: form.description.value || null,
  }
  editor.close()
  if (webhook) return change(webhook.id, body)
  const { data } = await ask('POST', '/webhooks', body)
  tell(`Added. Its secret, shown this once: ${data.secret}`)
  await showEndpoints()
}

// Deliveries -----------------------------------------------------------------------------------------------------------

async function showDeliveries(webhook, status = '', cursor = '') {
  const query = new URLSearchParams({ limit: '50', ...(status && { status }), ...(cursor && { cursor }) })
  const { data, next_cursor: next } = await ask('GET', `/webhooks/${webhook.id}/deliveries?${query}`)
  const filter = make('select', {})
  for (const name of ['', 'pending', 'delivered', 'failed', 'cancelled'])
    filter.append(make('option', { value: name, selected: name === status && '' }, name || 'every status'))
  filter.addEventListener('change', () => attempt(() => showDeliveries(webhook, filter.value)))
  const rows = data.map((delivery) =>
    make(
      'tr',
      {},
      make('td', {}, moment(delivery.created_at)),
      make('td', {}, make('code', {}, delivery.event)),
      make('td', {}, stateOf(delivery.status)),
      make('td', {}, String(delivery.attempts)),
      make('td', {}, String(delivery.response_status ?? delivery.last_error ?? '–')),
      make(
        'td',
        {},
        button('Show', () => showDelivery(webhook, delivery.id)),
      ),
    ),
  )
  const heads = ['When', 'Event', 'Status', 'Attempts', 'Answer', ''].map((head) => make('th', {}, head))
  view.replaceChildren(
    make('div', { class: 'row' }, make('h2', {}, webhook.url), filter, button('Back', showEndpoints)),
    rows.length > 0
      ? make('table', {}, make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...rows))
      : make('p', { class: 'quiet' }, 'Nothing here.'),
    next ? button('Older', () => showDeliveries(webhook, status, next)) : '',
  )
}

async function showDelivery(webhook, id) {
  const path = `/webhooks/${webhook.id}/deliveries/${id}`
  const { data } = await ask('GET', path)
  view.replaceChildren(
    make(
      'div',
      { class: 'row' },
      make('h2', {}, `${data.event}, ${moment(data.created_at)}`),
      stateOf(data.status),
      mayWrite &&
        button('Send again', async () => {
          await ask('POST', `${path}/redeliver`, {})
          tell('It is on its way again.')
          await showDeliveries(webhook)
        }),
      button('Back', () => showDeliveries(webhook)),
    ),
    make('section', {}, make('pre', {}, JSON.stringify(data, null, 2))),
  )
}

// Start ----------------------------------------------------------------------------------------------------------------

add.addEventListener('click', () => edit(null))
form.querySelector('[value=cancel]').addEventListener('click', () => editor.close())
await attempt(async () => {
  const { data: me } = await ask('GET', '/auth/whoami')
  mayWrite = me.scopes.includes('webhooks:write')
  add.hidden = !mayWrite
  document.querySelector('#environment').textContent = me.environment
  catalogue = (await ask('GET', '/webhooks/events')).data
  await showEndpoints()
})
if (!notice.hidden) view.replaceChildren()
