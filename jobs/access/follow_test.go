package accessjobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// forgets is a store of sessions and use that fails as often as it is told to.
type forgets struct {
	fails int
	done  chan struct{}
}

// Forget implements what accessjobs.Workers want.
func (f *forgets) Forget(context.Context, id.Organization, id.Subscriber) error {
	if f.fails--; f.fails >= 0 {
		return errors.New("away")
	}
	close(f.done)
	return nil
}

// TestWorkers_GoOnUntilTheLogAndTheDatabaseAreBack: a night is longer than the usual attempts of a job. The bytes that
// a customer has paid for are added, and what is known about a forgotten person is deleted.
func TestWorkers_GoOnUntilTheLogAndTheDatabaseAreBack(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	k.workers.Queue = jobrunner.New(jobrunner.Config{DB: k.DB, Clock: k.clock, Logger: storetest.Quiet()})
	deleted := &forgets{fails: 15, done: make(chan struct{})}
	k.workers.Telemetry = deleted
	k.workers.Leave = func(context.Context, commands.EnforceAccess, jobs.Cause) error { return nil }
	added, tries := make(chan id.Command, 1), 0
	var first id.Command
	k.workers.AddTopUp = func(_ context.Context, _ commands.AddPaidTopUp, meta commands.Meta) error {
		if tries++; tries == 1 {
			first = meta.CommandID
		}
		if tries < 15 {
			return errors.New("the log does not answer")
		}
		added <- meta.CommandID
		return nil
	}
	k.workers.Register()
	coretest.Start(t, "working queue", k.workers.Queue)
	for _, job := range []commands.Job{
		commands.AddPaidTopUp{Subject: events.UsageSubject{OrgID: k.org}}, commands.ForgetTelemetry{OrgID: k.org},
	} {
		if err := k.workers.Queue.Insert(t.Context(), job, id.New[id.Any](), jobs.Cause{OrgID: k.org}, 0); err != nil {
			t.Fatal(err)
		}
	}
	late, pass := time.NewTimer(time.Minute), time.NewTicker(20*time.Millisecond)
	defer late.Stop()
	defer pass.Stop()
	for added, deleted := added, deleted.done; added != nil || deleted != nil; {
		select {
		case <-pass.C:
			if !k.works(t) { // a job that ran for so long would count as stuck
				k.clock.Advance(time.Minute)
			}
		case command := <-added:
			if added = nil; command != first {
				t.Error("an attempt has another command, so the bytes could be added twice")
			}
		case <-deleted:
			deleted = nil
		case <-late.C:
			t.Fatalf("the top-up is added: %v; the use is deleted: %v", added == nil, deleted == nil)
		}
	}
}

// works reports whether a job is running.
func (k *faults) works(t *testing.T) (running bool) {
	t.Helper()
	err := k.DB.Owner.QueryRow(t.Context(), `select exists (select from `+k.DB.Namespace.Schema("river")+
		`.river_job where state = 'running')`).Scan(&running)
	if err != nil {
		t.Fatal(err)
	}
	return running
}
