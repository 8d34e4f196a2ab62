-- SPDX-License-Identifier: Apache-2.0
-- Keys are held to the member who made them: directly, by another key, or by rotation.

alter table accounts.api_keys add column member_id uuid;
comment on column accounts.api_keys.member_id is 'Member who made it, or whose key did; null when no member did';
create index api_keys_of_member on accounts.api_keys (member_id) where member_id is not null;

-- Keys from before: created_by names the member or the key by its public id, 26 characters of Crockford base32.
with recursive named as (
  select x.id, x.prefix || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
                             ('0' || substr(b.bits, g * 5 + 1, 5))::bit(6)::int + 1, 1), '' order by g) as name
    from (select id, 'member:mbr_' as prefix from accounts.members
          union all select id, 'key:key_' from accounts.api_keys) x,
         lateral (select '00' || ('x' || replace(x.id::text, '-', ''))::bit(128)::text as bits) b,
         generate_series(0, 25) g
   group by x.id, x.prefix
), makers as (
  select k.id, m.id as member_id
    from accounts.api_keys k
    join named n on n.name = k.created_by
    join accounts.members m on m.id = n.id and m.account_id = k.account_id
  union
  select k.id, o.member_id
    from makers o
    join named n on n.id = o.id
    join accounts.api_keys k on k.created_by = n.name
)
update accounts.api_keys k set member_id = o.member_id from makers o where o.id = k.id;
