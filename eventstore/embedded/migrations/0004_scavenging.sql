-- Rows of events are deleted, too: scavenging removes what no reader of its stream can see any more, but never the last
-- event of a stream. So positions increase and are not dense, and that rows are only ever inserted holds for streams
-- alone. Types of a block may be those of events that were removed.

-- Streams that have ended are found by their tombstones: few rows, which an append of other events does not touch.
create index events_tombstones on events (stream_id) where revision = 9223372036854775807;

-- Pages are frozen early as before. Vacuum comes for deleted rows when they are a fiftieth of the log, and not a fifth,
-- so that the next events get their room soon.
alter table events set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_threshold = 1000);
