-- Which event types each 1,024 positions have, so that who reads events of seldom types passes over the rest. Rows follow
-- from the events, are made some time after them, and never change.
create table type_blocks (
    block bigint primary key check (block >= 0), -- block 0 has the positions 1 to 1024
    types text[] collate "C" not null
);
