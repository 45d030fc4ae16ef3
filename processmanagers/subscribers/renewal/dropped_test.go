package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// laterEvents are those that look at when the next period is due, and change nothing of it.
func laterEvents(mode events.BillingMode, period calendar.Period) []events.Event {
	terms := events.PlanTerms{Mode: mode, Price: kes(70), Period: period}
	list := []events.Event{
		events.PlanChangePlanned{SubscriptionID: line, SubscriberID: who, Terms: terms},
		events.PlanChangeDropped{SubscriptionID: line, SubscriberID: who, Terms: terms},
		events.SubscriptionPlanChanged{SubscriptionID: line, SubscriberID: who, Terms: terms},
		events.ExtraAdded{SubscriptionID: line, SubscriberID: who}, credit(10),
		events.InvoiceVoided{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line},
	}
	if mode == events.Prepaid {
		list = append(list,
			events.SubscriptionCompensated{SubscriptionID: line, SubscriberID: who, PaidUntil: until},
			events.CompensationTakenBack{SubscriptionID: line, SubscriberID: who, PaidUntil: until})
	}
	return list
}

// checkWaits fails when an event lets the next period become due at once.
func checkWaits(t *testing.T, s processtest.Scenario[renewal.State], list []events.Event) {
	t.Helper()
	for _, e := range list {
		s = s.When(e)
		for _, timer := range s.Output().Timers {
			if !timer.At.IsZero() {
				t.Errorf("%s arms %+v", e.EventType(), timer)
			}
		}
		for _, c := range s.Output().Commands {
			if asked, is := c.(commands.MakePeriodDue); is {
				t.Errorf("%s asks for %+v", e.EventType(), asked)
			}
		}
	}
}

// Nothing but money brings a prepaid period again whose invoice was taken back within its lead time, and nothing but a
// person or money what an undo took back.
func TestDropped_NoLaterEventBringsThePeriodAgain(t *testing.T) {
	t.Parallel()
	run := id.Derive[id.BillingRun]("test", "run")
	for _, period := range []calendar.Period{calendar.Hour, calendar.Day, calendar.Month} {
		dropped := events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2, PaidUntil: until,
			At: until.Add(-time.Minute),
		}
		undone := dropped
		undone.UndoneRun, undone.NextFrom = run, start
		ahead := after(t, created(line, events.Prepaid, 50, period), due(line, inv1), extended(line, inv1, until)).
			At(until).Given(due(line, inv2))
		checkWaits(t, ahead.Given(dropped), laterEvents(events.Prepaid, period))
		checkWaits(t, ahead.Given(undone), laterEvents(events.Prepaid, period))
		behind := after(t, created(line, events.Postpaid, 50, period)).At(until).Given(events.PeriodDue{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, From: start, To: until,
		})
		checkWaits(t, behind.Given(undone), laterEvents(events.Postpaid, period))
	}
}

// What comes after a period that was dropped is due as ever: the next one of a payment, and the same one while its time
// is still to come.
func TestDropped_TheNextPeriodIsDueAtItsTime(t *testing.T) {
	t.Parallel()
	daily := events.PlanTerms{Mode: events.Prepaid, Price: kes(70), Period: calendar.Day}
	planned := events.PlanChangePlanned{SubscriptionID: line, SubscriberID: who, Terms: daily}
	dropped := func(at time.Time) events.Event {
		return events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2, PaidUntil: until, At: at,
		}
	}
	s := after(t, created(line, events.Prepaid, 50, calendar.Day), extended(line, inv1, until), due(line, inv2))
	s.Given(dropped(start)).When(planned).Then(arms(line, until.Add(-2*time.Hour)))
	next, at := until.AddDate(0, 0, 1), until.AddDate(0, 0, 1).Add(-2*time.Hour)
	late := s.At(until).Given(dropped(next))
	late.Given(due(line, inv2), extended(line, inv2, next)).When(planned).Then(arms(line, at))
	late.Given(extended(line, inv2, next)).When(planned).Then(arms(line, at))
	late.Given(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, PaidUntil: next}).When(planned).
		Then(arms(line, at))
	billed := events.BillingResumed{SubscriptionID: line, SubscriberID: who, PaidUntil: next, NextFrom: next}
	late.Given(billed).When(planned).Then(arms(line, at))
	undone := events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2, PaidUntil: until, At: until,
		UndoneRun: id.Derive[id.BillingRun]("test", "run"),
	}
	late.Given(undone, due(line, inv2), extended(line, inv2, next)).When(planned).Then(arms(line, at))
}
