// SPDX-License-Identifier: Apache-2.0
// Cells of a CSV file (RFC 4180), for a preview; the server reads the file itself.

/** Rows of cells; empty lines are passed over. */
export function cellsOf(text: string): string[][] {
  const rows: string[][] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  const endRow = (): void => {
    cells.push(cell)
    if (cells.some((one) => one !== '')) rows.push(cells)
    cells = []
    cell = ''
  }
  for (let i = 0; i < text.length; i++) {
    const letter = text.charAt(i)
    if (isQuoted && letter === '"' && text.charAt(i + 1) === '"') cell += text.charAt(++i)
    else if (letter === '"') isQuoted = !isQuoted
    else if (letter === ',' && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else if (/[\r\n]/.test(letter) && !isQuoted) endRow()
    else cell += letter
  }
  endRow()
  return rows
}
