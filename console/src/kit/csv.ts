// SPDX-License-Identifier: Apache-2.0
// Rows of a file that a spreadsheet wrote: the first line has the names of the columns; comma, semicolon or tab between them.

export function csvRows(text: string): Record<string, string>[] {
  const [names = [], ...lines] = cellsOf(text.replace(/^\uFEFF/, ''))
  const keys = names.map((name) => name.trim().toLowerCase().replaceAll(' ', '_'))
  return lines.map((cells) => {
    const filled = keys.map((key, i) => [key, (cells[i] ?? '').trim()] as const)
    return Object.fromEntries(filled.filter(([key, value]) => key !== '' && value !== ''))
  })
}

function cellsOf(text: string): string[][] {
  const [first = ''] = text.split(/\r?\n/, 1)
  const between = [',', ';', '\t'].find((sign) => first.includes(sign)) ?? ','
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  const endCell = (): void => {
    row.push(cell)
    cell = ''
  }
  const endRow = (): void => {
    endCell()
    if (row.some((one) => one.trim() !== '')) rows.push(row)
    row = []
  }
  for (let i = 0; i < text.length; i++) {
    const sign = text[i] ?? ''
    if (isQuoted && sign === '"' && text[i + 1] === '"') cell += text[++i]
    else if (sign === '"') isQuoted = !isQuoted
    else if (isQuoted) cell += sign
    else if (sign === between) endCell()
    else if (sign === '\n') endRow()
    else if (sign !== '\r') cell += sign
  }
  endRow()
  return rows
}
