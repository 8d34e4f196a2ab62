// SPDX-License-Identifier: Apache-2.0
// A price list as a file: CSV with the columns that the list of prices has as CSV, so that what was exported can be
// changed in a spreadsheet and sent back. Every line is judged first; one bad line and nothing is stored.
import { AppError } from '../../kernel/errors.ts'
import { announcePrices, type NewPrice } from '../../ledger/prices.ts'
import { type Route, upload } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { rowsOf } from '../../platform/http/csv-rows.ts'
import { bodyChecker } from '../../platform/http/validate.ts'
import {
  boundsProblem,
  ImportReply,
  knowPrices,
  maxImportRows,
  newPrice,
  noSuchAccount,
  ofNobody,
  PriceSet,
  store,
} from './prices.ts'

const maxBytes = 10 * 1024 * 1024
const maxVerdicts = 1_000

const columns = Object.keys(PriceSet.properties)
const needed = ['area', 'unit', 'amount', 'currency']
/** Columns of an exported list that the installation fills in itself. */
const passedOver = ['id', 'created_at']

const checkPrice = bodyChecker(PriceSet)

interface Verdict {
  line: number
  code: string
  details: string
}

const importFile = upload({
  path: '/v1/operator/prices/import/csv',
  operation: 'operator.importPriceFile',
  summary: 'Import prices from a CSV file',
  description: `The first row names the columns: ${columns.join(', ')}; ${needed.join(', ')} are needed. UTF-8, at most 10 MiB and ${maxImportRows} lines. Where lines are wrong nothing is stored: \`errors\` has \`line\`, \`code\` and \`details\` of the first ${maxVerdicts}, \`error_count\` says how many there are.`,
  scope: 'operator',
  file: 'text/csv',
  reply: { status: 200, schema: ImportReply },
  errors: ['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE'],
  handle: async (app, _input, caller, file) => {
    const prices = await pricesIn(app, file, caller.receivedMs)
    await app.db.acrossTx(async (tx) => {
      for (const { price } of prices) await store(app, tx, price, caller)
      for (const { price, line } of prices) {
        const problem = await boundsProblem(tx, price)
        if (problem !== null) throw new AppError('VALIDATION_ERROR', `line ${line}: ${problem}; nothing was stored`)
      }
      await announcePrices(tx, app.signals)
    })
    await knowPrices(app)
    return { imported: prices.length }
  },
})

/** Every price of a file, or a refusal that names every line that is none. */
async function pricesIn(
  app: App,
  file: AsyncIterable<Buffer>,
  nowMs: number,
): Promise<{ price: NewPrice; line: number }[]> {
  const prices: { price: NewPrice; line: number }[] = []
  const verdicts: Verdict[] = []
  const lineOf = new Map<string, number>()
  let names: readonly string[] | null = null
  let lines = 0
  let wrong = 0
  for await (const rows of rowsOf(file, maxBytes))
    for (const { number: line, cells } of rows) {
      if (names === null) {
        names = namesIn(cells)
        continue
      }
      if (++lines > maxImportRows) throw new AppError('PAYLOAD_TOO_LARGE', `a file has at most ${maxImportRows} prices`)
      const price = judged(app, names, cells, nowMs)
      const earlier = price instanceof AppError ? undefined : lineOf.get(nameOf(price))
      const refusal =
        price instanceof AppError
          ? price
          : earlier !== undefined && new AppError('VALIDATION_ERROR', `sets the same price as line ${earlier}`)
      if (refusal) {
        wrong++
        if (verdicts.length < maxVerdicts) verdicts.push({ line, code: refusal.code, details: refusal.details })
      } else if (!(price instanceof AppError)) {
        lineOf.set(nameOf(price), line)
        prices.push({ price, line })
      }
    }
  if (lines === 0) throw new AppError('VALIDATION_ERROR', 'the file has no prices below its column names')
  const wanted = prices.map(({ price }) => price)
  for (const price of await ofNobody(app.db, wanted)) {
    wrong++
    const { code, details } = noSuchAccount('')
    verdicts.push({ line: lineOf.get(nameOf(price)) ?? 0, code, details })
  }
  const [first] = verdicts.sort((one, other) => one.line - other.line)
  if (first)
    throw new AppError('VALIDATION_ERROR', `line ${first.line}: ${first.details}; nothing was stored`, {
      extra: { errors: verdicts.slice(0, maxVerdicts), error_count: wrong },
    })
  return prices
}

function namesIn(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.toLowerCase())
  const missing = needed.filter((name) => !names.includes(name))
  if (missing.length > 0)
    throw new AppError('VALIDATION_ERROR', `the first row does not name the column ${missing.join(', ')}`)
  const strange = names.find((name, i) => !isKnown(name) || names.indexOf(name) !== i)
  if (strange !== undefined)
    throw new AppError(
      'VALIDATION_ERROR',
      `the first row names ${JSON.stringify(strange.slice(0, 60))}, which is no column or there twice; columns are ${columns.join(', ')}`,
    )
  return names
}

function isKnown(name: string): boolean {
  return columns.includes(name) || passedOver.includes(name)
}

/** The price on a line, or what is wrong with it. An empty cell says nothing. */
function judged(app: App, names: readonly string[], cells: readonly string[], nowMs: number): NewPrice | AppError {
  if (cells.length > names.length)
    return new AppError('VALIDATION_ERROR', `has ${cells.length} cells where the first row names ${names.length}`)
  const given = names.map((name, i) => [name, cells[i] ?? ''] as const)
  const said = given.filter(([name, cell]) => cell !== '' && columns.includes(name))
  try {
    return newPrice(app, checkPrice(Object.fromEntries(said)).value, nowMs, '')
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function nameOf({ area, unit, country, network, account, money, effectiveFrom }: NewPrice): string {
  return JSON.stringify([area, unit, country, network, account, money.currency, effectiveFrom])
}

export const priceFileRoutes: readonly Route[] = [importFile]
