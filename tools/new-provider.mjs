// SPDX-License-Identifier: Apache-2.0
// The files of a new payment provider: those of EcoCash, the smallest, under another name. They compile and speak to their own
// simulator from the first line on; the test of the protocol and a row of the conformance suite fail until they are its own.

/** Provider whose files are copied. */
export const model = 'ecocash'

/** Copy of a text of the model under another name. */
export function renamer(name) {
  const file = name.replaceAll('_', '-')
  const camel = name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase())
  const pascal = camel.charAt(0).toUpperCase() + camel.slice(1)
  const title = name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
  return (text) =>
    text
      .replaceAll(/(?<=\/)ecocash(?=[-.])/g, file)
      .replaceAll(/(?<=\[)'ecocash'(?=,)/g, `'${file}'`)
      .replaceAll("'ecocash'", `'${name}'`)
      .replaceAll(/(?<=^ {2})ecocash(?=: )|\becocash(?=_)/gm, name)
      .replaceAll('EcoCash', title)
      .replaceAll('Ecocash', pascal)
      .replaceAll('ecocash', camel)
}

/** File -> text. `read` gives the text of a file of the checkout. */
export function providerFiles(name, read) {
  const file = name.replaceAll('_', '-')
  const renamed = renamer(name)
  const copyOf = (path) => renamed(read(path.replace('*', model)))
  const files = [
    'src/protocols/*.ts',
    'src/areas/payments/carriers/*-facts.ts',
    'src/areas/payments/carriers/*.ts',
    'src/simulators/*.ts',
  ]
  return {
    ...Object.fromEntries(files.map((path) => [path.replace('*', file), copyOf(path)])),
    [`src/protocols/${file}.test.ts`]: `${copyOf('src/protocols/*.test.ts')}
test('the bodies above are those of its documentation', () => {
  assert.fail('they are EcoCash’s: pin examples of its own documentation, and take this test away')
})
`,
    [`test/conformance/rows/${file}.ts`]: copyOf('test/conformance/rows/*.ts').replace(
      '  says: [\n',
      "  says: [\n    // Fails until the rows are what its own documentation says; take it away with them.\n    [[400, { message: 'these rows are still those of EcoCash' }], { kind: 'accepted' }],\n",
    ),
  }
}
