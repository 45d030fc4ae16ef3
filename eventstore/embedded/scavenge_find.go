package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bounds of one transaction that removes events, and of one look for them.
const (
	scavengeEvents = 512
	scavengeBytes  = 4 << 20 // which the last event may pass
	scavengeFound  = 256     // streams
)

// A transaction begins with few events. Beyond scavengeSlow the next ones remove fewer, below scavengeFast more.
const (
	scavengeBegin = 32
	scavengeFast  = 20 * time.Millisecond
	scavengeSlow  = 100 * time.Millisecond
)

// scavengeLimits bounds the transaction that removes events, because appends wait for its end.
const scavengeLimits = `select set_config('statement_timeout', '2s', true), set_config('lock_timeout', '2s', true)`

// scavengeRemove removes hidden events of a stream, and gives their positions, the greatest revision and the bytes. The
// last event of a stream is never removed. The greatest of a number and null is the number.
const scavengeRemove = `
	with ruled as (
		select from {schema}.node where holder = @holder and epoch = @epoch
			and (@ruler::bigint = 0 or @ruling::bigint = (select revision from {schema}.events
				where stream_id = @ruler order by revision desc limit 1))
	), looked as (
		select e.position, e.revision, octet_length(e.record) as size
		from (select max(revision) as last from {schema}.events where stream_id = @stream::bigint) s
		cross join lateral (select * from {schema}.events
			where stream_id = @stream and revision >= @from::bigint and revision < s.last
			order by revision limit @events) e
		where e.revision < greatest(@before::bigint, s.last - nullif(@max_count::bigint, 0) + 1)
			or {schema}.event_created(e.record) < @born::bigint
	), fitting as (
		select position
		from (select *, sum(size) over (order by revision) - size as earlier from looked) l
		where earlier < @bytes::bigint
	), gone as (
		delete from {schema}.events
		where position = any(array(select position from fitting)) and exists (select from ruled)
		returning position, revision, octet_length(record) as size
	)
	select coalesce(array_agg(position), '{}'), coalesce(max(revision), 0), coalesce(sum(size), 0)::bigint
	from gone`

// scavengeQueries are the statements of scavenging, with the name of the schema inserted.
type scavengeQueries struct {
	metastreams string
	tombstones  string
	lock        string
	remove      string
}

// newScavengeQueries inserts the name of the schema. Names of streams are in the order of their bytes, so the
// metastreams are those from $$ to before $%.
func newScavengeQueries(schema string) scavengeQueries {
	return scavengeQueries{
		metastreams: withSchema(schema, `
			select m.name, m.id, f.revision, l.revision, {schema}.event_is_json(l.record),
				{schema}.event_data(l.record), coalesce(s.id, 0), coalesce(o.revision, 0),
				coalesce({schema}.event_created(o.record), 0), coalesce(n.revision, 0)
			from (select id, name from {schema}.streams where name > $1 and name < '$%' order by name limit $2) m
			cross join lateral (select revision from {schema}.events
				where stream_id = m.id order by revision limit 1) f
			cross join lateral (select revision, record from {schema}.events
				where stream_id = m.id order by revision desc limit 1) l
			left join lateral (select id from {schema}.streams where name = substr(m.name, 3) limit 1) s on true
			left join lateral (select revision, record from {schema}.events
				where stream_id = s.id order by revision limit 1) o on true
			left join lateral (select revision from {schema}.events
				where stream_id = s.id order by revision desc limit 1) n on true
			order by m.name`),
		tombstones: withSchema(schema, `
			select t.stream_id, f.revision
			from (select stream_id from {schema}.events
				where revision = 9223372036854775807 and stream_id > $1 order by stream_id limit $2) t
			cross join lateral (select revision from {schema}.events
				where stream_id = t.stream_id order by revision limit 1) f
			order by t.stream_id`),
		lock:   withSchema(schema, `select true from {schema}.node where holder = $1 and epoch = $2 for update`),
		remove: withSchema(schema, scavengeRemove),
	}
}

// foundMetastream is a metastream, with the ends of the stream that it describes.
type foundMetastream struct {
	name        string
	id          int64
	first, last int64 // revisions
	meta        streamMeta

	original       int64 // number of the described stream; 0 = it has no event
	oldest, newest int64 // revisions of it
	created        int64 // its oldest event, in ticks
}

// hides lists what has to be removed: of the metastream all but its last event, and of the described stream what this
// one says; of a metastream, which has fixed rules, that is no more than all but its last event. Expired events are
// found by the oldest one: times grow with revisions, unless the clock was set back, and then what is missed is found
// when those before it have expired, too.
func (f *foundMetastream) hides(now time.Time) (list []hiding) {
	if f.first < f.last {
		list = append(list, hiding{stream: f.id, from: f.first, rules: metastreamMeta})
	}
	if f.original == 0 || f.oldest == f.newest {
		return list // a stream keeps its last event
	}
	if f.oldest < f.meta.lowest(f.newest) || f.created < f.meta.bornAfter(now) {
		list = append(list, hiding{stream: f.original, from: f.oldest, rules: f.meta, ruler: f.id, ruling: f.last})
	}
	return list
}

// metastreams looks at every metastream, in the order of their names, and removes what they and their streams hide.
func (p *scavengePass) metastreams(ctx context.Context) error {
	for after := "$$"; ; {
		began := patienceClock.Now()
		found, err := p.findMetastreams(ctx, after)
		if err != nil {
			return err
		}
		if !p.rest(ctx, patienceClock.Now().Sub(began)) {
			return ctx.Err()
		}
		for i := range found {
			if err := p.clearAll(ctx, found[i].hides(p.clock.Now())); err != nil {
				return err
			}
		}
		if len(found) < scavengeFound {
			return nil
		}
		after = found[len(found)-1].name
	}
}

// findMetastreams reads the next metastreams after a name. One body at a time is in memory: each may be as large as an
// append.
func (p *scavengePass) findMetastreams(ctx context.Context, after string) (found []foundMetastream, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	rows, err := p.conn.Query(ctx, p.queries.metastreams, after, scavengeFound)
	if err != nil {
		return nil, fmt.Errorf("look for metastreams: %w", err)
	}
	var f foundMetastream
	var isJSON bool
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{
		&f.name, &f.id, &f.first, &f.last, &isJSON, &body, &f.original, &f.oldest, &f.created, &f.newest,
	}, func() error {
		f.meta = parseStreamMeta(isJSON, body)
		found = append(found, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for metastreams: %w", err)
	}
	return found, nil
}

// tombstones removes all but the tombstone of the streams that have one.
func (p *scavengePass) tombstones(ctx context.Context) error {
	for after := int64(0); ; {
		began := patienceClock.Now()
		ended, last, more, err := p.findTombstones(ctx, after)
		if err != nil {
			return err
		}
		if !p.rest(ctx, patienceClock.Now().Sub(began)) {
			return ctx.Err()
		}
		if err := p.clearAll(ctx, ended); err != nil {
			return err
		}
		if !more {
			return nil
		}
		after = last
	}
}

// findTombstones looks at the next streams after a number that have a tombstone, and lists what those hide that have
// another event. last is the one that was looked at last.
func (p *scavengePass) findTombstones(
	ctx context.Context, after int64,
) (list []hiding, last int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	rows, err := p.conn.Query(ctx, p.queries.tombstones, after, scavengeFound)
	if err != nil {
		return nil, 0, false, fmt.Errorf("look for tombstones: %w", err)
	}
	var stream, first int64
	looked := 0
	_, err = pgx.ForEachRow(rows, []any{&stream, &first}, func() error {
		looked, last = looked+1, stream
		if first < tombstoneRevision {
			list = append(list, hiding{stream: stream, from: first, rules: metastreamMeta})
		}
		return nil
	})
	if err != nil {
		return nil, 0, false, fmt.Errorf("look for tombstones: %w", err)
	}
	return list, last, looked == scavengeFound, nil
}
