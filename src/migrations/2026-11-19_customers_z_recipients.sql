-- SPDX-License-Identifier: Apache-2.0
-- Recipients that are a customer are found by the key, campaign by campaign: an account has few campaigns beside recipients, and each of
-- those was written into this index twice.

drop index customers.campaign_recipients_by_customer;
