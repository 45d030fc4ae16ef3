package payments_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The ids of these tests.
var (
	refund   = id.Must[id.Refund]("0195a000-0000-7000-8000-000000000041")
	refunded = id.Must[id.Receipt]("0195a000-0000-7000-8000-000000000051")
)

// aRefund begins an example of one refund.
func aRefund(t *testing.T) *decidertest.Scenario[payments.Refund, commands.RefundCommand, events.RefundEvent] {
	t.Helper()
	return decidertest.For(t, payments.Refunds(), now)
}

// The commands and events of a refund of money on an account.
var (
	asksRefund = commands.RequestRefund{
		RefundID: refund, OrgID: org, ReceiptID: refunded, ReceiptNumber: "SJK4X7Q2P1", SubscriberID: sub,
		Amount: kes(400), By: commands.RefundManual, Reason: "paid twice",
	}
	refundAsked = events.RefundRequested{
		RefundID: refund, OrgID: org, ReceiptID: refunded, ReceiptNumber: "SJK4X7Q2P1", SubscriberID: sub,
		Amount: kes(400), By: "manual", Reason: personal.Of("paid twice"), At: now,
	}
	refundSecured  = events.RefundSecured{RefundID: refund, At: now}
	refundApproved = events.RefundApproved{
		RefundID: refund, OrgID: org, ReceiptID: refunded, SubscriberID: sub, Amount: kes(400), By: "manual", At: now,
	}
	refundPaid = events.RefundCompleted{
		RefundID: refund, OrgID: org, ReceiptID: refunded, SubscriberID: sub, Amount: kes(400), Reference: "CHQ 12",
		SaidBy: "operator", At: now,
	}
)

// notPaid is a refund that ended without payment.
func notPaid(code, saidBy, reason string) events.RefundFailed {
	return events.RefundFailed{
		RefundID: refund, OrgID: org, ReceiptID: refunded, SubscriberID: sub, Amount: kes(400), Code: code,
		Reason: personal.Of(reason), SaidBy: saidBy, At: now,
	}
}

func TestRefund_IsApprovedOnceItsMoneyWaitsAndSettledByAPerson(t *testing.T) {
	t.Parallel()
	approve := commands.ApproveRefund{RefundID: refund, OrgID: org}
	paid := commands.SettleRefund{RefundID: refund, OrgID: org, Completed: true, Reference: "CHQ 12"}
	aRefund(t).When(approve).ThenFails("refund_not_found")
	s := aRefund(t).When(asksRefund).Then(refundAsked)
	s.When(asksRefund).ThenNothing()
	other := asksRefund
	other.Amount = kes(1)
	s.When(other).ThenFails("refund_exists")
	s.When(approve).ThenFails("refund_not_secured")
	s.When(paid).ThenFails("refund_not_approved")
	s.When(commands.SecureRefund{RefundID: refund}).Then(refundSecured)
	s.When(commands.SecureRefund{RefundID: refund}).ThenNothing()
	s.When(commands.RefuseRefund{RefundID: refund, Code: "refund_too_large"}).ThenNothing() // the money waits
	s.When(approve).Then(refundApproved)
	s.When(approve).ThenNothing()
	s.When(paid).Then(refundPaid)
	for _, c := range []commands.RefundCommand{
		paid, approve, commands.CancelRefund{RefundID: refund, OrgID: org, Reason: "no"},
	} {
		s.When(c).ThenFails("refund_ended")
	}
}

func TestRefund_ThatIsNotPaidSaysWhy(t *testing.T) {
	t.Parallel()
	cancel := commands.CancelRefund{RefundID: refund, OrgID: org, Reason: "changed her mind"}
	aRefund(t).Given(refundAsked).When(cancel).Then(notPaid("cancelled", "operator", "changed her mind")).
		When(commands.SecureRefund{RefundID: refund}).ThenFails("refund_ended")
	aRefund(t).Given(refundAsked, refundSecured, refundApproved).
		When(commands.SettleRefund{RefundID: refund, OrgID: org, Reason: "the phone is gone"}).
		Then(notPaid("not_paid", "operator", "the phone is gone"))
	refused := notPaid("refund_too_large", "platform", "")
	refused.Reason = personal.Text{}
	s := aRefund(t).Given(refundAsked).When(commands.RefuseRefund{RefundID: refund, Code: "refund_too_large"}).
		Then(refused)
	s.When(commands.RefuseRefund{RefundID: refund, Code: "refund_too_large"}).ThenNothing()
}

func TestRefund_OfAnotherOrganizationIsNotFound(t *testing.T) {
	t.Parallel()
	s := aRefund(t).Given(refundAsked, refundSecured)
	for _, c := range []commands.RefundCommand{
		commands.ApproveRefund{RefundID: refund, OrgID: other},
		commands.CancelRefund{RefundID: refund, OrgID: other, Reason: "ours"},
		commands.SettleRefund{RefundID: refund, OrgID: other, Completed: true, Reference: "1"},
	} {
		s.When(c).ThenFails("refund_not_found")
	}
}

func TestSettleRefund_NeedsAReferenceOrAReason(t *testing.T) {
	t.Parallel()
	for _, c := range []commands.SettleRefund{
		{RefundID: refund, Completed: true}, {RefundID: refund}, {RefundID: refund, Completed: true, Reference: " "},
	} {
		if err := c.Validate(); failure.KindOf(err) != failure.Invalid {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
