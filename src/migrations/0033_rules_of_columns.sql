-- What a column of a much-written table may hold is the rule of its type. PostgreSQL reads and plans every CHECK of a table
-- anew for each statement that writes to it, whichever columns that statement sets: 17 thousand instructions for an amount
-- above zero, 74 thousand for one status out of seven, more than the row itself costs. The rule of a type it keeps ready, and
-- looks at only when the column is set. What holds between columns (a wallet is covered) stays with the table.
--
-- The rules are added when the columns have the types, so that no table is written anew, and are not looked for in the rows
-- that are there: the checks have kept them so far.

create domain platform.environment as text;
create domain ledger.above_zero as bigint;
create domain ledger.zero_or_above as bigint;
create domain webhooks.delivery_status as text;
create domain webhooks.endpoint_state as text;
create domain sms.direction as text;
create domain sms.message_status as text;
create domain sms.encoding as text;
create domain sms.message_type as text;
create domain payments.purpose as text;
create domain payments.method as text;
create domain payments.payment_status as text;
create domain payments.dispute_status as text;
create domain payments.attempt_state as text;
create domain payments.subject as text;
create domain payments.decision as text;

alter table ledger.wallets
  alter column environment type platform.environment, drop constraint wallets_environment_check,
  alter column held type ledger.zero_or_above, drop constraint wallets_held_check,
  alter column overdraft type ledger.zero_or_above, drop constraint wallets_overdraft_check;
alter table ledger.transfers
  alter column amount type ledger.above_zero, drop constraint transfers_amount_check;
alter table ledger.holds
  alter column amount type ledger.above_zero, drop constraint holds_amount_check,
  alter column captured type ledger.zero_or_above, drop constraint holds_captured_check,
  alter column released type ledger.zero_or_above, drop constraint holds_released_check;
alter table webhooks.deliveries
  alter column status type webhooks.delivery_status, drop constraint deliveries_status_check;
alter table webhooks.health
  alter column state type webhooks.endpoint_state, drop constraint health_state_check;
alter table sms.messages
  alter column direction type sms.direction, drop constraint messages_direction_check,
  alter column status type sms.message_status, drop constraint messages_status_check,
  alter column encoding type sms.encoding, drop constraint messages_encoding_check,
  alter column type type sms.message_type, drop constraint messages_type_check;
alter table payments.payments
  alter column purpose type payments.purpose, drop constraint payments_purpose_check,
  alter column method type payments.method, drop constraint payments_method_check,
  alter column status type payments.payment_status, drop constraint payments_status_check,
  alter column dispute_status type payments.dispute_status, drop constraint payments_dispute_status_check,
  alter column amount type ledger.above_zero, drop constraint payments_amount_check,
  alter column fee type ledger.zero_or_above, drop constraint payments_fee_check;
alter table payments.attempts
  alter column state type payments.attempt_state, drop constraint attempts_state_check;
alter table payments.risk_checks
  alter column direction type payments.subject, drop constraint risk_checks_direction_check,
  alter column decision type payments.decision, drop constraint risk_checks_decision_check;

alter domain platform.environment add check (value in ('test', 'live')) not valid;
alter domain ledger.above_zero add check (value > 0) not valid;
alter domain ledger.zero_or_above add check (value >= 0) not valid;
alter domain webhooks.delivery_status
  add check (value in ('pending', 'delivering', 'delivered', 'failed', 'cancelled')) not valid;
alter domain webhooks.endpoint_state add check (value in ('healthy', 'degraded', 'failing')) not valid;
alter domain sms.direction add check (value in ('outbound', 'inbound')) not valid;
alter domain sms.message_status add check (value in ('queued', 'sent', 'delivered', 'failed', 'received')) not valid;
alter domain sms.encoding add check (value in ('gsm7', 'ucs2')) not valid;
alter domain sms.message_type add check (value in ('otp', 'transactional', 'promotional')) not valid;
alter domain payments.purpose add check (value in ('payment', 'topup', 'invoice')) not valid;
alter domain payments.method add check (value in ('mobile_money', 'card', 'bank_transfer')) not valid;
alter domain payments.payment_status
  add check (value in ('pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired')) not valid;
alter domain payments.dispute_status add check (value in ('open', 'won', 'lost')) not valid;
alter domain payments.attempt_state add check (value in ('planned', 'sending', 'accepted', 'unknown', 'final')) not valid;
alter domain payments.subject add check (value in ('payment', 'payout')) not valid;
alter domain payments.decision add check (value in ('allow', 'require_3ds', 'review', 'block')) not valid;
