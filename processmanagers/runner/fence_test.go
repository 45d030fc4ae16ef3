package processrunner_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// change runs a statement on the engine's tables.
func (b *bench) change(t *testing.T, table, rest string, args ...any) {
	t.Helper()
	tag, err := b.db.Owner.Exec(t.Context(), `update `+b.db.Namespace.Schema("processes")+`.`+table+` `+rest, args...)
	if err != nil || tag.RowsAffected() == 0 {
		t.Fatalf("%v, %d rows", err, tag.RowsAffected())
	}
}

func TestLeader_OfAnOlderTermWritesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p1", "on"))
	var before, after int64
	epoch := `select epoch from ` + b.db.Namespace.Schema("processes") + `.leader`
	if err := b.db.Owner.QueryRow(t.Context(), epoch).Scan(&before); err != nil {
		t.Fatal(err)
	}
	b.change(t, "leader", `set epoch = epoch + 1`) // as if another program had begun a term
	taken(t, r, "courier", b.happen("p1", "deliver", "off"))
	if err := b.db.Owner.QueryRow(t.Context(), epoch).Scan(&after); err != nil || after != before+2 {
		t.Errorf("the term did not end: epoch %d, then %d, %v", before, after, err)
	}
	if diff := cmp.Diff([]string{"on", "deliver", "off"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}

func TestUnknownType_StopsTheProcessBeforeItAndIsTakenByTheVersionThatKnowsIt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"test.Parcel.v2", "test.Brand.v1"} {
		b := newBench(t)
		old := b.open(t, "courier")
		if err := old.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.happen("p1", "on")
		strange := b.log.Append(meta, feed.Undecodable{
			Type: name, Unknown: true, Cause: errors.New("unknown event type"),
		})
		b.happen("p1", "deliver")
		var s processrunner.Status
		poll(t, "stopped", func() bool { s = old.Status()[0]; return s.State == processrunner.StateStopped })
		if s.Position >= strange {
			t.Errorf("the checkpoint passed the unknown event: %+v", s)
		}
		if diff := cmp.Diff([]string{"on"}, b.seen(t, "courier", "p1")); diff != "" {
			t.Errorf("what came before the unknown event: %s", diff)
		}
		old.Stop()

		b.log.Learn(strange, parcel{"p1", "ring"})
		r := b.start(t, "courier")
		taken(t, r, "courier", b.happen("p1", "off"))
		if diff := cmp.Diff([]string{"on", "ring", "deliver", "off"}, b.seen(t, "courier", "p1")); diff != "" {
			t.Error(diff)
		}
		b.office.until(t, "rang", func() bool { return len(b.office.jobs) == 1 })
	}
}

func TestUnknownType_AProgramThatKnowsItTakesTheLead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.start(t, "courier", "other")
	b.happen("p1", "on")
	strange := b.log.Append(meta,
		feed.Undecodable{Type: "test.Brand.v1", Unknown: true, Cause: errors.New("unknown event type")})
	poll(t, "stopped", func() bool { return old.Status()[0].State == processrunner.StateStopped })
	b.log.Learn(strange, parcel{"p1", "ring"})
	newer := &bench{log: b.log, db: pgtest.Open(t, b.db.URL, b.db.Namespace), clock: b.clock, office: b.office}
	next := newer.start(t, "courier", "other")
	taken(t, next, "courier", b.happen("p1", "off")) // while the old program still runs
	if diff := cmp.Diff([]string{"on", "ring", "off"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownType_BehindMemoryIsSeenToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	b.log.Append(meta, feed.Undecodable{Type: "test.Brand.v1", Unknown: true, Cause: errors.New("unknown event type")})
	b.happen("p1", "on")
	r := b.start(t, "courier") // reads the log from before its start
	poll(t, "stopped", func() bool { return r.Status()[0].State == processrunner.StateStopped })
	if n := b.rows(t, "instances"); n != 0 {
		t.Errorf("%d instances were made of events behind the unknown one", n)
	}
}

func TestRebuild_SuppressesWhatWasTakenBeyondTheCheckpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.open(t, "courier")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, r, "courier", b.happen("p1", "ring", "wait"))
	r.Stop()
	b.change(t, "processes", `set checkpoint = 0, live_from = 0`) // the low-water mark was held up by another instance
	b.happen("p1", "ring")                                        // not taken yet
	if err := b.open(t, "courier").Rebuild(t.Context(), "courier"); err != nil {
		t.Fatal(err)
	}
	next := b.start(t, "courier")
	taken(t, next, "courier", b.happen("p2", "on"))
	if len(b.office.causes) != 2 {
		t.Errorf("%d jobs were enqueued, want one before and one after the rebuild", len(b.office.causes))
	}
	if diff := cmp.Diff([]string{"ring", "wait", "ring"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestRebuild_ActsOnEventsThatWereHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.open(t, "courier")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, r, "courier", b.happen("p1", "ring", "bad", "deliver"))
	r.Stop()
	b.forgive.Store(true)
	if err := b.open(t, "courier").Rebuild(t.Context(), "courier"); err != nil {
		t.Fatal(err)
	}
	taken(t, b.start(t, "courier"), "courier", b.happen("p1", "last"))
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	if diff := cmp.Diff([]string{"ring", "bad", "deliver", "last"}, b.seen(t, "courier", "p1")); diff != "" ||
		len(b.office.causes) != 1 || b.rows(t, "held") != 0 {
		t.Errorf("%d jobs, %d held\n%s", len(b.office.causes), b.rows(t, "held"), diff)
	}
}

func TestReadOnlyDatabase_StopsNoInstanceAndIsOutlived(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p1", "on"))
	table := b.db.Namespace.Schema("processes") + ".instances"
	refuse := `create function ` + b.db.Namespace.Schema("processes") + `.refuse() returns trigger language plpgsql as
		$$ begin raise exception 'no writes' using errcode = '25006'; end $$;
		create trigger refuse before insert or update on ` + table + ` execute function ` +
		b.db.Namespace.Schema("processes") + `.refuse()`
	if _, err := b.db.Owner.Exec(t.Context(), refuse); err != nil {
		t.Fatal(err)
	}
	last := b.happen("p1", "deliver", "off")
	b.office.setAnswer(func(deliver) error { return failure.NewUnavailable("away", "", 0, nil) })
	if list, err := r.Troubles(t.Context(), 10); err != nil || len(list) > 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := b.db.Owner.Exec(t.Context(), `drop trigger refuse on `+table); err != nil {
		t.Fatal(err)
	}
	b.office.setAnswer(nil)
	taken(t, r, "courier", last)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}

func TestDatabase_NearTheEndOfItsTransactionIDsStopsNoInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p1", "on"))
	b.refuseOnce(t, "54000")
	taken(t, r, "courier", b.happen("p1", "deliver"))
	stopped(t, r, 0)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}
