package payments_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// moneyOf begins an example of one receipt of 400 shillings.
func moneyOf(
	t *testing.T, list ...events.ReceiptEvent,
) *decidertest.Scenario[payments.Receipt, commands.ReceiptCommand, events.ReceiptEvent] {
	t.Helper()
	recorded := events.ReceiptRecorded{
		ReceiptID: refunded, OrgID: org, Provider: "mobile_money", ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Shortcode: "600777", Amount: kes(400), PaidAt: now, PayerName: personal.Of("JANE"), RecordedAt: now,
		Sighting: "c2b_confirmation",
	}
	return decidertest.For(t, payments.Receipts(), now).Given(recorded).Given(list...)
}

// The places of the money, and what is done for its refund.
var (
	inSuspense = events.ReceiptHeld{ReceiptID: refunded, Reason: "no_match", At: now}
	onAccount  = events.ReceiptMatched{
		ReceiptID: refunded, OrgID: org, SubscriberID: sub, Amount: kes(400), By: "phone", At: now,
	}
	setsAside = commands.SetReceiptAside{ReceiptID: refunded, OrgID: org, RefundID: refund, Amount: kes(400)}
	isAside   = events.ReceiptSetAside{
		ReceiptID: refunded, OrgID: org, RefundID: refund, Amount: kes(400), At: now,
	}
)

// wentBack is money that the payer has.
func wentBack(of id.Refund, whose id.Subscriber, units, left int64) events.ReceiptRefunded {
	return events.ReceiptRefunded{
		ReceiptID: refunded, OrgID: org, SubscriberID: whose, RefundID: of, Amount: kes(units), Left: kes(left),
		At: now,
	}
}

func TestReceipt_InSuspenseThatWaitsForARefundHasNoOtherPlace(t *testing.T) {
	t.Parallel()
	s := moneyOf(t, inSuspense)
	s.When(setsAside).Then(isAside)
	s.When(setsAside).ThenNothing()
	for _, c := range []commands.ReceiptCommand{
		commands.AttributeReceipt{ReceiptID: refunded, OrgID: org, SubscriberID: sub},
		commands.MatchReceipt{ReceiptID: refunded, OrgID: org, SubscriberID: sub, By: "phone"},
		commands.ReverseReceipt{ReceiptID: refunded, OrgID: org, Reason: "x"},
		commands.AbsorbReceipt{ReceiptID: refunded, OrgID: org, CarriedBy: id.New[id.Receipt]()},
		commands.SetReceiptAside{ReceiptID: refunded, OrgID: org, RefundID: id.New[id.Refund](), Amount: kes(400)},
	} {
		s.When(c).ThenFails("receipt_refunded")
	}
	s.When(commands.ReturnReceipt{ReceiptID: refunded, RefundID: id.New[id.Refund]()}).ThenFails("refund_not_found")
	s.When(commands.ReturnReceipt{ReceiptID: refunded, RefundID: refund}).Then(events.ReceiptReturned{
		ReceiptID: refunded, OrgID: org, RefundID: refund, Amount: kes(400), At: now,
	})
	s.When(commands.AttributeReceipt{ReceiptID: refunded, OrgID: org, SubscriberID: sub}).ThenEvents()
	paid := commands.RefundReceipt{ReceiptID: refunded, RefundID: refund, Amount: kes(400)}
	s = moneyOf(t, inSuspense, isAside)
	s.When(paid).Then(wentBack(refund, id.Subscriber{}, 400, 0))
	s.When(paid).ThenNothing()
	s.When(commands.AttributeReceipt{ReceiptID: refunded, OrgID: org, SubscriberID: sub}).ThenFails("receipt_refunded")
	if s.State().Standing != payments.StandingRefunded {
		t.Errorf("%+v", s.State())
	}
}

func TestReceipt_IsRefundedOnceAllOfItWentBack(t *testing.T) {
	t.Parallel()
	second := id.New[id.Refund]()
	s := moneyOf(t, onAccount)
	s.When(commands.RefundReceipt{ReceiptID: refunded, RefundID: refund, SubscriberID: sub, Amount: kes(150)}).
		Then(wentBack(refund, sub, 150, 250))
	if s.State().Standing != payments.StandingMatched {
		t.Errorf("a part went back: %+v", s.State())
	}
	s.When(commands.RefundReceipt{ReceiptID: refunded, RefundID: second, SubscriberID: sub, Amount: kes(250)}).
		Then(wentBack(second, sub, 250, 0))
	for _, c := range []commands.ReceiptCommand{
		commands.ReattributeReceipt{ReceiptID: refunded, OrgID: org, SubscriberID: sub2, Reason: "x"},
		commands.ReverseReceipt{ReceiptID: refunded, OrgID: org, Reason: "x"},
	} {
		s.When(c).ThenFails("receipt_refunded")
	}
	s.When(commands.MarkStalled{ReceiptID: refunded, HeldBy: sub}).ThenNothing() // it is where it should be
}

// The account kept the money that was to move, because it waited for the refund: what was paid out was there.
func TestReceipt_ThatMovedWhileItWasRefundedIsWhereItWasPaidOut(t *testing.T) {
	t.Parallel()
	s := moneyOf(t, onAccount, events.ReceiptReattributed{
		ReceiptID: refunded, OrgID: org, From: sub, To: sub2, Amount: kes(400), Move: 1, At: now,
	}, wentBack(refund, sub, 400, 0))
	if r := s.State(); r.Subscriber != sub || r.Standing != payments.StandingRefunded {
		t.Errorf("%+v", r)
	}
}

func TestMayRefund_SaysWhyMoneyCannotGoBack(t *testing.T) {
	t.Parallel()
	unclear := inSuspense
	unclear.Reason = commands.HeldConflictingPrompt
	disputed := events.ReceiptDisputed{ReceiptID: refunded, OrgID: org, Amount: kes(9), Shortcode: "600777", At: now}
	for code, c := range map[string]struct {
		list   []events.ReceiptEvent
		amount money.Amount
	}{
		"receipt_being_matched":  {},
		"receipt_disputed":       {list: []events.ReceiptEvent{inSuspense, disputed}},
		"refund_attempt_unclear": {list: []events.ReceiptEvent{unclear}},
		"refund_whole_only":      {list: []events.ReceiptEvent{inSuspense}, amount: kes(100)},
		"receipt_reversed":       {list: []events.ReceiptEvent{events.ReceiptReversed{ReceiptID: refunded}}},
		"receipt_absorbed":       {list: []events.ReceiptEvent{events.ReceiptAbsorbed{ReceiptID: refunded}}},
		"receipt_refunded":       {list: []events.ReceiptEvent{inSuspense, isAside}},
	} {
		if err := moneyOf(t, c.list...).State().MayRefund(c.amount); failure.CodeOf(err) != code {
			t.Errorf("%s: %v", code, err)
		}
	}
	for _, place := range []events.ReceiptEvent{inSuspense, onAccount} {
		if err := moneyOf(t, place).State().MayRefund(money.Amount{}); err != nil {
			t.Errorf("%T: %v", place, err)
		}
	}
	unconfirmed := payments.Receipt{ID: refunded, Standing: payments.StandingMatched, Provisional: true}
	if code := failure.CodeOf(unconfirmed.MayRefund(money.Amount{})); code != "refund_unconfirmed" {
		t.Errorf("a provisional receipt: %s", code)
	}
}
