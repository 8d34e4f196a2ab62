-- Money. Amounts are bigint micros. A transfer names one debit account, one credit account and one positive amount, so
-- every row balances by itself; rows that share (source_id, step) are the legs of one posting. `wallet` is the only
-- guarded account: its balance is kept in a row and can never go below its overdraft. All other accounts (revenue,
-- provider float, suspense) belong to the tenant and are insert-only, so no row is shared between tenants.

create schema ledger;

-- One row is the money an account holds with us in one currency and environment.
create table ledger.wallets (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  currency    text not null,
  balance     bigint not null default 0,
  held        bigint not null default 0 check (held >= 0),
  overdraft   bigint not null default 0 check (overdraft >= 0),
  updated_at  timestamptz not null default now(),
  primary key (bucket, account_id, environment, currency),
  constraint wallet_covered check (balance - held >= -overdraft)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- One row is a movement of money. (source_id, step) is the key of its posting: the object it is about and what happened
-- to it; doing a step again finds the rows and moves nothing. `reverses` is the step of the same object that this one
-- undoes; `hold_step` the step of its hold that this one captures from. Append-only.
create table ledger.transfers (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  source_id   uuid not null,
  step        text not null,
  leg         smallint not null,
  id          uuid not null,
  debit       text not null,
  credit      text not null check (credit <> debit),
  amount      bigint not null check (amount > 0),
  currency    text not null,
  reverses    text,
  hold_step   text,
  description text,
  primary key (bucket, account_id, environment, source_id, step, leg)
) partition by range (source_id);
-- Without the bucket, which follows from the account: the planner takes columns for independent, and with all three
-- leading ones it believes this index as good as the primary key for finding a step, and reads the whole tenant with it.
create index transfers_in_order on ledger.transfers (account_id, environment, id);
select platform.ensure_partitions('ledger.transfers', 'month', 2);

-- One row is money set aside for something that is not certain yet. Part of it may be captured (paid) several times;
-- what is not captured is released; then it is closed, once.
create table ledger.holds (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  source_id   uuid not null,
  step        text not null,
  currency    text not null,
  amount      bigint not null check (amount > 0),
  captured    bigint not null default 0 check (captured >= 0),
  released    bigint not null default 0 check (released >= 0),
  open        boolean not null default true,
  created_at  timestamptz not null default now(),
  primary key (bucket, account_id, environment, source_id, step),
  constraint hold_covered check (captured + released <= amount),
  constraint hold_closed check (open = (captured + released < amount))
) with (fillfactor = 70);

-- One row sums a tenant's transfers from one ledger account to another in one currency and day, up to the mark of the
-- tenant.
create table ledger.rollups (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  debit       text not null,
  credit      text not null,
  day         date not null,
  amount      bigint not null,
  entries     int not null,
  currency    text not null,
  primary key (bucket, account_id, environment, day, debit, credit, currency)
);

-- One row says up to which transfer id (exclusive) a tenant's transfers are rolled up.
create table ledger.rollup_marks (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  upto        uuid not null,
  primary key (bucket, account_id, environment)
);

-- One row is what a unit of something costs, from a moment on. The most exact row wins: account, network, country.
create table ledger.prices (
  id             uuid primary key,
  area           text not null,
  unit           text not null,
  country        text not null default '',
  network        text not null default '',
  account_id     uuid,
  currency       text not null,
  amount         bigint not null check (amount >= 0),
  effective_from timestamptz not null,
  created_at     timestamptz not null default now()
);
create unique index prices_once on ledger.prices
  (area, unit, country, network, currency, effective_from, coalesce(account_id, '00000000-0000-0000-0000-000000000000'));

-- The row of a wallet is the lock of everything a tenant has in its currency: charges, postings, holds. Whoever changes
-- anything locks the wallet first, and several in the order of the primary key. So a transaction that stays with one
-- wallet, or takes its wallets in that order, cannot deadlock, however many steps it makes.

-- Charging, many at once ------------------------------------------------------------------------------------------

create type ledger.charge_item as (
  bucket smallint, account_id uuid, environment text, currency text, amount bigint, source_id uuid, step text,
  transfer_id uuid, credit text
);

-- Charges wallets, each item decided as if they came one after the other: 'charged', 'replayed' (this source and step
-- was charged before, perhaps in the same batch) or 'insufficient'. A free item (amount 0) moves nothing and is charged.
-- The rule is that every posting is new, none is free and every wallet covers its items: then one update and one insert
-- do it all. What stands in the way (a wallet that is short or missing, a posting that is there already) undoes them and
-- has the items looked at one by one. The wallets are grouped by a sort and joined by nested loops, so that they are
-- locked in the order of their key. The settings leave one plan, by index for each item, so that it can be kept for the
-- session: the planner, left to choose, now and then reads all transfers to find those of a hundred items.
create function ledger.charge(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off as $$
declare
  wanted int;
  free   boolean;
  paid   int;
begin
  select count(*), bool_or(w.free) into wanted, free
    from (select bool_or(i.amount = 0) as free from unnest(items) i
           group by i.bucket, i.account_id, i.environment, i.currency) w;
  if free then return ledger.charge_in_turn(items); end if;
  update ledger.wallets w set balance = w.balance - c.total, updated_at = now()
    from (select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total
            from unnest(items) i group by 1, 2, 3, 4 order by 1, 2, 3, 4) c
   where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency
     and c.total <= w.balance - w.held + w.overdraft;
  get diagnostics paid = row_count;
  if paid < wanted then raise exception 'a wallet is short' using errcode = 'LB002'; end if;
  insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
  select i.bucket, i.account_id, i.environment, i.source_id, i.step, 0, i.transfer_id, 'wallet', i.credit, i.amount, i.currency
    from unnest(items) i;
  return array_fill('charged'::text, array[cardinality(items)]);
exception when unique_violation or sqlstate 'LB002' then
  return ledger.charge_in_turn(items);
end $$;

-- The same for a batch in which not every item can simply be charged.
create function ledger.charge_in_turn(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  before   boolean[];
  verdicts text[];
begin
  perform from ledger.wallets w
   where (w.bucket, w.account_id, w.environment, w.currency) in
         (select i.bucket, i.account_id, i.environment, i.currency from unnest(items) i)
   order by w.bucket, w.account_id, w.environment, w.currency for update;
  -- A statement of its own, so that it sees what others committed while this one waited for the locks.
  before := ledger.posted(items);

  if not exists (select from unnest(items) i group by i.account_id, i.environment, i.source_id, i.step having count(*) > 1) then
    select array_agg(case when i.before then 'replayed' when i.amount = 0 then 'charged'
                          when i.total <= w.balance - w.held + w.overdraft then 'charged'
                          when w.balance is null then 'insufficient' end order by i.ord)
      into verdicts
      from (select g.*, sum(case when g.before then 0 else g.amount end)
                          over (partition by g.bucket, g.account_id, g.environment, g.currency) as total
              from rows from (unnest(items), unnest(before)) with ordinality
                as g(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, before, ord)) i
      left join ledger.wallets w
        on w.bucket = i.bucket and w.account_id = i.account_id and w.environment = i.environment and w.currency = i.currency;
  end if;
  if verdicts is null or array_position(verdicts, null) is not null then
    verdicts := ledger.decide_in_turn(items, before);
  end if;

  update ledger.wallets w set balance = w.balance - c.total, updated_at = now()
    from (select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total
            from rows from (unnest(items), unnest(verdicts))
              as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, verdict)
           where i.verdict = 'charged' and i.amount is distinct from 0 group by 1, 2, 3, 4) c
   where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency;
  insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
  select i.bucket, i.account_id, i.environment, i.source_id, i.step, 0, i.transfer_id, 'wallet', i.credit, i.amount, i.currency
    from rows from (unnest(items), unnest(verdicts))
      as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, verdict)
   where i.verdict = 'charged' and i.amount is distinct from 0;
  return verdicts;
end $$;

-- The verdicts of a batch, item by item. Moves nothing; the wallets are locked by the caller.
create function ledger.decide_in_turn(items ledger.charge_item[], before boolean[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item      record;
  verdicts  text[];
  remaining bigint[];
  posted    boolean[];
begin
  for item in
    select i.amount, i.before, w.balance - w.held + w.overdraft as available,
           (dense_rank() over (order by i.bucket, i.account_id, i.environment, i.currency))::int as wallet,
           (dense_rank() over (order by i.account_id, i.environment, i.source_id, i.step))::int as posting
      from rows from (unnest(items), unnest(before)) with ordinality
        as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, before, ord)
      left join ledger.wallets w
        on w.bucket = i.bucket and w.account_id = i.account_id and w.environment = i.environment and w.currency = i.currency
     order by i.ord
  loop
    if item.before or posted[item.posting] then
      verdicts := verdicts || 'replayed'::text;
    elsif item.amount = 0 then
      verdicts := verdicts || 'charged'::text;
    elsif item.amount <= coalesce(remaining[item.wallet], item.available) then
      verdicts := verdicts || 'charged'::text;
      remaining[item.wallet] := coalesce(remaining[item.wallet], item.available) - item.amount;
      posted[item.posting] := true;
    else
      verdicts := verdicts || 'insufficient'::text;
    end if;
  end loop;
  return verdicts;
end $$;

-- Says for each item whether its source and step was posted. Only the primary key gives the order without a sort, so
-- with sorting off nothing else is used: by its estimates alone the planner cannot tell it from transfers_in_order,
-- which finds the same row by reading all of the tenant's.
create function ledger.posted(items ledger.charge_item[]) returns boolean[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  return (
    select array_agg(p.leg is not null order by i.ord)
      from unnest(items) with ordinality
        as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, ord)
      left join lateral (select t.leg from ledger.transfers t
                          where t.bucket = i.bucket and t.account_id = i.account_id and t.environment = i.environment
                            and t.source_id = i.source_id and t.step = i.step
                          order by t.leg limit 1) p on true);
end $$;

-- Undoes charges, each once. The items name what was charged: `step` is the charge's own, `credit` the account it went to.
create function ledger.uncharge(items ledger.charge_item[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  perform from ledger.wallets w
   where (w.bucket, w.account_id, w.environment, w.currency) in
         (select i.bucket, i.account_id, i.environment, i.currency from unnest(items) i)
   order by w.bucket, w.account_id, w.environment, w.currency for update;
  with returned as (
    insert into ledger.transfers
           (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, reverses)
    select i.bucket, i.account_id, i.environment, i.source_id, i.step || ':reversal', 0, i.transfer_id, i.credit, 'wallet',
           i.amount, i.currency, i.step
      from unnest(items) i where i.amount > 0
    on conflict do nothing
    returning bucket, account_id, environment, currency, amount)
  update ledger.wallets w set balance = w.balance + c.total, updated_at = now()
    from (select r.bucket, r.account_id, r.environment, r.currency, sum(r.amount)::bigint as total
            from returned r group by 1, 2, 3, 4) c
   where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency;
end $$;

-- Posting, one at a time ------------------------------------------------------------------------------------------

create type ledger.leg as (transfer_id uuid, debit text, credit text, amount bigint, currency text);

-- Posts the legs of one step: 'posted', 'replayed' (the same legs stand there already) or 'insufficient'. The same
-- step with other legs is a programming error and raises LB001. A wallet that is named for the first time is made.
create function ledger.post(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                            p_legs ledger.leg[], p_reverses text, p_description text)
  returns text language plpgsql as $$
declare
  posted int;
begin
  insert into ledger.wallets (bucket, account_id, environment, currency)
  select distinct p_bucket, p_account, p_environment, l.currency from unnest(p_legs) l
   where 'wallet' in (l.debit, l.credit)
   order by l.currency
  on conflict do nothing;
  perform from ledger.wallets w
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment
     and w.currency in (select l.currency from unnest(p_legs) l)
   order by w.currency for update;

  if ledger.has_legs(p_bucket, p_account, p_environment, p_source, p_step, p_legs) then return 'replayed'; end if;

  if exists (
    select from (select l.currency, sum(case when l.credit = 'wallet' then l.amount when l.debit = 'wallet' then -l.amount else 0 end) as net
                   from unnest(p_legs) l group by l.currency) n
      join ledger.wallets w on w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = n.currency
     where n.net < 0 and w.balance + n.net - w.held < -w.overdraft) then
    return 'insufficient';
  end if;

  -- A tenant without a wallet in the currency has no lock: of two transactions with the same step, the second waits here.
  insert into ledger.transfers
         (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, reverses, description)
  select p_bucket, p_account, p_environment, p_source, p_step, l.ord - 1, l.transfer_id, l.debit, l.credit, l.amount,
         l.currency, p_reverses, p_description
    from unnest(p_legs) with ordinality as l(transfer_id, debit, credit, amount, currency, ord)
  on conflict do nothing;
  get diagnostics posted = row_count;
  if posted < cardinality(p_legs) then
    if posted = 0 and ledger.has_legs(p_bucket, p_account, p_environment, p_source, p_step, p_legs) then return 'replayed'; end if;
    raise exception 'step % of % is being posted with other legs', p_step, p_source using errcode = 'LB001';
  end if;
  update ledger.wallets w set balance = w.balance + n.net, updated_at = now()
    from (select l.currency, sum(case when l.credit = 'wallet' then l.amount when l.debit = 'wallet' then -l.amount else 0 end)::bigint as net
            from unnest(p_legs) l group by l.currency) n
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = n.currency
     and n.net <> 0;
  return 'posted';
end $$;

-- Says whether a step stands in the ledger, and raises LB001 when it stands there with other legs. Sorting is off for
-- the same reason as in ledger.posted.
create function ledger.has_legs(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                p_legs ledger.leg[])
  returns boolean language plpgsql
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  stored  int;
  matched int;
begin
  select count(*), count(*) filter (where (t.debit, t.credit, t.amount, t.currency) = (l.debit, l.credit, l.amount, l.currency))
    into stored, matched
    from (select s.leg, s.debit, s.credit, s.amount, s.currency from ledger.transfers s
           where s.bucket = p_bucket and s.account_id = p_account and s.environment = p_environment
             and s.source_id = p_source and s.step = p_step
           order by s.leg) t
    left join unnest(p_legs) with ordinality as l(transfer_id, debit, credit, amount, currency, ord) on l.ord = t.leg + 1;
  if stored > 0 and (stored <> cardinality(p_legs) or matched <> stored) then
    raise exception 'step % of % was posted before with other legs', p_step, p_source using errcode = 'LB001';
  end if;
  return stored > 0;
end $$;

-- Holds -----------------------------------------------------------------------------------------------------------

-- Sets money aside: 'held', 'replayed' or 'insufficient'.
create function ledger.hold(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                            p_currency text, p_amount bigint)
  returns text language plpgsql as $$
declare
  available bigint;
begin
  select w.balance - w.held + w.overdraft into available from ledger.wallets w
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency
   for update;
  if exists (select from ledger.holds h
              where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
                and h.source_id = p_source and h.step = p_step) then
    return 'replayed';
  end if;
  if available is null or available < p_amount then return 'insufficient'; end if;
  insert into ledger.holds (bucket, account_id, environment, source_id, step, currency, amount)
  values (p_bucket, p_account, p_environment, p_source, p_step, p_currency, p_amount)
  on conflict do nothing;
  -- Somebody held the same step in another currency, under the lock of another wallet.
  if not found then return 'replayed'; end if;
  update ledger.wallets w set held = w.held + p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency;
  return 'held';
end $$;

-- Pays part of a hold (or all of it) to p_credit: 'captured', 'replayed', 'closed' (nothing is left to capture),
-- 'exceeds' (more than is left) or 'missing'. p_capture names this capture among those of the hold.
create function ledger.capture(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                               p_capture text, p_amount bigint, p_credit text, p_transfer uuid)
  returns text language plpgsql as $$
declare
  held     ledger.holds;
  replayed boolean[];
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  replayed := ledger.posted(array[row(p_bucket, p_account, p_environment, held.currency, p_amount, p_source, p_capture,
                                      p_transfer, p_credit)::ledger.charge_item]);
  if replayed[1] then return 'replayed'; end if;
  if not held.open then return 'closed'; end if;
  if p_amount > held.amount - held.captured - held.released then return 'exceeds'; end if;
  update ledger.holds h set captured = h.captured + p_amount, open = h.captured + p_amount + h.released < h.amount
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set balance = w.balance - p_amount, held = w.held - p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  insert into ledger.transfers
         (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, hold_step)
  values (p_bucket, p_account, p_environment, p_source, p_capture, 0, p_transfer, 'wallet', p_credit, p_amount,
          held.currency, p_step);
  return 'captured';
end $$;

-- Gives back what is left of a hold and closes it: 'released', 'closed' (it was closed already) or 'missing'.
create function ledger.release(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text)
  returns text language plpgsql as $$
declare
  held ledger.holds;
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  if not held.open then return 'closed'; end if;
  update ledger.holds h set released = h.amount - h.captured, open = false
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set held = w.held - (held.amount - held.captured - held.released), updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  return 'released';
end $$;

-- The hold as it stands once its wallet is locked; a row of nulls when there is none. The currency of a hold never
-- changes, so it can be read before the lock; the rest is read after it.
create function ledger.lock_hold(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text)
  returns ledger.holds language plpgsql as $$
declare
  held ledger.holds;
begin
  select * into held from ledger.holds h
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  if not found then return null; end if;
  perform from ledger.wallets w
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency
   for update;
  select * into held from ledger.holds h
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  return held;
end $$;

-- Roll-ups --------------------------------------------------------------------------------------------------------

-- Adds the transfers of a bucket's tenants with ids before p_upto to their daily sums, and gives the number of sums that
-- grew. p_upto lies safely in the past, so that no transaction still open can bring an older id afterwards. Tenants are
-- found by their wallets (every account is opened with one); those with nothing new are left alone.
create function ledger.roll_up(p_bucket smallint, p_upto uuid) returns int language plpgsql as $$
declare
  tenant record;
  since  uuid;
  added  int;
  total  int := 0;
begin
  for tenant in
    select w.account_id, w.environment
      from (select distinct v.account_id, v.environment from ledger.wallets v where v.bucket = p_bucket) w
      left join ledger.rollup_marks m
        on m.bucket = p_bucket and m.account_id = w.account_id and m.environment = w.environment
     cross join lateral (
       select t.id from ledger.transfers t
        where t.bucket = p_bucket and t.account_id = w.account_id and t.environment = w.environment
          and t.id >= coalesce(m.upto, '00000000-0000-0000-0000-000000000000') and t.id < p_upto
        order by t.id limit 1) newer
     order by w.account_id, w.environment
  loop
    insert into ledger.rollup_marks (bucket, account_id, environment, upto)
    values (p_bucket, tenant.account_id, tenant.environment, '00000000-0000-0000-0000-000000000000')
    on conflict do nothing;
    select m.upto into since from ledger.rollup_marks m
     where m.bucket = p_bucket and m.account_id = tenant.account_id and m.environment = tenant.environment for update;
    continue when since >= p_upto;
    insert into ledger.rollups as r (bucket, account_id, environment, day, debit, credit, currency, amount, entries)
    select p_bucket, tenant.account_id, tenant.environment, ledger.day_of(t.id), t.debit, t.credit, t.currency,
           sum(t.amount), count(*)
      from ledger.transfers t
     where t.bucket = p_bucket and t.account_id = tenant.account_id and t.environment = tenant.environment
       and t.id >= since and t.id < p_upto
     group by ledger.day_of(t.id), t.debit, t.credit, t.currency
    on conflict (bucket, account_id, environment, day, debit, credit, currency) do update
      set amount = r.amount + excluded.amount, entries = r.entries + excluded.entries;
    get diagnostics added = row_count;
    total := total + added;
    update ledger.rollup_marks m set upto = p_upto
     where m.bucket = p_bucket and m.account_id = tenant.account_id and m.environment = tenant.environment;
  end loop;
  return total;
end $$;

-- The UTC day on which a UUIDv7 was made.
create function ledger.day_of(id uuid) returns date language sql immutable as $$
  select (to_timestamp(('x' || lpad(substr(replace(id::text, '-', ''), 1, 12), 16, '0'))::bit(64)::bigint / 1000.0) at time zone 'UTC')::date
$$;
