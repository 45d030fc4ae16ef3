package telemetry_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// fails has the database refuse new sessions with an error, as where a condition holds for new. mend ends it.
func (k *kit) fails(t *testing.T, code, when string) (mend func()) {
	t.Helper()
	return k.failsBefore(t, code, "insert on sessions", when)
}

// failsBefore has the database refuse to do something with a row, as fails does.
func (k *kit) failsBefore(t *testing.T, code, before, when string) (mend func()) {
	t.Helper()
	run := func(sql string) {
		if _, err := k.db.Owner.Exec(t.Context(), strings.ReplaceAll(sql, "{schema}", k.schema())); err != nil {
			t.Fatal(err)
		}
	}
	run(`create function {schema}.fails() returns trigger language plpgsql as
		$$begin raise 'failed' using errcode = '` + code + `'; end$$`)
	before = strings.Replace(before, "on ", "on {schema}.", 1)
	run(`create trigger fails before ` + before + ` for each row when (` + when + `)
		execute function {schema}.fails()`)
	return func() { run("drop function {schema}.fails cascade") }
}

// townsfolk are reports of other organizations, a few of each.
func (k *kit) townsfolk(orgs int) (list []telemetry.Report) {
	for range orgs {
		one := k.at(telemetry.Start, 0, 0, 0)
		one.Org, one.Device = id.New[id.Organization](), id.New[id.Device]()
		for _, session := range []string{"1", "2", "3", "4", "5"} {
			one.Session = session
			list = append(list, one)
		}
	}
	return list
}

// TestRecorder_TriesOfOneOrganizationThatFailPauseNoOther: a damaged page fails at once, again and again, while all
// others have very much that waits. The one pause is from when nobody knew yet whose reports fail.
func TestRecorder_TriesOfOneOrganizationThatFailPauseNoOther(t *testing.T) {
	t.Parallel()
	k := open(t)
	mend := k.fails(t, "XX001", "new.org_id = '"+k.org.String()+"'")
	now := clock.NewManual(noon)
	crowd := k.townsfolk(40)
	var tries, kept int // of the doubted organization, and of the others
	var pauses []time.Duration
	d := k.directory()
	d.Resolve = func(r telemetry.Report) telemetry.Given {
		if r.Org == k.org && kept < len(crowd) {
			tries++
		}
		return k.resolve(r)
	}
	filled, all := make(chan struct{}), make(chan struct{})
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: d, SpoolDir: t.TempDir(), Clock: now,
		Began: func(r telemetry.Report) {
			if r.Org == k.org {
				return
			}
			if kept++; kept == len(crowd) {
				close(all)
			}
		},
	})
	r.AlwaysSpool()
	r.SmallGroups(1)
	r.Watch(func(step string) {
		if step == "before commit" {
			<-filled
			now.Advance(100 * time.Millisecond) // for each commit
		}
	}, func(d time.Duration) {
		if kept < len(crowd) {
			pauses = append(pauses, d)
		}
		now.Advance(d)
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	record(r, append([]telemetry.Report{k.at(telemetry.Start, 0, 0, 0)}, crowd...)...)
	close(filled)
	<-all
	mend()
	settle(t, r)
	r.Stop()
	if want := []time.Duration{200 * time.Millisecond}; !slices.Equal(pauses, want) {
		t.Errorf("the others pause for %v, want %v", pauses, want)
	}
	if tries < 4 {
		t.Errorf("%d tries while the others have reports that wait", tries)
	}
	if k.only(t); r.Status().Dropped != 0 {
		t.Errorf("%+v", r.Status())
	}
}

// TestRecorder_WhileNothingIsStoredNoOrganizationIsNamed as the one whose reports wait. It is when it still waits after
// the others are stored.
func TestRecorder_WhileNothingIsStoredNoOrganizationIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		when string
		want int
	}{
		"the database answers nobody in time": {"true", 0},
		"it does not answer one organization": {"new.org_id = '{org}'", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			mend := k.fails(t, "57014", strings.ReplaceAll(c.when, "{org}", k.org.String()))
			var log bytes.Buffer
			now := clock.NewManual(noon)
			_, calm := k.neighbours(1)
			filled, failed, rests := make(chan struct{}), make(chan struct{}), 0
			r := telemetry.NewRecorder(telemetry.Config{
				Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: now,
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			r.AlwaysSpool()
			r.Watch(func(step string) {
				if step == "before commit" {
					<-filled
				}
			}, func(d time.Duration) {
				if rests++; rests == 50 {
					close(failed)
				}
				now.Advance(d)
			})
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Stop)
			record(r, k.at(telemetry.Start, 0, 0, 0), calm)
			close(filled)
			<-failed
			mend()
			settle(t, r)
			r.Stop()
			text := log.String()
			if n := strings.Count(text, "accounting of one organization is put aside"); n != c.want {
				t.Errorf("told %d times, want %d:\n%s", n, c.want, text)
			}
			if n := strings.Count(text, "org_id="+k.org.String()); n != c.want {
				t.Errorf("organization named %d times, want %d", n, c.want)
			}
		})
	}
}
