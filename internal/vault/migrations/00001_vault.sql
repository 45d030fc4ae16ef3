-- +goose Up
-- Operational tables that are not projections (docs/rules/engine.md#vault). All times come from the program's clock.

-- The installation's own secret, from which stable keys are derived. One row.
create table {schema}.root_keys (
	single boolean primary key default true check (single),
	sealed bytea   not null
);

-- wrapped is null once the subject is forgotten; the row stays, so that no new key can be made.
create table {schema}.subject_keys (
	subject    uuid primary key,
	wrapped    bytea,
	created_at timestamptz not null
);

-- The list of erasures, to be carried over and applied again after a restore of older keys.
create table {schema}.subject_erasures (
	subject   uuid primary key,
	erased_at timestamptz not null
);

create table {schema}.secrets (
	ref        uuid primary key,
	org_id     uuid,
	purpose    text        not null,
	sealed     bytea       not null,
	updated_at timestamptz not null
);

create table {schema}.passwords (
	user_id    uuid primary key,
	salt       bytea       not null,
	hash       bytea       not null,
	memory_kib integer     not null,
	passes     integer     not null,
	threads    integer     not null,
	set_at     timestamptz not null
);

create table {schema}.lockouts (
	key          bytea primary key,
	tries        integer     not null,
	last_at      timestamptz not null,
	locked_until timestamptz
);
create index on {schema}.lockouts (last_at);

create table {schema}.sessions (
	id         uuid primary key,
	user_id    uuid        not null,
	org_id     uuid,
	started_at timestamptz not null,
	used_at    timestamptz not null,
	expires_at timestamptz not null,
	revoked_at timestamptz
);
create index on {schema}.sessions (user_id);
create index on {schema}.sessions (expires_at);

create table {schema}.refresh_tokens (
	hash       bytea primary key,
	session_id uuid        not null references {schema}.sessions on delete cascade,
	expires_at timestamptz not null,
	used_at    timestamptz
);
create index on {schema}.refresh_tokens (session_id);

create table {schema}.idempotency (
	key          uuid primary key,
	body_hash    bytea       not null,
	lease        uuid        not null,
	leased_until timestamptz not null,
	sealed       bytea,
	expires_at   timestamptz not null
);
create index on {schema}.idempotency (expires_at);

create table {schema}.limits (
	key        bytea primary key,
	started_at timestamptz not null,
	previous   integer     not null,
	current    integer     not null,
	allowed    boolean     not null,
	expires_at timestamptz not null
);
create index on {schema}.limits (expires_at);

create table {schema}.provider_tokens (
	credentials text primary key,
	sealed      bytea       not null,
	token_hash  bytea       not null,
	fetched_at  timestamptz not null
);

create table {schema}.callbacks (
	id           uuid primary key,
	kind         text        not null,
	ref          uuid,
	shortcode    text        not null,
	verified     boolean     not null,
	sealed       bytea       not null,
	received_at  timestamptz not null,
	due_at       timestamptz,
	lease        uuid,
	attempts     integer     not null default 0,
	last_failure text        not null default '',
	done_at      timestamptz
);
create index on {schema}.callbacks (due_at) where done_at is null;
create index on {schema}.callbacks (done_at) where done_at is not null;

create table {schema}.callback_secrets (
	token_hash bytea primary key,
	kind       text        not null,
	ref        uuid        not null,
	org_id     uuid,
	shortcode  text        not null,
	sealed     bytea       not null,
	created_at timestamptz not null,
	unique (kind, ref)
);
