-- One row for each event that somebody who was away wants to know about. No column is personal.
create table {schema}.changes (
  position bigint primary key,
  org_id uuid not null,
  at timestamptz not null,
  kind text not null,
  subscriber_id uuid, -- null = about a router
  subscription_id uuid,
  payment_id uuid,
  message_id uuid,
  device_id uuid, -- null = about a customer
  service_id uuid -- null = about the router itself, or a customer
);
create index changes_newest on {schema}.changes (org_id, at desc, position desc);
create index changes_kind on {schema}.changes (org_id, kind, at desc, position desc);
