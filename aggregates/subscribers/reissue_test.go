package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The corrected invoice has the period from then on, paid or not; the wrong one has none.
func TestReissuePeriod_TheCorrectedInvoiceHasThePeriod(t *testing.T) {
	t.Parallel()
	corrected := id.Derive[id.Invoice]("test", "corrected")
	reissue := commands.ReissuePeriod{SubscriptionID: subscription, InvoiceID: first, CorrectedID: corrected}
	s := prepaid(t).When(reissue)
	s.Then(events.PeriodReissued{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: first, CorrectedID: corrected, Ordinal: 1,
		At: now,
	})
	s.When(reissue).ThenNothing()
	s.When(paid(first, now)).ThenNothing()
	s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: first}).ThenNothing()
	until := time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC)
	begins := begun(first, now, now, until)
	begins.InvoiceID = corrected
	s.When(paid(corrected, now)).Then(activated(now), begins)

	p := prepaid(t).When(paid(first, now))
	p.ThenEvents()
	p.When(reissue).Then(events.PeriodReissued{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: first, CorrectedID: corrected, Ordinal: 1,
		From: now, To: until, At: now,
	})
	if got := p.State().PaidUntil(); !got.Equal(until) {
		t.Errorf("paid until %v", got)
	}
	withdraw := commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: corrected, Reason: "x"}
	if back := p.When(withdraw).ThenEvents(); len(back) != 1 {
		t.Errorf("withdrawn: %v", back)
	}
	gone := prepaid(t).When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: first})
	gone.ThenEvents()
	gone.When(reissue).ThenNothing()
}
