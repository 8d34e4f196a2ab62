// SPDX-License-Identifier: Apache-2.0
// Frame of every documentation page with the table of contents: guides, areas, events, errors.

import { chaptersOf } from '../api/reference.ts'
import type { Area } from '../area.ts'
import { type Html, html } from '../web/html.ts'
import { guides } from './guides.ts'
import type { Place } from './sdk-samples.ts'

export interface Reference {
  version: string
  areas: readonly Area[]
  place: Place
}

interface Frame {
  title: string
  /** Path of the page, highlighted in the contents. */
  path: string
  /** Sections of the page. */
  links?: readonly Html[]
  content: Html
}

export function page(reference: Reference, { title, path, links = [], content }: Frame): string {
  const { html: text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Pamoja</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
  <a class="brand" href="/docs"><img src="/docs/icon.svg" alt="" width="24" height="24">Pamoja</a>
  <span class="version">${reference.version}</span>
  <span class="links"><a class="home" href="/docs">Documentation</a><a href="/console">Console</a><a href="/docs/errors">Errors</a><a class="program" href="/openapi.json">OpenAPI</a><a class="menu" href="#menu">Menu</a></span>
</header>
<nav id="menu" aria-label="Contents">
  <a class="close" href="#content">Close</a>
  <input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" hidden>
  <ul id="found" aria-live="polite" hidden></ul>
  ${contents(reference, path, links)}
</nav>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`
  return text
}

function contents({ areas }: Reference, path: string, links: readonly Html[]): Html {
  const entry = (address: string, title: string): Html =>
    html`<li><a href="${address}"${path === address && html` aria-current="page"`}>${title}</a>${path === address && links.length > 0 && html`<ul>${links}</ul>`}</li>`
  const shown = guides().filter(({ name }) => !name.includes('/'))
  return html`
    ${navGroup('Begin', [entry('/docs', 'Introduction')])}
    ${
      shown.length > 0 &&
      navGroup(
        'Guides',
        shown.map(({ name, guide }) => entry(`/docs/guides/${name}`, guide.title)),
      )
    }
    ${navGroup(
      'Reference',
      chaptersOf(areas).map(({ tag, title }) => entry(`/docs/reference/${tag}`, title)),
    )}
    ${navGroup('More', [entry('/docs/events', 'Event catalogue'), entry('/docs/errors', 'Errors')])}`
}

function navGroup(title: string, items: readonly Html[]): Html {
  return html`<section><h2>${title}</h2><ul>${items}</ul></section>`
}
