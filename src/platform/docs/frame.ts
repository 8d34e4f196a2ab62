// SPDX-License-Identifier: Apache-2.0
// The frame around the reference and the error catalogue.
import type { Area } from '../area.ts'
import { type Html, html } from '../web/html.ts'
import type { Place } from './operations.ts'

export interface Reference {
  version: string
  areas: readonly Area[]
  place: Place
}

interface Frame {
  title: string
  version: string
  links: Html
  content: Html
}

export function page({ title, version, links, content }: Frame): string {
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
  <span class="version">${version}</span>
  <span class="links"><a class="home" href="/docs">Reference</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a><a class="menu" href="#menu">Menu</a></span>
</header>
<nav id="menu" aria-label="Contents">
  <a class="close" href="#content">Close</a>
  <input id="filter" type="search" placeholder="Filter" aria-label="Filter the contents" autocomplete="off" hidden>
  ${links}
</nav>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`
  return text
}

export function navGroup(title: string, items: readonly Html[]): Html {
  return html`<section><h2>${title}</h2><ul>${items}</ul></section>`
}
