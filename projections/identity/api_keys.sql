create table {schema}.api_keys (
  key_id uuid primary key,
  org_id uuid not null,
  name text not null,
  role text not null,
  scopes text[],                  -- null = all that the role may
  allowed_addresses text[],       -- null = from everywhere
  expires_at timestamptz,         -- null = never
  created_at timestamptz not null,
  created_by uuid not null,
  secret_id uuid not null,        -- the present one
  prefix text not null,
  answers uuid not null,          -- who made the present secret, and answers for it
  rotated_at timestamptz,         -- null = never
  previous_prefix text,           -- of the secret before, while it is in its overlap or after it; null = ended at once
  previous_until timestamptz,
  revoked_at timestamptz,         -- null = it was not
  revoked_by uuid,
  revision bigint not null
);
create index api_keys_newest on {schema}.api_keys (org_id, created_at desc, key_id desc);
