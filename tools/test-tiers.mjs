// SPDX-License-Identifier: Apache-2.0
// The second tier of the tests: files that `npm test` leaves to `npm test -- --all` and `.ci/run`. A file is in it because it
// costs much and has seldom been the first to find something: what it would find breaks a cheaper test as well, or belongs to
// one corner that few changes touch. laws/tiers checks that every route and every error code still has a test in the first tier.

/** Reason, and the files that it is the reason of. */
const reasons = {
  'kills nodes and databases again and again under load; faults/payments stands for it': [
    'test/faults/campaigns.test.ts',
    'test/faults/cells-down.test.ts',
    'test/faults/cells-move.test.ts',
    'test/faults/cells-nodes.test.ts',
    'test/faults/database.test.ts',
    'test/faults/email.test.ts',
    'test/faults/imports.test.ts',
    'test/faults/kill.test.ts',
    'test/faults/payouts.test.ts',
    'test/faults/refunds.test.ts',
    'test/faults/replica.test.ts',
    'test/faults/sms-centres.test.ts',
    'test/faults/sms-nodes.test.ts',
    'test/faults/sms.test.ts',
    'test/faults/two-nodes.test.ts',
    'test/faults/ussd-nodes.test.ts',
    'test/faults/ussd.test.ts',
    'test/faults/voice.test.ts',
    'test/faults/webhooks.test.ts',
    'test/journeys/callcenter-move.test.ts',
    'test/journeys/callcenter-nodes.test.ts',
    'test/journeys/messenger-faults.test.ts',
    'test/journeys/sandbox-nodes.test.ts',
    'test/journeys/sandbox-restart.test.ts',
    'test/journeys/ussd-faults.test.ts',
    'test/operations/operations.test.ts',
  ],
  'speaks with programs of others, which a newcomer need not have installed': [
    'test/journeys/examples.test.ts',
    'test/journeys/voice-mp3.test.ts',
    'test/interop/baresip.test.ts',
    'test/interop/desk.test.ts',
    'test/interop/doors-mail.test.ts',
    'test/interop/doors-smpp.test.ts',
    'test/interop/doors.test.ts',
    'test/interop/kamailio.test.ts',
    'test/interop/kannel.test.ts',
    'test/interop/line.test.ts',
    'test/interop/linphone.test.ts',
    'test/interop/mail.test.ts',
    'test/interop/mcp.test.ts',
    'test/interop/packaging.test.ts',
    'test/interop/pgbouncer.test.ts',
    'test/interop/prometheus.test.ts',
    'test/interop/recipes.test.ts',
    'test/interop/samples.test.ts',
    'test/interop/sdks.test.ts',
    'test/interop/sipp.test.ts',
  ],
  'starts the program dozens of times, with wrong settings and broken surroundings': [
    'test/cells-command.test.ts',
    'test/commands.test.ts',
    'test/faults/cells-backup.test.ts',
    'test/journeys/listen.test.ts',
    'test/refusals.test.ts',
    'test/start.test.ts',
    'src/platform/backup/backup.test.ts',
    'src/platform/postgres.test.ts',
    'src/platform/storage.test.ts',
  ],
  'looks at pages and pictures in a browser, in every language and size': [
    'test/journeys/callcenter-desk.test.ts',
    'test/journeys/callcenter-pages.test.ts',
    'test/journeys/console-business.test.ts',
    'test/journeys/console-journey.test.ts',
    'test/journeys/console-once.test.ts',
    'test/journeys/console-pages.test.ts',
    'test/journeys/console-ways.test.ts',
    'test/journeys/docs-try.test.ts',
    'test/journeys/invoice-page.test.ts',
    'test/journeys/looks.test.ts',
    'test/journeys/page-languages.test.ts',
    'test/journeys/wallet-pages.test.ts',
  ],
  'runs networks for documents, faces and speech; laws/routes verifies one document': [
    'test/journeys/identity-faces.test.ts',
    'test/journeys/identity.test.ts',
    'test/journeys/voice-speech.test.ts',
  ],
  'looks closely at one corner of a channel; the journey beside it, named here, is in the first tier': [
    'test/journeys/email-care.test.ts', // email-api
    'test/journeys/email-security.test.ts', // email-api
    'test/journeys/invoice-pdf.test.ts', // invoices
    'test/journeys/metadata-filter.test.ts', // metadata-exact
    'test/journeys/sms-http.test.ts', // sms-api
    'test/journeys/sms-records.test.ts', // sms-api
    'test/journeys/ussd-numbers.test.ts', // ussd-api
    'test/journeys/voice-networks.test.ts', // voice
    'test/journeys/voice-rooms.test.ts', // voice
    'test/journeys/voice-trunks.test.ts', // voice
    'test/journeys/voice-websocket.test.ts', // voice
  ],
  'sends the same at once, or cuts off what a journey needs; commit.test and faults/payments stand for it': [
    'test/conformance/mpesa-amounts.test.ts',
    'test/journeys/billing-at-once.test.ts',
    'test/journeys/readiness.test.ts',
    'test/journeys/subscriptions-together.test.ts',
    'test/journeys/suspended.test.ts',
  ],
  'reads what a program says of itself, or makes and drops partitions: seldom touched by a change': [
    'src/platform/docs.test.ts', // laws/guides and laws/openapi
    'src/platform/nodes/maintenance.test.ts',
    'src/platform/telemetry/metrics.test.ts',
    'src/platform/telemetry/tracing.test.ts',
  ],
  'walks through thousands of rows, states or orders of events of one verb': [
    'src/areas/billing/plans/calendar.test.ts',
    'test/conformance/payouts.test.ts',
    'test/conformance/refunds.test.ts',
    'test/journeys/card-canary.test.ts',
    'test/journeys/card-states.test.ts',
    'test/journeys/fraud.test.ts',
    'test/journeys/hook-catcher.test.ts',
    'test/journeys/invoice-refunds.test.ts',
    'test/journeys/payout-batches.test.ts',
    'test/journeys/payouts-model.test.ts',
    'test/journeys/reconciliation-outgoing.test.ts',
    'test/journeys/refunds.test.ts',
    'test/journeys/renewals.test.ts',
    'test/journeys/sms-priority.test.ts',
    'test/journeys/subscription-meetings.test.ts',
    'test/journeys/subscription-walk.test.ts',
    'test/journeys/webhooks-delivery.test.ts',
  ],
}

/** File -> why it is in the second tier. */
export const secondTier = Object.fromEntries(
  Object.entries(reasons).flatMap(([reason, files]) => files.map((file) => [file, reason])),
)

const ofDocuments = 'takes networks for documents and faces: journeys/identity'

/** Error code -> why no test of the first tier provokes it. */
export const codesOfSecondTier = {
  BATCH_TOO_LARGE: 'takes a batch of thousands of payouts: journeys/payout-batches',
  CHALLENGE_EXPIRED: 'takes networks for faces: journeys/identity-faces',
  CHALLENGE_USED: 'takes networks for faces: journeys/identity-faces',
  DOCUMENT_UNREADABLE: ofDocuments,
  FACE_MISMATCH: ofDocuments,
  IMAGE_QUALITY_LOW: ofDocuments,
  IMAGE_TOO_LARGE: ofDocuments,
  INTERNAL_ERROR: 'only a fault of the program gives it',
  LEGAL_HOLD: ofDocuments,
  LIVENESS_FAILED: 'takes networks for faces: journeys/identity-faces',
  MULTIPLE_FACES: 'takes networks for faces, and a picture of two people',
  NO_FACE_DETECTED: ofDocuments,
  REGISTRY_UNAVAILABLE: ofDocuments,
}
