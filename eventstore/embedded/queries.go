package embedded

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// queries are the node's statements, with the name of its schema inserted. Read-only after newQueries.
type queries struct {
	insertGroup  string
	lastPosition string
	heads        string
	recent       string
	identities   string
	streamUp     string
	streamDown   string
	allUp        string
	allDown      string
	targets      string
	claim        string
	retake       string
	holder       string
}

// columns of a record, in the order that scanRecord expects.
const columns = `position, stream, revision, event_id, type, is_json, created, metadata, data`

// insertGroup writes a group of records if this node still holds the log. It runs for each append of a single writer,
// so it is parsed only once.
var insertGroup = postgres.MustStatement(`
	with fence as (select from {schema}.node where holder = @holder and epoch = @epoch for share)
	insert into {schema}.events ({columns})
	select * from unnest(@positions::bigint[], @streams::text[], @revisions::bigint[], @ids::uuid[],
		@kinds::text[], @json::boolean[], @created::bigint[], @metadata::bytea[], @data::bytea[])
	where exists (select from fence)`,
	"holder", "epoch", "positions", "streams", "revisions", "ids", "kinds", "json", "created", "metadata", "data")

// newQueries replaces {schema} and {columns} in every statement.
func newQueries(schema string) *queries {
	in := func(sql string) string {
		sql = strings.ReplaceAll(sql, "{schema}", pgx.Identifier{schema}.Sanitize())
		return strings.ReplaceAll(sql, "{columns}", columns)
	}
	return &queries{
		insertGroup:  in(insertGroup.Text),
		lastPosition: in(`select coalesce(max(position), 0) from {schema}.events`),
		// The body is fetched for metastreams only: their last event is the metadata that rules the stream.
		heads: in(`select s.name, e.revision, e.is_json, case when starts_with(s.name, '$$') then e.data end
			from unnest($1::text[]) as s (name)
			cross join lateral (
				select revision, is_json, data from {schema}.events where stream = s.name order by revision desc limit 1
			) e`),
		recent: in(`select stream, event_id, revision, position from {schema}.events order by position desc limit $1`),
		identities: in(`select event_id, position from {schema}.events
			where stream = $1 and revision > $2 and revision <= $3 order by revision`),
		streamUp: in(`select {columns} from {schema}.events
			where stream = $1 and revision >= $2 order by revision limit $3`),
		streamDown: in(`select {columns} from {schema}.events
			where stream = $1 and revision <= $2 order by revision desc limit $3`),
		allUp:   in(`select {columns} from {schema}.events where position >= $1 order by position limit $2`),
		allDown: in(`select {columns} from {schema}.events where position < $1 order by position desc limit $2`),
		targets: in(`
			select e.position, e.stream, e.revision, e.event_id, e.type, e.is_json, e.created, e.metadata, e.data
			from unnest($1::text[], $2::bigint[]) as t (stream, revision)
			join {schema}.events e on e.stream = t.stream and e.revision = t.revision`),
		claim: in(`insert into {schema}.node as n (holder, epoch, url, taken_at) values ($1, 1, $2, $3)
			on conflict (only_row) do update set holder = $1, epoch = n.epoch + 1, url = $2, taken_at = $3
			returning epoch`),
		retake: in(`update {schema}.node set epoch = epoch + 1, taken_at = $2 where holder = $1 returning epoch`),
		holder: in(`select url from {schema}.node`),
	}
}
