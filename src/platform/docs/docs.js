// SPDX-License-Identifier: Apache-2.0
// Comfort for the pages of the documentation, which work without it: copy buttons, search, trying a request with a test key,
// the language that samples are shown in, and the place one is reading.

for (const figure of document.querySelectorAll('figure')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    const shown = figure.querySelector('details[open] code') ?? figure.querySelector('code')
    await navigator.clipboard.writeText(shown.textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  if (navigator.clipboard) figure.querySelector('figcaption').append(button)
}

// Whoever opens a sample in one language reads the others in it too.
const spoken = sessionStorage.getItem('language')
for (const sample of document.querySelectorAll('details.language')) {
  const language = sample.querySelector('summary').textContent
  sample.open = language === spoken
  sample.addEventListener('toggle', () => {
    if (sample.open) sessionStorage.setItem('language', language)
  })
}

const search = document.querySelector('#search')
const found = document.querySelector('#found')
let index = null
search.hidden = false
search.addEventListener('focus', async () => {
  index ??= await (await fetch('/docs/search.json')).json()
})
search.addEventListener('input', () => {
  const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const hits = words.length === 0 || index === null ? [] : best(words)
  found.replaceChildren(...hits.map(entryOf))
  found.hidden = words.length === 0
  for (const section of document.querySelectorAll('nav > section')) section.hidden = words.length > 0
  if (words.length > 0 && hits.length === 0) found.textContent = 'Nothing has all of these words.'
})

/** Entries that have every word, those with it in their titles first. */
function best(words) {
  const rated = []
  for (const entry of index) {
    const title = entry.t.toLowerCase()
    const all = `${title} ${entry.p.toLowerCase()} ${entry.w.toLowerCase()}`
    if (!words.every((word) => all.includes(word))) continue
    const inTitle = words.filter((word) => title.includes(word)).length
    rated.push([inTitle * 10 + (title === words.join(' ') ? 5 : 0) - all.length / 10_000, entry])
  }
  return rated
    .sort(([a], [b]) => b - a)
    .slice(0, 30)
    .map(([, entry]) => entry)
}

function entryOf({ u, t, p }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  const part = document.createElement('small')
  link.href = u
  link.textContent = t
  part.textContent = p
  link.append(part)
  item.append(link)
  return item
}

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
  event.preventDefault()
  search.focus()
})

for (const button of document.querySelectorAll('button.try')) {
  button.hidden = false
  button.addEventListener('click', () => {
    const form = trial(button.dataset)
    button.replaceWith(form)
    // Whoever gave the key before goes on with the address.
    const fields = [...form.querySelectorAll('input')]
    const first = fields.find(({ value }) => value === '') ?? fields.at(-1)
    first.focus()
  })
}

/** A form that sends the sample, as it stands or changed, to this installation. */
function trial({ method, address, body }) {
  const form = document.createElement('form')
  const key = labelled('Test key', document.createElement('input'))
  key.field.type = 'password'
  key.field.autocomplete = 'off'
  key.field.placeholder = 'pmj_test_…'
  key.field.value = sessionStorage.getItem('key') ?? ''
  const path = labelled(`${method} /api`, document.createElement('input'))
  path.field.value = address
  const content = labelled('Body', document.createElement('textarea'))
  content.field.value = body
  content.field.rows = Math.min(14, body.split('\n').length + 1)
  const send = document.createElement('button')
  send.textContent = 'Send'
  const output = document.createElement('pre')
  output.tabIndex = 0
  output.hidden = true
  output.setAttribute('aria-live', 'polite')
  form.className = 'trial'
  form.append(key.label, path.label, ...(body ? [content.label] : []), send, output)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    output.hidden = false
    output.textContent = 'Asking …'
    send.disabled = true
    output.textContent = await answer(key.field.value.trim(), method, path.field.value, body && content.field.value)
    send.disabled = false
  })
  return form
}

async function answer(key, method, address, body) {
  if (!key.startsWith('pmj_test_')) return 'Only test keys are tried here: they begin with pmj_test_.'
  if (address.includes('$')) return 'Put an id where the address has a word with a $.'
  sessionStorage.setItem('key', key)
  const headers = { authorization: `Bearer ${key}`, 'pamoja-envelope': 'data' }
  if (body) headers['content-type'] = 'application/json'
  try {
    const reply = await fetch(`/api${address}`, { method, headers, ...(body ? { body } : {}) })
    const text = await reply.text()
    const isJson = reply.headers.get('content-type')?.includes('json')
    return `${reply.status}\n${isJson ? JSON.stringify(JSON.parse(text), null, 2) : text.slice(0, 20_000)}`
  } catch (error) {
    return `The request did not get through: ${error.message}`
  }
}

function labelled(text, field) {
  const label = document.createElement('label')
  label.textContent = text
  label.append(field)
  return { label, field }
}

const links = new Map([...document.querySelectorAll('nav a[href^="#"]')].map((link) => [link.hash.slice(1), link]))
const articles = [...document.querySelectorAll('article[id], .prose h2[id]')]
const visible = new Set()
const reading = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) isIntersecting ? visible.add(target) : visible.delete(target)
    const first = articles.find((article) => visible.has(article))
    if (!first) return
    document.querySelector('nav a[aria-current="true"]')?.removeAttribute('aria-current')
    const link = links.get(first.id)
    link?.setAttribute('aria-current', 'true')
    link?.scrollIntoView({ block: 'nearest' })
  },
  { rootMargin: '-90px 0px -85% 0px' },
)
for (const article of articles) reading.observe(article)
