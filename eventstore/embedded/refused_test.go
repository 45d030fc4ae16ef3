package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// refuseInserts lets the database refuse every group with a SQLSTATE, and count them in the sequence tries.
func refuseInserts(t *testing.T, cfg embedded.Config, code string) {
	t.Helper()
	run(t, cfg, `create sequence {schema}.tries`, fmt.Sprintf(`create function {schema}.refuse() returns trigger
		language plpgsql as $$ begin
			perform from {schema}.node for share;
			perform nextval('{schema}.tries');
			raise exception 'refused' using errcode = '%s';
		end $$`, code),
		`create trigger refuse before insert on {schema}.events execute function {schema}.refuse()`)
}

// tries is the number of groups that were refused.
func tries(t *testing.T, cfg embedded.Config) (n int) {
	t.Helper()
	query(t, cfg, `select case when is_called then last_value else 0 end from {schema}.tries`, &n)
	return n
}

// held locks the row that every commit looks at, so that commits wait until release is called.
func held(t *testing.T, cfg embedded.Config) (release func()) {
	t.Helper()
	tx, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), inSchema(cfg, `select from {schema}.node for update`)); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { _ = tx.Rollback(context.Background()) })
}

// awaitHeldCommit waits until a commit of the node waits for the row that held has locked.
func awaitHeldCommit(t *testing.T, cfg embedded.Config) {
	t.Helper()
	began := time.Now()
	for waiting := 0; waiting == 0; {
		if time.Since(began) > time.Minute {
			t.Fatal("no commit waits")
		}
		query(t, cfg, `select count(*) from pg_locks l join pg_stat_activity a using (pid)
			where not l.granted and position('insert into {schema}.events' in a.query) > 0`, &waiting)
	}
}

// awaitQueued waits until so many writes wait for the sequencer.
func awaitQueued(t *testing.T, n *embedded.Node, writes int) {
	t.Helper()
	for began := time.Now(); embedded.Queued(n) < writes; runtime.Gosched() {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d writes wait, not %d", embedded.Queued(n), writes)
		}
	}
}

// TestRefused_WhatOneWriteCausesIsAnsweredAsPermanent: clients do not repeat the append, other writes are not held up,
// and the memory of stream heads stays.
func TestRefused_WhatOneWriteCausesIsAnsweredAsPermanent(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	run(t, cfg, `alter table {schema}.events add check ({schema}.event_type(record) <> 'poison')`)
	for i := range 20 {
		mustAppend(t, client, fmt.Sprint("known-", i), esdb.NoStream{}, oneEvent())
	}
	release := held(t, cfg)
	defer release()
	answers := make(chan error, 41)
	send := func(stream, kind string) {
		e := oneEvent()
		e.EventType = kind
		patience := time.Minute
		_, err := client.AppendToStream(t.Context(), stream,
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}, Deadline: &patience}, e)
		if (kind == "poison") != (status.Code(unwrapped(err)) == codes.InvalidArgument) {
			t.Errorf("%s %s: %v", stream, kind, err)
		}
		answers <- err
	}
	go send("first", "e")
	awaitHeldCommit(t, cfg) // the others make one group
	for i := range 40 {
		kind := "e"
		if i == 17 {
			kind = "poison"
		}
		go send(fmt.Sprint("s-", i), kind)
	}
	awaitQueued(t, n, cap(answers)-1)
	release()
	for range cap(answers) {
		<-answers
	}
	if heads := embedded.Heads(n); heads < 20+cap(answers)-1 {
		t.Errorf("the heads of %d streams are known", heads)
	}
}

// TestRefused_ACommonCauseIsNotTriedForEachWrite: on a full or a damaged disk the rest of a group would meet the same.
func TestRefused_ACommonCauseIsNotTriedForEachWrite(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"53100", "XX001"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			n := start(t, cfg)
			refuseInserts(t, cfg, code)
			const writes = 200
			for _, err := range together(t, cfg, n, writes) {
				wantCode(t, err, esdb.ErrorUnavailable)
			}
			if took := tries(t, cfg); took > 4 {
				t.Errorf("%d writes took %d statements", writes, took)
			}
		})
	}
}

// together appends an event to so many streams, s-0 and so on. All but the first one are in one group. It gives the
// streams' errors.
func together(t *testing.T, cfg embedded.Config, n *embedded.Node, writes int) []error {
	t.Helper()
	client := contract.Connect(t, n.URL())
	var group sync.WaitGroup
	release := held(t, cfg)
	defer release()
	failed := make([]error, writes)
	for i := range writes {
		group.Go(func() {
			patience := time.Minute
			_, failed[i] = client.AppendToStream(t.Context(), fmt.Sprint("s-", i),
				esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}, Deadline: &patience}, oneEvent())
		})
		if i == 0 {
			awaitHeldCommit(t, cfg) // the others make one group
		}
	}
	awaitQueued(t, n, writes-1)
	release()
	group.Wait()
	return failed
}

// TestRefused_OneStreamInADamagedPageIsNoOutage: whether its rows cannot be written or its end cannot be read, only its
// own appends fail, and not as those of a store that is away.
func TestRefused_OneStreamInADamagedPageIsNoOutage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]string{
		"write": {`create function {schema}.write() returns trigger language plpgsql as $$ begin
				perform {schema}.page(new.stream_id); return new; end $$`,
			`create trigger damage before insert on {schema}.events for each row execute function {schema}.write()`},
		"head": {`alter table {schema}.events rename to stored`,
			`create view {schema}.events as select * from {schema}.stored where {schema}.page(stream_id)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			before := start(t, cfg)
			for _, stream := range []string{"s-17", "last"} {
				mustAppend(t, contract.Connect(t, before.URL()), stream, esdb.NoStream{}, oneEvent())
			}
			stop(t, before)
			n := start(t, cfg) // it has no heads in memory
			run(t, cfg, `create function {schema}.page(stream bigint) returns boolean language plpgsql as $$ begin
				if stream = (select id from {schema}.streams where name = 's-17') then
					raise exception 'invalid page in block 7' using errcode = 'XX001';
				end if;
				return true; end $$`)
			run(t, cfg, damage...)
			for i, err := range together(t, cfg, n, 41) {
				want := i == 17
				if (err != nil) != want || want && status.Code(unwrapped(err)) != codes.FailedPrecondition {
					t.Errorf("s-%d: %v", i, err)
				}
			}
			wantAlive(t, n)
		})
	}
}

// TestRefused_WhatPassesIsNotAnswered: a conflict of one write that is over when it is tried again.
func TestRefused_WhatPassesIsNotAnswered(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	run(t, cfg, `create sequence {schema}.tries`, `create function {schema}.once() returns trigger
		language plpgsql as $$ begin
			if nextval('{schema}.tries') = 1 then raise exception 'refused' using errcode = '40001'; end if;
			return null;
		end $$`,
		`create trigger once before insert on {schema}.events execute function {schema}.once()`)
	mustAppend(t, contract.Connect(t, n.URL()), "s", esdb.NoStream{}, oneEvent())
	if took := tries(t, cfg); took != 3 {
		t.Errorf("%d statements: the write, another one and the write again are 3", took)
	}
}

// TestRefused_WhatNoWriteCausesIsAnsweredAsPassing: a server before the end of its transaction ids, a damaged
// constraint, a trigger, a lost right. Clients repeat the append; the first one of a stream and a later one fare alike.
func TestRefused_WhatNoWriteCausesIsAnsweredAsPassing(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	appendTo := func(stream string) error {
		_, err := contract.Connect(t, n.URL()).AppendToStream(t.Context(), stream,
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, oneEvent())
		return err
	}
	if err := appendTo("known"); err != nil {
		t.Fatal(err)
	}
	count := func() (events, streams int) {
		query(t, cfg, `select (select count(*) from {schema}.events), (select count(*) from {schema}.streams)`, &events,
			&streams)
		return events, streams
	}
	events, streams := count()
	refuseInserts(t, cfg, "54000")
	for i, code := range []string{"54000", "23502", "22023", "P0001", "42P01", "42501", "0A000", "26000",
		"40001", "XX001"} {
		run(t, cfg, fmt.Sprintf(`create or replace function {schema}.refuse() returns trigger language plpgsql as
			$$ begin raise exception 'refused' using errcode = '%s'; end $$`, code))
		for _, stream := range []string{"known", fmt.Sprint("new", i)} {
			if err := appendTo(stream); status.Code(unwrapped(err)) != codes.Unavailable {
				t.Errorf("%s, %s: %v", code, stream, err)
			}
		}
	}
	run(t, cfg, `drop trigger refuse on {schema}.events`)
	for _, stream := range []string{"known", "new0"} {
		if err := appendTo(stream); err != nil {
			t.Errorf("%s, afterwards: %v", stream, err)
		}
	}
	if e, s := count(); e != events+2 || s != streams+1 {
		t.Errorf("%d events more and %d streams", e-events, s-streams)
	}
}

// TestRefused_ANodeWhoseServerMayNotWriteAnyMoreLooksForAnother: the server has become a standby, or was set read-only.
// The node opens a new session, which finds the server that may write.
func TestRefused_ANodeWhoseServerMayNotWriteAnyMoreLooksForAnother(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	refuseInserts(t, cfg, "25006")
	_, err := client.AppendToStream(t.Context(), "s", esdb.AppendToStreamOptions{}, oneEvent())
	wantCode(t, err, esdb.ErrorUnavailable)
	run(t, cfg, `drop trigger refuse on {schema}.events`)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for {
		if _, err = contract.Connect(t, n.URL()).AppendToStream(ctx, "s", esdb.AppendToStreamOptions{},
			oneEvent()); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var epoch int
	query(t, cfg, `select epoch from {schema}.node`, &epoch)
	if epoch < 2 {
		t.Errorf("the node kept its session, epoch %d", epoch)
	}
	wantAlive(t, n)
}

// inSchema puts the schema of a node into SQL.
func inSchema(cfg embedded.Config, sql string) string {
	return strings.ReplaceAll(sql, "{schema}", pgx.Identifier{cfg.Schema}.Sanitize())
}

// run executes statements on the database of a node.
func run(t *testing.T, cfg embedded.Config, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := cfg.Pool.Exec(t.Context(), inSchema(cfg, sql)); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// query reads one row from the database of a node.
func query(t *testing.T, cfg embedded.Config, sql string, into ...any) {
	t.Helper()
	if err := cfg.Pool.QueryRow(t.Context(), inSchema(cfg, sql)).Scan(into...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// unwrapped finds the gRPC status inside an error of the stock client.
func unwrapped(err error) error {
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Err()
	}
	return err
}
