package receipts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
)

// The world of these tests.
var (
	now         = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org         = id.Must[id.Organization]("0195a000-0000-7000-8000-000000000001")
	sub         = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000011")
	sub2        = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000012")
	attempt     = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000031")
	invoice     = id.Must[id.Invoice]("0195a000-0000-7000-8000-000000000021")
	realMoney   = commands.ReceiptID("SJK4X7Q2P1")
	provisional = commands.ProvisionalReceiptID("ws_CO_1")
	amount      = money.Major(1500, money.KES)
)

// Events of receipts.
var (
	byCallback = events.ReceiptRecorded{
		ReceiptID: realMoney, OrgID: org, ReceiptNumber: "SJK4X7Q2P1", Channel: "stk", Amount: amount,
		PaymentID: attempt, Sighting: "stk_callback", RecordedAt: now,
	}
	byPaybill = events.ReceiptRecorded{
		ReceiptID: realMoney, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b", Amount: amount, Sighting: "c2b_confirmation",
		RecordedAt: now,
	}
	byQuery = events.ReceiptRecorded{
		ReceiptID: provisional, OrgID: org, Channel: "stk", Amount: amount, PaymentID: attempt, Provisional: true,
		Sighting: "query", RecordedAt: now,
	}
	claimed = events.ProvisionalClaimed{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptID: realMoney,
		ReceiptNumber: "SJK4X7Q2P1", ProvisionalReceiptID: provisional,
	}
)

// of wraps an event.
func of(e events.Event) processmanagers.Input {
	return processmanagers.Input{Event: &events.Envelope{Type: e.EventType(), Position: 42, Event: e}}
}

// after folds events.
func after(ins ...events.Event) receipts.State {
	var s receipts.State
	for _, e := range ins {
		s = receipts.Evolve(s, of(e))
	}
	return s
}

// does is an output of commands.
func does(c ...commands.Command) processmanagers.Output { return processmanagers.Output{Commands: c} }

// expect compares what the process wants.
func expect(t *testing.T, s receipts.State, in processmanagers.Input, want processmanagers.Output) {
	t.Helper()
	got, err := receipts.Decide(s, in, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// refused is the refusal of a command.
func refused(c commands.Command, code string) processmanagers.Input {
	return processmanagers.Input{
		Refusal: &processmanagers.Refusal{Command: c.CommandName(), Code: code, Target: c.Target()},
	}
}

func TestReceipt_OfAKnownAttemptSettlesIt(t *testing.T) {
	t.Parallel()
	expect(t, receipts.State{}, of(byCallback), does(commands.SettlePayment{
		PaymentID: attempt, ReceiptID: realMoney, ReceiptNumber: "SJK4X7Q2P1", Amount: amount, By: "callback",
	}))
	expect(t, receipts.State{}, of(events.PaymentSucceeded{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptID: realMoney,
	}), does(commands.MatchReceipt{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, InvoiceID: invoice, PaymentID: attempt, By: "prompt",
	}))
}

func TestReceipt_OfAnUnknownPayerIsLookedFor(t *testing.T) {
	t.Parallel()
	find := processmanagers.Output{Jobs: []commands.Job{commands.FindPayer{ReceiptID: realMoney, Position: 42}}}
	expect(t, receipts.State{}, of(byPaybill), find)
	expect(t, after(byPaybill), of(events.ReceiptSighted{ReceiptID: realMoney, Sighting: "stk_callback",
		CheckoutRequestID: "ws_CO_1"}), find)
	expect(t, after(byPaybill), of(events.ReceiptSighted{ReceiptID: realMoney, Sighting: "c2b_confirmation"}),
		processmanagers.Output{})
}

func TestReceipt_ThatItsAttemptRefusesWaitsInSuspense(t *testing.T) {
	t.Parallel()
	hold := does(commands.HoldReceipt{ReceiptID: realMoney, Reason: "conflicting_prompt"})
	expect(t, after(byCallback), refused(commands.SettlePayment{PaymentID: attempt}, "payment_settled"), hold)
	expect(t, after(byCallback), refused(commands.SettlePayment{PaymentID: attempt}, "amount_mismatch"), hold)
}

func TestCreditOnce_MatchedMoneyGoesToOneAccount(t *testing.T) {
	t.Parallel()
	matched := events.ReceiptMatched{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptNumber: "SJK4X7Q2P1",
		Channel: "c2b", Amount: amount, PaidAt: now,
	}
	expect(t, after(byPaybill), of(matched), does(commands.CreditReceipt{
		SubscriberID: sub, OrgID: org, ReceiptID: realMoney, InvoiceID: invoice, Number: "SJK4X7Q2P1", Channel: "c2b",
		Amount: amount, PaidAt: now,
	}))
	if !receipts.Process().Ended(after(byPaybill, matched)) {
		t.Error("the instance does not end")
	}
}

func TestProvisional_ClaimedMoneyIsNotCreditedAgain(t *testing.T) {
	t.Parallel()
	want := does(commands.SettlePayment{
		PaymentID: attempt, ReceiptID: provisional, Amount: amount, By: "query", Provisional: true,
	})
	want.Timers = []processmanagers.Timer{{Name: "unclaimed", At: now.Add(48 * time.Hour)}}
	expect(t, receipts.State{}, of(byQuery), want)
	expect(t, after(byPaybill), of(claimed), does(commands.ClaimProvisional{
		ReceiptID: provisional, ClaimedBy: realMoney, ReceiptNumber: "SJK4X7Q2P1",
	}))
	expect(t, after(byPaybill, claimed), of(events.ReceiptClaimed{
		ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, ClaimedBy: realMoney,
	}), does(commands.AbsorbReceipt{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, PaymentID: attempt, CarriedBy: provisional,
	}))
	expect(t, receipts.State{}, of(events.ProvisionalSuperseded{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, ReceiptID: realMoney, ProvisionalReceiptID: provisional,
	}), does(commands.AbsorbReceipt{
		ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, CarriedBy: realMoney,
	}))
}

func TestProvisional_ThatWasReversedLeavesTheRealReceiptItsCredit(t *testing.T) {
	t.Parallel()
	expect(t, after(byPaybill, claimed), refused(commands.ClaimProvisional{ReceiptID: provisional}, "receipt_reversed"),
		does(commands.MatchReceipt{
			ReceiptID: realMoney, OrgID: org, SubscriberID: sub, InvoiceID: invoice, PaymentID: attempt, By: "prompt",
		}))
}

func TestProvisional_UnclaimedForTwoDaysIsAnAlarm(t *testing.T) {
	t.Parallel()
	matched := events.ReceiptMatched{ReceiptID: provisional, SubscriberID: sub}
	s := after(byQuery, matched)
	if receipts.Process().Ended(s) {
		t.Fatal("the timer is lost")
	}
	in := processmanagers.Input{Timeout: &processmanagers.Timeout{Name: "unclaimed"}}
	expect(t, s, in, does(commands.MarkUnclaimed{ReceiptID: provisional}))
	if !receipts.Process().Ended(receipts.Evolve(s, in)) {
		t.Error("the instance does not end")
	}
}

func TestMistakes_MoveMoneyBetweenAccounts(t *testing.T) {
	t.Parallel()
	expect(t, receipts.State{}, of(events.ReceiptReversed{ReceiptID: realMoney, SubscriberID: sub, Reason: "fraud"}),
		does(commands.WithdrawReceipt{SubscriberID: sub, ReceiptID: realMoney, Reason: "fraud"}))
	expect(t, receipts.State{}, of(events.ReceiptReversed{ReceiptID: realMoney, Reason: "fraud"}),
		processmanagers.Output{})
	expect(t, receipts.State{}, of(events.ReceiptAbsorbed{ReceiptID: realMoney, CreditedTo: sub}),
		does(commands.WithdrawReceipt{SubscriberID: sub, ReceiptID: realMoney, Reason: "credited by another receipt"}))
	expect(t, receipts.State{}, of(events.ReceiptReattributed{
		ReceiptID: realMoney, OrgID: org, From: sub, To: sub2, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Amount: amount, PaidAt: now, Move: 1, Reason: "typing error",
	}), does(
		commands.WithdrawReceipt{SubscriberID: sub, ReceiptID: realMoney, Reason: "typing error"},
		commands.CreditReceipt{
			SubscriberID: sub2, OrgID: org, ReceiptID: realMoney, Number: "SJK4X7Q2P1", Channel: "c2b", Amount: amount,
			PaidAt: now, Move: 1,
		},
	))
}

func TestCash_NeedsNoLookingFor(t *testing.T) {
	t.Parallel()
	expect(t, receipts.State{}, of(events.ReceiptRecorded{ReceiptID: realMoney, Channel: "cash"}),
		processmanagers.Output{})
}
