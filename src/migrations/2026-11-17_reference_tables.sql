-- SPDX-License-Identifier: Apache-2.0
-- Which tables belong to no tenant: small, read by every node, replicated in a cluster. The comment of such a table begins with
-- "Reference"; all others are tenants', lead their primary key with the bucket, and are never asked without it. A tenant's table
-- that is found by something else first says so: "Keyed by <column>".
comment on table platform.nodes is 'Reference: one row is a node';
comment on table platform.leases is 'Reference: one row is something that one node at a time does';
comment on table platform.signing_keys is 'Reference: one row is a key that signs access tokens';
comment on table platform.install_keys is 'Reference: one row is a key of the installation';
comment on table platform.rate_slots is 'Reference: one row is the share of a limit that a node has';
comment on table ledger.prices is 'Reference: one row is a price from a moment on';
comment on table accounts.plans is 'Reference: one row is a plan';
comment on table accounts.accounts is 'Reference: one row is an account';
comment on table accounts.api_keys is 'Reference: one row is an API key';
comment on table accounts.sandbox_clocks is 'Reference: one row is how far the clock of a test account was moved';
comment on table accounts.credits is 'Reference: one row is a credit by an operator';
comment on table sandbox.hook_tokens is 'Reference: one row is the address of a caught webhook';
comment on table sms.binds is 'Reference: one row is a connection to a carrier';
comment on table sms.routes is 'Reference: one row is a way to a network';
comment on table sms.carrier_ids is 'Reference: one row finds the message of a carrier''s receipt';
comment on table sms.country_rules is 'Reference: one row is what a country demands of senders';
comment on table sms.numbers is 'Reference: one row is a number that an account receives on';
comment on table sms.ported_numbers is 'Reference: one row is a number that changed its network';
comment on table payments.providers is 'Reference: one row is an account with a payment provider';
comment on table ledger.transfers is 'Keyed by source_id: found by what it is about, whose id is made by time; the bucket is in the key too';
