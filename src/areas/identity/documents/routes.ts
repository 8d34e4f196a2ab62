// SPDX-License-Identifier: Apache-2.0
// Routes of document scans without a decision, and of the document catalogue.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { list, type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { At, Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { catalogue, countryOf, documentTypes, entryFor } from '../catalogue.ts'
import { chargeFor, costFields, type Price, requireFunds } from '../charging.ts'
import { engine, viewerOf } from '../engines/engines.ts'
import { Flaws, type ReadDocument, readDocument } from '../engines/tasks.ts'
import { maxPictureBytes, maxRequestBytes, Picture, pictureOf } from '../pictures.ts'
import { registered } from '../registry/registries.ts'
import { readCodes } from './barcode-fields.ts'
import { isDocument, presentCheck, sources } from './judge.ts'
import { printedFields } from './visual-zone.ts'
import { type DocumentFields, fieldsOfZone, noFields } from './zone-fields.ts'

const Scan = Type.Object({
  document_type: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Expected document type, such as `passport`; default any',
    }),
  ),
  country: Type.Optional(
    Type.String({ minLength: 2, maxLength: 3, description: 'Issuing country: ISO 3166, two or three letters' }),
  ),
  document_front: Picture('Photograph or scan of the side with the face'),
  document_back: Type.Optional(Picture('Back of the document, if it has one')),
  languages: Type.Optional(
    Type.Array(Type.String({ maxLength: 5 }), {
      maxItems: 10,
      description: 'Accepted, but not used: Latin letters are read, and labels in English, French and Portuguese',
    }),
  ),
  include_text: Type.Optional(Type.Boolean({ description: 'True includes every line that was read; default false' })),
  include_portrait: Type.Optional(
    Type.Boolean({ description: 'True includes the face on the document; default false' }),
  ),
})

const Field = Type.Object({
  value: Type.String({ description: 'Extracted value' }),
  confidence: Type.Number({ description: 'Confidence from 0 to 100' }),
  source: OneOf(sources, { description: 'Source: machine-readable zone, barcode or printed text' }),
  box: Nullable(Type.Array(Type.Integer(), { description: 'Position in the upright picture: x, y, width and height' })),
})

const Scanned = Type.Object(
  {
    scan_id: Type.String({ description: 'Id of the reading, such as `scn_…`' }),
    document_type: Nullable(Type.String({ description: 'Document type; null if it was not recognised' })),
    country: Nullable(Type.String({ description: 'Issuing country' })),
    fields: Type.Record(Type.String(), Field, { description: 'Extracted fields by name, such as `last_name`' }),
    mrz: Nullable(
      Type.Object(
        {
          format: Type.String({ description: 'MRZ format, such as TD3' }),
          valid: Type.Boolean({ description: 'True if its check digits are valid' }),
          lines: Type.Array(Type.String(), { description: 'Extracted lines' }),
          errors: Type.Array(Type.String(), { description: 'Errors in the lines; empty if they are valid' }),
        },
        { description: 'Machine-readable zone; null if there is none' },
      ),
    ),
    barcodes: Type.Array(
      Type.Object({
        format: Type.String({ description: 'Kind of barcode, such as `PDF417`' }),
        text: Type.String({ description: 'Content' }),
      }),
      { description: 'Barcodes with their content' },
    ),
    quality: Type.Object(
      {
        sharpness: Type.Number({
          description: 'Sharpness as variance of the edges; below 60 the text is hard to read',
        }),
        brightness: Type.Number({ description: 'Mean brightness, 0 (black) to 1 (white)' }),
        glare: Type.Number({ description: 'Largest overexposed area as a share of the picture, 0 to 1' }),
        width: Type.Integer({ description: 'Size in pixels' }),
        height: Type.Integer({ description: 'Size in pixels' }),
        regions: Type.Array(
          Type.Object({
            ...Flaws.items.properties,
            image: OneOf(['document_front', 'document_back'], { description: 'Picture with the problem' }),
          }),
          { description: 'Places of the problems, on all pictures' },
        ),
        acceptable: Type.Boolean({ description: 'True if the picture can be read' }),
      },
      { description: 'Quality of the picture of the front' },
    ),
    portrait: Nullable(Type.String({ description: 'Picture as JPEG in base64' })),
    text: Nullable(Type.String({ description: 'Extracted lines, with `include_text`' })),
    processing_ms: Type.Integer({ description: 'Duration of the reading in milliseconds' }),
    created_at: At({ description: 'Time of the reading' }),
    ...costFields,
  },
  { title: 'IdentityScan' },
)

interface Read {
  readonly id: string
  readonly read: ReadDocument
  readonly tookMs: number
  readonly price: Price
}

async function scan(app: App, caller: Caller, input: Static<typeof Scan>): Promise<Read> {
  if (input.document_type !== undefined && input.country !== undefined) entryFor(input.document_type, input.country)
  const front = await pictureOf(app, caller, 'document_front', input.document_front)
  const back =
    input.document_back === undefined ? null : await pictureOf(app, caller, 'document_back', input.document_back)
  const price = await requireFunds(app, caller, 'scan')
  const startedMs = performance.now()
  const wanted = { front, back, wantsPortrait: input.include_portrait ?? false }
  const read = await engine(app, viewerOf(caller), readDocument, wanted, ['document_front', 'document_back'])
  if (!isDocument(read, input.document_type))
    throw new AppError('DOCUMENT_UNREADABLE', 'no document was detected in the picture')
  return { id: newUuid(caller.receivedMs), read, tookMs: Math.round(performance.now() - startedMs), price }
}

/** Fields from the zone, which has check digits, or else from a barcode, or else from the print. */
function fieldsOf({ mrz, barcodes, lines }: ReadDocument, nowMs: number): Static<typeof Scanned>['fields'] {
  const fields: Static<typeof Scanned>['fields'] = {}
  for (const [name, { value, confidence, box }] of Object.entries(printedFields(lines)))
    fields[name] = { value, confidence, source: 'visual', box: [...box] }
  const add = (read: DocumentFields | null, source: 'mrz' | 'barcode', confidence: number) => {
    for (const [name, value] of Object.entries(read ?? noFields))
      if (value !== null) fields[name] = { value, confidence, source, box: null }
  }
  add(readCodes(barcodes, nowMs).fields, 'barcode', 100)
  add(mrz && fieldsOfZone(mrz, nowMs), 'mrz', Math.round((mrz?.confidence ?? 0) * 1000) / 10)
  return fields
}

function regionsOf({ flaws }: ReadDocument): Static<typeof Scanned>['quality']['regions'] {
  return (['document_front', 'document_back'] as const).flatMap((image) =>
    flaws[image].map(({ problem, box }) => ({ problem, box, image })),
  )
}

const typeOfZone: Readonly<Record<string, string>> = { TD3: 'passport', TD1: 'national_id', TD2: 'national_id' }

const scanDocument = write({
  method: 'POST',
  path: '/v1/identity/scan-document',
  operation: 'identity.scanDocument',
  summary: 'Scan a document',
  scope: 'identity:write',
  limit: 'identity',
  body: Scan,
  bodyLimitBytes: maxRequestBytes,
  files: {
    document_front: { maxBytes: maxPictureBytes, optional: true },
    document_back: { maxBytes: maxPictureBytes, optional: true },
  },
  reply: { status: 200, schema: Scanned },
  errors: [
    'INVALID_DOCUMENT_TYPE',
    'IMAGE_QUALITY_LOW',
    'IMAGE_TOO_LARGE',
    'DOCUMENT_UNREADABLE',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'PROVIDER_UNAVAILABLE',
  ],
  examples: [{ name: 'A passport', body: { document_front: 'sandbox:passport_ke' } }],
  prepare: (app, { body }, caller) => scan(app, caller, body),
  handle: async (app, tx, { body }, caller, { id, read, tookMs, price }) => {
    const { tenant, receivedMs, nowMs } = caller
    const scan_id = idOf('scan', id)
    const { problems, ...quality } = read.quality
    await chargeFor(tx, caller, 'scan', id, price)
    await appendAudit(app, tx, tenant, {
      resourceId: scan_id,
      action: 'scan.completed',
      actor: actorOf(caller),
      details: { engine: read.ocrEngine },
      receivedMs,
      nowMs,
    })
    return {
      scan_id,
      document_type: body.document_type ?? typeOfZone[read.mrz?.format ?? ''] ?? null,
      country: countryOf(body.country ?? read.mrz?.lines[0]?.slice(2, 5) ?? ''),
      fields: fieldsOf(read, nowMs),
      mrz: read.mrz && {
        format: read.mrz.format,
        valid: read.mrz.failing.length === 0,
        lines: read.mrz.lines,
        errors: read.mrz.failing,
      },
      barcodes: read.barcodes.map(({ format, text }) => ({ format, text })),
      quality: { ...quality, regions: regionsOf(read), acceptable: problems.length === 0 },
      portrait: read.portrait,
      text: body.include_text ? read.lines.map(({ text }) => text).join('\n') : null,
      processing_ms: tookMs,
      created_at: new Date(nowMs),
      ...price,
    }
  },
})

const DocumentTypeRow = Type.Object(
  {
    country: Type.String({ description: 'Issuing country, ISO 3166' }),
    document_type: OneOf(documentTypes, { description: 'Document type, such as `passport`' }),
    sides: Type.Integer({ description: 'Number of sides to photograph' }),
    has_mrz: Type.Boolean({ description: 'True if it has a machine-readable zone (MRZ)' }),
    has_barcode: Type.Boolean({ description: 'True if it has a barcode' }),
    number_pattern: Nullable(Type.String({ description: 'Regular expression of its number; null if none is known' })),
    checks: Type.Array(Type.String(), { description: 'Checks of the document, such as `mrz_check_digits`' }),
    registry: Type.Boolean({ description: 'True if a registry is connected for it' }),
    verified: Type.Boolean({
      description: 'True if its rules were confirmed by the issuer; otherwise they can only warn',
    }),
    source: Type.String({ description: 'Source of the rules' }),
  },
  { title: 'IdentityDocumentType' },
)

const listTypes = list({
  path: '/v1/identity/document-types',
  operation: 'identity.listDocumentTypes',
  summary: 'List supported documents',
  scope: 'identity:read',
  query: Type.Object({
    ...wholeListQuery,
    country: Type.Optional(Type.String({ minLength: 2, maxLength: 3, description: 'ISO 3166, two or three letters' })),
  }),
  row: DocumentTypeRow,
  examples: [{ name: 'Documents of Kenya', query: { country: 'KE' } }],
  handle: async (app, { query }, { tenant }) => {
    const hasRegistry = await registered(app.db, tenant.environment)
    const country = query.country === undefined ? null : (countryOf(query.country) ?? 'none')
    const rows = catalogue
      .filter((entry) => country === null || entry.country === country)
      .map((entry) => ({
        country: entry.country,
        document_type: entry.type,
        sides: entry.sides,
        has_mrz: entry.hasMrz,
        has_barcode: entry.hasBarcode,
        number_pattern: entry.rule?.pattern.source ?? null,
        checks: [
          presentCheck,
          ...(entry.hasMrz ? ['mrz_check_digits', 'mrz_matches_visual_zone'] : []),
          ...(entry.rule ? ['number_format'] : []),
          ...(entry.rule?.checksum ? ['number_checksum'] : []),
          ...(entry.rule?.embeds ? ['number_embeds_birth_date_sex'] : []),
          'document_not_expired',
          'dates_plausible',
          'portrait_present',
        ],
        registry: hasRegistry(entry.country, entry.type),
        verified: entry.isVerified,
        source: entry.source,
      }))
    return pageOfWhole(query, rows, (row) => `${row.country} ${row.document_type}`)
  },
})

export const documentRoutes: readonly Route[] = [scanDocument, listTypes]
