-- Endpoints that an area keeps for an account, such as the email tracking webhook: they count against no plan, and stand in no list unless
-- asked for.
alter table webhooks.endpoints add column system text;
