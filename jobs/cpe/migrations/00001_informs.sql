-- +goose Up
-- When each CPE has called last: operational, not derived from the log.
create table {schema}.informs (
	cpe_id   uuid primary key,
	org_id   uuid,                 -- null = it waits to be claimed
	at       timestamptz not null,
	minute   bigint      not null, -- of at, since 1970
	moved_at timestamptz           -- when org_id was told last by a claim or a release
);
create index on {schema}.informs (org_id, minute, at) where org_id is not null;

-- How many CPEs of an organization have called last in each minute: from it the CPEs that are online are counted in
-- the same time for ten as for ten thousand.
create table {schema}.minutes (
	org_id uuid   not null,
	minute bigint not null,
	cpes   int    not null,
	primary key (org_id, minute)
);

-- +goose StatementBegin
create function {schema}.count_informs() returns trigger language plpgsql as $$
begin
	if tg_op <> 'INSERT' then
		update {schema}.minutes m set cpes = m.cpes - g.n
		from (select org_id, minute, count(*)::int as n from former where org_id is not null group by 1, 2) g
		where m.org_id = g.org_id and m.minute = g.minute;
		delete from {schema}.minutes where cpes <= 0;
	end if;
	if tg_op <> 'DELETE' then
		insert into {schema}.minutes as m (org_id, minute, cpes)
		select org_id, minute, count(*)::int from present where org_id is not null group by 1, 2
		on conflict (org_id, minute) do update set cpes = m.cpes + excluded.cpes;
	end if;
	return null;
end $$;
-- +goose StatementEnd

create trigger counted_new after insert on {schema}.informs referencing new table as present
	for each statement execute function {schema}.count_informs();
create trigger counted_again after update on {schema}.informs referencing old table as former new table as present
	for each statement execute function {schema}.count_informs();
create trigger counted_gone after delete on {schema}.informs referencing old table as former
	for each statement execute function {schema}.count_informs();
