-- How an account shows itself to those whom it bills: what it set of its colour, logo, tax number and address.
create or replace function accounts.brand_of(account uuid) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object('color', settings -> 'brand_color', 'logo', settings -> 'brand_logo',
                                              'tax_number', settings -> 'tax_number', 'address', settings -> 'address'))
    from accounts.accounts where id = account
$$;
