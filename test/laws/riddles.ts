// SPDX-License-Identifier: Apache-2.0
// Wording of public texts: summaries, descriptions, labels. A text names its thing, then its form, values and effect.

/** Openings of a riddle: they ask or point where a plain noun phrase would name. */
const openings =
  /^(Whether|What|Who|Whom|Whose|Whoever|Where|Why|How|That|Those|Of|They|Somebody|Nobody|Anybody|Everybody)\b/
/** Further ones of a field: what it is stands before how or when it is so. */
const openingsOfFields = /^(When|It|Its|This|As|Also)\b/
/** Words of stories rather than of references. */
const stories =
  /\b(whoever|whatever|somebody|nobody|anybody|everybody|meanwhile|just now|any more|(is|was|are|were) told|hears? of)\b/i
/** Verbs of a summary that say nothing of what the operation does. */
const idleVerbs = /^(Say|Note|Have|Let|Tell|See|Give|Take|Make|Read)\b/

export function isRiddle(text: string, place: 'text' | 'field' | 'summary' = 'text'): boolean {
  return (
    openings.test(text) ||
    stories.test(text) ||
    (place === 'field' && openingsOfFields.test(text)) ||
    (place === 'summary' && idleVerbs.test(text))
  )
}

/** Public texts in the source of routes, events and shapes that are riddles. */
export function riddlesIn(source: string): string[] {
  return [...source.matchAll(/\b(summary|description|about): (['`])((?:(?!\2)[^\\\n]|\\.)*)\2/g)]
    .map(([, name = '', , text = '']) => ({ name, text }))
    .filter(({ name, text }) =>
      isRiddle(text, name === 'description' ? 'field' : name === 'summary' ? 'summary' : 'text'),
    )
    .map(({ text }) => text)
}
