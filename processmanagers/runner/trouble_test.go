package processrunner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

func TestPoison_StopsOneProcessVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier", "forgiving")
	b.happen("p1", "on")
	bad := b.happen("p1", "bad")
	taken(t, r, "forgiving", b.happen("p1", "after"))
	var s processrunner.Status
	poll(t, "stopped", func() bool { s = r.Status()[0]; return s.State == processrunner.StateStopped })
	if !strings.Contains(s.Error, "no such parcel") || s.Position >= bad {
		t.Errorf("got %+v", s)
	}
	if diff := cmp.Diff([]string{"on"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	r.Retry("courier")
	poll(t, "stopped again", func() bool { return r.Status()[0].State == processrunner.StateStopped })
}

func TestPoison_ACommandThatCannotBeARowStopsTheProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	b.happen("secret", "on", "deliver")
	var s processrunner.Status
	poll(t, "stopped", func() bool { s = r.Status()[0]; return s.State == processrunner.StateStopped })
	if !strings.Contains(s.Error, "not for a row") {
		t.Errorf("got %+v", s)
	}
	if diff := cmp.Diff([]string{"on"}, b.seen(t, "courier", "secret")); diff != "" || b.rows(t, "commands") != 0 {
		t.Errorf("%d commands\n%s", b.rows(t, "commands"), diff)
	}
}

func TestText_WithNULStopsNoProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	b.happen("p1", "a\x00b")
	taken(t, r, "courier", b.happen("p1", "after"))
	if diff := cmp.Diff([]string{"a\uFFFDb", "after"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestRunner_WaitsForALogAndADatabaseThatWereLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	var want []string
	for i := range 5 {
		b.log.SetAway(true)
		b.log.SetAway(false)
		_, err := b.db.Owner.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where pid <> pg_backend_pid() and application_name = 'lastmile' and query like '%' || $1 || '%'`,
			string(b.db.Namespace))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint("step ", i))
		taken(t, r, "courier", b.happen("p1", want[i]))
	}
	if diff := cmp.Diff(want, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestRunner_OneProgramDrivesAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := *b
	second.db = pgtest.Open(t, b.db.URL, b.db.Namespace)
	next := second.start(t, "courier")
	taken(t, first, "courier", b.happen("p1", "on"))
	if s := next.Status()[0]; s.State != processrunner.StateWaiting {
		t.Errorf("both drive: %+v", s)
	}
	first.Stop()
	taken(t, next, "courier", b.happen("p1", "off"))
	if diff := cmp.Diff([]string{"on", "off"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestLeader_ThatLostItsLockDoesNotActBesideTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.start(t, "courier")
	second := *b
	second.db = pgtest.Open(t, b.db.URL, b.db.Namespace)
	second.start(t, "courier")
	taken(t, first, "courier", b.happen("p0", "on"))
	var want []string
	for round := range 4 {
		_, err := b.db.Owner.Exec(t.Context(),
			`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
			and (classid::bigint << 32) | objid::bigint = $1`, b.db.Namespace.LockKey("processes"))
		if err != nil {
			t.Fatal(err)
		}
		for step := range 20 {
			want = append(want, fmt.Sprint(round, " ", step))
			b.happen("p1", want[len(want)-1])
		}
		b.happen("p2", "deliver", "ring")
		poll(t, "taken", func() bool { return len(b.seenMaybe(t, "courier", "p1")) == len(want) })
	}
	if diff := cmp.Diff(want, b.seenMaybe(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 8 && len(b.office.jobs) == 4 })
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	if len(b.office.acts) != 8 || len(b.office.jobs) != 4 {
		t.Errorf("%d commands and %d jobs, want 8 and 4", len(b.office.acts), len(b.office.jobs))
	}
}

func TestRunner_KilledAtEachStepDoesEverythingOnce(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"job", "execute", "executed"} {
		for _, lateError := range []bool{false, true} {
			t.Run(fmt.Sprint(step, " ", lateError), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				r := b.open(t, "courier")
				killed := make(chan struct{})
				b.office.before = func(ctx context.Context, at string) error {
					if at != step {
						return nil
					}
					select {
					case <-killed: // only the first time
						return nil
					default:
					}
					close(killed)
					go r.Stop()
					<-ctx.Done()
					if lateError {
						return nil // the next statement finds the connection closed
					}
					return ctx.Err()
				}
				if err := r.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				last := b.happen("p1", "ring", "deliver", "on")
				<-killed
				r.Stop()
				next := b.start(t, "courier")
				taken(t, next, "courier", last)
				poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
				if diff := cmp.Diff([]string{"ring", "deliver", "on"}, b.seen(t, "courier", "p1")); diff != "" {
					t.Error(diff)
				}
				if len(b.office.acts) != 2 || len(b.office.jobs) != 1 {
					t.Errorf("%d commands and %d jobs, want 2 and 1", len(b.office.acts), len(b.office.jobs))
				}
			})
		}
	}
}
