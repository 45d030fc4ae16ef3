-- The log: one row per event, in one table, so that reading everything in order is one index scan.
-- Rows are only ever inserted. Statements run with the search path set to the node's schema.
create table events (
    position bigint not null check (position > 0), -- place in $all: dense, increasing, assigned by the one sequencer
    stream   text collate "C" not null,
    revision bigint not null check (revision >= 0), -- number in the stream; the greatest bigint is a tombstone
    event_id uuid not null,
    type     text collate "C" not null,
    is_json  boolean not null,
    created  bigint not null, -- ticks of 100 ns since 1970-01-01 UTC, as the protocol carries them
    metadata bytea not null,
    data     bytea not null,
    primary key (position),
    constraint events_stream_revision unique (stream, revision)
);

-- The node that may write. Every commit locks this row and checks holder and epoch: a node that lost its place cannot add to the log.
create table node (
    only_row boolean primary key default true check (only_row),
    holder   uuid not null,
    epoch    bigint not null,
    url      text not null, -- where the holder listens, for the error a second node prints
    taken_at timestamptz not null
);
