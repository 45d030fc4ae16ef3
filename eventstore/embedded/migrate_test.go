package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// oldEvent is a row of a log from before streams had numbers.
type oldEvent struct {
	stream   string
	revision int64
	id       uuid.UUID
	kind     string
	data     []byte
}

// oldLog makes a schema as the first version left it, with a row for each event at the positions 1, 2, 3 and so on.
func oldLog(t testing.TB, cfg embedded.Config, list []oldEvent) {
	t.Helper()
	first, err := os.ReadFile("migrations/0001_log.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Pool.Exec(t.Context(), `create schema `+cfg.Schema+`; set search_path to `+cfg.Schema+`;
		create table schema_version (step text primary key);
		insert into schema_version values ('migrations/0001_log.sql');`+string(first)+`;
		reset search_path`); err != nil {
		t.Fatal(err)
	}
	for i, e := range list {
		if _, err := cfg.Pool.Exec(t.Context(), `insert into `+cfg.Schema+`.events values (@position, @stream,
			@revision, @id, @kind, true, 17951601893646848, '\x6d', @data)`, pgx.NamedArgs{
			"position": i + 1, "stream": e.stream, "revision": e.revision, "id": e.id, "kind": e.kind, "data": e.data,
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMigration_StreamsOfAnExistingLogGetNumbers: a log that was written before streams had numbers is the same log
// afterwards, in order, with its metadata and tombstones, and goes on where it ended.
func TestMigration_StreamsOfAnExistingLogGetNumbers(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	long := bytes.Repeat([]byte("long "), 100_000) // is stored outside of its row
	list := []oldEvent{
		{"$users", 0, uuid.New(), "$User", []byte("admin")}, {"b", 0, uuid.New(), "one", []byte(`1`)},
		{"a", 0, uuid.New(), "one", long}, {"b", 1, uuid.New(), "two", []byte(`2`)},
		{"$$a", 0, uuid.New(), "$metadata", []byte(`{"$tb":1}`)}, {"a", 1, uuid.New(), "two", []byte{0, 255}},
		{"gone", 0, uuid.New(), "one", []byte(`3`)},
		{"gone", math.MaxInt64, uuid.New(), "$streamDeleted", []byte{}}, {"c", 0, uuid.New(), "one", []byte(`4`)},
	}
	oldLog(t, cfg, list)
	client := contract.Connect(t, start(t, cfg).URL())
	wholeRecords(t, cfg)
	var want, got []string
	for i, e := range list {
		want = append(want, fmt.Sprintf("%d %s %d %s %s m %x", i+1, e.stream, e.revision, e.id, e.kind, e.data))
	}
	read, err := client.ReadAll(t.Context(), esdb.ReadAllOptions{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for e, err := read.Recv(); err == nil; e, err = read.Recv() {
		r := e.Event
		got = append(got, fmt.Sprintf("%d %s %d %s %s %s %x", r.Position.Commit, r.StreamID, r.EventNumber, r.EventID,
			r.EventType, r.UserMetadata, r.Data))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the log after the migration (-before +after):\n%s", diff)
	}
	again := oneEvent()
	again.EventID = list[3].id
	if r := mustAppend(t, client, "b", esdb.Revision(0), again); r.CommitPosition != 4 {
		t.Errorf("a repeat from before the migration is event %d", r.CommitPosition)
	}
	if r := mustAppend(t, client, "a", esdb.Revision(1), oneEvent()); r.CommitPosition != 10 {
		t.Errorf("the log goes on at %d", r.CommitPosition)
	}
	if r := mustAppend(t, client, "new", esdb.NoStream{}, oneEvent(), oneEvent()); r.NextExpectedVersion != 1 {
		t.Errorf("a new stream ends at %d", r.NextExpectedVersion)
	}
	_, err = client.AppendToStream(t.Context(), "gone", esdb.AppendToStreamOptions{}, oneEvent())
	wantCode(t, err, esdb.ErrorCodeStreamDeleted)
	visible, err := client.ReadStream(t.Context(), "a", esdb.ReadStreamOptions{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer visible.Close()
	if e, err := visible.Recv(); err != nil || e.Event.EventNumber != 1 {
		t.Errorf("the first visible event of a truncated stream: %v, %v", e, err)
	}
}

// TestMigration_RowsAreFrozenEarly: the whole table would be read again one day otherwise, in the middle of the work.
// A step that makes a table anew has to set it again.
func TestMigration_RowsAreFrozenEarly(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	start(t, cfg)
	for _, table := range []string{"events", "streams"} {
		var options []string
		if err := cfg.Pool.QueryRow(t.Context(), `select reloptions from pg_class where oid = to_regclass($1)`,
			cfg.Schema+"."+table).Scan(&options); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"autovacuum_freeze_min_age=0", "autovacuum_vacuum_insert_scale_factor=0"} {
			if !slices.Contains(options, want) {
				t.Errorf("%s has %q, want %s", table, options, want)
			}
		}
	}
}

// TestMigration_EventsOfALogWithNumberedStreamsBecomeRecords: what 0004 left, with events of every kind and places from
// which events were removed, is the same log afterwards and goes on where it ended.
func TestMigration_EventsOfALogWithNumberedStreamsBecomeRecords(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	run(t, cfg, `create schema {schema}`, `create table {schema}.schema_version (step text primary key)`)
	for _, step := range []string{"0001_log", "0002_stream_numbers", "0003_type_blocks", "0004_scavenging"} {
		text, err := os.ReadFile("migrations/" + step + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		run(t, cfg, `set search_path to {schema}; insert into schema_version values ('migrations/`+step+`.sql');
			begin; `+string(text)+`; commit; reset search_path`)
	}
	first := uuid.New()
	run(t, cfg, `insert into {schema}.streams values (1, 'a'), (2, '$$a'), (3, 'ended')`,
		`insert into {schema}.events values
			(3, 1, 2, '`+first.String()+`', 'ünï', false, -7, '\x00ff', '\xff005c'),
			(4, 2, 0, gen_random_uuid(), '$metadata', true, 17951601893646848, '', '{"$maxCount":2}'),
			(9, 3, 9223372036854775807, gen_random_uuid(), '$streamDeleted', false, 1, '', ''),
			(10, 1, 3, gen_random_uuid(), 'long', true, 2, convert_to(repeat('m', 70000), 'UTF8'),
				convert_to('"' || repeat('long ', 100000) || '"', 'UTF8'))`)
	client := contract.Connect(t, start(t, cfg).URL())
	wholeRecords(t, cfg)
	read, err := client.ReadStream(t.Context(), "a", esdb.ReadStreamOptions{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	one, err := read.Recv()
	if err != nil || one.Event.EventID != first || one.Event.EventNumber != 2 || one.Event.Position.Commit != 3 ||
		one.Event.EventType != "ünï" || one.Event.ContentType != "application/octet-stream" ||
		string(one.Event.UserMetadata) != "\x00\xff" || string(one.Event.Data) != "\xff\x00\\" {
		t.Errorf("the first event is %+v, %v", one, err)
	}
	two, err := read.Recv()
	if err != nil || len(two.Event.UserMetadata) != 70_000 || len(two.Event.Data) != 500_002 {
		t.Errorf("the long event: %v", err)
	}
	again := oneEvent()
	again.EventID = first
	if r := mustAppend(t, client, "a", esdb.Revision(1), again); r.CommitPosition != 3 {
		t.Errorf("a repeat from before the migration is event %d", r.CommitPosition)
	}
	if r := mustAppend(t, client, "a", esdb.Revision(3), oneEvent()); r.CommitPosition != 11 {
		t.Errorf("the log goes on at %d", r.CommitPosition)
	}
	_, err = client.AppendToStream(t.Context(), "ended", esdb.AppendToStreamOptions{}, oneEvent())
	wantCode(t, err, esdb.ErrorCodeStreamDeleted)
	var rows int
	query(t, cfg, `select count(*) from {schema}.readable_events where stream = 'a' and revision = 2
		and convert_from(substring(data from 3), 'UTF8') = '\' and created = -7`, &rows)
	if rows != 1 {
		t.Errorf("%d rows", rows)
	}
}

// TestMigration_AnOlderProgramLeavesTheLogAlone: it does not take a log whose form it does not know from a newer one.
func TestMigration_AnOlderProgramLeavesTheLogAlone(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	stop(t, start(t, cfg))
	run(t, cfg, `insert into {schema}.schema_version values ('migrations/9999_later.sql')`)
	_, err := embedded.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "newer program") || !strings.Contains(err.Error(), "9999_later") {
		t.Errorf("it starts: %v", err)
	}
	if epoch := epochOf(t, cfg); epoch != 1 {
		t.Errorf("it has taken the log, epoch %d", epoch)
	}
}

// TestMigration_StartsAgainAfterAnInterruption: the step is one transaction, so a start that is cut off leaves the log
// as it was, and the next start does all of it.
func TestMigration_StartsAgainAfterAnInterruption(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	oldLog(t, cfg, []oldEvent{
		{"$users", 0, uuid.New(), "$User", []byte("admin")}, {"a", 0, uuid.New(), "one", []byte(`1`)},
	})
	// The step cannot rename the old table: a relation of the new name is in its way.
	if _, err := cfg.Pool.Exec(t.Context(), `create sequence `+cfg.Schema+`.named_events`); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Start(t.Context(), cfg); err == nil {
		t.Fatal("the node started although its schema could not be migrated")
	}
	var rows int
	if err := cfg.Pool.QueryRow(t.Context(),
		`select count(*) from `+cfg.Schema+`.events where stream = 'a'`).Scan(&rows); err != nil || rows != 1 {
		t.Fatalf("the log after an interrupted migration: %d, %v", rows, err)
	}
	if _, err := cfg.Pool.Exec(t.Context(), `drop sequence `+cfg.Schema+`.named_events`); err != nil {
		t.Fatal(err)
	}
	client := contract.Connect(t, start(t, cfg).URL())
	if r := mustAppend(t, client, "a", esdb.Revision(0), oneEvent()); r.CommitPosition != 3 {
		t.Errorf("the log goes on at %d", r.CommitPosition)
	}
}

// TestMigration_EndsWithItsNode: the database does not go on copying the log for a program that was killed, and does
// not keep its lock from the next start.
func TestMigration_EndsWithItsNode(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	oldLog(t, cfg, []oldEvent{{"a", 0, uuid.New(), "one", []byte(`1`)}})
	table, err := cfg.Pool.Begin(t.Context()) // the step cannot go on
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Rollback(context.Background()) }()
	if _, err := table.Exec(t.Context(), `lock table `+cfg.Schema+`.events in access share mode`); err != nil {
		t.Fatal(err)
	}
	node := exec.Command(os.Args[0], cfg.Schema, "127.0.0.1:0")
	node.Env = append(os.Environ(), childVariable+"="+pgtest.URL(t))
	input, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = input.Close() }()
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for running := false; !running; {
		if err := cfg.Pool.QueryRow(ctx, `select exists (select from pg_locks l join pg_stat_activity a using (pid)
			where not l.granted and l.relation = $1::regclass and a.application_name = $2)`,
			cfg.Schema+".events", embedded.MigrationName).Scan(&running); err != nil {
			t.Fatal(err)
		}
	}
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait()
	next, err := cfg.Pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Release()
	if _, err := next.Exec(ctx, `select pg_advisory_lock($1)`, embedded.LockKey(cfg.Schema)); err != nil {
		t.Fatalf("the lock of the killed node is not freed: %v", err)
	}
	if _, err := next.Exec(ctx, `select pg_advisory_unlock($1)`, embedded.LockKey(cfg.Schema)); err != nil {
		t.Fatal(err)
	}
	if err := table.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	client := contract.Connect(t, start(t, cfg).URL())
	if r := mustAppend(t, client, "a", esdb.Revision(0), oneEvent()); r.NextExpectedVersion != 1 {
		t.Errorf("the stream goes on at %d", r.NextExpectedVersion)
	}
}
