package embedded

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// queries are the node's statements, with the name of its schema inserted. Read-only after newQueries.
type queries struct {
	insertGroup string
	insertNamed string // insertGroup for a group with the first event of a stream
	insertOne   string // insertGroup for a group of one event
	ends        string
	heads       string
	recent      string
	identities  string
	streamUp    pageQuery
	streamDown  pageQuery
	allUp       pageQuery
	allDown     pageQuery
	targets     string
	names       string
	typeBlocks  string

	addTypeBlocks string
	claim         string
	retake        string
	holder        string
	epoch         string
}

// insertParts are the pieces of the statements that write a group of records if this node still holds the log. They run
// for each append of a single writer, so they are parsed only once. The share of the node's row lasts until the commit:
// neither another node nor scavenging can come between.
const (
	insertHeld  = `from {schema}.node where holder = @holder and epoch = @epoch for share`
	insertFence = `
	with fence as (select ` + insertHeld + `)`
	insertStreams = `, named as (
		insert into {schema}.streams (id, name)
		select * from unnest(@new_ids::bigint[], @new_names::text[]) where exists (select from fence)
	)`
	insertInto = `
	insert into {schema}.events (position, stream_id, revision, record)`
	insertEvents = insertInto + `
	select * from unnest(@positions::bigint[], @streams::bigint[], @revisions::bigint[], @records::bytea[])
	where exists (select from fence)`
	insertEvent = insertInto + `
	select @position::bigint, @stream::bigint, @revision::bigint, @record::bytea ` + insertHeld
)

// insertGroup writes events of streams that have numbers; insertNamed also gives numbers to new streams. insertOne
// writes one event for half of what insertGroup costs PostgreSQL.
var (
	insertGroup = postgres.MustStatement(insertFence+insertEvents, "holder", "epoch", "positions", "streams",
		"revisions", "records")
	insertNamed = postgres.MustStatement(insertFence+insertStreams+insertEvents, "holder", "epoch", "new_ids",
		"new_names", "positions", "streams", "revisions", "records")
	insertOne = postgres.MustStatement(insertEvent, "holder", "epoch", "position", "stream", "revision", "record")
)

// Columns of a row, in the order that pageRow expects. A record that does not fit into the bytes of the page is left
// out.
const (
	sizedColumns = `case when total <= {bytes} then record end, size::bigint`
	evenColumns  = `case when octet_length(record) <= {bytes} then record end`
	// rowOverhead is about the number of bytes of memory that an event takes beside its record.
	rowOverhead = 200
)

// recordSize is about the number of bytes of memory that an event takes. A record that was moved out of its row is not
// fetched for it.
var recordSize = `octet_length(record) + ` + strconv.Itoa(rowOverhead)

// pageQuery is the statement of a page in two forms. Both give an event that does not fit without its record.
type pageQuery struct {
	sized string // ends at the first event that does not fit into the bytes of the page
	even  string // leaves out each record of more than so many bytes: one comparison for each row
}

// even reads rows in order, without a record of more than so many bytes.
func even(rows, bytes string) string {
	return strings.ReplaceAll(`select `+evenColumns+rows, "{bytes}", bytes)
}

// sized reads rows in order, until one does not fit into so many bytes, which is the last one. It is there also after
// rows that fill the bytes exactly: without it, the page would end as the log does. more are further columns.
func sized(rows, order, bytes, more string) string {
	return strings.ReplaceAll(`select `+sizedColumns+more+` from (
			select *, `+recordSize+` as size,
				sum(`+recordSize+`) over (order by `+order+` rows unbounded preceding) as total
			from (`+rows+`) p
		) e where total - size <= {bytes} order by `+order, "{bytes}", bytes)
}

// withSchema inserts the number of the stream that $1 names, and the name of the schema, into a statement.
func withSchema(schema, sql string) string {
	for _, part := range [][2]string{
		{"{stream}", `(select s.id from {schema}.streams s where s.name = $1)`},
		{"{schema}", pgx.Identifier{schema}.Sanitize()},
	} {
		sql = strings.ReplaceAll(sql, part[0], part[1])
	}
	return sql
}

// newQueries replaces {schema} and the names of column lists in every statement.
func newQueries(schema string) *queries {
	in := func(sql string) string { return withSchema(schema, sql) }
	paged := func(rows, order, bytes string) pageQuery {
		return pageQuery{in(sized(`select *`+rows, order, bytes, "")), in(even(rows, bytes))}
	}
	return &queries{
		insertGroup: in(insertGroup.Text), insertNamed: in(insertNamed.Text), insertOne: in(insertOne.Text),
		ends: in(`select coalesce(e.position, 0),
				coalesce({schema}.event_id(e.record), '00000000-0000-0000-0000-000000000000'),
				(select coalesce(max(id), 0) from {schema}.streams)
			from (values (true)) always left join (
				select position, record from {schema}.events order by position desc limit 1) e on true`),
		// The data is fetched for metastreams only: their last event is the metadata that rules the stream.
		heads: in(`select n.name, s.id, e.revision, starts_with(n.name, '$$') and {schema}.event_is_json(e.record),
				case when starts_with(n.name, '$$') then {schema}.event_data(e.record) end
			from unnest($1::text[]) as n (name)
			cross join lateral (select id from {schema}.streams where name = n.name limit 1) s
			cross join lateral (
				select revision, record from {schema}.events
				where stream_id = s.id order by revision desc limit 1
			) e`),
		recent: in(`select stream_id, {schema}.event_id(record), revision, position from {schema}.events
			order by position desc limit $1`),
		identities: in(`select revision, {schema}.event_id(record), position from {schema}.events
			where stream_id = {stream} and revision > $2 and revision <= $3 order by revision`),
		streamUp: paged(` from {schema}.events
			where stream_id = {stream} and revision >= $2 order by revision limit $3`, `revision`, `$4`),
		streamDown: paged(` from {schema}.events
			where stream_id = {stream} and revision <= $2 order by revision desc limit $3`, `revision desc`, `$4`),
		allUp: paged(` from {schema}.events where position >= $1 order by position limit $2`, `position`, `$3`),
		allDown: paged(` from {schema}.events
			where position < $1 order by position desc limit $2`, `position desc`, `$3`),
		targets: in(sized(`
			select t.stream, t.number, e.*
			from unnest($1::text[], $2::bigint[]) with ordinality as t (stream, revision, number)
			cross join lateral (select id from {schema}.streams where name = t.stream limit 1) s
			join {schema}.events e on e.stream_id = s.id and e.revision = t.revision`, `number`, `$3`, `, stream`)),
		names: in(`select id, name from {schema}.streams where id = any($1::bigint[])`),
		typeBlocks: in(`select block, types from {schema}.type_blocks where block >= $1 and block < $2
			order by block limit $3`),
		addTypeBlocks: in(`insert into {schema}.type_blocks (block, types)
			select b.number, e.types from generate_series($2::bigint, $3::bigint - 1) b (number)
			cross join lateral (
				select coalesce(array_agg(distinct case when {schema}.event_is_whole(record)
					then {schema}.event_type(record) else '' end collate "C"), '{}') as types
				from {schema}.events where position > b.number << $1 and position <= (b.number + 1) << $1
			) e where (b.number + 1) << $1 <= (select max(position) from {schema}.events)
			on conflict do nothing`),
		claim: in(`insert into {schema}.node as n (holder, epoch, url, taken_at) values ($1, 1, $2, $3)
			on conflict (only_row) do update set holder = $1, epoch = n.epoch + 1, url = $2, taken_at = $3
			returning epoch`),
		retake: in(`update {schema}.node set epoch = epoch + 1, taken_at = $2 where holder = $1 returning epoch`),
		holder: in(`select url from {schema}.node`),
		epoch:  in(`select epoch from {schema}.node`),
	}
}
