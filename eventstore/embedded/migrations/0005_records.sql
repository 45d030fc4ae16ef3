-- An event becomes one column beside its place: all that a reader gets. A page of nine columns cost PostgreSQL and the
-- node half as much again as a page of one. Rows are read and written by stored.go; the functions and the view are for
-- the node's own looks into records, and for people. The functions stand alone, whatever the search path.

-- The record of an event: the bytes of its type in 2 bytes, of which the first bit is set for JSON; the event's id in
-- 16; when it was created in 8; its position, the number of its stream and its revision in 6 each; the bytes of its
-- metadata in 3; its type, metadata and data. Numbers have their most significant byte first. A tombstone's revision has
-- all bits. Null for metadata that is too long.
create function event_record("position" bigint, stream_id bigint, revision bigint, event_id uuid, type text,
        is_json boolean, created bigint, metadata bytea, data bytea) returns bytea
    language sql stable parallel safe as $$
        select substring(int4send(octet_length(convert_to(type, 'UTF8')) | case when is_json then 32768 else 0 end) from 3)
            || uuid_send(event_id) || int8send(created) || substring(int8send("position") from 3)
            || substring(int8send(stream_id) from 3) || substring(int8send(revision) from 3)
            || case when octet_length(metadata) < 16777216 then substring(int4send(octet_length(metadata)) from 2) end
            || convert_to(type, 'UTF8') || metadata || data
    $$;

-- Parts of a record; of one that is too short they give something, so that what reads many records goes on. A large
-- record lies outside of its row, and they fetch no more of it than its compression allows. They are as stable as the
-- functions in them, which lets PostgreSQL put them into its plans.
create function event_is_whole(record bytea) returns boolean language sql immutable parallel safe as $$
    select octet_length(record) >= 47 + (('x' || encode(substring(record from 1 for 2), 'hex'))::bit(16)::integer & 32767)
        + ('x' || encode(substring(record from 45 for 3), 'hex'))::bit(24)::integer
$$;
create function event_is_json(record bytea) returns boolean language sql immutable parallel safe as $$
    select substring(record from 1 for 1) >= '\x80'
$$;
create function event_id(record bytea) returns uuid language sql immutable parallel safe as $$
    select rpad(encode(substring(record from 3 for 16), 'hex'), 32, '0')::uuid
$$;
create function event_created(record bytea) returns bigint language sql immutable parallel safe as $$
    select ('x' || encode(substring(record from 19 for 8), 'hex'))::bit(64)::bigint
$$;
create function event_type(record bytea) returns text language sql stable parallel safe as $$
    select convert_from(substring(record from 48 for
        ('x' || encode(substring(record from 1 for 2), 'hex'))::bit(16)::integer & 32767), 'UTF8')
$$;
create function event_metadata(record bytea) returns bytea language sql immutable parallel safe as $$
    select substring(record from 48 + (('x' || encode(substring(record from 1 for 2), 'hex'))::bit(16)::integer & 32767)
        for ('x' || encode(substring(record from 45 for 3), 'hex'))::bit(24)::integer)
$$;
create function event_data(record bytea) returns bytea language sql immutable parallel safe as $$
    select substring(record from 48 + (('x' || encode(substring(record from 1 for 2), 'hex'))::bit(16)::integer & 32767)
        + ('x' || encode(substring(record from 45 for 3), 'hex'))::bit(24)::integer)
$$;

-- The rows are copied in the order of their positions, as in 0002_stream_numbers.sql.
alter table events rename to spread_events;
create table events (
    position  bigint not null check (position between 1 and 281474976710655), -- place in $all, increasing
    stream_id bigint not null, -- of streams; no foreign key, because the one writer inserts both rows in one statement
    revision  bigint not null -- number in the stream; the greatest bigint is a tombstone
        check (revision between 0 and 281474976710654 or revision = 9223372036854775807),
    record    bytea not null -- the event, and these three places again, so that a reader needs nothing else
);
set local enable_sort = off;
set local max_parallel_workers_per_gather = 0;
insert into events (position, stream_id, revision, record)
    select position, stream_id, revision,
        event_record(position, stream_id, revision, event_id, type, is_json, created, metadata, data)
    from spread_events order by position;
drop table spread_events;
alter table events add primary key (position), add constraint events_stream_revision unique (stream_id, revision);
create index events_tombstones on events (stream_id) where revision = 9223372036854775807;
analyze events;

-- As 0003 and 0004 have set them for the table before.
alter table events set (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_threshold = 1000);

create view readable_events as
    select e.position, s.name as stream, e.revision, event_id(e.record) as event_id, event_type(e.record) as type,
        event_is_json(e.record) as is_json, event_created(e.record) as created,
        event_metadata(e.record) as metadata, event_data(e.record) as data
    from events e join streams s on s.id = e.stream_id;
