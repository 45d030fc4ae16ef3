package subscribers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// paidElsewhere asks for a subscription that was paid up to an instant in another system.
func paidElsewhere(mode events.BillingMode, until time.Time) commands.CreateSubscription {
	c := create(mode)
	c.PaidUntil = until
	return c
}

// names are the types of events, in their order.
func names(list []events.SubscriptionEvent) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.EventType()
	}
	return out
}

func TestPaidTime_IsServedWithoutAnInvoiceAndContinuedByTheNextPeriod(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 20).Truncate(time.Hour)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	want := []string{
		"subscribers.SubscriptionCreated.v1", "subscribers.SubscriptionActivated.v1",
		"subscribers.PaidTimeCarriedOver.v1",
	}
	if got := names(s.ThenEvents()); !cmp.Equal(got, want) {
		t.Fatalf("made %v", got)
	}
	if paid := s.State().PaidUntil(); !paid.Equal(until) {
		t.Fatalf("paid until %s, want %s", paid, until)
	}
	s.SurvivesClosing()
	s.At(until.AddDate(0, 0, -3)).When(due).ThenEvents()
	s.When(paid(first, until.AddDate(0, 0, -2))).ThenEvents()
	zone, _ := time.LoadLocation("Africa/Nairobi")
	local := until.In(zone)
	if next := s.State().PaidUntil(); !next.Equal(local.AddDate(0, 1, 0)) {
		t.Errorf("the period after it ends at %s, paid time before it at %s", next, until)
	}
	s.At(until.AddDate(1, 0, 0)).When(commands.ExpireSubscription{SubscriptionID: subscription}).ThenNothing()
}

func TestPaidTime_InThePastIsDueAtOnceLikeAnUnpaidPrepaidPeriod(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, -5)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	made := s.ThenEvents()
	last, ok := made[len(made)-1].(events.PeriodDue)
	if !ok || !last.DueAt.Equal(now) || last.Ordinal != 1 {
		t.Fatalf("made %v, due at %s", names(made), last.DueAt)
	}
	if got := s.State(); got.State != "active" || !got.PaidUntil().Equal(until) {
		t.Fatalf("%s, paid until %s", got.State, got.PaidUntil())
	}
	s.When(paid(first, now)).ThenEvents()
	if next := s.State().PaidUntil(); !next.Equal(noon(2, 28)) {
		t.Errorf("paid until %s", next)
	}
}

func TestPaidTime_OfAPostpaidCustomerPutsOffTheFirstInvoice(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 12)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Postpaid, until))
	s.ThenEvents()
	s.At(until.Add(-time.Second)).When(due).ThenNothing()
	made := s.At(until).When(due).ThenEvents()
	if period, ok := made[0].(events.PeriodDue); len(made) != 1 || !ok || !period.From.Equal(until) {
		t.Fatalf("made %v", names(made))
	}
	past := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Postpaid, now.AddDate(0, 0, -40)))
	list := past.ThenEvents()
	if period, ok := list[len(list)-1].(events.PeriodDue); !ok || !period.From.Equal(now) {
		t.Errorf("a debt of before is invoiced again: %v", names(list))
	}
	if begins, ok := list[len(list)-2].(events.SubscriptionActivated); !ok || !begins.Carried {
		t.Errorf("whoever was served elsewhere counts as new: %v", names(list))
	}
	made = decidertest.For(t, aggregate(), now).When(create(events.Postpaid)).ThenEvents()
	if begins, ok := made[len(made)-2].(events.SubscriptionActivated); !ok || begins.Carried {
		t.Errorf("a new customer counts as taken over: %v", names(made))
	}
}

func TestPaidTime_LeadsToTheBillingDay(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 10)
	c := paidElsewhere(events.Prepaid, until)
	c.Terms.AnchorDay = until.Day()%28 + 1
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	made := s.At(until.AddDate(0, 0, -1)).When(due).ThenEvents()
	if period, ok := made[0].(events.PeriodDue); !ok || !period.From.Equal(until) || period.Part.IsZero() {
		t.Errorf("the period after the paid time is %+v", made[0])
	}
}
