// SPDX-License-Identifier: Apache-2.0
// Every error a customer can meet, in one table: code -> HTTP status -> a sentence that says what to do. Replies, the
// OpenAPI document and the error pages derive from it. Outcomes of the outside world are values, not errors.

export const errors = {
  INVALID_REQUEST: [400, 'The request is malformed. See details, correct it and send it again.'],
  INVALID_URL: [400, 'The URL cannot be used. Use an absolute https:// URL that this service can reach.'],
  INVALID_EVENT: [400, 'An event name is unknown or malformed. See details; GET /v1/webhooks/events lists the names.'],
  INVALID_DATE_RANGE: [400, 'A date is malformed, or the first is after the last. Use YYYY-MM-DD, oldest first.'],
  UNAUTHORIZED: [401, 'Send a valid API key or access token in the header Authorization: Bearer <key>.'],
  INSUFFICIENT_FUNDS: [402, 'The customer does not have enough money. Ask the customer to top up and try again.'],
  INSUFFICIENT_WALLET_BALANCE: [
    402,
    'The wallet balance does not cover this payout or refund. Top up the wallet and try again.',
  ],
  INSUFFICIENT_BALANCE: [402, 'The account balance does not cover this request. Top up the account and try again.'],
  BUDGET_REACHED: [402, 'The campaign has spent its budget. Raise the budget, then resume it.'],
  CARD_DECLINED: [402, 'The card was declined. Ask the payer for another card, or another way to pay.'],
  CARD_EXPIRED: [402, 'The card has expired. Ask the payer for another card.'],
  INCORRECT_CVV: [402, 'The security code is wrong. Ask the payer to type it again.'],
  DEBIT_REFUSED: [
    402,
    'The bank refused to debit the account. See failure_reason, and ask the payer for another account or way to pay.',
  ],
  AUTHENTICATION_FAILED: [
    402,
    'The payer did not pass authentication of the card (3-D Secure). Ask them to try again.',
  ],
  FORBIDDEN: [
    403,
    'This key or token has no permission for the request. See details for the reason; if required_scope is given, use a key with that scope.',
  ],
  HTTPS_REQUIRED: [
    403,
    'This service accepts HTTPS only. Repeat the request over https://, and replace the key, which was sent unencrypted.',
  ],
  PAYMENT_BLOCKED: [
    403,
    'A rule, a blacklist or the risk score blocked the request. See risk for the reason, and do not repeat it unchanged.',
  ],
  ACCOUNT_SUSPENDED: [403, 'This account is suspended. Ask the operator of this installation to reactivate it.'],
  SENDER_NOT_ALLOWED: [
    403,
    'The country accepts registered senders only. Register this one under /v1/sms/sender-ids, or use an approved one.',
  ],
  COUNTRY_NOT_ENABLED: [
    403,
    'Messages to this country are not enabled for your account. Ask the operator of this installation.',
  ],
  SHORTCODE_NOT_ALLOWED: [
    403,
    'The short code is not assigned to your account. Use one of yours, or ask the operator to assign it to you.',
  ],
  DOMAIN_NOT_VERIFIED: [
    403,
    'The sending domain is not verified. Register it under /v1/email/domains and add its DNS records.',
  ],
  OPTED_OUT: [403, 'The recipient has opted out of messages from this sender. Do not send to this number again.'],
  NUMBER_NOT_OWNED: [403, 'The number is not assigned to your account. Use a number of yours.'],
  DESTINATION_NOT_ALLOWED: [
    403,
    'The destination is blocked, or the operator has set no price for it. Ask the operator of this installation.',
  ],
  OTP_BLOCKED: [403, 'The fraud guard blocked the code. See reason; do not repeat the request unchanged.'],
  NOT_FOUND: [404, 'There is no resource with this path or id. Check both.'],
  TEMPLATE_NOT_FOUND: [404, 'There is no template with this name or id. See GET /v1/email/templates for yours.'],
  DOMAIN_NOT_FOUND: [
    404,
    'There is no domain with this name or id in your account. See GET /v1/email/domains for yours.',
  ],
  WEBHOOK_NOT_CONFIGURED: [
    404,
    'The account has no email tracking webhook. Set one with PUT /v1/email/tracking-webhook, or subscribe a webhook to email events.',
  ],
  '131047': [403, 'The user has not written within the last 24 hours. Send a template instead.'],
  '131051': [403, 'The user has not opted in, or has opted out. Do not send to this number until the user opts in.'],
  MEDIA_EXPIRED: [404, 'The file was deleted after 30 days. Upload it again, or ask the user to resend it.'],
  DELIVERY_NOT_FOUND: [
    404,
    'There is no delivery with this id, or it is past the retention period of your plan. Check the id; it begins with dlv_.',
  ],
  WEBHOOK_NOT_FOUND: [404, 'There is no webhook with this id. Check the id; it begins with wh_.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not support the method. See the Allow header for those it does.'],
  DUPLICATE_REFERENCE: [409, 'This idempotency key or reference was used for another request. Use a new one.'],
  REQUEST_IN_PROGRESS: [409, 'The first request with this idempotency key is still running. Repeat this one shortly.'],
  INVALID_STATE: [409, 'The status of the object does not allow this. Read the object for its status.'],
  CUSTOMER_ERASED: [
    409,
    'The row has a phone number, email address or external_id of an erased customer. Create that customer by request only if they ask for it.',
  ],
  CUSTOMER_CONFLICT: [
    409,
    'Another customer has this phone number, email address or external_id. Change that one, see customer_id, or merge both.',
  ],
  CAMPAIGN_STATE: [409, 'The state of the campaign does not allow this. Read the campaign for its state.'],
  CONFLICT: [
    409,
    'The request conflicts with the current state of the object. See details, and read the object again.',
  ],
  DUPLICATE_SESSION: [409, 'A session with this session_id exists. Use another session_id.'],
  SESSION_ENDED: [409, 'The session has ended. Start a new one with another session_id.'],
  SESSION_EXPIRED: [409, 'The session has expired. Start a new one with another session_id.'],
  NO_PENDING_INPUT: [
    409,
    'The subscriber has not answered the last screen yet. Send the next screen after the event ussd.response.',
  ],
  TRANSACTION_TIMEOUT: [409, 'The payment did not end within the requested wait. Read it again later.'],
  REFUND_NOT_ALLOWED: [409, 'The payment cannot be refunded as requested. See details for the reason.'],
  MESSAGE_NOT_CANCELLABLE: [
    409,
    'The message is being sent or has ended, and can no longer be changed or cancelled. Read it for its status.',
  ],
  NO_PENDING_SECRET: [
    409,
    'No rotated secret is pending. Rotate the secret first, and install the new one on your server.',
  ],
  CALL_NOT_ACTIVE: [409, 'The call is not answered yet or has ended. Read it for its status.'],
  AGENT_NOT_AVAILABLE: [409, 'The agent is not available for calls. Choose another agent or a queue.'],
  AGENT_NOT_LOGGED_IN: [409, 'The agent is not logged in. Send POST /v1/voice/agent/login first.'],
  AGENT_BUSY: [409, 'The agent is on a call. Wait until it ends, or set force to true.'],
  QUEUE_FULL: [409, 'The queue is full. Raise max_size, or set an overflow.'],
  CONFERENCE_FULL: [409, 'The conference is full. Wait until a participant leaves.'],
  NOT_CANCELLABLE: [
    409,
    'The message is being sent or has ended, and can no longer be cancelled or rescheduled. Read it for its status.',
  ],
  TEMPLATE_EXISTS: [409, 'A template of this name exists. Update it with PUT, or choose another name.'],
  TEMPLATE_IN_USE: [
    409,
    'A scheduled bulk uses this template. Cancel the bulk, or delete the template once it is sent.',
  ],
  DOMAIN_EXISTS: [409, 'The domain is registered already. Use the existing one, or register a subdomain.'],
  OTP_ALREADY_USED: [409, 'This code was verified before. Send a new one to verify again.'],
  CHALLENGE_USED: [409, 'This liveness challenge was submitted before. Request a new one.'],
  LEGAL_HOLD: [409, 'This record is under legal hold and cannot be erased. Ask the operator of this installation.'],
  PAYLOAD_TOO_LARGE: [413, 'The body exceeds the size limit of this operation. Send less at once.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Send the body as application/json.'],
  RANGE_NOT_SATISFIABLE: [416, 'The range lies beyond the end of the file. See Content-Range for its size.'],
  VALIDATION_ERROR: [422, 'A field is missing or invalid. See details for the field and its rule.'],
  INVALID_PHONE: [
    422,
    'A phone number is malformed. Write it in E.164: a plus sign, the country code and the number, such as +254711000001.',
  ],
  INVALID_SHORTCODE: [422, 'The short code is malformed. Write a star, digits and a hash, such as *384# or *384*1#.'],
  DATA_TOO_LARGE: [
    422,
    'The data of a session exceeds 4,096 bytes as JSON. Send less, or store an id of your own instead.',
  ],
  ATTRIBUTE_TYPE: [
    422,
    'The value has another type than the first value of the attribute: text, number, boolean or date. Send that type, or use another name.',
  ],
  NO_RECIPIENTS: [422, 'The audience is empty. Choose another segment or other customers.'],
  SEGMENT_INVALID: [422, 'A condition of the filter is invalid. See path for its place and details for its rule.'],
  MENU_INVALID: [422, 'The menu is invalid. See details for the screens and their errors.'],
  INVALID_CALL_FLOW: [422, 'An action of the flow is invalid. See details for the action and its rule.'],
  UNSUPPORTED_LANGUAGE: [422, 'The language is not supported. Use one listed by GET /v1/voice/tts/voices.'],
  INVALID_CARD: [422, 'The card details are invalid. See details, and ask the payer to type them again.'],
  MESSAGE_TOO_LONG: [
    422,
    'The message needs more segments than max_segments allows. Send a shorter text or raise max_segments.',
  ],
  ENCODING_ERROR: [
    422,
    'The text has characters outside the requested encoding. Use auto or ucs2, or change the text.',
  ],
  NO_ROUTE: [
    422,
    'No carrier of this installation delivers to this number. Ask the operator for a route to its country.',
  ],
  '130472': [422, 'The number is not registered with the messenger. Use another channel, such as SMS.'],
  '131026': [
    422,
    'There is no approved template with this name and language. See GET /v1/messenger/templates for its status.',
  ],
  '131052': [422, 'The media at the link cannot be fetched or used. Host it elsewhere, or upload it and send its id.'],
  '131053': [422, 'The media cannot be used. Check its format and size, then upload it again.'],
  '133004': [422, 'The message cannot be delivered to this number. Check the number.'],
  INVALID_EMAIL: [422, 'An email address is invalid. Write it as name@example.com.'],
  INVALID_DOMAIN: [422, 'Mail cannot be sent from this domain. Use a domain name that you own, such as shop.example.'],
  TEMPLATE_SYNTAX: [422, 'The template has a syntax error. See details for its line and column.'],
  MISSING_VARIABLE: [422, 'A placeholder has no value. Set it in variables, or add a fallback to the template.'],
  ATTACHMENT_TOO_LARGE: [422, 'The message is larger than 25 MiB. Send smaller attachments, or link to them.'],
  ATTACHMENT_BLOCKED: [422, 'Mail servers reject attachments of this type. Send a link to the file instead.'],
  TOO_MANY_RECIPIENTS: [422, 'The message has more than 50 recipients. Send several messages or a bulk.'],
  MAIL_NOT_CONFIGURED: [422, 'The account has no verified sending domain. Verify one under /v1/email/domains first.'],
  UNSUPPORTED_CURRENCY: [
    422,
    'The currency is not enabled. Use one of the ISO 4217 codes listed in the documentation.',
  ],
  UNSUPPORTED_PROVIDER: [
    422,
    'No provider supports this payment. Use one listed by GET /v1/payments/methods for the currency, or omit provider.',
  ],
  UNSUPPORTED_METHOD: [
    422,
    'The payment method is not available in this currency. Use one listed by GET /v1/payments/methods.',
  ],
  BATCH_TOO_LARGE: [422, 'The batch has more than 10,000 payouts. Send the rest in another batch.'],
  AMOUNT_TOO_LOW: [422, 'The amount is below the provider’s minimum. Use min_amount or more.'],
  AMOUNT_TOO_HIGH: [422, 'The amount is above the provider’s maximum. Use max_amount or less.'],
  REFUND_EXCEEDS_PAYMENT: [
    422,
    'The refund exceeds the refundable amount of the payment. Use amount_refundable or less.',
  ],
  WEBHOOK_LIMIT_REACHED: [
    422,
    'The limit of webhooks of your plan is reached. Delete an unused one, or ask the operator for a larger plan.',
  ],
  INVALID_DOCUMENT_TYPE: [
    422,
    'The document type is not supported for this country. Use one of supported_types; GET /v1/identity/document-types lists all.',
  ],
  IMAGE_QUALITY_LOW: [
    422,
    'The quality of the picture is too low. See problems, and regions for their places; ask for another picture.',
  ],
  IMAGE_TOO_LARGE: [422, 'The picture exceeds 5 MB or 40 million pixels. Send a smaller one.'],
  NO_FACE_DETECTED: [422, 'No face was detected in the picture. Ask for one that shows the whole face from the front.'],
  MULTIPLE_FACES: [422, 'More than one face was detected in the picture. Ask for one that shows one person only.'],
  FACE_MISMATCH: [
    422,
    'The similarity of the faces is below the threshold. Send pictures of the same person, or request a review.',
  ],
  LIVENESS_FAILED: [422, 'The liveness check failed. Ask the person to try again.'],
  DOCUMENT_UNREADABLE: [422, 'The document could not be read. Ask for a sharper picture of the whole page.'],
  CHALLENGE_EXPIRED: [422, 'The liveness challenge has expired. Request a new one.'],
  CONSENT_REQUIRED: [
    422,
    'Consent is missing. A check requires consent.granted: true; a campaign requires customers who agreed to marketing.',
  ],
  OTP_INVALID: [422, 'The code is wrong. See attempts_remaining, and ask the person to type it again.'],
  OTP_EXPIRED: [422, 'The code has expired. Send a new one.'],
  OTP_COOLDOWN: [
    429,
    'A code was sent to this number less than the required wait ago. Wait for the time in Retry-After.',
  ],
  OTP_SEND_LIMIT: [
    429,
    'The code was sent the maximum number of times. Wait until it has expired, then send a new one.',
  ],
  OTP_ATTEMPTS_EXCEEDED: [429, 'Too many wrong codes: the code is no longer valid. Send a new one.'],
  RATE_LIMITED: [429, 'Too many requests. Wait for the time in Retry-After, then send more slowly.'],
  RATE_LIMIT_EXCEEDED: [429, 'Too many emails for your plan. Wait for the time in Retry-After, then send more slowly.'],
  '130429': [429, 'Too many messages for your plan. Wait for the time in Retry-After, then send more slowly.'],
  CONCURRENCY_LIMIT: [429, 'The account has too many concurrent calls. Wait until one of them has ended.'],
  TOO_MANY_STREAMS: [429, 'The account has too many open streams. Close an unused one, then try again.'],
  INTERNAL_ERROR: [500, 'An internal error occurred and was logged. Include the request id when you report it.'],
  SERVICE_UNAVAILABLE: [
    503,
    'The service is temporarily unavailable. Repeat the request after Retry-After, with the same Idempotency-Key if it changes data.',
  ],
  REGISTRY_UNAVAILABLE: [
    503,
    'The registry of the issuing country does not respond. Repeat the request after Retry-After.',
  ],
  PROVIDER_UNAVAILABLE: [
    503,
    'The provider is unavailable: nothing was sent and no money moved. See details; if Retry-After is set, repeat the request then.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof errors

export interface FieldProblem {
  field: string
  code: ErrorCode
  message: string
}

/** Problem of one entry of a bulk request. */
interface EntryProblem {
  index: number
  to: string
  error_code: string
  error: string
}

/** Problem of one item of a batch of payouts. */
interface ItemProblem {
  index: number
  code: string
  details: string
}

/** Problem of one line of a file. */
interface LineProblem {
  line: number
  code: string
  details: string
}

/** Problem at a place of a picture: left, top, width and height as parts of its sides. */
interface PlaceProblem {
  problem: string
  box: readonly number[]
}

type Problems = readonly EntryProblem[] | readonly ItemProblem[] | readonly LineProblem[] | readonly PlaceProblem[]

export interface ErrorExtras {
  /** Members beside the five that every error has, as the code's documentation names them. */
  extra?: Readonly<Record<string, string | number | boolean | null | readonly string[] | Problems>>
  fields?: readonly FieldProblem[]
  retryAfterSeconds?: number
  cause?: unknown
}

/** The customer's business: thrown anywhere, rendered in one place. `details` says what exactly, and how to mend it. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: string
  readonly extras: ErrorExtras

  constructor(code: ErrorCode, details = '', extras: ErrorExtras = {}) {
    super(`${code}${details && `: ${details}`}`, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
    this.extras = extras
  }

  get status(): number {
    return errors[this.code][0]
  }
}

/** The refusal of a field by a rule that its schema cannot say; `problem` is what follows the name in a sentence. */
export function invalid(field: string, problem: string): AppError {
  return invalidField(field, ' ', problem)
}

/** Validation error as `invalid`, with a colon after the field's name. */
export function invalidAt(field: string, problem: string): AppError {
  return invalidField(field, ': ', problem)
}

function invalidField(field: string, between: string, problem: string): AppError {
  return new AppError('VALIDATION_ERROR', `${field}${between}${problem}`, {
    fields: [{ field, code: 'VALIDATION_ERROR', message: problem }],
  })
}

/** The refusal of what can be used once, such as a reference, with the thing that has it. */
export function alreadyUsed(what: string, id: string, status: string): AppError {
  return new AppError('DUPLICATE_REFERENCE', `${what} was used before`, {
    extra: { existing_id: id, original_id: id, original_status: status },
  })
}
