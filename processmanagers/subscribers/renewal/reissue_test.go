package renewal_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Days that could not be credited, since the corrected invoice had no number yet, are asked for again: what takes the
// place of the wrong one is owed.
func TestCancelled_DaysOfAReplacedInvoiceAreStillCredited(t *testing.T) {
	t.Parallel()
	days := commands.CreditDays{
		SubscriberID: who, CreditNoteID: id.Derive[id.Receipt]("test", "days"), Reason: "days of a pause",
		DaysCredit: events.DaysCredit{InvoiceID: inv1, Days: 3, Of: 30},
	}
	for replacedBy, wanted := range map[id.Invoice]bool{inv2: true, {}: false} {
		s := after(t, prepaid(line), due(line, inv1)).WhenRefused(days, "invoice_not_issued")
		gone := s.When(events.InvoiceCancelled{
			SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, ReplacedBy: replacedBy, At: start,
		})
		again := gone.WhenDue("again", start)
		if wanted {
			again.Then(does(days))
		} else {
			again.ThenNothing()
		}
	}
}

func TestCancelled_ACorrectedInvoiceTakesThePeriodOver(t *testing.T) {
	t.Parallel()
	reissues := commands.ReissuePeriod{SubscriptionID: line, InvoiceID: inv1, CorrectedID: inv2}
	replaced := func(covered bool) events.InvoiceCancelled {
		return events.InvoiceCancelled{
			SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, ReplacedBy: inv2, Covered: covered, At: start,
		}
	}
	s := after(t, prepaid(line), due(line, inv1))
	s.When(replaced(true)).Then(does(reissues, commands.ExtendSubscription{
		SubscriptionID: line, InvoiceID: inv2, PaidAt: start,
	}))
	s.When(replaced(false)).Then(does(reissues, commands.WithdrawPeriod{
		SubscriptionID: line, InvoiceID: inv2, Reason: "the payment was taken back",
	}))
	manual := replaced(true)
	manual.SubscriptionID = id.Subscription{}
	s.When(manual).ThenNothing()
	refused := s.WhenRefused(reissues, "period_archived")
	refused.WhenDue("again", start).Then(does(reissues))
	// the corrected one is open in the place of the wrong one
	open := s.When(events.PeriodReissued{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, CorrectedID: inv2})
	open.ThenNothing()
	open.When(credit(1500)).ThenNothing()
	if got := open.When(extended(line, inv2, until)).Output(); len(got.Commands) != 0 {
		t.Errorf("paid: %v", got)
	}
	// its total is no price of the next period
	open.Given(events.InvoiceDrafted{
		SubscriberID: who, SubscriptionID: line, InvoiceID: inv2, Replaces: inv1, Total: kes(100),
	}, extended(line, inv2, until)).When(credit(100)).ThenNothing()
}
