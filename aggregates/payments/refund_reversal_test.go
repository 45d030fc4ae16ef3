package payments_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// reversalAsked has the events of a refund by the provider, up to the approval.
func reversalAsked() (list []events.RefundEvent) {
	asked, approved := refundAsked, refundApproved
	asked.By, approved.By = commands.RefundReversal, commands.RefundReversal
	return []events.RefundEvent{asked, refundSecured, approved}
}

// What follows the approval.
var (
	refundSubmitted = events.RefundSubmitted{
		RefundID: refund, OrgID: org, ReceiptID: refunded, SubscriberID: sub, Amount: kes(400), At: now,
	}
	refundDoubted = events.RefundDoubted{
		RefundID: refund, OrgID: org, ReceiptID: refunded, SubscriberID: sub, Amount: kes(400), Cause: "no_answer",
		At: now,
	}
)

// byProvider is the end of a refund in the provider's word.
func byProvider() (events.RefundCompleted, events.RefundFailed) {
	paid := refundPaid
	paid.Reference, paid.SaidBy = "SJK5X7Q2P1", "provider"
	failed := notPaid("provider_refused", "provider", "")
	failed.Reason, failed.Message = personal.Text{}, "not permitted"
	return paid, failed
}

// The commands of the provider's word.
var (
	submits   = commands.SubmitRefund{RefundID: refund}
	doubts    = commands.DoubtRefund{RefundID: refund, Cause: commands.DoubtNoAnswer}
	concludes = commands.ConcludeRefund{RefundID: refund, Completed: true, Reference: "SJK5X7Q2P1"}
	fails     = commands.ConcludeRefund{RefundID: refund, Code: "provider_refused", Message: "not permitted"}
)

func TestReversal_IsSubmittedOnceAndEndsByTheProvidersWord(t *testing.T) {
	t.Parallel()
	paid, failed := byProvider()
	byHand := aRefund(t).Given(refundAsked, refundSecured, refundApproved)
	byHand.When(submits).ThenFails("refund_not_approved")
	s := aRefund(t).Given(reversalAsked()...)
	s.When(concludes).ThenFails("refund_not_approved")
	s.When(submits).Then(refundSubmitted)
	s.When(submits).ThenNothing()
	aRefund(t).Given(append(reversalAsked(), refundSubmitted)...).When(concludes).Then(paid)
	done := aRefund(t).Given(append(reversalAsked(), refundSubmitted, paid)...)
	for _, c := range []commands.RefundCommand{concludes, fails, doubts} {
		done.When(c).ThenNothing()
	}
	aRefund(t).Given(append(reversalAsked(), refundSubmitted)...).When(fails).Then(failed)
	aRefund(t).Given(reversalAsked()...).When(fails).Then(failed) // it could not even be asked
}

func TestReversal_InDoubtIsEndedByTheProviderOrAPerson(t *testing.T) {
	t.Parallel()
	paid, failed := byProvider()
	settle := commands.SettleRefund{RefundID: refund, OrgID: org, Completed: true, Reference: "CHQ 12"}
	cancel := commands.CancelRefund{RefundID: refund, OrgID: org, Reason: "no"}
	asked := func(more ...events.RefundEvent) []events.RefundEvent { return append(reversalAsked(), more...) }
	aRefund(t).Given(asked()...).When(settle).ThenFails("refund_submitted")
	s := aRefund(t).Given(asked(refundSubmitted)...)
	s.When(settle).ThenFails("refund_submitted")
	s.When(cancel).ThenFails("refund_submitted")
	s.When(doubts).Then(refundDoubted)
	s.When(doubts).ThenNothing()
	s.When(submits).ThenNothing()
	s.When(cancel).ThenFails("refund_submitted")
	aRefund(t).Given(asked(refundSubmitted, refundDoubted)...).When(concludes).Then(paid)
	aRefund(t).Given(asked(refundSubmitted, refundDoubted)...).When(fails).Then(failed)
	aRefund(t).Given(asked(refundSubmitted, refundDoubted)...).When(settle).Then(refundPaid)
}

// A person said that the money does not go back, and it went: somebody must see that.
func TestReversal_MoneyThatWentBackAgainstAPersonsWordIsARefusal(t *testing.T) {
	t.Parallel()
	unpaid := notPaid("not_paid", "operator", "nothing in the portal")
	aRefund(t).Given(append(reversalAsked(), refundSubmitted, refundDoubted, unpaid)...).
		When(concludes).ThenFails("refund_ended")
}
