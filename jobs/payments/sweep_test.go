package paymentsjobs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
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

func TestSweep_MatchedMoneyThatNoAccountHasIsCreditedOrHeld(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.queued(t)
	dollars := id.New[id.Subscriber]()
	k.execute(t, commands.CreditReceipt{
		SubscriberID: dollars, OrgID: k.org, ReceiptID: id.New[id.Receipt](), Number: "D",
		Channel: commands.ChannelCash, Amount: money.Major(1, "USD"), PaidAt: k.clock.Now(),
	})
	ids := map[string]id.Receipt{}
	for number, s := range map[string]id.Subscriber{"SJK4X7Q2P1": k.sub, "SJK4X7Q2P2": dollars} {
		k.confirmed(t, paid(number, shortcode, "x", 1500))
		ids[number] = commands.ReceiptID(commands.EnvironmentSandbox, number)
		k.execute(t, commands.MatchReceipt{ReceiptID: ids[number], OrgID: k.org, SubscriberID: s, By: "phone"})
	}
	for range 2 { // a second run finds nothing more to do
		k.sweep(t)
	}
	account, _, err := bus.LoadUnchecked[billing.Account](t.Context(), k.Bus, k.sub)
	if err != nil || account.Credit() != money.Major(1500, money.KES) {
		t.Errorf("credit %v, %v", account.Credit(), err)
	}
	if r := k.receipt(t, ids["SJK4X7Q2P2"]); r.Standing != payments.StandingHeld {
		t.Errorf("money that its account refuses: %+v", r)
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
