-- Numbers that moved.

-- One row is a number that is with another network than the one its range was given to. Kept by operators, who get the list
-- from their country's registry. In plain byte order, so that the numbers of a country are a range of the key.
create table sms.ported_numbers (
  phone      text collate "C" primary key,
  network    text not null,
  mcc_mnc    text,
  updated_at timestamptz not null
);
