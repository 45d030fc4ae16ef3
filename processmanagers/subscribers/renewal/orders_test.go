package renewal_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// left is credit with an order of 250 shillings that is not paid.
func left(major int64) events.Event {
	return events.CreditLeft{SubscriberID: who, Credit: kes(major), Ordered: kes(250)}
}

// pays pays orders with credit of which a part is kept, and renews subscriptions.
func pays(credit, keep int64, renewed ...id.Subscription) processmanagers.Output {
	list := []commands.Command{commands.PayOrders{SubscriberID: who, Credit: kes(credit), Keep: kes(keep)}}
	for _, s := range renewed {
		list = append(list, commands.MakePeriodDue{SubscriptionID: s})
	}
	return does(list...)
}

func TestCredit_PaysOrdersWithWhatNoPeriodNeeds(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), created(line2, events.Prepaid, 1000, calendar.Month),
		extended(line, inv1, until.AddDate(0, 0, 5)), extended(line2, inv2, until))
	s.When(left(999)).Then(pays(999, 0))
	s.When(left(1000)).Then(pays(1000, 1000, line2))
	s.When(left(1700)).Then(pays(1700, 1000, line2))
	s.When(left(2500)).Then(pays(2500, 2500, line2))
	s.When(left(9000)).Then(pays(9000, 3500, line2))
	// the invoice of the next period comes in a moment
	s = s.Given(due(line2, inv2))
	s.When(left(600)).Then(pays(600, 600))
	s.When(left(1300)).Then(pays(1300, 1000))
	s.When(left(2500)).Then(pays(2500, 2500, line))
	// it is paid, and credit was left beside it; then the payment is taken back
	paid := events.InvoicePaid{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line2}
	s.Given(paid).When(left(900)).Then(pays(900, 0))
	s.Given(paid, events.InvoiceReopened{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line2}).
		When(left(1300)).Then(pays(1300, 1000))
	s = s.Given(paid, extended(line2, inv2, until))
	// it is told again, and nothing expires: the price of what comes next is kept all the same
	asked := events.CreditLeft{SubscriberID: who, Credit: kes(1100), Ordered: kes(250), Asked: true}
	s.When(asked).Then(pays(1100, 1000))
	after(t, created(line, events.Postpaid, 100, calendar.Month)).When(left(5000)).Then(pays(5000, 0))
}

func TestCredit_KeepsThePeriodAfterTheOneThatItPays(t *testing.T) {
	t.Parallel()
	paid := events.InvoicePaid{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line2}
	s := after(t, created(line2, events.Prepaid, 1000, calendar.Month), extended(line2, inv1, until))
	s.When(left(2300)).Then(pays(2300, 2000, line2))
	s = s.Given(due(line2, inv2)) // the invoice comes in a moment
	s.When(left(2300)).Then(pays(2300, 2000))
	s.Given(paid).When(left(1300)).Then(pays(1300, 1000)) // the same money has paid it
	// another subscription that could be renewed now comes before it
	s = s.Given(prepaid(line), extended(line, inv1, until.AddDate(0, 0, 5)), paid)
	s.When(left(1800)).Then(pays(1800, 1500, line))
}

func TestCredit_IsKeptForTheEndOfAPause(t *testing.T) {
	t.Parallel()
	paused := events.SubscriptionPaused{SubscriptionID: line2, SubscriberID: who}
	s := after(t, created(line2, events.Prepaid, 1000, calendar.Month), extended(line2, inv1, until), paused)
	s.When(left(1300)).Then(pays(1300, 1000))
	// a subscription that is served comes first, also when it expires later
	s = s.Given(prepaid(line), extended(line, inv2, until.AddDate(0, 0, 5)))
	s.When(left(1800)).Then(pays(1800, 1500, line))
	s.When(left(2700)).Then(pays(2700, 2500, line))
}
