// SPDX-License-Identifier: Apache-2.0
// Every error a customer can meet, in one table: code -> HTTP status -> a sentence that says what to do. Replies, the
// OpenAPI document and the error pages derive from it. Outcomes of the outside world are values, not errors.

export const errors = {
  INVALID_REQUEST: [400, 'The request itself is not well formed. See details, correct it and send it again.'],
  INVALID_URL: [400, 'The URL cannot be used. Give an absolute https:// URL that is reachable from this service.'],
  INVALID_EVENT: [
    400,
    'The events are not named as they must be. See details for what is wrong; GET /v1/webhooks/events lists the names.',
  ],
  INVALID_DATE_RANGE: [400, 'The dates are malformed or the first is after the last. Use YYYY-MM-DD, oldest first.'],
  UNAUTHORIZED: [401, 'Send a valid API key or access token in the header Authorization: Bearer <key>.'],
  INSUFFICIENT_FUNDS: [402, 'The customer does not have enough money. Ask the customer to top up and try again.'],
  INSUFFICIENT_WALLET_BALANCE: [
    402,
    'Your wallet cannot cover this payout or refund. Top up the wallet and try again.',
  ],
  INSUFFICIENT_BALANCE: [402, 'Your account balance cannot cover this request. Top up the account and try again.'],
  BUDGET_REACHED: [402, 'The campaign has spent its budget. Raise the budget, then resume it.'],
  CARD_DECLINED: [402, 'The card was declined. Ask the payer for another card, or another way to pay.'],
  CARD_EXPIRED: [402, 'The card has expired. Ask the payer for another card.'],
  INCORRECT_CVV: [402, 'The security code is wrong. Ask the payer to type it again.'],
  DEBIT_REFUSED: [
    402,
    'The bank refused to debit the account. See failure_reason, and ask the payer for another account or way to pay.',
  ],
  AUTHENTICATION_FAILED: [402, 'The payer did not prove that the card is theirs. Ask them to try again.'],
  FORBIDDEN: [
    403,
    'This key or token may not do that. See details for why; where a required_scope is named, use a key that carries it.',
  ],
  HTTPS_REQUIRED: [
    403,
    'This service speaks HTTPS only. Repeat the request over https:// and replace the key you sent.',
  ],
  PAYMENT_BLOCKED: [
    403,
    'A rule, a blacklist or the risk score blocked this. See its risk, and do not repeat it unchanged.',
  ],
  ACCOUNT_SUSPENDED: [403, 'This account is suspended. Ask the operator of this installation to reactivate it.'],
  SENDER_NOT_ALLOWED: [
    403,
    'The country takes only registered senders. Register this one under /v1/sms/sender-ids, or use one that is approved.',
  ],
  COUNTRY_NOT_ENABLED: [
    403,
    'Messages to this country are not enabled for you. Ask the operator of this installation.',
  ],
  SHORTCODE_NOT_ALLOWED: [
    403,
    'The shortcode belongs to somebody else or to nobody yet. Use one of yours, or ask the operator to assign it to you.',
  ],
  DOMAIN_NOT_VERIFIED: [
    403,
    'Mail may be sent only from a domain of yours that is verified. Register it under /v1/email/domains and add its DNS records.',
  ],
  OPTED_OUT: [403, 'The recipient does not want messages from this sender. Do not write to this number again.'],
  NUMBER_NOT_OWNED: [403, 'The number belongs to another account. Use a number that is yours.'],
  DESTINATION_NOT_ALLOWED: [
    403,
    'This destination is blocked here, or what you ask for has no price yet. Ask the operator of this installation.',
  ],
  OTP_BLOCKED: [403, 'No code was sent to this number. See reason; do not repeat it unchanged.'],
  NOT_FOUND: [404, 'There is nothing at this address. Check the path and the id.'],
  TEMPLATE_NOT_FOUND: [404, 'There is no template with this name or id. See GET /v1/email/templates for yours.'],
  DOMAIN_NOT_FOUND: [404, 'There is no such domain in your account. See GET /v1/email/domains for yours.'],
  WEBHOOK_NOT_CONFIGURED: [
    404,
    'No webhook URL is set for the account. Give one with PUT /v1/email/tracking-webhook, or subscribe a webhook to email events.',
  ],
  '131047': [403, 'The 24 hours after the user last wrote are over, or the user never wrote. Send a template instead.'],
  '131051': [403, 'The user has not opted in, or has opted out. Do not write to this number until it opts in.'],
  MEDIA_EXPIRED: [404, 'The file was kept for 30 days and is gone. Ask for it again, or upload it anew.'],
  DELIVERY_NOT_FOUND: [
    404,
    'There is no delivery with this id, or it is older than your plan keeps. Check the id; it begins with dlv_.',
  ],
  WEBHOOK_NOT_FOUND: [404, 'There is no webhook with this id. Check it; the ids of webhooks begin with wh_.'],
  METHOD_NOT_ALLOWED: [405, 'This address does not take that method. See the Allow header.'],
  DUPLICATE_REFERENCE: [409, 'This key or reference was already used for something else. Use a new one.'],
  REQUEST_IN_PROGRESS: [409, 'The first request with this idempotency key is still running. Repeat this one shortly.'],
  INVALID_STATE: [409, 'The object is past the state in which this can be done. Read it to see its status.'],
  CUSTOMER_ERASED: [
    409,
    'The row has a number, address or id of a person who was erased. Create them by request only if they ask to come back.',
  ],
  CUSTOMER_CONFLICT: [
    409,
    'Another customer has this phone number, email address or external_id. Change that one, see customer_id, or merge both.',
  ],
  CAMPAIGN_STATE: [409, 'The campaign is not in a state in which this can be done. Read it to see its state.'],
  CONFLICT: [409, 'The object is not in a state that allows this. Read it again before you decide.'],
  DUPLICATE_SESSION: [409, 'There is a session with this session_id already. Use another one.'],
  SESSION_ENDED: [409, 'The session is over. Begin a new one with another session_id.'],
  SESSION_EXPIRED: [409, 'The session ran out of time. Begin a new one with another session_id.'],
  NO_PENDING_INPUT: [
    409,
    'The subscriber has not answered the last screen yet. Send the next screen when ussd.response tells the answer.',
  ],
  TRANSACTION_TIMEOUT: [409, 'The payment was not over within the time you gave. Read it again later.'],
  REFUND_NOT_ALLOWED: [409, 'This payment cannot be refunded in this way. See details for the reason.'],
  MESSAGE_NOT_CANCELLABLE: [
    409,
    'The message is on its way or finished, and cannot be changed or cancelled any more. Read it to see its status.',
  ],
  NO_PENDING_SECRET: [
    409,
    'No new secret waits to be activated. Rotate the secret first, and give the new one to your server.',
  ],
  CALL_NOT_ACTIVE: [409, 'The call is not answered, or is over already. Read it to see its status.'],
  AGENT_NOT_AVAILABLE: [409, 'The agent takes no call just now. Choose another one, or a queue.'],
  AGENT_NOT_LOGGED_IN: [409, 'The agent is not logged in. Send POST /v1/voice/agent/login for them first.'],
  AGENT_BUSY: [409, 'The agent is on a call. Wait until it is over, or say force.'],
  QUEUE_FULL: [409, 'As many callers wait in the queue as it takes. Raise max_size, or give it an overflow.'],
  CONFERENCE_FULL: [409, 'As many people are in the conference as it takes. Wait until somebody leaves.'],
  NOT_CANCELLABLE: [
    409,
    'The message is on its way or finished, and cannot be cancelled or moved any more. Read it to see its status.',
  ],
  TEMPLATE_EXISTS: [409, 'There is a template of this name already. Change it with PUT, or choose another name.'],
  TEMPLATE_IN_USE: [
    409,
    'A scheduled bulk still needs this template. Cancel the bulk, or delete the template once it was sent.',
  ],
  DOMAIN_EXISTS: [409, 'The domain is registered already. Use the one that is there, or a subdomain of it.'],
  OTP_ALREADY_USED: [409, 'This code was verified before. Send a new one if you need to check again.'],
  CHALLENGE_USED: [409, 'This liveness challenge was submitted before. Ask for a new one.'],
  LEGAL_HOLD: [409, 'This record is under legal hold and cannot be erased. Ask the operator of this installation.'],
  PAYLOAD_TOO_LARGE: [413, 'The body is larger than this address takes. Send less at once.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Send the body as application/json.'],
  RANGE_NOT_SATISFIABLE: [416, 'There is nothing in this range. See Content-Range for how many bytes there are.'],
  VALIDATION_ERROR: [422, 'A field is missing or breaks a rule. See details for which one, and what it must be.'],
  INVALID_PHONE: [422, 'Phone numbers are E.164: a plus sign, the country code and the number, such as +254711000001.'],
  INVALID_SHORTCODE: [
    422,
    'Shortcodes are a star, digits and a hash, such as *384# or *384*1#. Correct it and try again.',
  ],
  DATA_TOO_LARGE: [
    422,
    'The data of a session has at most 4,096 bytes as JSON. Send less, or an id of your own in its place.',
  ],
  ATTRIBUTE_TYPE: [
    422,
    'An attribute keeps the type of its first value: text, number, boolean or date. Send a value of that type, or use another name.',
  ],
  NO_RECIPIENTS: [422, 'Nobody is in the audience. Choose another segment, or name other customers.'],
  SEGMENT_INVALID: [
    422,
    'A condition of the filter cannot be read. See path for which one, and details for what it must be.',
  ],
  MENU_INVALID: [422, 'The menu cannot be run. See details for the screens that are wrong, and why.'],
  INVALID_CALL_FLOW: [
    422,
    'An action of the flow cannot be carried out. See details for which one, and what it must be.',
  ],
  UNSUPPORTED_LANGUAGE: [422, 'This language is not spoken here. Use one that GET /v1/voice/tts/voices lists.'],
  INVALID_CARD: [422, 'The card details cannot be right. See details, and ask the payer to type them again.'],
  MESSAGE_TOO_LONG: [
    422,
    'The message needs more segments than max_segments allows. Send a shorter text, or give a higher max_segments.',
  ],
  ENCODING_ERROR: [
    422,
    'The text cannot be written in the encoding you asked for. Use auto or ucs2, or change the text.',
  ],
  NO_ROUTE: [
    422,
    'No carrier of this installation delivers to this number. Ask the operator for a route to its country.',
  ],
  '130472': [422, 'Nobody uses the messenger with this number. Send it in another way, such as by SMS.'],
  '131026': [
    422,
    'There is no approved template of this name and language. See GET /v1/messenger/templates for its state.',
  ],
  '131052': [422, 'The media at the link cannot be fetched or used. Host it elsewhere, or upload it and send its id.'],
  '131053': [422, 'The media cannot be used. Check its format and size, then upload it again.'],
  '133004': [422, 'The message cannot be delivered to this number. Check the number.'],
  INVALID_EMAIL: [422, 'An email address is not valid. Write it as name@example.com.'],
  INVALID_DOMAIN: [422, 'This is no domain to send mail from. Give a name that you registered, such as shop.example.'],
  TEMPLATE_SYNTAX: [422, 'The template cannot be read. See details for the line and column, and correct it there.'],
  MISSING_VARIABLE: [422, 'A placeholder has no value. Give all of them in variables, or a fallback in the template.'],
  ATTACHMENT_TOO_LARGE: [422, 'The message is larger than 25 MiB. Send smaller attachments, or link to them.'],
  ATTACHMENT_BLOCKED: [422, 'Mail servers refuse attachments of this kind. Send a link to the file instead.'],
  TOO_MANY_RECIPIENTS: [422, 'A message has at most 50 recipients. Send several, or a bulk.'],
  MAIL_NOT_CONFIGURED: [
    422,
    'There is no address that this mail could come from. Verify a domain under /v1/email/domains first.',
  ],
  UNSUPPORTED_CURRENCY: [
    422,
    'This currency is not enabled here. Use one of the ISO 4217 codes listed in the documentation.',
  ],
  UNSUPPORTED_PROVIDER: [
    422,
    'No provider takes this payment. Use one that is listed among the payment methods of the currency, or name none.',
  ],
  UNSUPPORTED_METHOD: [
    422,
    'This way to pay is not offered in the currency. Use one that is listed among the payment methods.',
  ],
  BATCH_TOO_LARGE: [422, 'A batch takes at most 10,000 payouts. Send the rest as another one.'],
  AMOUNT_TOO_LOW: [422, 'The amount is below what the provider takes. Ask for min_amount or more.'],
  AMOUNT_TOO_HIGH: [422, 'The amount is above what the provider takes. Ask for max_amount or less.'],
  REFUND_EXCEEDS_PAYMENT: [
    422,
    'The refund is larger than what is left of the payment. Ask for amount_refundable or less.',
  ],
  WEBHOOK_LIMIT_REACHED: [
    422,
    'Your plan takes no more webhooks. Delete one that you no longer use, or ask for a larger plan.',
  ],
  INVALID_DOCUMENT_TYPE: [
    422,
    'This kind of document is not known, or not issued there. Use one of supported_types; GET /v1/identity/document-types lists all.',
  ],
  IMAGE_QUALITY_LOW: [
    422,
    'The picture cannot be judged. See problems, and regions for where they are; ask for another one.',
  ],
  IMAGE_TOO_LARGE: [
    422,
    'The picture is larger than is taken: at most 5 MB and 40 million pixels. Send a smaller one.',
  ],
  NO_FACE_DETECTED: [
    422,
    'No face was found in the picture. Ask for one in which the whole face is seen from the front.',
  ],
  MULTIPLE_FACES: [422, 'There is more than one face in the picture. Ask for one that shows one person only.'],
  FACE_MISMATCH: [
    422,
    'The two pictures show different people, as far as the engine can tell. Send pictures of the same person, or ask for a review.',
  ],
  LIVENESS_FAILED: [422, 'The pictures do not show that a living person was before the camera. Ask for another try.'],
  DOCUMENT_UNREADABLE: [422, 'Nothing could be read on the document. Ask for a sharper picture of the whole page.'],
  CHALLENGE_EXPIRED: [422, 'The liveness challenge is too old. Ask for a new one.'],
  CONSENT_REQUIRED: [
    422,
    'This needs consent. A check takes consent with granted: true; a campaign takes customers who agreed to marketing.',
  ],
  OTP_INVALID: [422, 'The code is wrong. See attempts_remaining, and ask the person to type it again.'],
  OTP_EXPIRED: [422, 'The code is too old. Send a new one.'],
  OTP_COOLDOWN: [429, 'A code was sent to this number a moment ago. Wait for the time in Retry-After.'],
  OTP_SEND_LIMIT: [429, 'This code was sent as often as it may be. Wait until it has expired, then send a new one.'],
  OTP_ATTEMPTS_EXCEEDED: [429, 'A wrong code was given too often, and the code is dead. Send a new one.'],
  RATE_LIMITED: [429, 'Too many requests. Wait for the time in Retry-After, then send more slowly.'],
  RATE_LIMIT_EXCEEDED: [429, 'Too many emails for your plan. Wait for the time in Retry-After, then send more slowly.'],
  '130429': [429, 'Too many messages for your plan. Wait for the time in Retry-After, then send more slowly.'],
  CONCURRENCY_LIMIT: [429, 'Too many calls of this account are under way. Wait until one of them has ended.'],
  TOO_MANY_STREAMS: [
    429,
    'Too many streams of this account are open. Close one that you no longer read, then try again.',
  ],
  INTERNAL_ERROR: [500, 'Something failed on our side and was recorded. Give the request id when you report it.'],
  SERVICE_UNAVAILABLE: [
    503,
    'The service cannot handle this request just now. Repeat it shortly, with the same Idempotency-Key if it changes something.',
  ],
  REGISTRY_UNAVAILABLE: [503, 'The registry of the issuing country does not answer. Repeat it after Retry-After.'],
  PROVIDER_UNAVAILABLE: [
    503,
    'The provider cannot be asked, so nothing was sent and no money moved. See details; where there is a Retry-After, repeat it then.',
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
