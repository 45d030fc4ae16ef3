package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// costs is a prepaid month of a price, whose late payment counts in a way.
func costs(price int64, late events.LateRenewal) events.PlanTerms {
	return events.PlanTerms{Mode: events.Prepaid, Price: kes(price), Period: calendar.Month, LateRenewal: late}
}

// TestUndone_APeriodIsMadeAgainForItsPriceAndTheNextOneForThatOfThePlannedPlan: another plan is planned, and the undo
// of a run tells that the next period comes before it.
func TestUndone_APeriodIsMadeAgainForItsPriceAndTheNextOneForThatOfThePlannedPlan(t *testing.T) {
	t.Parallel()
	renews := does(commands.MakePeriodDue{SubscriptionID: line, Received: true})
	left := func(major int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: kes(major), Received: true}
	}
	undone := events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, At: start,
		UndoneRun: id.New[id.BillingRun](), NextTerms: costs(1500, events.FromExpiry),
	}
	for name, planned := range map[string]int64{"cheaper": 100, "dearer": 9000} {
		s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until), events.PlanChangePlanned{
			SubscriptionID: line, SubscriberID: who, Terms: costs(planned, events.FromPayment), FromOrdinal: 2,
		}, undone)
		s.When(left(1499)).ThenNothing()
		s.When(left(1500)).Then(renews)
		again := s.When(events.PeriodDue{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2,
			Terms: costs(1500, events.FromExpiry), NextTerms: costs(planned, events.FromPayment),
		})
		paid := again.When(events.InvoicePaid{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line, At: start})
		for _, c := range paid.Output().Commands {
			if c, ok := c.(commands.ExtendSubscription); !ok || c.Late != events.FromExpiry {
				t.Errorf("%s: the payment is recorded by %+v", name, c)
			}
		}
		next := paid.When(extended(line, inv2, until.AddDate(0, 1, 0)))
		next.When(left(planned - 1)).ThenNothing()
		next.When(left(planned)).Then(renews)
		dropped := again.When(events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2, At: start,
		})
		dropped.When(left(planned - 1)).ThenNothing()
		dropped.When(left(planned)).Then(renews)
	}
}

// TestUndone_APaymentRenewsAllServicesThatItCovers: the run of both was undone, and the rest of the money is no new
// money when it is told again. Credit that the undo has left renews none of them.
func TestUndone_APaymentRenewsAllServicesThatItCovers(t *testing.T) {
	t.Parallel()
	undone := func(s id.Subscription, invoice id.Invoice, paidUntil time.Time) events.Event {
		return events.PeriodCancelled{
			SubscriptionID: s, SubscriberID: who, InvoiceID: invoice, Ordinal: 2, PaidUntil: paidUntil,
			UndoneRun: id.New[id.BillingRun](), At: start,
		}
	}
	renewed := func(list ...id.Subscription) processmanagers.Output {
		var out processmanagers.Output
		for _, subscription := range list {
			out.Commands = append(out.Commands, commands.MakePeriodDue{SubscriptionID: subscription, Received: true})
		}
		return out
	}
	received := func(major int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: kes(major), Received: true}
	}
	s := after(t, prepaid(line), created(line2, events.Prepaid, 1000, calendar.Month),
		undone(line, inv1, start.Add(-time.Hour)), undone(line2, inv2, start.Add(-2*time.Hour)))
	s.When(received(999)).ThenNothing()
	s.When(received(2499)).Then(renewed(line2))
	s.When(received(2500)).Then(renewed(line2, line))
	s.When(credit(2500)).ThenNothing()
	one := after(t, prepaid(line), created(line2, events.Prepaid, 1000, calendar.Month),
		extended(line, inv1, start), undone(line2, inv2, start.Add(-time.Hour)))
	one.When(asked(2500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
	// one that is paid for a while is renewed by later money, or by its run
	ahead := after(t, prepaid(line), created(line2, events.Prepaid, 1000, calendar.Month),
		undone(line, inv1, until.AddDate(0, 1, 0)), undone(line2, inv2, start.Add(-time.Hour)))
	ahead.When(received(2500)).Then(renewed(line2))
}

// TestUndone_WhoNeedNotWaitAnyMoreIsRenewedAsOthersAre: a person has asked for the run again. What is due by today is
// asked for at once, what is due later is left to the run of its day, and credit renews whoever is without service.
func TestUndone_WhoNeedNotWaitAnyMoreIsRenewedAsOthersAre(t *testing.T) {
	t.Parallel()
	over := events.UndoneWaitEnded{SubscriptionID: line, SubscriberID: who, At: start}
	undone := func(paidUntil time.Time) events.Event {
		return events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, PaidUntil: paidUntil, At: start,
			UndoneRun: id.New[id.BillingRun](),
		}
	}
	later := after(t, prepaid(line), undone(start.AddDate(0, 1, 0)), over)
	later.When(asked(1500)).ThenNothing() // it is served
	for _, until := range []time.Time{start.Add(-time.Hour), start.AddDate(0, 0, 2)} {
		s := after(t, prepaid(line), undone(until))
		s.When(asked(1500)).ThenNothing()
		made := s.When(over)
		made.Then(processmanagers.Output{
			Timers: arms(line, time.Time{}).Timers, Commands: []commands.Command{
				commands.MakePeriodDue{SubscriptionID: line, On: calendar.On(start, time.UTC)},
				commands.TellCredit{SubscriberID: who},
			},
		})
		made.When(asked(1500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
	}
	paused := after(t, prepaid(line), events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who},
		undone(start.Add(-time.Hour)), over)
	paused.When(asked(1500)).ThenNothing()
}
