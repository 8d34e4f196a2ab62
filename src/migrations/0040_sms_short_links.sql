-- Short links in texts, and how often they were opened.

-- One row is a short link that stands in one recipient's text in place of a long one.
create table sms.short_links (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  token            text not null,
  url              text not null,
  clicks           integer not null default 0,
  first_clicked_at timestamptz,
  last_clicked_at  timestamptz,
  created_at       timestamptz not null,
  primary key (bucket, account_id, environment, token)
);
create index short_links_by_token on sms.short_links (token);
create index short_links_by_age on sms.short_links (created_at);
