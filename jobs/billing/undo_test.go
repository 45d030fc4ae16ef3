package billingjobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// undoing is a new program that takes batches back.
func (k *runKit) undoing() billingcases.Batches {
	b := k.worker().Bus
	bus.Register(b, billing.BatchUndos())
	return billingcases.Batches{
		Bus: b, Views: k.views, Clock: k.clock, Logger: slog.New(slog.DiscardHandler),
		Kinds: []usecases.BatchKind{billingcases.UndoRuns{Bus: b, Clock: k.clock}},
	}
}

// undo asks for the undo of a run.
func (k *runKit) undo(t *testing.T, run id.BillingRun) {
	t.Helper()
	asked := usecases.Asked{Meta: coretest.Operator(k.org)}
	if _, err := k.undoing().Undo(t.Context(), asked, id.As[id.Batch](run), "wrong price"); err != nil {
		t.Fatal(err)
	}
}

// undoState reads how far a run is taken back.
func (k *runKit) undoState(t *testing.T, run id.BillingRun) billing.BatchUndo {
	t.Helper()
	s, _, err := bus.LoadOwned[billing.BatchUndo](t.Context(), k.undoing().Bus, k.org, id.As[id.Batch](run))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// undoKilled takes a run back with a program that is killed after some appends, again and again, until it is done.
func (k *runKit) undoKilled(t *testing.T, run id.BillingRun, most int) {
	t.Helper()
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a repeatable test
	t.Logf("seed %d", seed)
	for kills := 0; ; kills++ {
		k.WaitForAll(t, k.views, billingviews.BatchesName)
		s := k.undoState(t, run)
		if !s.Running {
			t.Logf("taken back after %d kills", kills)
			k.logLeft(t, run)
			return
		}
		if kills == 200 {
			t.Fatalf("the undo does not finish (seed %d)", seed)
		}
		ctx, kill := context.WithCancel(t.Context())
		after := k.Feed(t).Head() + 1 + uint64(dice.IntN(most)) //nolint:gosec // small
		go func() {
			defer kill()
			_ = k.Feed(t).Wait(ctx, after-1)
		}()
		part := commands.UndoBatchPart{OrgID: k.org, BatchID: id.As[id.Batch](run), Round: s.Round, Part: s.Next}
		err := k.undoing().UndoPart(ctx, part, k.meta()("part"))
		if err != nil && ctx.Err() == nil && !errors.Is(err, billingcases.ErrRunBehind) {
			t.Fatal(err)
		}
		kill()
	}
}

// logLeft tells what an undo has left of a run, and why.
func (k *runKit) logLeft(t *testing.T, run id.BillingRun) {
	t.Helper()
	k.WaitForAll(t, k.views, billingviews.BatchesName)
	left, err := billingviews.BatchesQuery{Views: k.views}.Items(t.Context(), k.org, id.As[id.Batch](run),
		events.ItemBlocked, billingviews.BatchItemKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range left {
		t.Logf("left: %s of %s: %s", item.ID, item.SubscriptionID, item.Code)
	}
}

// balances reads what each customer owes.
func (k *runKit) balances(t *testing.T, of []id.Subscriber) map[id.Subscriber]money.Amount {
	t.Helper()
	list := map[id.Subscriber]money.Amount{}
	for _, who := range of {
		s, _, err := bus.LoadOwned[billing.Account](t.Context(), k.Bus, k.org, who)
		if err != nil {
			t.Fatal(err)
		}
		list[who] = s.Balance()
	}
	return list
}

// settled waits until the processes have done what follows from the log, and the read models show it.
func (k *runKit) settled(t *testing.T) {
	t.Helper()
	for range 4 { // a command of a process leads to another one
		if err := k.processes.WaitFor(t.Context(), renewal.Process().Name, k.end(t)); err != nil {
			t.Fatal(err)
		}
	}
	k.WaitForAll(t, k.views, billingviews.DueName, billingviews.RunsName, billingviews.BatchesName)
}

func TestUndo_KilledAtAnyPointReturnsEachBalanceAndIsBilledAgainOnlyByAPerson(t *testing.T) {
	t.Parallel()
	const customers = 24
	k := newRunKit(t, customers, renewal.Process())
	subscribers := make([]id.Subscriber, customers)
	for n := range customers {
		subscribers[n] = id.Derive[id.Subscriber]("test", k.org.String(), fmt.Sprintf("customer%d", n))
	}
	before := k.balances(t, subscribers)
	k.clock.Advance(april.Start(time.UTC).Sub(began))
	job, from := k.request(t, april), k.end(t)
	if err := k.worker().Work(t.Context(), job, k.meta()); err != nil {
		t.Fatal(err)
	}
	k.whenIssued(t, from, customers)
	for n := range 8 { // some have paid, some a part
		amount := money.Major(int64(500*(1+n%4)), money.KES)
		k.pay(t, subscribers[n], amount)
		before[subscribers[n]] = before[subscribers[n]].Sub(amount)
	}
	k.settled(t)
	preview, err := k.undoing().Preview(t.Context(), k.org, id.As[id.Batch](job.RunID))
	if err != nil || preview.Undone+preview.Credited != customers || preview.Credited == 0 || preview.Blocked != 0 {
		t.Fatalf("the preview tells %+v, %v", preview, err)
	}

	k.undo(t, job.RunID)
	k.undoKilled(t, job.RunID, customers)
	done := k.undoState(t, job.RunID)
	if done.Undone != preview.Undone || done.Credited != preview.Credited || done.Blocked != 0 {
		t.Errorf("taken back: %+v, told before: %+v", done, preview)
	}
	k.whenNoted(t, from, preview.Credited)
	k.settled(t)
	for who, was := range before {
		if is := k.balances(t, []id.Subscriber{who})[who]; is != was {
			t.Errorf("%s owes %s, before the run %s", who, is, was)
		}
	}
	next := k.request(t, april.AddDays(1)) // the clock's next run bills none of it
	k.clock.Advance(24 * time.Hour)
	start := k.end(t)
	if err := k.worker().Work(t.Context(), next, k.meta()); err != nil {
		t.Fatal(err)
	}
	k.settled(t)
	if m := k.perSubscription(t, start); len(m.due) != 0 {
		t.Errorf("the next day bills %d of them", len(m.due))
	}
	k.againByAPerson(t, job, customers)
}

// againByAPerson asks for an undone run again, and looks whether each period is billed once more.
func (k *runKit) againByAPerson(t *testing.T, job commands.MakeInvoicesDue, customers int) {
	t.Helper()
	start := k.end(t)
	k.Run(t, coretest.Operator(k.org), commands.RequestBillingRun{
		RunID: job.RunID, OrgID: k.org, Date: april, Again: true,
	})
	job.Again = true
	k.WaitForAll(t, k.views, billingviews.DueName, billingviews.RunsName)
	if err := k.worker().Work(t.Context(), job, k.meta()); err != nil {
		t.Fatal(err)
	}
	m := k.whenIssued(t, start, customers)
	for subscription, n := range m.due {
		if n != 1 {
			t.Errorf("%s is billed %d times", subscription, n)
		}
	}
	if len(m.due) != customers {
		t.Errorf("%d of %d are billed again", len(m.due), customers)
	}
	for _, e := range k.history(t, start) {
		if due, ok := e.Event.(events.PeriodDue); ok && !due.From.Equal(april.Start(time.UTC).Add(-3*time.Hour)) {
			t.Errorf("the period begins at %s", due.From)
		}
	}
}

// pay books money of somebody.
func (k *runKit) pay(t *testing.T, who id.Subscriber, amount money.Amount) {
	t.Helper()
	receipt := id.New[id.Receipt]()
	k.Run(t, coretest.Operator(k.org), commands.CreditReceipt{
		SubscriberID: who, OrgID: k.org, ReceiptID: receipt, Number: receipt.String(), Channel: "cash", Amount: amount,
		PaidAt: k.clock.Now(), MatchedAt: k.clock.Now(),
	})
}

// whenNoted waits until so many credit notes are issued since a position.
func (k *runKit) whenNoted(t *testing.T, from uint64, count int) {
	t.Helper()
	issued := 0
	came := k.grownUntil(t, func() bool {
		issued = 0
		for _, e := range k.history(t, from) {
			if _, is := e.Event.(events.CreditNoteIssued); is {
				issued++
			}
		}
		return issued >= count
	})
	if !came {
		t.Fatalf("%d of %d credit notes", issued, count)
	}
}
