-- SPDX-License-Identifier: Apache-2.0
-- Addresses of members that are proven. Whoever invites sees the link of the invitation, so that by that link anybody can become a
-- member with the address of another person; the link that is mailed has a secret of its own, which only the mailbox knows.

-- `email_proven_at`: when the member accepted by the mailed link, or through an identity provider that verified the address.
-- `mailed_hash` is SHA-256 of the mailed link's secret.
alter table accounts.members
  add column email_proven_at timestamptz,
  add column mailed_hash     bytea unique;
-- Those who run the installation were made by its operator. Of others nobody knows by which link they came.
update accounts.members set email_proven_at = created_at where operator;
