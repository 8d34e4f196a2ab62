// SPDX-License-Identifier: Apache-2.0
// A function for every operation of the API. Made by tools/sdk.mjs from openapi.json: do not edit.
import { operation, type Page } from './client.ts'
import type * as s from './schemas.ts'

/** Tell which account, environment and scopes a credential has */
export const authWhoami = /* @__PURE__ */ operation<object, s.WhoAmI>('GET', '/v1/auth/whoami')

/** Make a short-lived access token with some of the key’s scopes */
export const authToken = /* @__PURE__ */ operation<{ body?: { scope?: string | undefined; expires_in?: number | undefined; subject?: string | undefined; grant_type?: string | undefined; client_id?: string | undefined; client_secret?: string | undefined } }, s.AccessToken>('POST', '/v1/auth/token')

/** Read your account */
export const accountGet = /* @__PURE__ */ operation<object, s.Account>('GET', '/v1/account')

/** Change your account’s name, time zone or settings */
export const accountUpdate = /* @__PURE__ */ operation<{ body?: { name?: string | undefined; timezone?: string | undefined; settings?: { default_sender?: string | null | undefined; email_webhook_url?: string | null | undefined; invoice_number_pattern?: string | null | undefined; invoice_overpayment?: ('credit' | 'refund') | null | undefined; low_balance_threshold?: (number | string) | null | undefined; dunning_days?: number[] | null | undefined; dunning_end?: ('cancel' | 'keep_past_due') | null | undefined; brand_color?: string | null | undefined; brand_logo?: string | null | undefined; tax_number?: string | null | undefined; address?: string | null | undefined; require_totp?: boolean | null | undefined; sms_text_days?: number | null | undefined; sms_words?: ({ stop?: string[] | undefined; start?: string[] | undefined; help?: string[] | undefined }) | null | undefined } | undefined } }, s.Account>('PATCH', '/v1/account')

/** List your API keys */
export const apiKeysList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; environment?: 'test' | 'live' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.ApiKey>>('GET', '/v1/api-keys', 'page')

/** Make an API key */
export const apiKeysCreate = /* @__PURE__ */ operation<{ body: { name: string; environment?: 'test' | 'live' | undefined; scopes?: string[] | undefined; expires_at?: string | undefined; allowed_ips?: string[] | undefined; strict?: boolean | undefined; envelope?: 'both' | 'flat' | 'data' | undefined } }, s.NewApiKey>('POST', '/v1/api-keys')

/** Read an API key’s record */
export const apiKeysGet = /* @__PURE__ */ operation<{ id: string }, s.ApiKey>('GET', '/v1/api-keys/{id}')

/** Rename a key, or change what it may do and from where */
export const apiKeysUpdate = /* @__PURE__ */ operation<{ id: string; body?: { name?: string | undefined; scopes?: string[] | undefined; expires_at?: string | null | undefined; allowed_ips?: string[] | undefined; strict?: boolean | undefined; envelope?: 'both' | 'flat' | 'data' | undefined } }, s.ApiKey>('PATCH', '/v1/api-keys/{id}')

/** Revoke a key at once, everywhere */
export const apiKeysRevoke = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/api-keys/{id}')

/** Replace a key; the old one works on for a grace period */
export const apiKeysRotate = /* @__PURE__ */ operation<{ id: string; body?: { grace_period?: number | undefined } }, s.NewApiKey>('POST', '/v1/api-keys/{id}/rotate')

/** Count requests and cost by day and area */
export const usageGet = /* @__PURE__ */ operation<{ query?: { start_date?: string | undefined; end_date?: string | undefined; group_by?: ('day' | 'area' | 'operation' | 'country')[] | undefined } }, s.Usage>('GET', '/v1/usage')

/** Tell all rate limits and what is left of them */
export const limitsGet = /* @__PURE__ */ operation<object, s.Limits>('GET', '/v1/limits')

/** List the requests you made */
export const logsList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: number | undefined; operation?: string | undefined; method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined; key_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.RequestLogEntry>>('GET', '/v1/logs', 'page')

/** Read one request by its id */
export const logsGet = /* @__PURE__ */ operation<{ request_id: string }, s.RequestLogEntry>('GET', '/v1/logs/{request_id}')

/** List who changed what */
export const auditLogList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; action?: string | undefined; target?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.AuditEntry>>('GET', '/v1/audit-log', 'page')

/** List who may sign in to the console */
export const teamList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.TeamMember>>('GET', '/v1/team/members', 'page')

/** Invite somebody to the console */
export const teamInvite = /* @__PURE__ */ operation<{ body: { email: string; name?: string | undefined; role: 'owner' | 'admin' | 'developer' | 'finance' | 'supervisor' | 'agent' | 'reviewer' | 'viewer' } }, s.InvitedMember>('POST', '/v1/team/members')

/** Read one member */
export const teamGet = /* @__PURE__ */ operation<{ id: string }, s.TeamMember>('GET', '/v1/team/members/{id}')

/** Change what a member may do, or keep them out */
export const teamChange = /* @__PURE__ */ operation<{ id: string; body?: { role?: 'owner' | 'admin' | 'developer' | 'finance' | 'supervisor' | 'agent' | 'reviewer' | 'viewer' | undefined; name?: string | undefined; status?: 'active' | 'disabled' | undefined } }, s.TeamMember>('PATCH', '/v1/team/members/{id}')

/** Remove a member, whose sessions end at once */
export const teamRemove = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/team/members/{id}')

/** Make a link by which a member chooses another password */
export const teamResetPassword = /* @__PURE__ */ operation<{ id: string }, s.PasswordReset>('POST', '/v1/team/members/{id}/reset')

/** List the accounts of this installation */
export const operatorListAccounts = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'active' | 'suspended' | undefined; plan?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OperatorAccount>>('GET', '/v1/operator/accounts', 'page')

/** Open an account; its test key stands in the reply */
export const operatorCreateAccount = /* @__PURE__ */ operation<{ body: { name: string; country: string; currency: string; timezone?: string | undefined; plan?: string | undefined; play_money?: number | string | undefined } }, s.OpenedAccount>('POST', '/v1/operator/accounts')

/** Read an account and its wallets */
export const operatorGetAccount = /* @__PURE__ */ operation<{ id: string }, s.OperatorAccountDetail>('GET', '/v1/operator/accounts/{id}')

/** Change an account’s plan, own limits, allowances or status */
export const operatorUpdateAccount = /* @__PURE__ */ operation<{ id: string; body?: { plan?: string | undefined; limits?: ({ email?: number | null | undefined; identity?: number | null | undefined; messenger?: number | null | undefined; payments?: number | null | undefined; sms?: number | null | undefined; voice?: number | null | undefined }) | null | undefined; allowances?: { api_keys?: number | null | undefined; webhooks?: number | null | undefined; webhook_retention_days?: number | null | undefined; webhook_concurrency?: number | null | undefined; sms_weight?: number | null | undefined } | undefined; status?: 'active' | 'suspended' | undefined } }, s.OperatorAccount>('PATCH', '/v1/operator/accounts/{id}')

/** Put money into an account’s wallet */
export const operatorCreditAccount = /* @__PURE__ */ operation<{ id: string; body: { amount: number | string; currency: string; environment: 'test' | 'live'; reference: string } }, s.Credit>('POST', '/v1/operator/accounts/{id}/credit')

/** Let an account’s wallet go below zero by so much */
export const operatorSetOverdraft = /* @__PURE__ */ operation<{ id: string; body: { amount: number | string; currency: string; environment: 'test' | 'live' } }, { environment: 'test' | 'live'; currency: string; balance: number; held: number; overdraft: number; available: number }>('POST', '/v1/operator/accounts/{id}/overdraft')

/** List the plans and their limits */
export const operatorListPlans = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Plan>>('GET', '/v1/operator/plans', 'page')

/** Make a plan */
export const operatorCreatePlan = /* @__PURE__ */ operation<{ body: { name: string; limits: { email?: number | null | undefined; identity?: number | null | undefined; messenger?: number | null | undefined; payments?: number | null | undefined; sms?: number | null | undefined; voice?: number | null | undefined } } }, s.Plan>('POST', '/v1/operator/plans')

/** Read a plan’s limits */
export const operatorGetPlan = /* @__PURE__ */ operation<{ name: string }, s.Plan>('GET', '/v1/operator/plans/{name}')

/** Change a plan’s limits, for every account on it */
export const operatorUpdatePlan = /* @__PURE__ */ operation<{ name: string; body: { limits: { email?: number | null | undefined; identity?: number | null | undefined; messenger?: number | null | undefined; payments?: number | null | undefined; sms?: number | null | undefined; voice?: number | null | undefined } } }, s.Plan>('PATCH', '/v1/operator/plans/{name}')

/** Make a key for an account, such as its first live key */
export const operatorCreateApiKey = /* @__PURE__ */ operation<{ id: string; body: { name: string; environment: 'test' | 'live'; scopes?: string[] | undefined; expires_at?: string | undefined; allowed_ips?: string[] | undefined; strict?: boolean | undefined; envelope?: 'both' | 'flat' | 'data' | undefined } }, s.NewApiKey>('POST', '/v1/operator/accounts/{id}/api-keys')

/** Read a key of any account */
export const operatorGetApiKey = /* @__PURE__ */ operation<{ id: string }, s.ApiKey>('GET', '/v1/operator/api-keys/{id}')

/** Change how many requests a second a key may make */
export const operatorUpdateApiKey = /* @__PURE__ */ operation<{ id: string; body: { rate_limit_per_second: number | null } }, s.ApiKey>('PATCH', '/v1/operator/api-keys/{id}')

/** Find something of any account by its id, phone number or reference */
export const operatorSearch = /* @__PURE__ */ operation<{ query: { limit?: number | undefined; cursor?: string | undefined; q: string; format?: 'json' | 'csv' | undefined } }, Page<s.FoundThing>>('GET', '/v1/operator/search', 'page')

/** List the requests of any account */
export const operatorListRequests = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: number | undefined; operation?: string | undefined; method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined; key_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.RequestLogEntry>>('GET', '/v1/operator/accounts/{account_id}/logs', 'page')

/** Read one request of any account */
export const operatorGetRequest = /* @__PURE__ */ operation<{ account_id: string; request_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.RequestLogEntry>('GET', '/v1/operator/accounts/{account_id}/logs/{request_id}')

/** Read what any account used and what it cost */
export const operatorGetUsage = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; start_date?: string | undefined; end_date?: string | undefined; group_by?: ('day' | 'area' | 'operation' | 'country')[] | undefined } }, s.Usage>('GET', '/v1/operator/accounts/{account_id}/usage')

/** List who changed what in any account */
export const operatorListAuditLog = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; action?: string | undefined; target?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.AuditEntry>>('GET', '/v1/operator/accounts/{account_id}/audit-log', 'page')

/** List your numbers and what they are capable of */
export const numbersList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; capability?: 'voice' | 'sms' | 'ussd' | 'messenger' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OwnedNumber>>('GET', '/v1/numbers', 'page')

/** Send a message */
export const smsSend = /* @__PURE__ */ operation<{ body: { to: string | string[]; from: string; message: string; callback_url?: string | undefined; scheduled_at?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; reference?: string | undefined; encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined; validity?: number | undefined; type?: 'otp' | 'transactional' | 'promotional' | undefined; max_segments?: number | undefined; shorten_urls?: boolean | undefined; fallback?: { channel: 'messenger'; after?: number | undefined; text?: { body: string } | undefined; template?: { name: string; language: string; components?: Record<string, unknown>[] | undefined } | undefined } | undefined } }, s.SmsSendReply>('POST', '/v1/sms/send')

/** Send many different messages */
export const smsSendBulk = /* @__PURE__ */ operation<{ body: { from: string; messages: ({ to: string; message: string; from?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; reference?: string | undefined; scheduled_at?: string | undefined; callback_url?: string | undefined })[]; callback_url?: string | undefined; scheduled_at?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; type?: 'transactional' | 'promotional' | undefined; allow_partial?: boolean | undefined } }, s.SmsBulkReply>('POST', '/v1/sms/bulk')

/** Read a message */
export const smsGet = /* @__PURE__ */ operation<{ id: string }, s.SmsMessageOrBatch>('GET', '/v1/sms/{id}')

/** Reschedule or edit a message that is not yet on its way */
export const smsChange = /* @__PURE__ */ operation<{ id: string; body?: { scheduled_at?: string | undefined; message?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined } }, s.SmsMessage>('PATCH', '/v1/sms/{id}')

/** Cancel a message that is not yet on its way */
export const smsCancel = /* @__PURE__ */ operation<{ id: string }, s.SmsMessageOrBatch>('DELETE', '/v1/sms/{id}')

/** Read how much money is left for messages */
export const smsBalance = /* @__PURE__ */ operation<object, s.SmsBalance>('GET', '/v1/sms/balance')

/** List messages */
export const smsList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'queued' | 'sent' | 'delivered' | 'failed' | 'received' | undefined; to?: string | undefined; from?: string | undefined; direction?: 'outbound' | 'inbound' | undefined; start_date?: string | undefined; end_date?: string | undefined; from_date?: string | undefined; to_date?: string | undefined; batch_id?: string | undefined; scheduled?: boolean | undefined; error_code?: string | undefined; reference?: string | undefined; country?: string | undefined; q?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsMessage>>('GET', '/v1/sms', 'page')

/** Cancel a message that is not yet on its way */
export const smsCancelByPost = /* @__PURE__ */ operation<{ id: string }, s.SmsMessageOrBatch>('POST', '/v1/sms/{id}/cancel')

/** Read how far a batch is */
export const smsGetBatch = /* @__PURE__ */ operation<{ id: string; query?: { messages?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined } }, s.SmsBatch>('GET', '/v1/sms/bulk/{id}')

/** Cancel what of a batch is not yet on its way */
export const smsCancelBatch = /* @__PURE__ */ operation<{ id: string }, s.SmsBatch>('POST', '/v1/sms/bulk/{id}/cancel')

/** Count segments and cost, without sending */
export const smsEstimate = /* @__PURE__ */ operation<{ body: { to: string | string[]; from: string; message: string; callback_url?: string | undefined; scheduled_at?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; reference?: string | undefined; encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined; validity?: number | undefined; type?: 'otp' | 'transactional' | 'promotional' | undefined; max_segments?: number | undefined; shorten_urls?: boolean | undefined; fallback?: { channel: 'messenger'; after?: number | undefined; text?: { body: string } | undefined; template?: { name: string; language: string; components?: Record<string, unknown>[] | undefined } | undefined } | undefined } }, s.SmsEstimate>('POST', '/v1/sms/estimate')

/** List what a segment costs, by country and network */
export const smsPricing = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; country?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsPrice>>('GET', '/v1/sms/pricing', 'page')

/** Look a number up */
export const smsLookup = /* @__PURE__ */ operation<{ phone: string }, s.SmsLookup>('GET', '/v1/sms/lookup/{phone}')

/** Follow a message from the request to the last webhook */
export const smsTimeline = /* @__PURE__ */ operation<{ id: string }, s.Timeline>('GET', '/v1/sms/{id}/timeline')

/** Read how messages fared */
export const smsAnalytics = /* @__PURE__ */ operation<{ query?: { from_date?: string | undefined; to_date?: string | undefined; country?: string | undefined } }, s.SmsAnalytics>('GET', '/v1/sms/analytics')

/** Note that somebody does not want messages */
export const smsOptOut = /* @__PURE__ */ operation<{ body: { phone: string; from?: string | undefined; reason?: string | undefined } }, s.SmsOptOut>('POST', '/v1/sms/opt-outs')

/** List opt-outs */
export const smsListOptOuts = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; phone?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsOptOut>>('GET', '/v1/sms/opt-outs', 'page')

/** Read the opt-outs of a number */
export const smsGetOptOut = /* @__PURE__ */ operation<{ phone: string }, s.SmsOptOutOfNumber>('GET', '/v1/sms/opt-outs/{phone}')

/** Remove the opt-outs of a number */
export const smsOptIn = /* @__PURE__ */ operation<{ phone: string }, s.SmsOptOutRemoved>('DELETE', '/v1/sms/opt-outs/{phone}')

/** Register a name to send under */
export const smsCreateSenderId = /* @__PURE__ */ operation<{ body: { sender: string; countries?: string[] | null | undefined; purpose: string; sample: string } }, s.SmsSenderId>('POST', '/v1/sms/sender-ids')

/** List the names you send under */
export const smsListSenderIds = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'pending' | 'approved' | 'rejected' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsSenderId>>('GET', '/v1/sms/sender-ids', 'page')

/** Read what became of a name you registered */
export const smsGetSenderId = /* @__PURE__ */ operation<{ id: string }, s.SmsSenderId>('GET', '/v1/sms/sender-ids/{id}')

/** Give up a name you registered */
export const smsDeleteSenderId = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/sms/sender-ids/{id}')

/** List the numbers you receive on */
export const smsListNumbers = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsNumber>>('GET', '/v1/sms/numbers', 'page')

/** Take a number to receive on */
export const smsTakeNumber = /* @__PURE__ */ operation<{ body: { number: string; keywords?: ({ keyword: string; webhook_url?: string | null | undefined; auto_reply?: string | null | undefined })[] | undefined; default_webhook_url?: string | null | undefined } }, s.SmsNumber>('POST', '/v1/sms/numbers')

/** Read what a number and its keywords do */
export const smsGetNumber = /* @__PURE__ */ operation<{ number: string }, s.SmsNumber>('GET', '/v1/sms/numbers/{number}')

/** Change what a number and its keywords do */
export const smsChangeNumber = /* @__PURE__ */ operation<{ number: string; body?: { keywords?: ({ keyword: string; webhook_url?: string | null | undefined; auto_reply?: string | null | undefined })[] | undefined; default_webhook_url?: string | null | undefined } }, s.SmsNumber>('PATCH', '/v1/sms/numbers/{number}')

/** Give a number up */
export const smsGiveUpNumber = /* @__PURE__ */ operation<{ number: string }, s.SmsNumberDeleted>('DELETE', '/v1/sms/numbers/{number}')

/** List the live numbers and whose they are */
export const operatorListSmsNumbers = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; account_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OperatorSmsNumber>>('GET', '/v1/operator/sms/numbers', 'page')

/** Assign a live number to an account */
export const operatorAssignSmsNumber = /* @__PURE__ */ operation<{ body: { number: string; account_id: string; shared?: boolean | undefined } }, s.OperatorSmsNumber>('POST', '/v1/operator/sms/numbers')

/** Take a live number back, from one account or from all that share it */
export const operatorTakeBackSmsNumber = /* @__PURE__ */ operation<{ number: string; query?: { account_id?: string | undefined } }, s.SmsNumberDeleted>('DELETE', '/v1/operator/sms/numbers/{number}')

/** List the connections to carriers, and how they are doing */
export const operatorListSmsBinds = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsBind>>('GET', '/v1/operator/sms/binds', 'page')

/** Connect to a carrier: a message centre, or an aggregator over HTTP */
export const operatorCreateSmsBind = /* @__PURE__ */ operation<{ body: { host?: string | undefined; port?: number | undefined; tls?: boolean | undefined; tls_ca?: string | null | undefined; system_id?: string | undefined; password?: string | undefined; system_type?: string | undefined; service_type?: string | undefined; bind_mode?: 'transceiver' | 'pair' | undefined; sessions?: number | undefined; enquire_link_seconds?: number | undefined; centre?: string | null | undefined; answer_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined; receipt_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined; concatenation?: 'udh' | 'udh16' | 'sar' | 'payload' | undefined; alphabet?: 'gsm' | 'latin1' | undefined; short_code_ton?: number | undefined; short_code_npi?: number | undefined; profile?: { request: { method: 'GET' | 'POST'; url: string; headers?: Record<string, string> | undefined; format: 'json' | 'form' | 'query'; fields: Record<string, unknown> }; auth?: { kind: 'none' | 'basic' | 'bearer' | 'header'; username?: string | undefined; header?: string | undefined } | undefined; success?: { status?: number[] | undefined; id?: string | undefined } | undefined; errors?: { code?: string | undefined; codes?: Record<string, { as: 'reject' | 'retry' | 'reroute'; error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined }> | undefined; statuses?: Record<string, { as: 'reject' | 'retry' | 'reroute'; error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined }> | undefined } | undefined; receipts?: { each?: string | undefined; id: string; status: string; error?: string | undefined; statuses: Record<string, 'delivered' | 'ignored' | 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR'> } | undefined; inbound?: { each?: string | undefined; from: string; to: string; text: string } | undefined } | undefined; name: string; kind?: 'smpp' | 'http' | undefined; window?: number | undefined; rate?: number | null | undefined; response_timeout_seconds?: number | undefined; enabled?: boolean | undefined } }, s.SmsBind>('POST', '/v1/operator/sms/binds')

/** Read a connection to a carrier, and how it is doing */
export const operatorGetSmsBind = /* @__PURE__ */ operation<{ id: string }, s.SmsBind>('GET', '/v1/operator/sms/binds/{id}')

/** Change a connection to a carrier; it is opened anew */
export const operatorChangeSmsBind = /* @__PURE__ */ operation<{ id: string; body?: { host?: string | undefined; port?: number | undefined; tls?: boolean | undefined; tls_ca?: string | null | undefined; system_id?: string | undefined; password?: string | undefined; system_type?: string | undefined; service_type?: string | undefined; bind_mode?: 'transceiver' | 'pair' | undefined; sessions?: number | undefined; enquire_link_seconds?: number | undefined; centre?: string | null | undefined; answer_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined; receipt_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined; concatenation?: 'udh' | 'udh16' | 'sar' | 'payload' | undefined; alphabet?: 'gsm' | 'latin1' | undefined; short_code_ton?: number | undefined; short_code_npi?: number | undefined; profile?: { request: { method: 'GET' | 'POST'; url: string; headers?: Record<string, string> | undefined; format: 'json' | 'form' | 'query'; fields: Record<string, unknown> }; auth?: { kind: 'none' | 'basic' | 'bearer' | 'header'; username?: string | undefined; header?: string | undefined } | undefined; success?: { status?: number[] | undefined; id?: string | undefined } | undefined; errors?: { code?: string | undefined; codes?: Record<string, { as: 'reject' | 'retry' | 'reroute'; error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined }> | undefined; statuses?: Record<string, { as: 'reject' | 'retry' | 'reroute'; error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined }> | undefined } | undefined; receipts?: { each?: string | undefined; id: string; status: string; error?: string | undefined; statuses: Record<string, 'delivered' | 'ignored' | 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR'> } | undefined; inbound?: { each?: string | undefined; from: string; to: string; text: string } | undefined } | undefined; window?: number | undefined; rate?: number | null | undefined; response_timeout_seconds?: number | undefined; enabled?: boolean | undefined } }, s.SmsBind>('PATCH', '/v1/operator/sms/binds/{id}')

/** Give up a connection to a carrier that no route uses */
export const operatorRemoveSmsBind = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/sms/binds/{id}')

/** List which messages go over which binds */
export const operatorListSmsRoutes = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsRoute>>('GET', '/v1/operator/sms/routes', 'page')

/** Send messages over binds */
export const operatorCreateSmsRoute = /* @__PURE__ */ operation<{ body: { environment?: 'test' | 'live' | undefined; account_id?: string | undefined; country?: string | undefined; network?: string | undefined; tiers: (({ bind: string; weight?: number | undefined })[])[]; on_unknown?: 'maybe_twice' | 'maybe_never' | undefined; reroute_on_undelivered?: boolean | undefined; refund_undelivered?: boolean | undefined; when_down?: 'queue' | 'refuse' | undefined } }, s.SmsRoute>('POST', '/v1/operator/sms/routes')

/** Read which messages go over a route */
export const operatorGetSmsRoute = /* @__PURE__ */ operation<{ id: string }, s.SmsRoute>('GET', '/v1/operator/sms/routes/{id}')

/** Change the binds of a route */
export const operatorChangeSmsRoute = /* @__PURE__ */ operation<{ id: string; body?: { tiers?: (({ bind: string; weight?: number | undefined })[])[] | undefined; on_unknown?: 'maybe_twice' | 'maybe_never' | undefined; reroute_on_undelivered?: boolean | undefined; refund_undelivered?: boolean | undefined; when_down?: 'queue' | 'refuse' | undefined } }, s.SmsRoute>('PATCH', '/v1/operator/sms/routes/{id}')

/** Remove a route */
export const operatorRemoveSmsRoute = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/sms/routes/{id}')

/** List the sender ids of all accounts */
export const operatorListSmsSenderIds = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'pending' | 'approved' | 'rejected' | undefined; account_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OperatorSmsSenderId>>('GET', '/v1/operator/sms/sender-ids', 'page')

/** Approve a sender id that waits */
export const operatorApproveSmsSenderId = /* @__PURE__ */ operation<{ id: string }, s.OperatorSmsSenderId>('POST', '/v1/operator/sms/sender-ids/{id}/approve')

/** Reject a sender id, or take its approval back */
export const operatorRejectSmsSenderId = /* @__PURE__ */ operation<{ id: string; body: { reason: string } }, s.OperatorSmsSenderId>('POST', '/v1/operator/sms/sender-ids/{id}/reject')

/** List countries and what they demand of senders */
export const operatorListSmsCountries = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsCountry>>('GET', '/v1/operator/sms/countries', 'page')

/** Say whether a country may be sent to, and what it demands of senders */
export const operatorChangeSmsCountry = /* @__PURE__ */ operation<{ country: string; body?: { enabled?: boolean | null | undefined; sender_registration?: ('required' | 'open') | null | undefined } }, s.SmsCountry>('PATCH', '/v1/operator/sms/countries/{country}')

/** Read where an account may send to */
export const operatorGetSmsAccount = /* @__PURE__ */ operation<{ id: string }, s.SmsAccountCountries>('GET', '/v1/operator/sms/accounts/{id}')

/** Limit the countries that an account may send to */
export const operatorChangeSmsAccount = /* @__PURE__ */ operation<{ id: string; body: { countries: string[] | null } }, s.SmsAccountCountries>('PATCH', '/v1/operator/sms/accounts/{id}')

/** Note that a number moved to another network */
export const operatorPortSmsNumber = /* @__PURE__ */ operation<{ body: { phone: string; network: string } }, s.SmsPortedNumber>('POST', '/v1/operator/sms/ported-numbers')

/** Read where a number moved to */
export const operatorGetPortedSmsNumber = /* @__PURE__ */ operation<{ phone: string }, s.SmsPortedNumber>('GET', '/v1/operator/sms/ported-numbers/{phone}')

/** Note that a number is back with the network of its range */
export const operatorUnportSmsNumber = /* @__PURE__ */ operation<{ phone: string }, s.SmsPortedNumber>('DELETE', '/v1/operator/sms/ported-numbers/{phone}')

/** Have a handset write to you */
export const sandboxSmsInbound = /* @__PURE__ */ operation<{ body: { from: string; to: string; message: string } }, s.SmsMessage>('POST', '/v1/sandbox/sms/inbound')

/** See what a handset received */
export const sandboxHandset = /* @__PURE__ */ operation<{ query: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; phone: string; format?: 'json' | 'csv' | undefined } }, Page<s.HandsetText>>('GET', '/v1/sandbox/sms/handset', 'page')

/** Read how the sandbox’s network treats your messages */
export const sandboxSmsBehaviour = /* @__PURE__ */ operation<object, s.SmsSandboxBehaviour>('GET', '/v1/sandbox/sms/behaviour')

/** Make the sandbox’s network slow, faulty or full of holes */
export const sandboxChangeSmsBehaviour = /* @__PURE__ */ operation<{ body?: s.SmsSandboxBehaviourChange }, s.SmsSandboxBehaviour>('PATCH', '/v1/sandbox/sms/behaviour')

/** List the texts of any account */
export const operatorListMessages = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'queued' | 'sent' | 'delivered' | 'failed' | 'received' | undefined; to?: string | undefined; from?: string | undefined; direction?: 'outbound' | 'inbound' | undefined; start_date?: string | undefined; end_date?: string | undefined; from_date?: string | undefined; to_date?: string | undefined; batch_id?: string | undefined; scheduled?: boolean | undefined; error_code?: string | undefined; reference?: string | undefined; country?: string | undefined; q?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmsMessage>>('GET', '/v1/operator/accounts/{account_id}/sms', 'page')

/** Read a text of any account */
export const operatorGetMessage = /* @__PURE__ */ operation<{ account_id: string; id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.SmsMessageOrBatch>('GET', '/v1/operator/accounts/{account_id}/sms/{id}')

/** Follow a text of any account */
export const operatorGetMessageTimeline = /* @__PURE__ */ operation<{ account_id: string; id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Timeline>('GET', '/v1/operator/accounts/{account_id}/sms/{id}/timeline')

/** Upload media to send */
export const messengerUploadMedia = /* @__PURE__ */ operation<{ body: FormData }, s.MessengerMediaRecord>('POST', '/v1/messenger/media')

/** Download media */
export const messengerGetMedia = /* @__PURE__ */ operation<{ id: string }, Response>('GET', '/v1/messenger/media/{id}', 'answer')

/** Delete media now */
export const messengerDeleteMedia = /* @__PURE__ */ operation<{ id: string }, object>('DELETE', '/v1/messenger/media/{id}')

/** Read what is known of media */
export const messengerGetMediaInfo = /* @__PURE__ */ operation<{ id: string }, s.MessengerMediaRecord>('GET', '/v1/messenger/media/{id}/info')

/** Create a template */
export const messengerCreateTemplate = /* @__PURE__ */ operation<{ body: s.MessengerTemplateCreate }, s.MessengerTemplate>('POST', '/v1/messenger/templates')

/** List templates */
export const messengerListTemplates = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; name?: string | undefined; status?: 'PENDING' | 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED' | undefined; language?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerTemplate>>('GET', '/v1/messenger/templates', 'page')

/** Read a template */
export const messengerGetTemplate = /* @__PURE__ */ operation<{ id: string }, s.MessengerTemplate>('GET', '/v1/messenger/templates/{id}')

/** Change a template, which is then approved anew */
export const messengerChangeTemplate = /* @__PURE__ */ operation<{ id: string; body: { components: ({ type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS'; text?: string | undefined; format?: 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT' | undefined; buttons?: ({ type: 'QUICK_REPLY' | 'URL' | 'PHONE_NUMBER'; text: string; url?: string | undefined; phone_number?: string | undefined })[] | undefined; example?: unknown | undefined })[] } }, s.MessengerTemplate>('PATCH', '/v1/messenger/templates/{id}')

/** Delete a template */
export const messengerDeleteTemplate = /* @__PURE__ */ operation<{ id: string }, object>('DELETE', '/v1/messenger/templates/{id}')

/** Approve a template of a channel that you host */
export const messengerApproveTemplate = /* @__PURE__ */ operation<{ id: string; body: { account_id: string; environment?: 'test' | 'live' | undefined; reason?: string | undefined } }, s.MessengerTemplate>('POST', '/v1/messenger/templates/{id}/approve')

/** Refuse a template of a channel that you host */
export const messengerRejectTemplate = /* @__PURE__ */ operation<{ id: string; body: { account_id: string; environment?: 'test' | 'live' | undefined; reason?: string | undefined } }, s.MessengerTemplate>('POST', '/v1/messenger/templates/{id}/reject')

/** List users who wrote to you */
export const messengerListConversations = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerConversation>>('GET', '/v1/messenger/conversations', 'page')

/** Read whether a user can be written to, and what was written last */
export const messengerGetConversation = /* @__PURE__ */ operation<{ phone: string }, s.MessengerThread>('GET', '/v1/messenger/conversations/{phone}')

/** List who opted in or out */
export const messengerListOptIns = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerOptIn>>('GET', '/v1/messenger/opt-ins', 'page')

/** Note that a user wants your messages */
export const messengerOptIn = /* @__PURE__ */ operation<{ body: { phone: string; source?: string | undefined } }, s.MessengerOptIn>('POST', '/v1/messenger/opt-ins')

/** Read whether a user opted in or out */
export const messengerGetOptIn = /* @__PURE__ */ operation<{ phone: string }, s.MessengerOptIn>('GET', '/v1/messenger/opt-ins/{phone}')

/** Note that a user wants no messages */
export const messengerOptOut = /* @__PURE__ */ operation<{ phone: string }, object>('DELETE', '/v1/messenger/opt-ins/{phone}')

/** Send a message */
export const messengerSend = /* @__PURE__ */ operation<{ body: s.MessengerSend }, s.MessengerAccepted>('POST', '/v1/messenger/messages')

/** List messages */
export const messengerList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; direction?: 'outbound' | 'inbound' | undefined; status?: 'accepted' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | undefined; to?: string | undefined; from?: string | undefined; type?: string | undefined; template?: string | undefined; from_date?: string | undefined; to_date?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerMessage>>('GET', '/v1/messenger/messages', 'page')

/** Send a message */
export const messengerSendAtMessengerSend = /* @__PURE__ */ operation<{ body: s.MessengerSend }, s.MessengerAccepted>('POST', '/v1/messenger/send')

/** Send a template, or create one */
export const messengerTemplate = /* @__PURE__ */ operation<{ body?: { to?: string | undefined; template?: { name: string; language: string | { code: string }; components?: ({ type: 'header' | 'body' | 'button'; sub_type?: 'quick_reply' | 'url' | undefined; index?: number | string | undefined; parameters?: ({ type: 'text' | 'currency' | 'date_time' | 'image' | 'video' | 'document' | 'payload'; text?: string | undefined; payload?: string | undefined; currency?: { fallback_value: string; code: string; amount_1000: number } | undefined; date_time?: { fallback_value: string } | undefined; image?: { link?: string | undefined; id?: string | undefined; caption?: string | undefined } | undefined; video?: { link?: string | undefined; id?: string | undefined; caption?: string | undefined } | undefined; document?: { link?: string | undefined; id?: string | undefined; caption?: string | undefined; filename?: string | undefined } | undefined })[] | undefined })[] | undefined } | undefined; name?: string | undefined; language?: string | { code: string } | undefined; category?: string | undefined; components?: unknown[] | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; reference?: string | undefined; fallback?: { channel: 'sms'; from: string; message: string; after?: number | undefined } | undefined } }, s.MessengerTemplateAnswer>('POST', '/v1/messenger/template')

/** Read a message */
export const messengerGet = /* @__PURE__ */ operation<{ id: string }, s.MessengerMessage>('GET', '/v1/messenger/{id}')

/** Read a message */
export const messengerGetAtMessengerMessages = /* @__PURE__ */ operation<{ id: string }, s.MessengerMessage>('GET', '/v1/messenger/messages/{id}')

/** Show a user that a message was read */
export const messengerMarkRead = /* @__PURE__ */ operation<{ id: string; body?: { typing?: boolean | undefined } }, s.MessengerMessage>('POST', '/v1/messenger/messages/{id}/read')

/** Connect a number of a business */
export const operatorConnectMessengerChannel = /* @__PURE__ */ operation<{ body: s.MessengerChannelCreate }, s.MessengerChannel>('POST', '/v1/operator/messenger/channels')

/** List the connected numbers */
export const operatorListMessengerChannels = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerChannel>>('GET', '/v1/operator/messenger/channels', 'page')

/** Disconnect a number */
export const operatorDisconnectMessengerChannel = /* @__PURE__ */ operation<{ id: string }, object>('DELETE', '/v1/operator/messenger/channels/{id}')

/** Have a user write to you */
export const sandboxMessengerInbound = /* @__PURE__ */ operation<{ body: { from: string; to?: string | undefined; name?: string | undefined; type: 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive' | 'button' | 'location' | 'reaction'; text?: { body: string } | undefined; image?: { id: string; caption?: string | undefined; filename?: string | undefined } | undefined; video?: { id: string; caption?: string | undefined; filename?: string | undefined } | undefined; audio?: { id: string; caption?: string | undefined; filename?: string | undefined } | undefined; document?: { id: string; caption?: string | undefined; filename?: string | undefined } | undefined; interactive?: { type: 'button_reply' | 'list_reply'; button_reply?: { id: string; title: string; description?: string | undefined } | undefined; list_reply?: { id: string; title: string; description?: string | undefined } | undefined } | undefined; button?: { payload: string; text: string } | undefined; location?: { latitude: number; longitude: number; name?: string | undefined; address?: string | undefined } | undefined; reaction?: { message_id: string; emoji: string } | undefined; context?: { message_id: string } | undefined } }, { message_id: string; from: string }>('POST', '/v1/sandbox/messenger/inbound')

/** See the chat on a handset */
export const sandboxMessengerHandset = /* @__PURE__ */ operation<{ query: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; phone: string; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerMessage>>('GET', '/v1/sandbox/messenger/handset', 'page')

/** List the chat messages of any account */
export const operatorListChatMessages = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; direction?: 'outbound' | 'inbound' | undefined; status?: 'accepted' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | undefined; to?: string | undefined; from?: string | undefined; type?: string | undefined; template?: string | undefined; from_date?: string | undefined; to_date?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.MessengerMessage>>('GET', '/v1/operator/accounts/{account_id}/messenger/messages', 'page')

/** Read a chat message of any account */
export const operatorGetChatMessage = /* @__PURE__ */ operation<{ account_id: string; id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.MessengerMessage>('GET', '/v1/operator/accounts/{account_id}/messenger/{id}')

/** Send a message to one recipient or up to 50 */
export const emailSend = /* @__PURE__ */ operation<{ body: { from: string; subject?: string | undefined; html?: string | undefined; text?: string | undefined; template?: string | undefined; variables?: Record<string, unknown> | undefined; attachments?: ({ filename: string; content: string; contentType?: string | undefined; disposition?: 'attachment' | 'inline' | undefined; content_id?: string | undefined })[] | undefined; tracking?: { opens?: boolean | undefined; clicks?: boolean | undefined } | undefined; reply_to?: string | string[] | undefined; headers?: Record<string, string> | undefined; tags?: string[] | undefined; metadata?: Record<string, string | number | boolean> | undefined; scheduled_at?: string | undefined; unsubscribe?: boolean | undefined; callback_url?: string | undefined; to: string | string[]; cc?: string[] | undefined; bcc?: string[] | undefined; ttl?: number | undefined; stream?: 'transactional' | 'bulk' | undefined; strict?: boolean | undefined; reference?: string | undefined } }, s.EmailAccepted>('POST', '/v1/email/send')

/** Read what became of a message */
export const emailGet = /* @__PURE__ */ operation<{ message_id: string }, s.Email>('GET', '/v1/email/{message_id}')

/** Move a scheduled message to another time */
export const emailReschedule = /* @__PURE__ */ operation<{ message_id: string; body: { scheduled_at: string } }, s.Email>('PATCH', '/v1/email/{message_id}')

/** List messages */
export const emailList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | undefined; recipient?: string | undefined; sender?: string | undefined; tag?: string | undefined; bulk_id?: string | undefined; template?: string | undefined; reference?: string | undefined; from?: string | undefined; to?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Email>>('GET', '/v1/email', 'page')

/** Cancel a message that has not left yet; it is not charged */
export const emailCancel = /* @__PURE__ */ operation<{ message_id: string }, s.Email>('POST', '/v1/email/{message_id}/cancel')

/** Send a message again, as a new one */
export const emailResend = /* @__PURE__ */ operation<{ message_id: string; body?: { to?: string | undefined } }, s.EmailAccepted>('POST', '/v1/email/{message_id}/resend')

/** Read what a message says, for 30 days (3 on the free plan) */
export const emailGetContent = /* @__PURE__ */ operation<{ message_id: string; query?: { part?: 'html' | 'text' | 'raw' | 'headers' | undefined } }, s.EmailContent>('GET', '/v1/email/{message_id}/content')

/** Send one content to up to 10,000 recipients */
export const emailSendBulk = /* @__PURE__ */ operation<{ body: { from: string; subject?: string | undefined; html?: string | undefined; text?: string | undefined; template?: string | undefined; variables?: Record<string, unknown> | undefined; attachments?: ({ filename: string; content: string; contentType?: string | undefined; disposition?: 'attachment' | 'inline' | undefined; content_id?: string | undefined })[] | undefined; tracking?: { opens?: boolean | undefined; clicks?: boolean | undefined } | undefined; reply_to?: string | string[] | undefined; headers?: Record<string, string> | undefined; tags?: string[] | undefined; metadata?: Record<string, string | number | boolean> | undefined; scheduled_at?: string | undefined; unsubscribe?: boolean | undefined; callback_url?: string | undefined; recipients: ({ email: string; name?: string | undefined; variables?: Record<string, unknown> | undefined; metadata?: Record<string, string | number | boolean> | undefined; tags?: string[] | undefined })[]; batch_size?: number | undefined; batch_interval?: number | undefined; on_error?: 'continue' | 'abort' | undefined } }, s.EmailBulkAccepted>('POST', '/v1/email/bulk')

/** Read how far a bulk is */
export const emailGetBulk = /* @__PURE__ */ operation<{ bulk_id: string }, s.EmailBulk>('GET', '/v1/email/bulk/{bulk_id}')

/** List the messages of a bulk */
export const emailListBulkMessages = /* @__PURE__ */ operation<{ bulk_id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Email>>('GET', '/v1/email/bulk/{bulk_id}/messages', 'page')

/** Stop a bulk until it is resumed */
export const emailPauseBulk = /* @__PURE__ */ operation<{ bulk_id: string }, s.EmailBulk>('POST', '/v1/email/bulk/{bulk_id}/pause')

/** Let a paused bulk go on */
export const emailResumeBulk = /* @__PURE__ */ operation<{ bulk_id: string }, s.EmailBulk>('POST', '/v1/email/bulk/{bulk_id}/resume')

/** Cancel what of a bulk has not left yet; it is not charged */
export const emailCancelBulk = /* @__PURE__ */ operation<{ bulk_id: string }, s.EmailBulk>('POST', '/v1/email/bulk/{bulk_id}/cancel')

/** Store a template */
export const emailCreateTemplate = /* @__PURE__ */ operation<{ body: { name: string; subject: string; html: string; text?: string | null | undefined; description?: string | null | undefined; defaults?: Record<string, unknown> | undefined } }, s.EmailTemplate>('POST', '/v1/email/templates')

/** List templates */
export const emailListTemplates = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.EmailTemplate>>('GET', '/v1/email/templates', 'page')

/** Read a template by its id or name */
export const emailGetTemplate = /* @__PURE__ */ operation<{ id: string }, s.EmailTemplate>('GET', '/v1/email/templates/{id}')

/** Give a template a new version */
export const emailReplaceTemplate = /* @__PURE__ */ operation<{ id: string; body: { subject: string; html: string; text?: string | null | undefined; description?: string | null | undefined; defaults?: Record<string, unknown> | undefined } }, s.EmailTemplate>('PUT', '/v1/email/templates/{id}')

/** Delete a template; messages that were accepted with it are still sent */
export const emailDeleteTemplate = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/email/templates/{id}')

/** See a template filled in */
export const emailPreviewTemplate = /* @__PURE__ */ operation<{ id: string; body?: { variables?: Record<string, unknown> | undefined } }, s.EmailTemplatePreview>('POST', '/v1/email/templates/{id}/preview')

/** Register a domain to send from; the reply lists the DNS records to add */
export const emailCreateDomain = /* @__PURE__ */ operation<{ body: { domain: string; tracking_subdomain?: string | undefined; return_path_subdomain?: string | undefined; dkim_record?: 'cname' | 'txt' | undefined } }, s.EmailDomain>('POST', '/v1/email/domains')

/** List your domains */
export const emailListDomains = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.EmailDomain>>('GET', '/v1/email/domains', 'page')

/** Read a domain by its id or name */
export const emailGetDomain = /* @__PURE__ */ operation<{ id: string }, s.EmailDomain>('GET', '/v1/email/domains/{id}')

/** Remove a domain */
export const emailDeleteDomain = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/email/domains/{id}')

/** Look a domain’s records up now */
export const emailVerifyDomain = /* @__PURE__ */ operation<{ id: string }, s.EmailDomain>('POST', '/v1/email/domains/{id}/verify')

/** Give a domain new keys under a new selector */
export const emailRotateDkim = /* @__PURE__ */ operation<{ id: string }, s.EmailDomain>('POST', '/v1/email/domains/{id}/rotate-dkim')

/** Count what became of your mail */
export const emailAnalytics = /* @__PURE__ */ operation<{ query?: { from?: string | undefined; to?: string | undefined; group_by?: 'day' | 'hour' | 'tag' | 'template' | 'domain' | 'bulk_id' | undefined; tag?: string | undefined; stream?: 'transactional' | 'bulk' | undefined } }, s.EmailAnalytics>('GET', '/v1/email/analytics')

/** List what happened to your mail, newest first */
export const emailListEvents = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; event?: 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'unsubscribed' | 'deferred' | 'suppressed' | 'failed' | 'cancelled' | undefined; tag?: string | undefined; from?: string | undefined; to?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.EmailEvent>>('GET', '/v1/email/events', 'page')

/** List what happened to a message, newest first */
export const emailListMessageEvents = /* @__PURE__ */ operation<{ message_id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.EmailEvent>>('GET', '/v1/email/{message_id}/events', 'page')

/** List the addresses that get no mail */
export const emailListSuppressions = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; from?: string | undefined; to?: string | undefined; reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual' | undefined; email?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.EmailSuppression>>('GET', '/v1/email/suppressions', 'page')

/** Add addresses that get no mail */
export const emailAddSuppressions = /* @__PURE__ */ operation<{ body?: { email?: string | undefined; emails?: string[] | undefined; reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual' | undefined; applies_to?: 'all' | 'bulk' | undefined; expires_at?: string | undefined } }, s.EmailSuppressionsAdded>('POST', '/v1/email/suppressions')

/** See why an address gets no mail */
export const emailGetSuppression = /* @__PURE__ */ operation<{ email: string }, s.EmailSuppression>('GET', '/v1/email/suppressions/{email}')

/** Let an address have mail again; one that complained only with confirm=true */
export const emailDeleteSuppression = /* @__PURE__ */ operation<{ email: string; query?: { confirm?: boolean | undefined } }, s.Deleted>('DELETE', '/v1/email/suppressions/{email}')

/** Read the address that hears of your email */
export const emailGetTrackingWebhook = /* @__PURE__ */ operation<object, s.EmailTrackingWebhook>('GET', '/v1/email/tracking-webhook')

/** Set the address that hears of your email */
export const emailSetTrackingWebhook = /* @__PURE__ */ operation<{ body: { url: string; events?: string[] | undefined; enabled?: boolean | undefined } }, s.EmailTrackingWebhook>('PUT', '/v1/email/tracking-webhook')

/** Have no address that hears of your email */
export const emailDeleteTrackingWebhook = /* @__PURE__ */ operation<object, s.Deleted>('DELETE', '/v1/email/tracking-webhook')

/** Make a user for SMTP submission */
export const emailCreateSmtpCredential = /* @__PURE__ */ operation<{ body: { name: string; domains?: string[] | undefined; allowed_ips?: string[] | undefined } }, s.SmtpCredentialWithPassword>('POST', '/v1/email/smtp-credentials')

/** List the users of SMTP submission */
export const emailListSmtpCredentials = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmtpCredential>>('GET', '/v1/email/smtp-credentials', 'page')

/** Make a user for SMTP submission */
export const emailCreateSmtpCredentialAtSmtpCredentials = /* @__PURE__ */ operation<{ body: { name: string; domains?: string[] | undefined; allowed_ips?: string[] | undefined } }, s.SmtpCredentialWithPassword>('POST', '/v1/smtp-credentials')

/** List the users of SMTP submission */
export const emailListSmtpCredentialsAtSmtpCredentials = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SmtpCredential>>('GET', '/v1/smtp-credentials', 'page')

/** Remove a user of SMTP submission */
export const emailDeleteSmtpCredential = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/email/smtp-credentials/{id}')

/** Remove a user of SMTP submission */
export const emailDeleteSmtpCredentialAtSmtpCredentials = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/smtp-credentials/{id}')

/** Give a user of SMTP submission a new password; the old one ends at once */
export const emailRotateSmtpCredential = /* @__PURE__ */ operation<{ id: string }, s.SmtpCredentialWithPassword>('POST', '/v1/email/smtp-credentials/{id}/rotate')

/** List the mail that arrived in the sandbox, newest first */
export const sandboxListEmails = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; to?: string | undefined; message_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.CaughtEmail>>('GET', '/v1/sandbox/email/messages', 'page')

/** Read a message that arrived in the sandbox */
export const sandboxGetEmail = /* @__PURE__ */ operation<{ id: string }, s.CaughtEmailContent>('GET', '/v1/sandbox/email/messages/{id}')

/** Read a message that arrived in the sandbox as it came over the wire */
export const sandboxGetRawEmail = /* @__PURE__ */ operation<{ id: string }, Response>('GET', '/v1/sandbox/email/messages/{id}/raw', 'answer')

/** See what a receiver makes of a message: DKIM, SPF, DMARC, header and links */
export const sandboxCheckEmail = /* @__PURE__ */ operation<{ id: string }, s.CaughtEmailChecks>('GET', '/v1/sandbox/email/messages/{id}/checks')

/** Publish a record in the sandbox’s DNS, or take it away */
export const sandboxEditDns = /* @__PURE__ */ operation<{ body: { name: string; type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT' | 'SRV' | 'NS' | 'TLSA'; value?: string | null | undefined } }, s.SandboxDnsRecords>('POST', '/v1/sandbox/dns')

/** List the mail of any account */
export const operatorListEmails = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | undefined; recipient?: string | undefined; sender?: string | undefined; tag?: string | undefined; bulk_id?: string | undefined; template?: string | undefined; reference?: string | undefined; from?: string | undefined; to?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Email>>('GET', '/v1/operator/accounts/{account_id}/email', 'page')

/** Read what became of a mail of any account */
export const operatorGetEmail = /* @__PURE__ */ operation<{ account_id: string; message_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Email>('GET', '/v1/operator/accounts/{account_id}/email/{message_id}')

/** List the connections to telephone networks, and how they are doing */
export const operatorListVoiceTrunks = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.VoiceTrunk>>('GET', '/v1/operator/voice/trunks', 'page')

/** Connect to a telephone network over SIP */
export const operatorCreateVoiceTrunk = /* @__PURE__ */ operation<{ body: { name: string; host: string; port?: number | undefined; transport?: 'udp' | 'tcp' | 'tls' | undefined; domain?: string | null | undefined; username?: string | null | undefined; password?: string | null | undefined; registers?: boolean | undefined; prefixes?: string[] | undefined; priority?: number | undefined; max_calls?: number | undefined; sources?: string[] | undefined; enabled?: boolean | undefined } }, s.VoiceTrunk>('POST', '/v1/operator/voice/trunks')

/** Read a connection to a telephone network, and how it is doing */
export const operatorGetVoiceTrunk = /* @__PURE__ */ operation<{ id: string }, s.VoiceTrunk>('GET', '/v1/operator/voice/trunks/{id}')

/** Change a connection to a telephone network */
export const operatorChangeVoiceTrunk = /* @__PURE__ */ operation<{ id: string; body?: { host?: string | undefined; port?: number | undefined; transport?: 'udp' | 'tcp' | 'tls' | undefined; domain?: string | null | undefined; username?: string | null | undefined; password?: string | null | undefined; registers?: boolean | undefined; prefixes?: string[] | undefined; priority?: number | undefined; max_calls?: number | undefined; sources?: string[] | undefined; enabled?: boolean | undefined } }, s.VoiceTrunk>('PATCH', '/v1/operator/voice/trunks/{id}')

/** Give up a connection to a telephone network; calls over it go on */
export const operatorRemoveVoiceTrunk = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/voice/trunks/{id}')

/** List the prices of a minute by prefix */
export const operatorListVoiceRates = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.VoiceRate>>('GET', '/v1/operator/voice/rates', 'page')

/** Set the price of a minute to numbers that begin with a prefix */
export const operatorSetVoiceRate = /* @__PURE__ */ operation<{ body: { prefix: string; currency: string; minute: number | string } }, s.VoiceRate>('POST', '/v1/operator/voice/rates')

/** Take back the price of a prefix; the next shorter one, or the price list, decides */
export const operatorRemoveVoiceRate = /* @__PURE__ */ operation<{ prefix: string; currency: string }, s.Deleted>('DELETE', '/v1/operator/voice/rates/{prefix}/{currency}')

/** List the live numbers for calls, and whose they are */
export const operatorListVoiceNumbers = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OperatorVoiceNumber>>('GET', '/v1/operator/voice/numbers', 'page')

/** Give a live number for calls to an account */
export const operatorGiveVoiceNumber = /* @__PURE__ */ operation<{ body: { number: string; account_id: string } }, s.OperatorVoiceNumber>('POST', '/v1/operator/voice/numbers')

/** Take a live number for calls back */
export const operatorTakeBackVoiceNumber = /* @__PURE__ */ operation<{ number: string }, s.Deleted>('DELETE', '/v1/operator/voice/numbers/{number}')

/** List the numbers that calls come in at */
export const voiceListNumbers = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.VoiceNumber>>('GET', '/v1/voice/numbers', 'page')

/** Say what answers calls to a number */
export const voiceAssignNumber = /* @__PURE__ */ operation<{ number: string; body?: { application?: ({ answer_url: string; event_url?: string | undefined; fallback_url?: string | undefined; answer_method?: 'POST' | 'GET' | undefined }) | null | undefined; queue_id?: string | null | undefined; ivr_id?: string | null | undefined; agent_id?: string | null | undefined; routing?: true | null | undefined } }, s.VoiceNumber>('POST', '/v1/voice/numbers/{number}/assign')

/** Read a recording and the address of its file */
export const voiceGetRecording = /* @__PURE__ */ operation<{ recording_id: string }, s.Recording>('GET', '/v1/voice/recording/{recording_id}')

/** Erase the sound of a recording */
export const voiceDeleteRecording = /* @__PURE__ */ operation<{ recording_id: string }, s.Recording>('DELETE', '/v1/voice/recording/{recording_id}')

/** Read what was said in a recording */
export const voiceGetTranscription = /* @__PURE__ */ operation<{ recording_id: string }, s.Transcription>('GET', '/v1/voice/recording/{recording_id}/transcription')

/** List the voices that can speak */
export const voiceListVoices = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SpeakingVoice>>('GET', '/v1/voice/tts/voices', 'page')

/** Call somebody */
export const voiceCreateCall = /* @__PURE__ */ operation<{ body: { to: string; from: string; answer_url?: string | undefined; tts?: { text: string; language: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO'; voice?: string | undefined } | undefined; actions?: unknown[] | undefined; event_url?: string | undefined; answer_method?: 'POST' | 'GET' | undefined; event_method?: 'POST' | 'GET' | undefined; fallback_url?: string | undefined; ring_timeout?: number | undefined; machine_detection?: 'none' | 'hangup' | 'continue' | undefined; record?: boolean | undefined; custom_data?: Record<string, unknown> | undefined; scheduled_at?: string | undefined } }, s.CallCreated>('POST', '/v1/voice/calls')

/** Read a call */
export const voiceGetCall = /* @__PURE__ */ operation<{ call_id: string }, s.Call>('GET', '/v1/voice/{call_id}')

/** Read a call */
export const voiceGetCallAtVoiceCall = /* @__PURE__ */ operation<{ call_id: string }, s.Call>('GET', '/v1/voice/call/{call_id}')

/** Hold, mute, pause the recording, press keys, or note what a call was about */
export const callcenterChangeCall = /* @__PURE__ */ operation<{ call_id: string; body?: { hold?: boolean | undefined; mute?: boolean | undefined; recording?: 'pause' | 'resume' | undefined; send_dtmf?: string | undefined; wrap_up?: { disposition?: string | undefined; notes?: string | undefined; tags?: string[] | undefined } | undefined } }, s.CallHandling>('PATCH', '/v1/voice/call/{call_id}')

/** End a call */
export const voiceHangup = /* @__PURE__ */ operation<{ call_id: string; body?: { reason?: 'normal' | 'busy' | 'rejected' | undefined } }, s.Call>('POST', '/v1/voice/{call_id}/hangup')

/** End a call */
export const voiceHangupAtVoiceCallHangup = /* @__PURE__ */ operation<{ call_id: string; body?: { reason?: 'normal' | 'busy' | 'rejected' | undefined } }, s.Call>('POST', '/v1/voice/call/{call_id}/hangup')

/** Play or say something in a call */
export const voicePlay = /* @__PURE__ */ operation<{ call_id: string; body?: { tts?: { text: string; language: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO'; voice?: string | undefined } | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined; loop?: number | undefined; target?: 'all' | 'caller' | 'agent' | undefined; interrupt?: boolean | undefined } }, s.Playing>('POST', '/v1/voice/{call_id}/play')

/** Stop what is being played in a call */
export const voiceStopPlaying = /* @__PURE__ */ operation<{ call_id: string }, s.StoppedPlaying>('DELETE', '/v1/voice/{call_id}/play')

/** Read everything that happened in a call, in order */
export const voiceListEvents = /* @__PURE__ */ operation<{ call_id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.CallTraceEntry>>('GET', '/v1/voice/{call_id}/events', 'page')

/** Have a phone call one of your numbers */
export const sandboxVoiceInbound = /* @__PURE__ */ operation<{ body: { from: string; to: string } }, s.Call>('POST', '/v1/sandbox/voice/inbound')

/** See the calls of a handset */
export const sandboxVoiceCalls = /* @__PURE__ */ operation<{ query: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; phone: string; format?: 'json' | 'csv' | undefined } }, Page<s.Call>>('GET', '/v1/sandbox/voice/calls', 'page')

/** Have a phone that rings answer */
export const sandboxVoiceAnswer = /* @__PURE__ */ operation<{ call_id: string }, s.SandboxPhone>('POST', '/v1/sandbox/voice/{call_id}/answer')

/** Have the phone of a call press keys or speak */
export const sandboxVoiceInput = /* @__PURE__ */ operation<{ call_id: string; body?: { dtmf?: string | undefined; speech?: string | undefined } }, s.SandboxPhone>('POST', '/v1/sandbox/voice/{call_id}/input')

/** Have the phone of a call hang up */
export const sandboxVoiceHangup = /* @__PURE__ */ operation<{ call_id: string }, s.SandboxPhone>('POST', '/v1/sandbox/voice/{call_id}/hangup')

/** Fetch what the phone of a call heard, the last minute of it, as WAV */
export const sandboxVoiceHeard = /* @__PURE__ */ operation<{ call_id: string }, Response>('GET', '/v1/sandbox/voice/{call_id}/heard', 'answer')

/** Read what the phone of a call heard, the last minute of it, as text */
export const sandboxVoiceHeardText = /* @__PURE__ */ operation<{ call_id: string; query?: { language?: string | undefined } }, s.HeardText>('GET', '/v1/sandbox/voice/{call_id}/heard/text')

/** Follow a call: its states, the requests to your application, and its webhooks */
export const voiceTimeline = /* @__PURE__ */ operation<{ call_id: string }, s.Timeline>('GET', '/v1/voice/{call_id}/timeline')

/** Read a call of any account */
export const operatorGetCall = /* @__PURE__ */ operation<{ account_id: string; call_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Call>('GET', '/v1/operator/accounts/{account_id}/voice/{call_id}')

/** Follow a call of any account */
export const operatorGetCallTimeline = /* @__PURE__ */ operation<{ account_id: string; call_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Timeline>('GET', '/v1/operator/accounts/{account_id}/voice/{call_id}/timeline')

/** Log an agent in */
export const callcenterLogin = /* @__PURE__ */ operation<{ body: { agent_id: string; name?: string | undefined; email?: string | undefined; skills?: { name: string; level: number }[] | undefined; queues?: string[] | undefined; endpoint?: { type: 'webrtc' | 'sip' | 'phone'; uri?: string | undefined; number?: string | undefined } | undefined; languages?: ('en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO')[] | undefined; max_calls?: number | undefined; external_ref?: string | undefined; status?: 'available' | 'break' | 'away' | 'training' | 'meeting' | undefined } }, s.AgentLogin>('POST', '/v1/voice/agent/login')

/** Say what an agent does */
export const callcenterSetAgentStatus = /* @__PURE__ */ operation<{ body: { agent_id: string; status: 'available' | 'break' | 'away' | 'training' | 'meeting'; reason?: string | undefined; until?: string | undefined } }, s.AgentStatus>('POST', '/v1/voice/agent/status')

/** Log an agent out */
export const callcenterLogout = /* @__PURE__ */ operation<{ body: { agent_id: string; force?: boolean | undefined } }, s.AgentLogout>('POST', '/v1/voice/agent/logout')

/** See whom an agent speaks to, and what is known of them */
export const callcenterAgentContext = /* @__PURE__ */ operation<{ agent_id: string; query?: { call_id?: string | undefined; phone?: string | undefined } }, s.AgentContext>('GET', '/v1/voice/agent/{agent_id}/context')

/** List agents */
export const callcenterListAgents = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Agent>>('GET', '/v1/voice/agent', 'page')

/** Change what is known of an agent */
export const callcenterChangeAgent = /* @__PURE__ */ operation<{ agent_id: string; body?: { name?: string | undefined; email?: string | undefined; skills?: { name: string; level: number }[] | undefined; queues?: string[] | undefined; endpoint?: { type: 'webrtc' | 'sip' | 'phone'; uri?: string | undefined; number?: string | undefined } | undefined; languages?: ('en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO')[] | undefined; max_calls?: number | undefined; external_ref?: string | undefined } }, s.Agent>('PATCH', '/v1/voice/agent/{agent_id}')

/** Make a queue */
export const callcenterCreateQueue = /* @__PURE__ */ operation<{ body: { name: string; strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined; skills_required?: ({ name: string; min_level?: number | undefined })[] | undefined; skill_relax_seconds?: number | null | undefined; agents?: string[] | undefined; max_wait_seconds?: number | undefined; max_size?: number | undefined; music_url?: string | null | undefined; announcements?: ({ position?: boolean | undefined; estimated_wait?: boolean | undefined; every_seconds?: number | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined }) | null | undefined; overflow?: ({ on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]; action: s.CallDestination }) | null | undefined; callback?: ({ enabled: boolean; key?: string | undefined; max_attempts?: number | undefined }) | null | undefined; sla?: { target_percent: number; threshold_seconds: number } | undefined; offer_timeout?: number | undefined; wrap_up_seconds?: number | undefined; aging_seconds?: number | undefined; record?: boolean | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; business_hours_id?: string | null | undefined; priority?: number | undefined } }, s.Queue>('POST', '/v1/voice/queue')

/** List queues, with how they are now */
export const callcenterListQueues = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.QueueWithSummary>>('GET', '/v1/voice/queue', 'page')

/** Read a queue and who waits in it */
export const callcenterGetQueue = /* @__PURE__ */ operation<{ queue_id: string }, s.QueueStatus>('GET', '/v1/voice/queue/{queue_id}')

/** Change a queue, or pause it */
export const callcenterChangeQueue = /* @__PURE__ */ operation<{ queue_id: string; body?: { name?: string | undefined; strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined; skills_required?: ({ name: string; min_level?: number | undefined })[] | undefined; skill_relax_seconds?: number | null | undefined; agents?: string[] | undefined; max_wait_seconds?: number | undefined; max_size?: number | undefined; music_url?: string | null | undefined; announcements?: ({ position?: boolean | undefined; estimated_wait?: boolean | undefined; every_seconds?: number | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined }) | null | undefined; overflow?: ({ on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]; action: s.CallDestination }) | null | undefined; callback?: ({ enabled: boolean; key?: string | undefined; max_attempts?: number | undefined }) | null | undefined; sla?: { target_percent: number; threshold_seconds: number } | undefined; offer_timeout?: number | undefined; wrap_up_seconds?: number | undefined; aging_seconds?: number | undefined; record?: boolean | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; business_hours_id?: string | null | undefined; priority?: number | undefined; status?: 'open' | 'closed' | 'paused' | undefined } }, s.Queue>('PATCH', '/v1/voice/queue/{queue_id}')

/** Make menus that callers walk through */
export const callcenterCreateIvr = /* @__PURE__ */ operation<{ body: { name: string; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; entry: string; menus: Record<string, { prompt?: { text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined } | undefined; options?: Record<string, { label?: string | undefined; phrases?: string[] | undefined; action: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } }> | undefined; input?: { types?: ('dtmf' | 'speech')[] | undefined; max_digits?: number | undefined; timeout?: number | undefined; bargein?: boolean | undefined } | undefined; collect?: { variable: string; min?: number | undefined; max?: number | undefined; pattern?: string | undefined; mask?: boolean | undefined; next: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } } | undefined; on_timeout?: { retries?: number | undefined; prompt?: { text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined } | undefined; action?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } | undefined } | undefined; on_invalid?: { retries?: number | undefined; prompt?: { text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined } | undefined; action?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } | undefined } | undefined }>; variables?: Record<string, string | number | boolean> | undefined; business_hours_id?: string | undefined; closed?: s.CallDestination | undefined; status?: 'active' | 'draft' | undefined } }, s.Ivr>('POST', '/v1/voice/ivr')

/** List IVRs */
export const callcenterListIvrs = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Ivr>>('GET', '/v1/voice/ivr', 'page')

/** Change an IVR */
export const callcenterChangeIvr = /* @__PURE__ */ operation<{ ivr_id: string; body?: { name?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; entry?: string | undefined; menus?: Record<string, { prompt?: { text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined } | undefined; options?: Record<string, { label?: string | undefined; phrases?: string[] | undefined; action: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } }> | undefined; input?: { types?: ('dtmf' | 'speech')[] | undefined; max_digits?: number | undefined; timeout?: number | undefined; bargein?: boolean | undefined } | undefined; collect?: { variable: string; min?: number | undefined; max?: number | undefined; pattern?: string | undefined; mask?: boolean | undefined; next: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } } | undefined; on_timeout?: { retries?: number | undefined; prompt?: { text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined } | undefined; action?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } | undefined } | undefined; on_invalid?: { retries?: number | undefined; prompt?: { text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; url?: string | undefined } | undefined; action?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; then?: { menu?: string | undefined; webhook?: string | undefined; repeat?: true | undefined; back?: true | undefined; set?: Record<string, string | number | boolean> | undefined; type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined } | undefined } | undefined }> | undefined; variables?: Record<string, string | number | boolean> | undefined; business_hours_id?: string | undefined; closed?: s.CallDestination | undefined; status?: 'active' | 'draft' | undefined } }, s.Ivr>('PATCH', '/v1/voice/ivr/{ivr_id}')

/** Read an IVR */
export const callcenterGetIvr = /* @__PURE__ */ operation<{ ivr_id: string }, s.Ivr>('GET', '/v1/voice/ivr/{ivr_id}')

/** Say where calls go */
export const callcenterCreateRule = /* @__PURE__ */ operation<{ body: { name: string; priority: number; enabled?: boolean | undefined; match?: 'all' | 'any' | undefined; conditions?: ({ field: string; op: 'eq' | 'ne' | 'in' | 'not_in' | 'prefix' | 'gt' | 'gte' | 'lt' | 'lte' | 'exists' | 'open' | 'closed'; value?: string | number | boolean | ((string | number)[]) | undefined })[] | undefined; action: { type: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup'; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; priority?: number | undefined; skills?: ({ name: string; min_level?: number | undefined })[] | undefined; set?: Record<string, string | number | boolean> | undefined }; stop?: boolean | undefined } }, s.RoutingRule>('POST', '/v1/voice/routing/rules')

/** List the rules, in the order in which they are looked at */
export const callcenterListRules = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.RoutingRule>>('GET', '/v1/voice/routing/rules', 'page')

/** Read a rule */
export const callcenterGetRule = /* @__PURE__ */ operation<{ rule_id: string }, s.RoutingRule>('GET', '/v1/voice/routing/rules/{rule_id}')

/** Change a rule */
export const callcenterChangeRule = /* @__PURE__ */ operation<{ rule_id: string; body?: { name?: string | undefined; priority?: number | undefined; enabled?: boolean | undefined; match?: 'all' | 'any' | undefined; conditions?: ({ field: string; op: 'eq' | 'ne' | 'in' | 'not_in' | 'prefix' | 'gt' | 'gte' | 'lt' | 'lte' | 'exists' | 'open' | 'closed'; value?: string | number | boolean | ((string | number)[]) | undefined })[] | undefined; action?: { type: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup'; id?: string | undefined; number?: string | undefined; uri?: string | undefined; answer_url?: string | undefined; text?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; priority?: number | undefined; skills?: ({ name: string; min_level?: number | undefined })[] | undefined; set?: Record<string, string | number | boolean> | undefined } | undefined; stop?: boolean | undefined } }, s.RoutingRule>('PATCH', '/v1/voice/routing/rules/{rule_id}')

/** Delete a rule */
export const callcenterDeleteRule = /* @__PURE__ */ operation<{ rule_id: string }, s.Deleted>('DELETE', '/v1/voice/routing/rules/{rule_id}')

/** Set business hours */
export const callcenterSetBusinessHours = /* @__PURE__ */ operation<{ body: { name: string; timezone: string; weekly: { monday?: { open: string; close: string }[] | undefined; tuesday?: { open: string; close: string }[] | undefined; wednesday?: { open: string; close: string }[] | undefined; thursday?: { open: string; close: string }[] | undefined; friday?: { open: string; close: string }[] | undefined; saturday?: { open: string; close: string }[] | undefined; sunday?: { open: string; close: string }[] | undefined }; holidays?: ({ date: string; name?: string | undefined; intervals?: { open: string; close: string }[] | undefined; every_year?: boolean | undefined })[] | undefined; closed_action?: s.CallDestination | undefined; queue_ids?: string[] | undefined } }, s.BusinessHoursSet>('POST', '/v1/voice/routing/business-hours')

/** List business hours */
export const callcenterListBusinessHours = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.BusinessHours>>('GET', '/v1/voice/routing/business-hours', 'page')

/** Read business hours */
export const callcenterGetBusinessHours = /* @__PURE__ */ operation<{ business_hours_id: string }, s.BusinessHours>('GET', '/v1/voice/routing/business-hours/{business_hours_id}')

/** See where a call would go */
export const callcenterSimulateRouting = /* @__PURE__ */ operation<{ body: { to: string; from: string; at?: string | undefined; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined; digits?: string[] | undefined; speech?: string[] | undefined; customer?: { tags?: string[] | undefined; attributes?: Record<string, unknown> | undefined } | undefined; variables?: Record<string, unknown> | undefined; assume?: Record<string, { waiting?: number | undefined; available_agents?: number | undefined }> | undefined } }, s.RoutingSimulation>('POST', '/v1/voice/routing/simulate')

/** Call a customer */
export const callcenterCall = /* @__PURE__ */ operation<{ body: { from: string; to: string; agent_id?: string | undefined; record?: boolean | undefined; caller_prompt?: { text: string; language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined } | undefined; custom_data?: Record<string, unknown> | undefined; queue_id?: string | undefined; ring_timeout?: number | undefined; event_url?: string | undefined } }, s.AgentCall>('POST', '/v1/voice/call')

/** Hand a call to somebody else */
export const callcenterTransfer = /* @__PURE__ */ operation<{ body: { call_id: string; transfer_type: 'warm' | 'cold'; destination: string; message?: string | undefined; timeout?: number | undefined; hold_music_url?: string | undefined } }, s.CallTransfer>('POST', '/v1/voice/transfer')

/** Complete, merge or cancel a transfer */
export const callcenterDecideTransfer = /* @__PURE__ */ operation<{ transfer_id: string; body: { action: 'complete' | 'cancel' | 'merge' } }, s.CallTransfer>('PATCH', '/v1/voice/transfer/{transfer_id}')

/** Call several people into one conversation */
export const callcenterCreateConference = /* @__PURE__ */ operation<{ body: { name: string; participants: string[]; record?: boolean | undefined; from?: string | undefined; moderator?: string | undefined; start_on_moderator?: boolean | undefined; mute_on_entry?: boolean | undefined; entry_tone?: boolean | undefined; max_participants?: number | undefined } }, s.Conference>('POST', '/v1/voice/conference')

/** Read a conference */
export const callcenterGetConference = /* @__PURE__ */ operation<{ conference_id: string }, s.Conference>('GET', '/v1/voice/conference/{conference_id}')

/** End a conference */
export const callcenterEndConference = /* @__PURE__ */ operation<{ conference_id: string }, s.Conference>('DELETE', '/v1/voice/conference/{conference_id}')

/** Call somebody into a conference */
export const callcenterAddParticipant = /* @__PURE__ */ operation<{ conference_id: string; body: { endpoint: string } }, s.ConferenceParticipant>('POST', '/v1/voice/conference/{conference_id}/participants')

/** Mute or hold somebody in a conference */
export const callcenterChangeParticipant = /* @__PURE__ */ operation<{ conference_id: string; participant_id: string; body?: { muted?: boolean | undefined; held?: boolean | undefined } }, s.ConferenceParticipant>('PATCH', '/v1/voice/conference/{conference_id}/participants/{participant_id}')

/** Take somebody out of a conference */
export const callcenterRemoveParticipant = /* @__PURE__ */ operation<{ conference_id: string; participant_id: string }, s.ConferenceParticipant>('DELETE', '/v1/voice/conference/{conference_id}/participants/{participant_id}')

/** Listen to a call, whisper to its agent, or join it */
export const callcenterStartMonitor = /* @__PURE__ */ operation<{ body: { call_id: string; mode: 'listen' | 'whisper' | 'barge'; supervisor_id?: string | undefined; endpoint?: { type: 'phone' | 'sip'; number?: string | undefined; uri?: string | undefined } | undefined } }, s.CallMonitor>('POST', '/v1/voice/monitor')

/** Read who listens to a call */
export const callcenterGetMonitor = /* @__PURE__ */ operation<{ monitor_id: string }, s.CallMonitor>('GET', '/v1/voice/monitor/{monitor_id}')

/** Switch between listening, whispering and speaking */
export const callcenterSwitchMonitor = /* @__PURE__ */ operation<{ monitor_id: string; body: { mode: 'listen' | 'whisper' | 'barge' } }, s.CallMonitor>('PATCH', '/v1/voice/monitor/{monitor_id}')

/** Stop listening */
export const callcenterStopMonitor = /* @__PURE__ */ operation<{ monitor_id: string }, s.CallMonitor>('DELETE', '/v1/voice/monitor/{monitor_id}')

/** See how queues and agents are now */
export const callcenterRealtime = /* @__PURE__ */ operation<{ query?: { queue_id?: string | undefined; window?: 'today' | '15m' | '30m' | '60m' | undefined; stream?: '0' | '1' | 'true' | 'false' | undefined } }, s.RealtimeMetrics>('GET', '/v1/call-center/metrics/realtime')

/** Report over the past, as JSON or CSV */
export const callcenterReport = /* @__PURE__ */ operation<{ query?: { from?: string | undefined; to?: string | undefined; interval?: '15m' | '30m' | 'hour' | 'day' | 'week' | 'month' | undefined; group_by?: ('queue' | 'agent' | 'number' | 'direction' | 'hour_of_day' | 'disposition')[] | undefined; queue_id?: string | undefined; agent_id?: string | undefined; timezone?: string | undefined; metrics?: ('offered' | 'answered' | 'abandoned' | 'short_abandoned' | 'overflowed' | 'transferred' | 'service_level_percent' | 'asa_seconds' | 'aht_seconds' | 'abandon_rate_percent' | 'occupancy_percent' | 'talk_seconds' | 'hold_seconds' | 'wrap_up_seconds' | 'max_wait_seconds' | 'wait_p50' | 'wait_p90' | 'first_call_resolution_percent' | 'cost')[] | undefined; format?: 'json' | 'csv' | undefined } }, s.CallCenterReport>('GET', '/v1/call-center/reports')

/** Begin a session by a screen on a handset */
export const ussdSend = /* @__PURE__ */ operation<{ body: s.UssdSend }, s.UssdSent>('POST', '/v1/ussd/send')

/** Begin a session by a screen on a handset, with an id that is made for you */
export const ussdInitiate = /* @__PURE__ */ operation<{ body: s.UssdInitiate }, s.UssdSent>('POST', '/v1/ussd/initiate')

/** Show the next screen of a session */
export const ussdContinue = /* @__PURE__ */ operation<{ body: s.UssdContinue }, Response>('POST', '/v1/ussd/continue', 'answer')

/** List sessions */
export const ussdListSessions = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'initiated' | 'active' | 'completed' | 'expired' | undefined; phone?: string | undefined; shortcode?: string | undefined; reason?: 'completed' | 'expired' | 'user_cancelled' | 'network_released' | 'app_timeout' | 'app_error' | 'replaced' | 'undeliverable' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.UssdSession>>('GET', '/v1/ussd/sessions', 'page')

/** Read a session */
export const ussdGetSession = /* @__PURE__ */ operation<{ session_id: string }, Response>('GET', '/v1/ussd/sessions/{session_id}', 'answer')

/** End a session */
export const ussdEnd = /* @__PURE__ */ operation<{ session_id: string; body?: s.UssdEnd }, Response>('POST', '/v1/ussd/sessions/{session_id}/end', 'answer')

/** End a session */
export const ussdEndAtUssdEnd = /* @__PURE__ */ operation<{ session_id: string; body?: s.UssdEnd }, Response>('POST', '/v1/ussd/{session_id}/end', 'answer')

/** Follow a session: the requests to your application, and its webhooks */
export const ussdTimeline = /* @__PURE__ */ operation<{ session_id: string }, s.Timeline>('GET', '/v1/ussd/sessions/{session_id}/timeline')

/** Bring a dial, an answer or the end of a session, and wait for the next screen */
export const ussdCallback = /* @__PURE__ */ operation<{ body?: s.UssdCallback }, s.UssdCallbackReply>('POST', '/v1/ussd/callback')

/** See how sessions fared */
export const ussdAnalytics = /* @__PURE__ */ operation<{ query?: { start_date?: string | undefined; end_date?: string | undefined; shortcode?: string | undefined; metrics?: string | undefined; interval?: 'hour' | 'day' | undefined } }, s.UssdAnalytics>('GET', '/v1/ussd/analytics')

/** Say which application answers a shortcode */
export const ussdCreateShortcode = /* @__PURE__ */ operation<{ body: s.UssdShortcodeCreate }, s.UssdShortcode>('POST', '/v1/ussd/shortcodes')

/** List shortcodes */
export const ussdListShortcodes = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.UssdShortcode>>('GET', '/v1/ussd/shortcodes', 'page')

/** Read a shortcode */
export const ussdGetShortcode = /* @__PURE__ */ operation<{ code: string }, s.UssdShortcode>('GET', '/v1/ussd/shortcodes/{code}')

/** Change how a shortcode is answered */
export const ussdChangeShortcode = /* @__PURE__ */ operation<{ code: string; body?: s.UssdShortcodeChange }, s.UssdShortcode>('PATCH', '/v1/ussd/shortcodes/{code}')

/** Give a shortcode up */
export const ussdDeleteShortcode = /* @__PURE__ */ operation<{ code: string }, s.UssdShortcodeDeleted>('DELETE', '/v1/ussd/shortcodes/{code}')

/** Store a menu */
export const ussdCreateMenu = /* @__PURE__ */ operation<{ body: s.UssdMenuDocument }, s.UssdMenu>('POST', '/v1/ussd/menus')

/** List menus */
export const ussdListMenus = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.UssdMenu>>('GET', '/v1/ussd/menus', 'page')

/** Read a menu */
export const ussdGetMenu = /* @__PURE__ */ operation<{ id: string }, s.UssdMenu>('GET', '/v1/ussd/menus/{id}')

/** Save a menu as its next version */
export const ussdReplaceMenu = /* @__PURE__ */ operation<{ id: string; body: s.UssdMenuDocument }, s.UssdMenu>('PUT', '/v1/ussd/menus/{id}')

/** Delete a menu that no shortcode uses */
export const ussdDeleteMenu = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/ussd/menus/{id}')

/** See which screens a menu shows for some inputs */
export const ussdTestMenu = /* @__PURE__ */ operation<{ id: string; body: { inputs: string[]; language?: string | undefined; data?: Record<string, unknown> | undefined } }, s.UssdDryRun>('POST', '/v1/ussd/menus/{id}/test')

/** Have a handset dial a code */
export const sandboxUssdDial = /* @__PURE__ */ operation<{ body: { phone: string; shortcode: string } }, s.UssdHandsetScreen>('POST', '/v1/sandbox/ussd/dial')

/** Have a handset answer its screen */
export const sandboxUssdInput = /* @__PURE__ */ operation<{ body: { session_id: string; input: string } }, s.UssdHandsetScreen>('POST', '/v1/sandbox/ussd/input')

/** Have a handset hang up */
export const sandboxUssdCancel = /* @__PURE__ */ operation<{ body: { session_id: string } }, s.UssdHandsetScreen>('POST', '/v1/sandbox/ussd/cancel')

/** Enter a USSD gateway that calls us over HTTP */
export const operatorCreateUssdGateway = /* @__PURE__ */ operation<{ body: s.UssdGatewayCreate }, s.UssdGatewayCreated>('POST', '/v1/operator/ussd/gateways')

/** List USSD gateways */
export const operatorListUssdGateways = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.UssdGateway>>('GET', '/v1/operator/ussd/gateways', 'page')

/** Read a USSD gateway */
export const operatorGetUssdGateway = /* @__PURE__ */ operation<{ id: string }, s.UssdGateway>('GET', '/v1/operator/ussd/gateways/{id}')

/** Take a USSD gateway’s address away */
export const operatorDeleteUssdGateway = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/ussd/gateways/{id}')

/** Assign a live shortcode to an account */
export const operatorAssignUssdShortcode = /* @__PURE__ */ operation<{ body: s.UssdShortcodeAssignment }, s.UssdShortcodeAssignment>('POST', '/v1/operator/ussd/shortcodes')

/** Connect a network that speaks USSD over SMPP */
export const operatorCreateUssdSmppGateway = /* @__PURE__ */ operation<{ body: s.UssdSmppGatewayCreate }, s.UssdSmppGateway>('POST', '/v1/operator/ussd/smpp-gateways')

/** List the connected networks, and how they are doing */
export const operatorListUssdSmppGateways = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.UssdSmppGateway>>('GET', '/v1/operator/ussd/smpp-gateways', 'page')

/** Change a gateway; it is opened anew */
export const operatorChangeUssdSmppGateway = /* @__PURE__ */ operation<{ id: string; body?: s.UssdSmppGatewayChange }, s.UssdSmppGateway>('PATCH', '/v1/operator/ussd/smpp-gateways/{id}')

/** Read a connected network, and how it is doing */
export const operatorGetUssdSmppGateway = /* @__PURE__ */ operation<{ id: string }, s.UssdSmppGateway>('GET', '/v1/operator/ussd/smpp-gateways/{id}')

/** Disconnect a network */
export const operatorDeleteUssdSmppGateway = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/ussd/smpp-gateways/{id}')

/** List the USSD sessions of any account */
export const operatorListUssdSessions = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'initiated' | 'active' | 'completed' | 'expired' | undefined; phone?: string | undefined; shortcode?: string | undefined; reason?: 'completed' | 'expired' | 'user_cancelled' | 'network_released' | 'app_timeout' | 'app_error' | 'replaced' | 'undeliverable' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.UssdSession>>('GET', '/v1/operator/accounts/{account_id}/ussd/sessions', 'page')

/** Read a USSD session of any account */
export const operatorGetUssdSession = /* @__PURE__ */ operation<{ account_id: string; session_id: string; query?: { environment?: 'test' | 'live' | undefined } }, Response>('GET', '/v1/operator/accounts/{account_id}/ussd/sessions/{session_id}', 'answer')

/** Follow a USSD session of any account */
export const operatorGetUssdTimeline = /* @__PURE__ */ operation<{ account_id: string; session_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Timeline>('GET', '/v1/operator/accounts/{account_id}/ussd/sessions/{session_id}/timeline')

/** Verify a person by their document */
export const identityVerifyId = /* @__PURE__ */ operation<{ body: { document_type: string; country: string; document_front: string; document_back?: string | undefined; selfie?: string | undefined; liveness?: { challenge_id: string; frames: { image: string; step: string; at_ms: number }[] | string } | undefined; checks?: ('document_verification' | 'face_match' | 'liveness_detection' | 'registry_lookup' | 'duplicate_check' | 'risk_score')[] | undefined; document_number?: string | undefined; subject?: { first_name?: string | undefined; last_name?: string | undefined; date_of_birth?: string | undefined; sex?: string | undefined; phone?: string | undefined; email?: string | undefined; external_id?: string | undefined } | undefined; reference?: string | undefined; previous_verification_id?: string | undefined; consent?: { granted: boolean; granted_at?: string | undefined; privacy_notice_url?: string | undefined; language?: string | undefined } | undefined; device?: { ip?: string | undefined; user_agent?: string | undefined; device_id?: string | undefined; latitude?: number | undefined; longitude?: number | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; wait?: number | undefined } | FormData }, s.IdentityVerification>('POST', '/v1/identity/verify-id')

/** Read a verification */
export const identityGetVerification = /* @__PURE__ */ operation<{ id: string; query?: { include?: 'images' | undefined } }, s.IdentityVerification>('GET', '/v1/identity/verification/{id}')

/** Erase everything personal of a verification */
export const identityErase = /* @__PURE__ */ operation<{ id: string }, s.IdentityErasure>('DELETE', '/v1/identity/verification/{id}')

/** List verifications, without what was read on documents */
export const identityListVerifications = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'pending' | 'verified' | 'rejected' | 'expired' | undefined; stage?: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done' | undefined; reference?: string | undefined; created_from?: string | undefined; created_to?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.IdentityVerificationListed>>('GET', '/v1/identity/verifications', 'page')

/** Read what was done to a check, oldest first */
export const identityGetAudit = /* @__PURE__ */ operation<{ id: string; query?: { limit?: number | undefined; cursor?: string | undefined } }, Response>('GET', '/v1/identity/audit/{id}', 'answer')

/** Decide a verification as a person */
export const identityReview = /* @__PURE__ */ operation<{ id: string; body: { decision: 'approve' | 'reject'; reason: string; code?: string | undefined } }, s.IdentityVerification>('POST', '/v1/identity/verification/{id}/review')

/** Erase everything personal of one person */
export const identityEraseSubject = /* @__PURE__ */ operation<{ external_id: string }, s.IdentitySubjectErasure>('DELETE', '/v1/identity/subjects/{external_id}')

/** Send a picture ahead of the check that will use it */
export const identitySendMedia = /* @__PURE__ */ operation<{ body: FormData }, s.IdentityMedia>('POST', '/v1/identity/media')

/** Read how checks are decided */
export const identityGetPolicy = /* @__PURE__ */ operation<object, s.IdentityPolicyRecord>('GET', '/v1/identity/policy')

/** Change how checks are decided */
export const identityChangePolicy = /* @__PURE__ */ operation<{ body?: { manual_review?: boolean | undefined; registry_on_outage?: 'retry' | 'fail' | undefined; consent_required?: boolean | undefined; four_eyes?: boolean | undefined; accept_passive_liveness?: 'low_risk' | 'never' | undefined; minimum_age?: number | undefined; image_days?: number | undefined; record_days?: number | undefined; otp_guard?: 'block' | 'monitor' | undefined; otp_countries?: string[] | undefined; otp_daily_limit?: number | undefined } }, s.IdentityPolicyRecord>('PATCH', '/v1/identity/policy')

/** Read a document, and decide nothing */
export const identityScanDocument = /* @__PURE__ */ operation<{ body: { document_type?: string | undefined; country?: string | undefined; document_front: string; document_back?: string | undefined; languages?: string[] | undefined; include_text?: boolean | undefined; include_portrait?: boolean | undefined } | FormData }, s.IdentityScan>('POST', '/v1/identity/scan-document')

/** List the documents that are known */
export const identityListDocumentTypes = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; country?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.IdentityDocumentType>>('GET', '/v1/identity/document-types', 'page')

/** Compare two faces */
export const identityMatchFaces = /* @__PURE__ */ operation<{ body?: { image_a?: string | undefined; image_b?: string | undefined; source_image?: string | undefined; target_image?: string | undefined; threshold?: number | undefined; strict?: boolean | undefined; reference?: string | undefined } | FormData }, s.IdentityFaceMatch>('POST', '/v1/identity/face-match')

/** Check that a living person is before the camera */
export const identityCheckLiveness = /* @__PURE__ */ operation<{ body: { method: 'passive' | 'active'; selfie?: string | undefined; challenge_id?: string | undefined; frames?: { image: string; step: string; at_ms: number }[] | string | undefined; strict?: boolean | undefined } }, s.IdentityLiveness>('POST', '/v1/identity/liveness')

/** Score the risk of a moment, flag by flag */
export const identityScoreRisk = /* @__PURE__ */ operation<{ body?: { phone?: string | undefined; email?: string | undefined; ip?: string | undefined; device?: { device_id?: string | undefined; user_agent?: string | undefined; timezone?: string | undefined; language?: string | undefined } | undefined; subject?: { first_name?: string | undefined; last_name?: string | undefined; date_of_birth?: string | undefined; country?: string | undefined } | undefined; verification_id?: string | undefined; event?: 'signup' | 'login' | 'payout' | 'sim_change' | 'custom' | undefined; account_id?: string | undefined; amount?: number | undefined; currency?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined } }, s.IdentityRiskScore>('POST', '/v1/identity/risk-score')

/** Send a one-time code to a phone */
export const identitySendOtp = /* @__PURE__ */ operation<{ body: { phone: string; channel?: ('sms' | 'voice' | 'messenger' | 'email') | (('sms' | 'voice' | 'messenger' | 'email')[]) | undefined; email?: string | undefined; code_length?: number | undefined; expires_in?: number | undefined; from?: string | undefined; message?: string | undefined; language?: string | undefined; app_hash?: string | undefined; web_origin?: string | undefined; purpose?: string | undefined; verification_id?: string | undefined; ip?: string | undefined } }, s.IdentityOtpSent>('POST', '/v1/identity/phone/send-otp')

/** Verify a one-time code */
export const identityVerifyOtp = /* @__PURE__ */ operation<{ body: { otp_id?: string | undefined; phone?: string | undefined; purpose?: string | undefined; code: string } }, s.IdentityOtpVerified>('POST', '/v1/identity/phone/verify-otp')

/** Refuse a document, phone, address, device or user from now on */
export const identityBlock = /* @__PURE__ */ operation<{ body: { kind: 'document' | 'phone' | 'email' | 'device' | 'external_id'; value: string; reason?: string | undefined } }, s.IdentityBlocklistEntry>('POST', '/v1/identity/blocklist')

/** List whom the account refuses */
export const identityListBlocklist = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.IdentityBlocklistEntry>>('GET', '/v1/identity/blocklist', 'page')

/** Read an entry of the blocklist */
export const identityGetBlock = /* @__PURE__ */ operation<{ id: string }, s.IdentityBlocklistEntry>('GET', '/v1/identity/blocklist/{id}')

/** Take an entry off the blocklist */
export const identityUnblock = /* @__PURE__ */ operation<{ id: string }, object>('DELETE', '/v1/identity/blocklist/{id}')

/** Connect the registry of a country */
export const operatorConnectRegistry = /* @__PURE__ */ operation<{ body: s.IdentityRegistryCreate }, s.IdentityRegistry>('POST', '/v1/operator/identity/registries')

/** List the connected registries */
export const operatorListRegistries = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.IdentityRegistry>>('GET', '/v1/operator/identity/registries', 'page')

/** Read a connected registry */
export const operatorGetRegistry = /* @__PURE__ */ operation<{ id: string }, s.IdentityRegistry>('GET', '/v1/operator/identity/registries/{id}')

/** Disconnect a registry */
export const operatorDisconnectRegistry = /* @__PURE__ */ operation<{ id: string }, object>('DELETE', '/v1/operator/identity/registries/{id}')

/** Collect a payment */
export const paymentsCreate = /* @__PURE__ */ operation<{ query?: { wait?: number | undefined }; body: { amount: number | string; currency: string; method?: string | undefined; provider?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; card?: { number: string; exp_month: number; exp_year: number; cvv?: string | undefined; cvc?: string | undefined; name?: string | undefined } | undefined; card_token?: string | undefined; save_card?: boolean | undefined; capture?: boolean | undefined; require_3ds?: boolean | undefined; return_url?: string | undefined; bank?: { account_number: string; bank_code: string; account_name: string } | undefined; description?: string | undefined; customer?: { name?: string | undefined; email?: string | undefined; phone?: string | undefined; customer_id?: string | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; ip_address?: string | undefined; device_id?: string | undefined; country?: string | undefined; settle_to?: 'wallet' | undefined; reference?: string | undefined; expires_in?: number | undefined } }, s.Payment>('POST', '/v1/payments')

/** Collect a payment */
export const paymentsCreateAtPaymentsCharge = /* @__PURE__ */ operation<{ query?: { wait?: number | undefined }; body: { amount: number | string; currency: string; method?: string | undefined; provider?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; card?: { number: string; exp_month: number; exp_year: number; cvv?: string | undefined; cvc?: string | undefined; name?: string | undefined } | undefined; card_token?: string | undefined; save_card?: boolean | undefined; capture?: boolean | undefined; require_3ds?: boolean | undefined; return_url?: string | undefined; bank?: { account_number: string; bank_code: string; account_name: string } | undefined; description?: string | undefined; customer?: { name?: string | undefined; email?: string | undefined; phone?: string | undefined; customer_id?: string | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; ip_address?: string | undefined; device_id?: string | undefined; country?: string | undefined; settle_to?: 'wallet' | undefined; reference?: string | undefined; expires_in?: number | undefined } }, s.Payment>('POST', '/v1/payments/charge')

/** Collect a mobile-money payment */
export const paymentsInitiateMobile = /* @__PURE__ */ operation<{ query?: { wait?: number | undefined }; body: { amount: number | string; currency: string; method?: string | undefined; provider?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; description?: string | undefined; customer?: { name?: string | undefined; email?: string | undefined; phone?: string | undefined; customer_id?: string | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; ip_address?: string | undefined; device_id?: string | undefined; country?: string | undefined; settle_to?: 'wallet' | undefined; reference?: string | undefined; expires_in?: number | undefined; bank?: unknown | undefined; card_token?: unknown | undefined; capture?: true | undefined; save_card?: false | undefined } }, s.Payment>('POST', '/v1/payments/mobile/initiate')

/** List the ways to pay */
export const paymentsMethods = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; currency?: string | undefined; country?: string | undefined; direction?: 'in' | 'out' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.PaymentMethod>>('GET', '/v1/payments/methods', 'page')

/** Read a payment */
export const paymentsGet = /* @__PURE__ */ operation<{ payment_id: string; query?: { wait?: number | undefined; fail_on_timeout?: boolean | undefined } }, s.Payment>('GET', '/v1/payments/{payment_id}')

/** Read a mobile-money payment */
export const paymentsGetMobile = /* @__PURE__ */ operation<{ payment_id: string; query?: { wait?: number | undefined; fail_on_timeout?: boolean | undefined } }, s.Payment>('GET', '/v1/payments/mobile/{payment_id}')

/** Withdraw a payment that the payer was not asked for yet, or has not confirmed */
export const paymentsCancel = /* @__PURE__ */ operation<{ payment_id: string }, s.Payment>('POST', '/v1/payments/{payment_id}/cancel')

/** List payments, refunds and payouts */
export const paymentsTransactions = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; type?: 'payment' | 'topup' | 'refund' | 'payout' | undefined; status?: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'reversed' | undefined; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; reference?: string | undefined; phone?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Transaction>>('GET', '/v1/payments/transactions', 'page')

/** Follow a payment from the request to the last webhook */
export const paymentsTimeline = /* @__PURE__ */ operation<{ payment_id: string }, s.Timeline>('GET', '/v1/payments/{payment_id}/timeline')

/** Follow a payout from the request to the last webhook */
export const payoutsTimeline = /* @__PURE__ */ operation<{ payout_id: string }, s.Timeline>('GET', '/v1/payouts/{payout_id}/timeline')

/** Make a link at which anybody can pay */
export const paymentsCreateLink = /* @__PURE__ */ operation<{ body: { amount: number | string; currency: string; description: string; payment_methods?: string[] | undefined; max_uses?: number | undefined; expires_at?: string | undefined; redirect_url?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined } }, s.PaymentLink>('POST', '/v1/payments/links')

/** List payment links */
export const paymentsListLinks = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'active' | 'inactive' | 'expired' | 'completed' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.PaymentLink>>('GET', '/v1/payments/links', 'page')

/** Read a payment link */
export const paymentsGetLink = /* @__PURE__ */ operation<{ payment_link_id: string }, s.PaymentLink>('GET', '/v1/payments/links/{payment_link_id}')

/** Close a payment link */
export const paymentsDeactivateLink = /* @__PURE__ */ operation<{ payment_link_id: string }, s.PaymentLink>('POST', '/v1/payments/links/{payment_link_id}/deactivate')

/** Give a payment back, or part of it */
export const refundsCreate = /* @__PURE__ */ operation<{ transaction_id: string; query?: { wait?: number | undefined }; body?: { amount?: number | string | undefined; reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer' | 'other' | undefined; description?: string | undefined; reference?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined } }, s.Refund>('POST', '/v1/payments/{transaction_id}/refund')

/** Read a refund */
export const refundsGet = /* @__PURE__ */ operation<{ refund_id: string }, s.Refund>('GET', '/v1/refunds/{refund_id}')

/** List refunds */
export const refundsList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'pending' | 'processing' | 'completed' | 'failed' | undefined; payment_id?: string | undefined; reference?: string | undefined; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Refund>>('GET', '/v1/refunds', 'page')

/** List the refunds of a payment */
export const refundsListOfPayment = /* @__PURE__ */ operation<{ payment_id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Refund>>('GET', '/v1/payments/{payment_id}/refunds', 'page')

/** List disputes */
export const disputesList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'open' | 'won' | 'lost' | undefined; payment_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Dispute>>('GET', '/v1/payments/disputes', 'page')

/** Read a dispute */
export const disputesGet = /* @__PURE__ */ operation<{ dispute_id: string }, s.Dispute>('GET', '/v1/payments/disputes/{dispute_id}')

/** Decide a dispute as the payer’s bank */
export const sandboxCloseDispute = /* @__PURE__ */ operation<{ dispute_id: string; body: { outcome: 'won' | 'lost' } }, s.SandboxDisputeClose>('POST', '/v1/sandbox/disputes/{dispute_id}/close')

/** Pay somebody from the wallet */
export const payoutsCreate = /* @__PURE__ */ operation<{ query?: { wait?: number | undefined }; body: { amount: number | string; phone?: string | undefined; phone_number?: string | undefined; bank?: { account_number: string; bank_code: string; account_name: string } | undefined; method?: string | undefined; provider?: string | undefined; description?: string | undefined; recipient?: { name?: string | undefined; email?: string | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; reference?: string | undefined; scheduled_at?: string | undefined; currency: string } }, s.Payout>('POST', '/v1/payouts')

/** List payouts */
export const payoutsList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed' | undefined; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; reference?: string | undefined; phone?: string | undefined; in_review?: boolean | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Payout>>('GET', '/v1/payouts', 'page')

/** Pay somebody from the wallet */
export const payoutsCreateAtPaymentsPayout = /* @__PURE__ */ operation<{ query?: { wait?: number | undefined }; body: { amount: number | string; phone?: string | undefined; phone_number?: string | undefined; bank?: { account_number: string; bank_code: string; account_name: string } | undefined; method?: string | undefined; provider?: string | undefined; description?: string | undefined; recipient?: { name?: string | undefined; email?: string | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; reference?: string | undefined; scheduled_at?: string | undefined; currency: string } }, s.Payout>('POST', '/v1/payments/payout')

/** Pay up to 10,000 people from the wallet */
export const payoutsCreateBulk = /* @__PURE__ */ operation<{ body?: { items?: unknown[] | undefined; payouts?: unknown[] | undefined; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; reference?: string | undefined; description?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; on_error?: 'continue' | 'abort' | undefined } }, s.PayoutBatchRecord>('POST', '/v1/payments/payout/bulk')

/** Read a batch of payouts, and some of them */
export const payoutsGetBulk = /* @__PURE__ */ operation<{ batch_id: string; query?: { limit?: number | undefined; cursor?: string | undefined } }, s.PayoutBatchRecord>('GET', '/v1/payments/payout/bulk/{batch_id}')

/** Withdraw what is still pending of a batch */
export const payoutsCancelBulk = /* @__PURE__ */ operation<{ batch_id: string }, s.PayoutBatchRecord>('POST', '/v1/payments/payout/bulk/{batch_id}/cancel')

/** Read a payout */
export const payoutsGet = /* @__PURE__ */ operation<{ payout_id: string }, s.Payout>('GET', '/v1/payouts/{payout_id}')

/** Read a payout */
export const payoutsGetAtPaymentsPayout = /* @__PURE__ */ operation<{ payout_id: string }, s.Payout>('GET', '/v1/payments/payout/{payout_id}')

/** Withdraw a payout that waits for its time */
export const payoutsCancel = /* @__PURE__ */ operation<{ payout_id: string }, s.Payout>('POST', '/v1/payouts/{payout_id}/cancel')

/** Let a payout go that waits for a decision */
export const payoutsApprove = /* @__PURE__ */ operation<{ payout_id: string }, s.Payout>('POST', '/v1/payouts/{payout_id}/approve')

/** Withdraw a payout that waits for a decision */
export const payoutsReject = /* @__PURE__ */ operation<{ payout_id: string }, s.Payout>('POST', '/v1/payouts/{payout_id}/reject')

/** Take money that a card payment has set aside */
export const paymentsCapture = /* @__PURE__ */ operation<{ payment_id: string; body?: { amount?: number | string | undefined } }, s.Payment>('POST', '/v1/payments/{payment_id}/capture')

/** List the cards that were saved */
export const paymentsListCards = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; customer_id?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SavedCard>>('GET', '/v1/payments/cards', 'page')

/** Forget a saved card */
export const paymentsDeleteCard = /* @__PURE__ */ operation<{ card_token: string }, s.SavedCard>('DELETE', '/v1/payments/cards/{card_token}')

/** Ask how risky a payment or payout would be */
export const paymentsCheckRisk = /* @__PURE__ */ operation<{ body?: { method?: string | undefined; card?: { number?: string | undefined; exp_month?: number | undefined; exp_year?: number | undefined; cvv?: string | undefined; cvc?: string | undefined; name?: string | undefined; bin?: string | undefined; last4?: string | undefined } | undefined; card_token?: string | undefined; save_card?: boolean | undefined; capture?: boolean | undefined; require_3ds?: boolean | undefined; return_url?: string | undefined; bank?: { account_number?: string | undefined; bank_code?: string | undefined; account_name?: string | undefined } | undefined; description?: string | undefined; customer?: { name?: string | undefined; email?: string | undefined; phone?: string | undefined; customer_id?: string | undefined } | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; ip_address?: string | undefined; device_id?: string | undefined; country?: string | undefined; settle_to?: 'wallet' | undefined; reference?: string | undefined; expires_in?: number | undefined; payment_id?: string | undefined; direction?: 'payment' | 'payout' | undefined; amount?: number | string | undefined; currency?: string | undefined; provider?: string | undefined; phone?: string | undefined; phone_number?: string | undefined } }, s.RiskCheck>('POST', '/v1/payments/risk-check')

/** Add a rule */
export const fraudCreateRule = /* @__PURE__ */ operation<{ body: { name: string; action: 'allow' | 'require_3ds' | 'review' | 'block'; conditions: Record<string, unknown>[]; match?: 'all' | 'any' | undefined; applies_to?: ('payment' | 'payout')[] | undefined; score?: number | undefined; priority?: number | undefined; enabled?: boolean | undefined; dry_run?: boolean | undefined; description?: string | undefined } }, s.FraudRule>('POST', '/v1/payments/fraud/rules')

/** List the rules */
export const fraudListRules = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.FraudRule>>('GET', '/v1/payments/fraud/rules', 'page')

/** Read a rule */
export const fraudGetRule = /* @__PURE__ */ operation<{ rule_id: string }, s.FraudRule>('GET', '/v1/payments/fraud/rules/{rule_id}')

/** Change a rule */
export const fraudChangeRule = /* @__PURE__ */ operation<{ rule_id: string; body?: { name?: string | undefined; action?: 'allow' | 'require_3ds' | 'review' | 'block' | undefined; conditions?: Record<string, unknown>[] | undefined; match?: 'all' | 'any' | undefined; applies_to?: ('payment' | 'payout')[] | undefined; score?: number | undefined; priority?: number | undefined; enabled?: boolean | undefined; dry_run?: boolean | undefined; description?: string | null | undefined } }, s.FraudRule>('PATCH', '/v1/payments/fraud/rules/{rule_id}')

/** Remove a rule */
export const fraudRemoveRule = /* @__PURE__ */ operation<{ rule_id: string }, s.FraudRuleDeleted>('DELETE', '/v1/payments/fraud/rules/{rule_id}')

/** Hold a rule against what was checked before */
export const fraudBacktestRule = /* @__PURE__ */ operation<{ rule_id: string; body?: { start_date?: string | undefined; end_date?: string | undefined } }, s.FraudBacktest>('POST', '/v1/payments/fraud/rules/{rule_id}/backtest')

/** Put somebody on the blacklist */
export const fraudAddToBlacklist = /* @__PURE__ */ operation<{ body?: { type?: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country' | undefined; value?: string | undefined; reason?: string | undefined; applies_to?: ('payment' | 'payout')[] | undefined; expires_at?: string | undefined; entries?: ({ type: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country'; value: string; reason?: string | undefined; applies_to?: ('payment' | 'payout')[] | undefined; expires_at?: string | undefined })[] | undefined } }, s.BlacklistAdded>('POST', '/v1/payments/fraud/blacklist')

/** List who is on the blacklist */
export const fraudListBlacklist = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; type?: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.BlacklistEntry>>('GET', '/v1/payments/fraud/blacklist', 'page')

/** Read an entry of the blacklist */
export const fraudGetBlacklistEntry = /* @__PURE__ */ operation<{ blacklist_id: string }, s.BlacklistEntry>('GET', '/v1/payments/fraud/blacklist/{blacklist_id}')

/** Take somebody off the blacklist */
export const fraudRemoveFromBlacklist = /* @__PURE__ */ operation<{ blacklist_id: string }, s.BlacklistDeleted>('DELETE', '/v1/payments/fraud/blacklist/{blacklist_id}')

/** Pay into the one-time bank account of a payment */
export const sandboxCreditBank = /* @__PURE__ */ operation<{ body: { account_number: string; amount: number | string } }, s.SandboxBankCredit>('POST', '/v1/sandbox/bank/credit')

/** See which payments a handset was asked for */
export const sandboxListPrompts = /* @__PURE__ */ operation<{ query: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; phone: string; format?: 'json' | 'csv' | undefined } }, Page<s.SandboxPrompt>>('GET', '/v1/sandbox/payments/prompts', 'page')

/** Approve or refuse a payment on the payer’s phone */
export const sandboxAnswerPrompt = /* @__PURE__ */ operation<{ payment_id: string; body: { decision: 'approve' | 'refuse'; pin?: string | undefined } }, s.SandboxPromptAnswer>('POST', '/v1/sandbox/payments/{payment_id}/answer')

/** Read which payers wait for a PIN */
export const sandboxPaymentBehaviour = /* @__PURE__ */ operation<object, s.SandboxPayers>('GET', '/v1/sandbox/payments/behaviour')

/** Say which payers wait for a PIN */
export const sandboxChangePaymentBehaviour = /* @__PURE__ */ operation<{ body: s.SandboxPayers }, s.SandboxPayers>('PATCH', '/v1/sandbox/payments/behaviour')

/** List the providers that payments go to, and how they are doing */
export const operatorListPaymentProviders = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.PaymentProvider>>('GET', '/v1/operator/payments/providers', 'page')

/** Enter an account with a provider */
export const operatorCreatePaymentProvider = /* @__PURE__ */ operation<{ body: { provider: 'mpesa' | 'mtn_momo' | 'airtel_money' | 'orange_money' | 'wave' | 'telebirr' | 'vodacom_mpesa' | 'ecocash' | 'acquirer' | 'bank'; environment: 'test' | 'live'; country?: string | undefined; enabled?: boolean | undefined; base_url?: string | undefined; shortcode?: string | undefined; initiator_name?: string | undefined; certificate?: string | undefined; payout_shortcode?: string | undefined; target_environment?: string | undefined; payout_public_key?: string | undefined; webpay_market?: string | undefined; checkout_url?: string | undefined; merchant_app_id?: string | undefined; merchant_code?: string | undefined; open_api_market?: string | undefined; service_provider_code?: string | undefined; open_api_public_key?: string | undefined; ecocash_mode?: string | undefined; passkey?: string | undefined; consumer_key?: string | undefined; consumer_secret?: string | undefined; initiator_password?: string | undefined; subscription_key?: string | undefined; api_user?: string | undefined; api_key?: string | undefined; payout_subscription_key?: string | undefined; payout_api_user?: string | undefined; payout_api_key?: string | undefined; client_id?: string | undefined; client_secret?: string | undefined; payout_pin?: string | undefined; merchant_key?: string | undefined; wave_api_key?: string | undefined; fabric_app_id?: string | undefined; app_secret?: string | undefined; private_key?: string | undefined; open_api_key?: string | undefined; ecocash_api_key?: string | undefined; secret_key?: string | undefined; webhook_secret?: string | undefined } }, s.PaymentProvider>('POST', '/v1/operator/payments/providers')

/** Read an account with a provider, and how it is doing */
export const operatorGetPaymentProvider = /* @__PURE__ */ operation<{ id: string }, s.PaymentProvider>('GET', '/v1/operator/payments/providers/{id}')

/** Change an account with a provider */
export const operatorChangePaymentProvider = /* @__PURE__ */ operation<{ id: string; body?: { enabled?: boolean | undefined; base_url?: string | undefined; shortcode?: string | undefined; initiator_name?: string | null | undefined; certificate?: string | null | undefined; payout_shortcode?: string | null | undefined; target_environment?: string | undefined; payout_public_key?: string | null | undefined; webpay_market?: string | undefined; checkout_url?: string | undefined; merchant_app_id?: string | undefined; merchant_code?: string | undefined; open_api_market?: string | undefined; service_provider_code?: string | undefined; open_api_public_key?: string | undefined; ecocash_mode?: string | undefined; passkey?: string | undefined; consumer_key?: string | undefined; consumer_secret?: string | undefined; initiator_password?: string | null | undefined; subscription_key?: string | undefined; api_user?: string | undefined; api_key?: string | undefined; payout_subscription_key?: string | null | undefined; payout_api_user?: string | null | undefined; payout_api_key?: string | null | undefined; client_id?: string | undefined; client_secret?: string | undefined; payout_pin?: string | null | undefined; merchant_key?: string | undefined; wave_api_key?: string | undefined; fabric_app_id?: string | undefined; app_secret?: string | undefined; private_key?: string | undefined; open_api_key?: string | undefined; ecocash_api_key?: string | undefined; secret_key?: string | undefined; webhook_secret?: string | undefined } }, s.PaymentProvider>('PATCH', '/v1/operator/payments/providers/{id}')

/** Give up an account with a provider */
export const operatorRemovePaymentProvider = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/payments/providers/{id}')

/** List the payments of which a provider told another amount or currency than was asked for, oldest first */
export const operatorListPaymentDiscrepancies = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.PaymentDiscrepancy>>('GET', '/v1/operator/payments/discrepancies', 'page')

/** Take a payment from the list when somebody has looked into it */
export const operatorResolvePaymentDiscrepancy = /* @__PURE__ */ operation<{ payment_id: string; body?: { note?: string | undefined; action?: 'none' | 'credit_account' | 'returned_to_payer' | undefined } }, s.PaymentDiscrepancyResolved>('POST', '/v1/operator/payments/discrepancies/{payment_id}/resolve')

/** List the refunds of which nobody knows what became, oldest first */
export const operatorListOverdueRefunds = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OverdueRefund>>('GET', '/v1/operator/payments/refunds', 'page')

/** Note that a refund has happened */
export const operatorCompleteRefund = /* @__PURE__ */ operation<{ id: string; refund_id: string; body?: { provider_reference?: string | undefined } }, s.Refund>('POST', '/v1/operator/accounts/{id}/refunds/{refund_id}/complete')

/** Note that a refund has not happened */
export const operatorFailRefund = /* @__PURE__ */ operation<{ id: string; refund_id: string }, s.Refund>('POST', '/v1/operator/accounts/{id}/refunds/{refund_id}/fail')

/** List the payouts of which nobody knows what became, oldest first */
export const operatorListOverduePayouts = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.OverduePayout>>('GET', '/v1/operator/payments/payouts', 'page')

/** Say what became of a payout that nobody knows of */
export const operatorSettlePayout = /* @__PURE__ */ operation<{ payout_id: string; body: { outcome: 'paid' | 'failed'; provider_reference?: string | undefined } }, s.OverduePayout>('POST', '/v1/operator/payments/payouts/{payout_id}/settle')

/** List what accounts owe for lost disputes, oldest first */
export const operatorListDebts = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Debt>>('GET', '/v1/operator/payments/debts', 'page')

/** Begin a provider’s statement */
export const operatorCreatePaymentStatement = /* @__PURE__ */ operation<{ body: { provider: 'mpesa' | 'mtn_momo' | 'airtel_money'; environment: 'test' | 'live'; country?: string | undefined; covers?: 'everything' | 'collections' | 'payouts' | undefined; columns?: { receipt?: string | undefined; time?: string | undefined; amount?: string | undefined; paid_in?: string | undefined; withdrawn?: string | undefined; fee?: string | undefined; balance?: string | undefined; phone?: string | undefined; payee?: string | undefined; status?: string | undefined; type?: string | undefined; details?: string | undefined } | undefined; utc_offset?: string | undefined; closing_balance?: number | string | undefined; closing_at?: string | undefined } }, s.PaymentStatementWhole>('POST', '/v1/operator/payments/statements')

/** List providers’ statements, the newest first */
export const operatorListPaymentStatements = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; environment?: 'test' | 'live' | undefined; provider?: 'mpesa' | 'mtn_momo' | 'airtel_money' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.PaymentStatement>>('GET', '/v1/operator/payments/statements', 'page')

/** Read what was found of a provider’s statement */
export const operatorGetPaymentStatement = /* @__PURE__ */ operation<{ id: string }, s.PaymentStatementWhole>('GET', '/v1/operator/payments/statements/{id}')

/** Send the file of a statement */
export const operatorImportPaymentStatement = /* @__PURE__ */ operation<{ id: string; body: string }, s.PaymentStatementWhole>('POST', '/v1/operator/payments/statements/{id}/lines')

/** List the lines of a statement, by what was found of them */
export const operatorListPaymentStatementLines = /* @__PURE__ */ operation<{ id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; class?: 'matched' | 'theirs_only' | 'amount_differs' | 'booked' | 'ours_only' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.PaymentStatementLine>>('GET', '/v1/operator/payments/statements/{id}/lines', 'page')

/** Say which payment a line is about */
export const operatorAssignPaymentStatementLine = /* @__PURE__ */ operation<{ id: string; line: string; body: { account_id: string; payment_id: string } }, s.PaymentStatementLine>('POST', '/v1/operator/payments/statements/{id}/lines/{line}/assign')

/** List the payments, refunds and payouts of any account */
export const operatorListTransactions = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; type?: 'payment' | 'topup' | 'refund' | 'payout' | undefined; status?: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'reversed' | undefined; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; reference?: string | undefined; phone?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Transaction>>('GET', '/v1/operator/accounts/{account_id}/payments/transactions', 'page')

/** Read a payment of any account */
export const operatorGetPayment = /* @__PURE__ */ operation<{ account_id: string; payment_id: string; query?: { environment?: 'test' | 'live' | undefined; wait?: number | undefined; fail_on_timeout?: boolean | undefined } }, s.Payment>('GET', '/v1/operator/accounts/{account_id}/payments/{payment_id}')

/** Follow a payment of any account */
export const operatorGetPaymentTimeline = /* @__PURE__ */ operation<{ account_id: string; payment_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Timeline>('GET', '/v1/operator/accounts/{account_id}/payments/{payment_id}/timeline')

/** List the payouts of any account */
export const operatorListPayouts = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed' | undefined; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; reference?: string | undefined; phone?: string | undefined; in_review?: boolean | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Payout>>('GET', '/v1/operator/accounts/{account_id}/payouts', 'page')

/** Follow a payout of any account */
export const operatorGetPayoutTimeline = /* @__PURE__ */ operation<{ account_id: string; payout_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Timeline>('GET', '/v1/operator/accounts/{account_id}/payouts/{payout_id}/timeline')

/** Read a payout of any account */
export const operatorGetPayout = /* @__PURE__ */ operation<{ account_id: string; payout_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Payout>('GET', '/v1/operator/accounts/{account_id}/payouts/{payout_id}')

/** Read a refund of any account */
export const operatorGetRefund = /* @__PURE__ */ operation<{ account_id: string; refund_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Refund>('GET', '/v1/operator/accounts/{account_id}/refunds/{refund_id}')

/** Read how much money there is */
export const walletBalance = /* @__PURE__ */ operation<{ query?: { currency?: string | undefined } }, s.WalletBalance>('GET', '/v1/wallet/balance')

/** Fill the wallet */
export const walletTopup = /* @__PURE__ */ operation<{ query?: { wait?: number | undefined }; body: { amount: number | string; currency?: string | undefined; method?: string | undefined; provider?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; card?: { number: string; exp_month: number; exp_year: number; cvv?: string | undefined; cvc?: string | undefined; name?: string | undefined } | undefined; card_token?: string | undefined; save_card?: boolean | undefined; return_url?: string | undefined; bank?: { account_number: string; bank_code: string; account_name: string } | undefined; reference?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined } }, s.Topup>('POST', '/v1/wallet/topup')

/** List what went into the wallet and out of it */
export const walletTransactions = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; type?: 'usage_sms' | 'usage_messenger' | 'usage_email' | 'usage_voice' | 'usage_ussd' | 'usage_identity' | 'payout' | 'payout_fee' | 'payout_reversal' | 'refund' | 'dispute' | 'usage_reversal' | 'topup' | 'payment' | 'adjustment' | 'hold' | 'payment_fee' | 'plan_fee' | 'conversion' | undefined; include?: 'holds' | undefined; currency?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.WalletTransaction>>('GET', '/v1/wallet/transactions', 'page')

/** Have the wallet fill itself, or stop it */
export const walletSetAutoRecharge = /* @__PURE__ */ operation<{ body: { enabled: boolean; currency?: string | undefined; threshold?: number | string | undefined; amount?: number | string | undefined; method?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; card_token?: string | undefined; provider?: string | undefined; max_per_day?: number | undefined; daily_limit?: (number | string) | null | undefined } }, s.AutoRecharge>('POST', '/v1/wallet/auto-recharge')

/** List which wallets fill themselves */
export const walletAutoRecharges = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.AutoRecharge>>('GET', '/v1/wallet/auto-recharge', 'page')

/** Make an invoice */
export const billingCreateInvoice = /* @__PURE__ */ operation<{ body: { customer: { name?: string | undefined; email?: string | undefined; phone?: string | undefined; tax_number?: string | undefined; address?: string | undefined; customer_id?: string | undefined }; currency: string; items: ({ description: string; quantity?: number | string | undefined; unit_amount: number | string; tax_rate?: number | string | undefined; discount?: number | string | ({ percent?: number | string | undefined; amount?: number | string | undefined }) | undefined })[]; discount?: { percent?: number | string | undefined; amount?: number | string | undefined } | undefined; tax_inclusive?: boolean | undefined; due_date?: string | undefined; notes?: string | undefined; payment_methods?: string[] | undefined; reference?: string | undefined; subscription_id?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; send?: boolean | undefined } }, s.Invoice>('POST', '/v1/billing/invoices')

/** List invoices */
export const billingListInvoices = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible' | undefined; overdue?: true | undefined; customer_id?: string | undefined; subscription_id?: string | undefined; reference?: string | undefined; number?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Invoice>>('GET', '/v1/billing/invoices', 'page')

/** Read an invoice */
export const billingGetInvoice = /* @__PURE__ */ operation<{ invoice_id: string }, s.Invoice>('GET', '/v1/billing/invoices/{invoice_id}')

/** Open an invoice and send its link */
export const billingSendInvoice = /* @__PURE__ */ operation<{ invoice_id: string; body?: { phone?: string | undefined; email?: string | undefined; from?: string | undefined; message?: string | undefined } }, s.Invoice>('POST', '/v1/billing/invoices/{invoice_id}/send')

/** Take an invoice back */
export const billingVoidInvoice = /* @__PURE__ */ operation<{ invoice_id: string; body?: { reason?: string | undefined } }, s.Invoice>('POST', '/v1/billing/invoices/{invoice_id}/void')

/** Collect what is due on an invoice */
export const billingPayInvoice = /* @__PURE__ */ operation<{ invoice_id: string; query?: { wait?: number | undefined }; body?: { amount?: number | string | undefined; phone?: string | undefined; phone_number?: string | undefined; provider?: string | undefined; method?: string | undefined; card_token?: string | undefined; bank?: { account_number: string; bank_code: string; account_name: string } | undefined; description?: string | undefined; reference?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined; expires_in?: number | undefined } }, s.Payment>('POST', '/v1/billing/invoices/{invoice_id}/pay')

/** Give up on an open invoice */
export const operatorWriteOffInvoice = /* @__PURE__ */ operation<{ account_id: string; invoice_id: string }, s.Invoice>('POST', '/v1/operator/accounts/{account_id}/invoices/{invoice_id}/write-off')

/** List customers */
export const billingListCustomers = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; email?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.BillingCustomer>>('GET', '/v1/billing/customers', 'page')

/** Read a customer */
export const billingGetCustomer = /* @__PURE__ */ operation<{ customer_id: string }, s.BillingCustomer>('GET', '/v1/billing/customers/{customer_id}')

/** Make a plan to which customers can subscribe */
export const billingCreatePlan = /* @__PURE__ */ operation<{ body: { name: string; amount: number | string; currency: string; interval: 'day' | 'week' | 'month' | 'year'; interval_count?: number | undefined; trial_days?: number | undefined; description?: string | undefined; code?: string | undefined; tax_rate?: number | string | undefined; tax_inclusive?: boolean | undefined; setup_fee?: number | string | undefined; metadata?: Record<string, string | number | boolean> | undefined; active?: boolean | undefined } }, s.BillingPlan>('POST', '/v1/billing/plans')

/** List plans */
export const billingPlans = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; active?: boolean | undefined; currency?: string | undefined; code?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.BillingPlan>>('GET', '/v1/billing/plans', 'page')

/** Read a plan */
export const billingGetPlan = /* @__PURE__ */ operation<{ plan_id: string }, s.BillingPlan>('GET', '/v1/billing/plans/{plan_id}')

/** Change how a plan is called, and whether it is offered */
export const billingUpdatePlan = /* @__PURE__ */ operation<{ plan_id: string; body?: { name?: string | undefined; description?: string | null | undefined; active?: boolean | undefined; metadata?: Record<string, string | number | boolean> | undefined; amount?: number | string | undefined; currency?: string | undefined; interval?: 'day' | 'week' | 'month' | 'year' | undefined; interval_count?: number | undefined; trial_days?: number | undefined; code?: string | null | undefined; tax_rate?: number | string | undefined; tax_inclusive?: boolean | undefined; setup_fee?: number | string | undefined } }, s.BillingPlan>('PATCH', '/v1/billing/plans/{plan_id}')

/** Subscribe a customer to a plan */
export const billingCreateSubscription = /* @__PURE__ */ operation<{ body: { plan_id: string; customer: { name?: string | undefined; email?: string | undefined; phone?: string | undefined; tax_number?: string | undefined; address?: string | undefined; customer_id?: string | undefined }; payment_method?: { type: string; card_token?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; provider?: string | undefined } | undefined; quantity?: number | undefined; start_date?: string | undefined; trial_days?: number | undefined; billing_anchor?: number | string | undefined; proration?: 'create_prorations' | 'none' | undefined; cancel_at_period_end?: boolean | undefined; max_cycles?: number | undefined; reference?: string | undefined; metadata?: Record<string, string | number | boolean> | undefined; callback_url?: string | undefined } }, s.Subscription>('POST', '/v1/billing/subscriptions')

/** List subscriptions */
export const billingListSubscriptions = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled' | undefined; plan_id?: string | undefined; customer_id?: string | undefined; reference?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Subscription>>('GET', '/v1/billing/subscriptions', 'page')

/** Read a subscription */
export const billingGetSubscription = /* @__PURE__ */ operation<{ subscription_id: string }, s.Subscription>('GET', '/v1/billing/subscriptions/{subscription_id}')

/** Change the plan, the quantity, the way to pay or your notes */
export const billingUpdateSubscription = /* @__PURE__ */ operation<{ subscription_id: string; body?: { plan_id?: string | undefined; quantity?: number | undefined; payment_method?: { type: string; card_token?: string | undefined; phone?: string | undefined; phone_number?: string | undefined; provider?: string | undefined } | undefined; cancel_at_period_end?: boolean | undefined; metadata?: Record<string, string | number | boolean> | undefined } }, s.Subscription>('PATCH', '/v1/billing/subscriptions/{subscription_id}')

/** Cancel a subscription, now or at the end of its period */
export const billingCancelSubscription = /* @__PURE__ */ operation<{ subscription_id: string; query?: { at_period_end?: boolean | undefined; reason?: string | undefined; prorate?: boolean | undefined }; body?: { at_period_end?: boolean | undefined; reason?: string | undefined; prorate?: boolean | undefined } }, s.Subscription>('DELETE', '/v1/billing/subscriptions/{subscription_id}')

/** Bill nothing until it is resumed */
export const billingPauseSubscription = /* @__PURE__ */ operation<{ subscription_id: string }, s.Subscription>('POST', '/v1/billing/subscriptions/{subscription_id}/pause')

/** Go on with a subscription that is paused */
export const billingResumeSubscription = /* @__PURE__ */ operation<{ subscription_id: string }, s.Subscription>('POST', '/v1/billing/subscriptions/{subscription_id}/resume')

/** List the invoices of any account */
export const operatorListInvoices = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible' | undefined; overdue?: true | undefined; customer_id?: string | undefined; subscription_id?: string | undefined; reference?: string | undefined; number?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Invoice>>('GET', '/v1/operator/accounts/{account_id}/billing/invoices', 'page')

/** Read an invoice of any account */
export const operatorGetInvoice = /* @__PURE__ */ operation<{ account_id: string; invoice_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Invoice>('GET', '/v1/operator/accounts/{account_id}/billing/invoices/{invoice_id}')

/** List the subscriptions of any account */
export const operatorListSubscriptions = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; start_date?: string | undefined; end_date?: string | undefined; status?: 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled' | undefined; plan_id?: string | undefined; customer_id?: string | undefined; reference?: string | undefined; metadata?: Record<string, string> | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Subscription>>('GET', '/v1/operator/accounts/{account_id}/billing/subscriptions', 'page')

/** Read a subscription of any account */
export const operatorGetSubscription = /* @__PURE__ */ operation<{ account_id: string; subscription_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.Subscription>('GET', '/v1/operator/accounts/{account_id}/billing/subscriptions/{subscription_id}')

/** Register a URL for events */
export const webhooksCreate = /* @__PURE__ */ operation<{ body: { url: string; events: string[]; description?: string | null | undefined; enabled?: boolean | undefined; headers?: Record<string, string> | undefined; ordered?: boolean | undefined; rate_limit?: number | null | undefined; filters?: Record<string, string | number | boolean> | undefined; verify_token?: string | undefined } }, s.NewWebhook>('POST', '/v1/webhooks')

/** List your webhooks */
export const webhooksList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; include?: 'system' | undefined; enabled?: boolean | undefined; event?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Webhook>>('GET', '/v1/webhooks', 'page')

/** List every event there is, with its schema and an example */
export const webhooksEvents = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.EventDescription>>('GET', '/v1/webhooks/events', 'page')

/** Read the secret that signs requests to callback_url, event_url and answer_url */
export const webhooksCallbackSecret = /* @__PURE__ */ operation<object, s.CallbackSecret>('GET', '/v1/webhooks/callback-secret')

/** Replace the secret that signs requests to callback_url, event_url and answer_url */
export const webhooksRotateCallbackSecret = /* @__PURE__ */ operation<{ body?: { overlap_hours?: number | undefined } }, s.RotatedCallbackSecret>('POST', '/v1/webhooks/callback-secret/rotate')

/** Read a webhook and how it has been doing */
export const webhooksGet = /* @__PURE__ */ operation<{ id: string }, s.WebhookDetail>('GET', '/v1/webhooks/{id}')

/** Change a webhook */
export const webhooksUpdate = /* @__PURE__ */ operation<{ id: string; body?: { url?: string | undefined; events?: string[] | undefined; description?: string | null | undefined; enabled?: boolean | undefined; headers?: Record<string, string> | undefined; ordered?: boolean | undefined; rate_limit?: number | null | undefined; filters?: Record<string, string | number | boolean> | undefined; verify_token?: string | undefined; status?: 'enabled' | 'disabled' | undefined } }, s.Webhook>('PATCH', '/v1/webhooks/{id}')

/** Delete a webhook and cancel what it has not received */
export const webhooksDelete = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/webhooks/{id}')

/** Deliver a sample event now */
export const webhooksTest = /* @__PURE__ */ operation<{ id: string; body?: { event?: string | undefined } }, s.WebhookTest>('POST', '/v1/webhooks/{id}/test')

/** Replace a webhook’s secret */
export const webhooksRotateSecret = /* @__PURE__ */ operation<{ id: string; body?: { overlap_hours?: number | undefined } }, s.RotatedWebhookSecret>('POST', '/v1/webhooks/{id}/rotate-secret')

/** End the overlap of a rotation: only the new secret signs */
export const webhooksActivateSecret = /* @__PURE__ */ operation<{ id: string }, s.Webhook>('POST', '/v1/webhooks/{id}/activate-secret')

/** List what was delivered to a webhook */
export const webhooksDeliveries = /* @__PURE__ */ operation<{ id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled' | undefined; event?: string | undefined; event_id?: string | undefined; resource_id?: string | undefined; from?: string | undefined; to?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Delivery>>('GET', '/v1/webhooks/{id}/deliveries', 'page')

/** Read one delivery with all its attempts */
export const webhooksDelivery = /* @__PURE__ */ operation<{ id: string; delivery_id: string }, s.DeliveryDetail>('GET', '/v1/webhooks/{id}/deliveries/{delivery_id}')

/** Send a delivery again, now */
export const webhooksRedeliver = /* @__PURE__ */ operation<{ id: string; delivery_id: string }, s.Redelivery>('POST', '/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver')

/** Send a delivery again, now */
export const webhooksRedeliverAtWebhooksDeliveriesRetry = /* @__PURE__ */ operation<{ id: string; delivery_id: string }, s.Redelivery>('POST', '/v1/webhooks/{id}/deliveries/{delivery_id}/retry')

/** Deliver a window of time again */
export const webhooksReplay = /* @__PURE__ */ operation<{ id: string; body: { from: string; to: string; status?: 'failed' | 'all' | undefined; events?: string[] | undefined } }, s.ReplayStarted>('POST', '/v1/webhooks/{id}/replay')

/** Receive deliveries over a stream */
export const webhooksListen = /* @__PURE__ */ operation<{ query?: { events?: string[] | undefined; after?: string | undefined } }, Response>('GET', '/v1/webhooks/listen', 'answer')

/** Make a short-lived URL to a page for looking after webhooks */
export const webhooksOpenPortal = /* @__PURE__ */ operation<{ body?: { expires_in?: number | undefined; read_only?: boolean | undefined } }, s.WebhookPortalSession>('POST', '/v1/webhooks/portal-session')

/** List the webhooks of any account */
export const operatorListWebhooks = /* @__PURE__ */ operation<{ account_id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; include?: 'system' | undefined; enabled?: boolean | undefined; event?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Webhook>>('GET', '/v1/operator/accounts/{account_id}/webhooks', 'page')

/** List what was delivered to a webhook of any account */
export const operatorListDeliveries = /* @__PURE__ */ operation<{ account_id: string; id: string; query?: { environment?: 'test' | 'live' | undefined; limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; status?: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled' | undefined; event?: string | undefined; event_id?: string | undefined; resource_id?: string | undefined; from?: string | undefined; to?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Delivery>>('GET', '/v1/operator/accounts/{account_id}/webhooks/{id}/deliveries', 'page')

/** Read one delivery of any account with all its attempts */
export const operatorGetDelivery = /* @__PURE__ */ operation<{ account_id: string; id: string; delivery_id: string; query?: { environment?: 'test' | 'live' | undefined } }, s.DeliveryDetail>('GET', '/v1/operator/accounts/{account_id}/webhooks/{id}/deliveries/{delivery_id}')

/** List what happened */
export const eventsList = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; from?: string | undefined; to?: string | undefined; start_date?: string | undefined; end_date?: string | undefined; event?: string | undefined; resource_id?: string | undefined; after?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Event>>('GET', '/v1/events', 'page')

/** Follow what happens, as it happens */
export const eventsStream = /* @__PURE__ */ operation<{ query?: { events?: string[] | undefined; resource_id?: string | undefined; after?: string | undefined } }, Response>('GET', '/v1/events/stream', 'answer')

/** Read one event, and who was told of it */
export const eventsGet = /* @__PURE__ */ operation<{ id: string }, s.EventDetail>('GET', '/v1/events/{id}')

/** Send a sample event to whoever wants it */
export const eventsTrigger = /* @__PURE__ */ operation<{ body: { event: string; override?: Record<string, unknown> | undefined } }, s.TriggeredEvent>('POST', '/v1/events/trigger')

/** Tell what time it is for this test account */
export const sandboxClock = /* @__PURE__ */ operation<object, s.SandboxClock>('GET', '/v1/sandbox/clock')

/** Move this test account’s clock forward */
export const sandboxAdvanceClock = /* @__PURE__ */ operation<{ body?: { advance_seconds?: number | undefined; seconds?: number | undefined } }, s.SandboxClock>('POST', '/v1/sandbox/clock')

/** Move this test account’s clock forward */
export const sandboxAdvanceClockAtSandboxTimeAdvance = /* @__PURE__ */ operation<{ body?: { advance_seconds?: number | undefined; seconds?: number | undefined } }, s.SandboxClock>('POST', '/v1/sandbox/time/advance')

/** Make an address that catches what is sent to it */
export const sandboxCreateHook = /* @__PURE__ */ operation<{ body?: { secret?: string | undefined } }, s.SandboxHook>('POST', '/v1/sandbox/hooks')

/** List the addresses that catch requests */
export const sandboxListHooks = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SandboxHook>>('GET', '/v1/sandbox/hooks', 'page')

/** Read one hook */
export const sandboxGetHook = /* @__PURE__ */ operation<{ id: string }, s.SandboxHook>('GET', '/v1/sandbox/hooks/{id}')

/** Delete a hook and what it caught */
export const sandboxDeleteHook = /* @__PURE__ */ operation<{ id: string }, { id: string; deleted: boolean }>('DELETE', '/v1/sandbox/hooks/{id}')

/** List what a hook caught */
export const sandboxListHookRequests = /* @__PURE__ */ operation<{ id: string; query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.SandboxHookRequest>>('GET', '/v1/sandbox/hooks/{id}/requests', 'page')

/** List prices */
export const operatorListPrices = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; area?: string | undefined; country?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.Price>>('GET', '/v1/operator/prices', 'page')

/** Set a price */
export const operatorSetPrice = /* @__PURE__ */ operation<{ body: { area: string; unit: string; country?: string | undefined; network?: string | undefined; account_id?: string | undefined; amount: number | string; currency: string; effective_from?: string | undefined } }, s.Price>('POST', '/v1/operator/prices')

/** Read a price */
export const operatorGetPrice = /* @__PURE__ */ operation<{ id: string }, s.Price>('GET', '/v1/operator/prices/{id}')

/** Remove a price */
export const operatorRemovePrice = /* @__PURE__ */ operation<{ id: string }, s.Deleted>('DELETE', '/v1/operator/prices/{id}')

/** Set many prices at once, all or none */
export const operatorImportPrices = /* @__PURE__ */ operation<{ body: { prices: ({ area: string; unit: string; country?: string | undefined; network?: string | undefined; account_id?: string | undefined; amount: number | string; currency: string; effective_from?: string | undefined })[] } }, s.PriceImport>('POST', '/v1/operator/prices/import')

/** Set the prices of a CSV file, all or none */
export const operatorImportPriceFile = /* @__PURE__ */ operation<{ body: string }, s.PriceImport>('POST', '/v1/operator/prices/import/csv')

/** List jobs that used up their attempts, or wait where nobody is */
export const operatorListJobs = /* @__PURE__ */ operation<{ query?: { limit?: number | undefined; cursor?: string | undefined; order?: 'asc' | 'desc' | undefined; lane?: string | undefined; format?: 'json' | 'csv' | undefined } }, Page<s.FailedJob>>('GET', '/v1/operator/jobs', 'page')

/** Run a failed job again, with all its attempts */
export const operatorRetryJob = /* @__PURE__ */ operation<{ id: string }, s.JobAction>('POST', '/v1/operator/jobs/{id}/retry')

/** Give a failed job up for good */
export const operatorDiscardJob = /* @__PURE__ */ operation<{ id: string }, s.JobAction>('DELETE', '/v1/operator/jobs/{id}')

/** See the version, schema, nodes and queues of this installation */
export const operatorSystem = /* @__PURE__ */ operation<object, s.System>('GET', '/v1/operator/system')
