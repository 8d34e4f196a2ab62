-- SPDX-License-Identifier: Apache-2.0
-- Who asked for a payout (a key, or a member of the account), who may not be the one that lets it go after a review.
alter table payments.payouts add column made_by text;
