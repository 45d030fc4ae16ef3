package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// withProvider reports whether the provider was asked for the reversal, and its word has not come.
func (s Refund) withProvider() bool { return s.State == RefundSubmitted || s.State == RefundInDoubt }

// decideSubmitRefund notes that the provider is about to be asked. A repeat gives no event, which tells the caller that
// it must not ask again.
func decideSubmitRefund(s Refund, now time.Time) ([]events.RefundEvent, error) {
	switch {
	case s.withProvider():
		return nil, nil
	case s.ended():
		return nil, refundEnded()
	case s.State != RefundApproved || s.By != commands.RefundReversal:
		return nil, refundUnapproved()
	}
	return []events.RefundEvent{events.RefundSubmitted{
		RefundID: s.ID, OrgID: s.Org, ReceiptID: s.Receipt, SubscriberID: s.Subscriber, Amount: s.Amount, At: now,
	}}, nil
}

// decideAcknowledgeRefund keeps the ids under which the provider can be asked. The result may have come before.
func decideAcknowledgeRefund(
	s Refund, c commands.AcknowledgeRefund, now time.Time,
) ([]events.RefundEvent, error) {
	if !s.withProvider() || s.Origin != "" {
		return nil, nil
	}
	return []events.RefundEvent{events.RefundAcknowledged{
		RefundID: s.ID, ConversationID: c.ConversationID, OriginatorConversationID: c.OriginatorConversationID, At: now,
	}}, nil
}

// decideDoubtRefund notes that nobody knows the end; a later doubt says nothing more.
func decideDoubtRefund(s Refund, c commands.DoubtRefund, now time.Time) ([]events.RefundEvent, error) {
	if s.State != RefundSubmitted {
		return nil, nil
	}
	return []events.RefundEvent{events.RefundDoubted{
		RefundID: s.ID, OrgID: s.Org, ReceiptID: s.Receipt, SubscriberID: s.Subscriber, Amount: s.Amount,
		Cause: c.Cause, Message: c.Message, At: now,
	}}, nil
}

// decideConcludeRefund takes the provider's word. A failure may come before anything was asked of it, a success not.
func decideConcludeRefund(s Refund, c commands.ConcludeRefund, now time.Time) ([]events.RefundEvent, error) {
	switch {
	case s.State == RefundCompleted, s.State == RefundFailed && !c.Completed:
		return nil, nil
	case s.State == RefundFailed:
		return nil, refundEnded()
	case !s.withProvider() && (c.Completed || s.State != RefundApproved || s.By != commands.RefundReversal):
		return nil, refundUnapproved()
	case c.Completed:
		return []events.RefundEvent{s.completed(c.Reference, commands.SaidByProvider, now)}, nil
	}
	failed := s.failed(c.Code, commands.SaidByProvider, now)
	failed.Message = c.Message
	return []events.RefundEvent{failed}, nil
}

// refundSubmitted refuses to decide by hand while the provider has the word.
func refundSubmitted() error {
	return failure.NewConflict("refund_submitted",
		"The provider was asked to send this money back. Wait for its answer; when none comes, you can settle the "+
			"refund by hand.")
}

// refundUnapproved refuses to ask the provider for a refund that nobody approved.
func refundUnapproved() error {
	return failure.NewConflict("refund_not_approved",
		"This refund was not approved. Approve it before the money is paid, or cancel it.")
}
