package paymentsjobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// queued starts the queue with its workers, so that what the sweep asks for is done.
func (k *kit) queued(t *testing.T) {
	t.Helper()
	queue := jobrunner.New(jobrunner.Config{DB: k.DB})
	k.workers.Register(queue)
	coretest.Start(t, "jobs", queue)
}

// sweep makes one run of the sweep, a while after everything else.
func (k *kit) sweep(t *testing.T) {
	t.Helper()
	k.clock.Advance(paymentsjobs.SweepAfter + time.Second)
	k.WaitForAll(t, k.views, paymentsviews.PaymentsName, paymentsviews.ReceiptsName, paymentsviews.MatchingName,
		paymentsviews.GatewaysName)
	if err := k.workers.SweepMoney(t.Context(), commands.SweepMoney{}, newCause()); err != nil {
		t.Fatal(err)
	}
}

// until waits until a stream has an event of a type.
func (k *kit) until(t *testing.T, category string, i id.Any, event string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		list := k.history(t, category, i)
		if slices.Contains(list, event) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %s in %v", event, list)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestSweep_MoneyWhosePayerNobodySearchesIsNotForgotten(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.queued(t)
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "nobody", 1500)) // and its job was lost
	k.sweep(t)
	r := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	k.until(t, commands.ReceiptCategory, id.Any(r), "payments.ReceiptHeld.v1")
}

// TestSweep_AsksAnewInAnHourThatComesAgain: the clock was put back, and a job with the id of the first one would report
// what the log takes for a repeat.
func TestSweep_AsksAnewInAnHourThatComesAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	queue := jobrunner.New(jobrunner.Config{DB: k.DB, InsertOnly: true})
	k.workers.Register(queue)
	coretest.Start(t, "jobs", queue)
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "nobody", 1500))
	asked := map[id.Any]bool{}
	for range 2 {
		k.sweep(t)
		list, err := jobrunner.Waiting[commands.FindPayer](t.Context(), queue)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		asked[list[0].ID] = true
		if _, err := k.DB.Owner.Exec(t.Context(), "update "+k.DB.Namespace.Schema("river")+
			".river_job set state = 'completed', finalized_at = now()"); err != nil {
			t.Fatal(err)
		}
		k.clock.Set(k.clock.Now().Add(-paymentsjobs.SweepAfter))
	}
	if len(asked) != 2 {
		t.Error("two jobs have one id")
	}
}

// stalls lists the stalls of a receipt in the log.
func (k *kit) stalls(t *testing.T, r id.Receipt) (list []events.ReceiptStalled) {
	t.Helper()
	past, err := k.Store.Read(t.Context(), commands.ReceiptCategory+"-"+r.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range past {
		if stalled, ok := e.Event.(events.ReceiptStalled); ok {
			list = append(list, stalled)
		}
	}
	return list
}

// credited has an account credit a receipt.
func (k *kit) credited(t *testing.T, s id.Subscriber, r id.Receipt) {
	t.Helper()
	k.execute(t, commands.CreditReceipt{
		SubscriberID: s, OrgID: k.org, ReceiptID: r, Number: "D", Channel: commands.ChannelPaybill,
		Amount: money.Major(1500, money.KES), PaidAt: k.clock.Now(),
	})
}

func TestSweep_MoneyThatIsNotInItsPlaceIsGivenToItsProcessAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.queued(t)
	other := id.New[id.Subscriber]()
	ids := map[string]id.Receipt{}
	for _, number := range []string{"SJK4X7Q2P1", "SJK4X7Q2P2", "SJK4X7Q2P3"} {
		k.confirmed(t, paid(number, shortcode, "x", 1500))
		ids[number] = commands.ReceiptID(commands.EnvironmentSandbox, number)
		k.execute(t, commands.MatchReceipt{ReceiptID: ids[number], OrgID: k.org, SubscriberID: k.sub, By: "phone"})
	}
	lost, kept, placed := ids["SJK4X7Q2P1"], ids["SJK4X7Q2P2"], ids["SJK4X7Q2P3"]
	k.credited(t, k.sub, placed)
	k.credited(t, k.sub, kept)
	k.execute(t, commands.ReattributeReceipt{ReceiptID: kept, OrgID: k.org, SubscriberID: other, Reason: "x"})
	for range 2 {
		k.sweep(t)
	}
	if list := k.stalls(t, lost); len(list) == 0 || list[0].SubscriberID != k.sub || !list[0].HeldBy.IsZero() {
		t.Errorf("money that no account has: %+v", list)
	}
	if list := k.stalls(t, kept); len(list) == 0 || list[0].SubscriberID != other || list[0].HeldBy != k.sub {
		t.Errorf("money that its account keeps: %+v", list)
	}
	if list := k.stalls(t, placed); len(list) > 0 {
		t.Errorf("money in its place: %+v", list)
	}
	account, _, err := bus.LoadUnchecked[billing.Account](t.Context(), k.Bus, k.sub)
	if err != nil || account.Credit() != money.Major(3000, money.KES) {
		t.Errorf("the sweep booked money by itself: %+v, %v", account, err)
	}
}

// What nobody can place does not keep the sweep from the rest.
func TestSweep_TakesMoreThanOnePage(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.queued(t)
	const many = 205
	for n := range many {
		reference := fmt.Sprint("slip ", n)
		k.Run(t, commands.Meta{
			CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
		}, commands.RecordCash{
			ReceiptID: commands.CashReceiptID(k.org, reference), OrgID: k.org, SubscriberID: k.sub,
			Amount: money.Major(1, money.KES), Reference: reference,
		})
	}
	k.sweep(t)
	for n := range many {
		if len(k.stalls(t, commands.CashReceiptID(k.org, fmt.Sprint("slip ", n)))) != 1 {
			t.Fatalf("receipt %d was not taken", n)
		}
	}
}

func TestSweep_PromptsWithoutAVerdictEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.queued(t)
	silent(t, k)
	unnamed, _ := k.initiate(t, "PONE")
	asked, position := k.initiate(t, "PTWO")
	if err := k.workers.SubmitPrompt(t.Context(), commands.SubmitPrompt{PaymentID: asked, Position: position},
		newCause()); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(commands.PromptLifetime)
	k.sweep(t) // asks the provider about the one, and ends the other
	k.until(t, commands.PaymentCategory, id.Any(unnamed), "payments.PaymentExpired.v1")
	k.until(t, commands.PaymentCategory, id.Any(asked), "payments.PromptChecked.v1")
	k.clock.Advance(time.Hour)
	k.sweep(t)
	k.until(t, commands.PaymentCategory, id.Any(asked), "payments.PaymentExpired.v1")
}
