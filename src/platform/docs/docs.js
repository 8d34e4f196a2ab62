// SPDX-License-Identifier: Apache-2.0
// Comfort for the reference pages, which work without it: copy buttons, a filter, and the place one is reading.

for (const figure of document.querySelectorAll('figure')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  if (navigator.clipboard) figure.querySelector('figcaption').append(button)
}

const filter = document.querySelector('#filter')
filter.hidden = false
filter.addEventListener('input', () => {
  const wanted = filter.value.trim().toLowerCase()
  for (const section of document.querySelectorAll('nav section')) {
    const whole = section.querySelector('h2').textContent.toLowerCase().includes(wanted)
    for (const item of section.querySelectorAll('li')) {
      const link = item.querySelector('a')
      item.hidden = !whole && !`${link.textContent} ${link.hash} ${link.title}`.toLowerCase().includes(wanted)
    }
    section.hidden = section.querySelector('li:not([hidden])') === null
  }
})

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement)
    return
  event.preventDefault()
  filter.focus()
})

const links = new Map([...document.querySelectorAll('nav a[href^="#"]')].map((link) => [link.hash.slice(1), link]))
const articles = [...document.querySelectorAll('article[id]')]
const visible = new Set()
const reading = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) isIntersecting ? visible.add(target) : visible.delete(target)
    const first = articles.find((article) => visible.has(article))
    if (!first) return
    document.querySelector('nav a[aria-current]')?.removeAttribute('aria-current')
    const link = links.get(first.id)
    link?.setAttribute('aria-current', 'true')
    link?.scrollIntoView({ block: 'nearest' })
  },
  { rootMargin: '-90px 0px -85% 0px' },
)
for (const article of articles) reading.observe(article)
