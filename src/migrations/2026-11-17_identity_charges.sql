-- What a verification costs: set aside when it is accepted, paid with its verdict, given back when it could not be looked at.
alter table identity.verifications add column cost bigint not null default 0;
alter table identity.verifications add column currency text not null default 'USD';
