-- +goose Up
-- Why a session was revoked, and whether the log has its end: the vault ends a session first, and its event follows.
-- Of sessions that were revoked before, only those of a reused token can lack the event; to record the end of another
-- one again changes nothing. docs/rules/identity.md#end-of-a-session
alter table {schema}.sessions
	add column end_reason   text, -- null: revoked by a program of before, see Ended.Reason
	add column end_recorded boolean not null default false;
create index on {schema}.sessions (revoked_at) where revoked_at is not null and not end_recorded;
