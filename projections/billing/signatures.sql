-- How the documents of organizations are signed.
create table {schema}.tax_gateways (
  org_id uuid primary key,
  turned_on boolean not null,
  address text not null,
  serial text not null,
  branch text not null,
  secret_ref uuid,
  messages boolean not null,
  revision bigint not null
);

-- Whether the gateways of organizations take documents.
create table {schema}.tax_contacts (
  org_id uuid primary key,
  code text not null, -- of the failure; "" = they take them
  since timestamptz not null,
  revision bigint not null
);

-- Every document that the tax authority signs.
create table {schema}.signatures (
  signature_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  invoice_id uuid not null, -- itself, or the one that it is about
  document text not null, -- invoice, credit_note, cancellation
  number text not null,
  currency text not null,
  total_minor bigint not null,
  state text not null, -- queued, signed, refused, withdrawn
  issued_at timestamptz not null,
  queued_at timestamptz not null, -- again at each retry
  retries integer not null default 0,
  began boolean not null default false, -- the gateway may have it
  code text not null default '', -- of the last refusal, in the gateway's words
  message text not null default '', -- "" also for a forgotten person
  refused_at timestamptz,
  control_number text not null default '',
  verification text not null default '',
  signed_at timestamptz,
  revision bigint not null
);
create index signatures_newest on {schema}.signatures (org_id, queued_at desc, signature_id desc);
create index signatures_state on {schema}.signatures (org_id, state, queued_at desc, signature_id desc)
  where state in ('queued', 'refused');
create index signatures_invoice on {schema}.signatures (invoice_id) where state in ('queued', 'refused');
create index signatures_subscriber on {schema}.signatures (subscriber_id);
create index signatures_open on {schema}.signatures (state, queued_at) where state in ('queued', 'refused');
