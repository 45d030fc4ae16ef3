package accessviews_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// One subscription is walled in while it is on hold and pays; another was held, lifted, and its customer is forgotten.
func TestDunning_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme, who := id.Derive[id.Organization]("test", "acme"), id.Derive[id.Subscriber]("test", "amina")
	subject := func(name string) events.DunningSubject {
		return events.DunningSubject{
			SubscriptionID: id.Derive[id.Subscription]("test", name), OrgID: acme, SubscriberID: who,
		}
	}
	paid, owing, suspended := subject("paid"), subject("owing"), subject("suspended")
	step := events.DunningStep{Before: events.DunningNone, DueAt: began, Due: money.Major(1500, money.KES), At: began}
	hold := func(s events.DunningSubject) events.Event {
		return events.HoldPlaced{
			DunningSubject: s, From: began, Until: began.AddDate(0, 0, 3), At: began,
			Reason: personal.Of("in hospital"),
		}
	}
	story := projectiontest.NewStory(acme, began).
		Add("dunning-paid", events.DunningBegan{DunningSubject: paid, DunningStep: step}, hold(paid),
			events.WalledGardenEntered{DunningSubject: paid, DunningStep: step},
			events.HoldLifted{DunningSubject: paid, From: began, At: began},
			events.DunningEnded{DunningSubject: paid, Before: events.DunningWalledGarden, At: began.Add(time.Hour)},
			events.DunningReviewed{DunningSubject: paid, State: events.DunningNone, At: began}).
		Add("dunning-owing", hold(owing), events.WriteOffProposed{DunningSubject: owing, DunningStep: step},
			events.DunningReviewed{
				DunningSubject: owing, State: events.DunningWrittenOff, At: began, Owed: events.DunningOwed{
					At: began, Debts: []events.DunningDebt{{
						InvoiceID: id.Derive[id.Invoice]("test", "1"),
						DueOn:     calendar.Date{Year: 2026, Month: 2, Day: 1}, Amount: money.Major(1500, money.KES),
					}},
				},
			}, events.DunningReminded{DunningSubject: owing, At: began},
			events.DunningClockStopped{DunningSubject: owing, Cause: "no_line", From: began, At: began},
			events.DunningClockStarted{
				DunningSubject: owing, Cause: "no_line", From: began, Until: began.Add(time.Hour), At: began,
			}).
		Add("subscriber-amina", events.SubscriberForgotten{SubscriberID: who}).
		Add("dunning-suspended", events.ServiceSuspended{DunningSubject: suspended, DunningStep: step},
			events.DunningReviewed{
				DunningSubject: suspended, State: events.DunningSuspended, NextState: events.DunningWrittenOff,
				NextAt: began.AddDate(0, 2, 0), Owed: events.DunningOwed{At: began, PaidUntil: began}, At: began,
			})
	old := func(days int) events.Event { // only the last one before the time that is kept stays
		at := began.AddDate(0, 0, days)
		return events.DunningReviewed{
			DunningSubject: subject("long"), State: events.DunningNone, At: at,
			Owed: events.DunningOwed{At: at, PaidUntil: at.AddDate(0, 1, 0)},
		}
	}
	story = story.Add("dunning-long", old(0), events.DunningClockStarted{
		DunningSubject: subject("long"), Cause: "no_line", From: began, Until: began.Add(time.Hour), At: began,
	}, old(30), old(60), old(440))
	for _, back := range []bool{false, true} {
		left, old := subject(fmt.Sprint("left ", back)), subject(fmt.Sprint("old ", back))
		story = givenUp(story, events.ServiceSuspended{DunningSubject: left, DunningStep: step}, step, back)
		story = givenUp(story, events.WalledGardenEntered{DunningSubject: old, DunningStep: step}, step, back)
	}
	projectiontest.Check(t, accessviews.Dunning{}, sold(putRight(story, subject("ahead"), began), acme))
}

// A hold of an ended service can no more be moved: it is over.
func TestDunning_AnEndedServiceHasNoHold(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme := id.Derive[id.Organization]("test", "acme")
	about := events.DunningSubject{
		SubscriptionID: id.New[id.Subscription](), OrgID: acme, SubscriberID: id.New[id.Subscriber](),
	}
	story := projectiontest.NewStory(acme, began).
		Add("dunning-held", events.HoldPlaced{
			DunningSubject: about, From: began, Until: began.AddDate(0, 0, 3), At: began,
			Reason: personal.Of("promised"),
		})
	if got := dunningOf(t, story); !strings.Contains(got, "promised") {
		t.Fatalf("on hold: %s", got)
	}
	story.Add("subscription-held", events.SubscriptionEnded{SubscriptionID: about.SubscriptionID, At: began})
	if got := dunningOf(t, story); strings.Contains(got, "promised") || !strings.Contains(got, `"hold_until":null`) {
		t.Errorf("ended: %s", got)
	}
}

// dunningOf is all that the read model has after a story.
func dunningOf(t *testing.T, story *projectiontest.Story) string {
	t.Helper()
	db := pgtest.New(t)
	s, err := runner.NewScratch(t.Context(), db, accessviews.Dunning{}, "f")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	return projectiontest.Dump(t, db, s.Schema())
}

// putRight adds a hold and a fault of a clock that was a year ahead, and was put right before they ended.
func putRight(story *projectiontest.Story, about events.DunningSubject, right time.Time) *projectiontest.Story {
	ahead := right.AddDate(1, 0, 0)
	return story.Add("dunning-ahead",
		events.HoldPlaced{DunningSubject: about, From: ahead, Until: ahead.AddDate(0, 1, 0), At: ahead},
		events.DunningClockStopped{DunningSubject: about, Cause: "no_line", From: ahead, At: ahead},
		events.DunningClockStarted{DunningSubject: about, Cause: "no_line", From: right, Until: right, At: right},
		events.HoldLifted{DunningSubject: about, From: right, At: right.Add(time.Hour)})
}

// givenUp adds a customer for whom a write-off is proposed an hour after a first step, and who is suspended then at the
// latest; back says that it is not proposed any more an hour later.
func givenUp(
	story *projectiontest.Story, first events.DunningEvent, step events.DunningStep, back bool,
) *projectiontest.Story {
	about, late := events.SubjectOf(first), step
	late.At = step.At.Add(time.Hour)
	list := []events.Event{first, events.WriteOffProposed{DunningSubject: about, DunningStep: late}}
	if back {
		late.Before, late.At = events.DunningWrittenOff, step.At.Add(2*time.Hour)
		list = append(list, events.ServiceSuspended{DunningSubject: about, DunningStep: late})
	}
	return story.Add("dunning-"+about.SubscriptionID.String(), list...)
}

// sold adds subscriptions to a story, each named by its period, of which the first ends with its paid time.
func sold(story *projectiontest.Story, org id.Organization) *projectiontest.Story {
	for _, terms := range []events.PlanTerms{
		{Mode: events.Prepaid, Period: calendar.Hour}, {Mode: events.Postpaid, Period: calendar.Day},
		{Mode: events.Prepaid, Period: calendar.Month},
	} {
		name := string(terms.Period)
		story = story.Add("subscription-"+name, events.SubscriptionCreated{
			SubscriptionID: id.Derive[id.Subscription]("test", name), OrgID: org, Terms: terms,
		})
	}
	return story
}
