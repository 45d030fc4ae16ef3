-- Streams get numbers. Before, every event had the name of its stream in its row and in the index of its stream; page
-- images of that index were most of what an append wrote to the write-ahead log.
create table streams (
    id   bigint not null check (id > 0), -- given by the one sequencer, in the order of first events
    name text collate "C" not null
);
insert into streams (id, name)
    select row_number() over (order by min(position)), stream from events group by stream;
alter table streams add primary key (id), add constraint streams_name unique (name);
analyze streams;

-- The rows are copied in the order of their positions into a new table, so that it has no dead rows and no gaps.
alter table events rename to named_events;
create table events (
    position  bigint not null check (position > 0), -- place in $all: dense, increasing, assigned by the one sequencer
    stream_id bigint not null, -- of streams; no foreign key, because the one writer inserts both rows in one statement
    revision  bigint not null check (revision >= 0), -- number in the stream; the greatest bigint is a tombstone
    event_id  uuid not null,
    type      text collate "C" not null,
    is_json   boolean not null,
    created   bigint not null, -- ticks of 100 ns since 1970-01-01 UTC, as the protocol carries them
    metadata  bytea not null,
    data      bytea not null
);
-- With sorting off the planner reads in the order of the primary key, which is the order on disk: nothing is spilled.
set local enable_sort = off;
set local max_parallel_workers_per_gather = 0;
insert into events (position, stream_id, revision, event_id, type, is_json, created, metadata, data)
    select e.position, (select s.id from streams s where s.name = e.stream), e.revision, e.event_id, e.type, e.is_json,
        e.created, e.metadata, e.data
    from named_events e order by e.position;
drop table named_events;
alter table events add primary key (position), add constraint events_stream_revision unique (stream_id, revision);
analyze events;

-- Rows are only ever inserted, so vacuum freezes new pages early and never has to come back to them: otherwise the whole
-- log would be rewritten at once when its transactions become old.
alter table events set (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);
alter table streams set (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 100000);
