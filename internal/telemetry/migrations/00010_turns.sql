-- +goose Up
-- Of which organizations reports wait on the disk of a program, and since when the oldest report of each. Null = the
-- program is an older one, which does not say: reports of any organization may wait there.
alter table {schema}.spools add orgs uuid[], add orgs_since timestamptz[];
-- Sums have a bound, so that both directions together, and some rows, stay within 64 bits.
update {schema}.usage set bytes_down = least(bytes_down, 1::bigint << 56), bytes_up = least(bytes_up, 1::bigint << 56)
	where bytes_down > 1::bigint << 56 or bytes_up > 1::bigint << 56;
