package billingjobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// TestUndo_WhoIsPausedWhileTheRunIsAskedForAgainIsBilledAfterwards: customers are paused, their run is undone, and a
// person asks for it again, with a program that is killed again and again. Nothing is billed in the pause, nobody is
// left waiting, and after the pause each is billed once.
func TestUndo_WhoIsPausedWhileTheRunIsAskedForAgainIsBilledAfterwards(t *testing.T) {
	t.Parallel()
	const customers = 12
	k := newRunKit(t, customers, renewal.Process())
	k.clock.Advance(april.Start(time.UTC).Sub(began))
	job, from := k.request(t, april), k.end(t)
	if err := k.worker().Work(t.Context(), job, k.meta()); err != nil {
		t.Fatal(err)
	}
	k.whenIssued(t, from, customers)
	lines := make([]id.Subscription, customers)
	for n := range lines {
		lines[n] = id.Derive[id.Subscription]("test", k.org.String(), fmt.Sprintf("customer%d", n))
		k.Run(t, coretest.Operator(k.org), commands.PauseSubscription{SubscriptionID: lines[n], Reason: "travels"})
	}
	k.undo(t, job.RunID)
	k.undoKilled(t, job.RunID, customers)
	k.settled(t)
	if n := k.waiting(t, job.RunID); n != customers {
		t.Errorf("%d wait for the run", n)
	}
	start := k.end(t)
	k.Run(t, coretest.Operator(k.org), commands.RequestBillingRun{
		RunID: job.RunID, OrgID: k.org, Date: april, Again: true,
	})
	job.Again = true
	k.WaitForAll(t, k.views, billingviews.DueName, billingviews.RunsName)
	seed := k.workKilled(t, job, customers)
	k.settled(t)
	ended := map[id.Subscription]int{}
	for _, e := range k.history(t, start) {
		if over, is := e.Event.(events.UndoneWaitEnded); is {
			ended[over.SubscriptionID]++
		}
	}
	m, left := k.perSubscription(t, start), k.waiting(t, job.RunID)
	if len(m.due) != 0 || len(ended) != customers || left != 0 {
		t.Errorf("seed %d: %d billed in the pause, %d released, %d wait", seed, len(m.due), len(ended), left)
	}
	k.clock.Advance(72 * time.Hour)
	for _, of := range lines {
		if ended[of] != 1 {
			t.Errorf("seed %d: the wait of %s ended %d times", seed, of, ended[of])
		}
		k.Run(t, coretest.Operator(k.org), commands.ResumeSubscription{SubscriptionID: of, Reason: "is back"})
	}
	k.settled(t)
	k.clock.Advance(3 * time.Minute) // the processes leave what a run may draft to it for a while
	m = k.whenIssued(t, start, customers)
	for _, of := range lines {
		if m.due[of] != 1 || m.issued[of] != 1 {
			t.Errorf("seed %d: %s is due %d times, and %d invoices are issued", seed, of, m.due[of], m.issued[of])
		}
	}
}

// waiting counts the customers who wait for an undone run.
func (k *runKit) waiting(t *testing.T, run id.BillingRun) int {
	t.Helper()
	all, err := billingviews.DueQuery{Views: k.views}.Waiting(t.Context(), k.org)
	if err != nil {
		t.Fatal(err)
	}
	return all[run]
}
