package subscribersviews_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestTimeline_TellsInstantsInTheZoneOfTheOrganization, as messages do: all summaries that have one.
func TestTimeline_TellsInstantsInTheZoneOfTheOrganization(t *testing.T) {
	t.Parallel()
	debts := events.DunningSubject{SubscriptionID: line, OrgID: acme, SubscriberID: amina}
	used := events.UsageSubject(debts)
	evening := time.Date(2026, 12, 31, 22, 53, 10, 5, time.UTC)
	next := events.CapPeriod{Period: "month", ResetsAt: time.Date(2026, 12, 31, 21, 0, 0, 0, time.UTC)}
	log := feedtest.New()
	for _, e := range projectiontest.NewStory(acme, began).
		Add("subscriber-1", registered(amina, acme, "10000016", details("Amina", "Odhiambo", "+254712345678", ""))).
		Add("subscription-1", events.SubscriptionCreated{
			SubscriptionID: line, OrgID: acme, SubscriberID: amina,
			Terms: events.PlanTerms{Name: "{2026-99-01T00:00:00Z}"},
		}).
		Add("dunning-1",
			events.HoldPlaced{DunningSubject: debts, From: began, Until: evening, Reason: personal.Of("x"), At: began},
			events.DunningClockStopped{DunningSubject: debts, Cause: "no_line:1", From: began, At: began},
			events.DunningClockStarted{DunningSubject: debts, Cause: "no_line:1", From: began, Until: evening,
				At: evening}).
		Add("usage-1",
			events.FirstSessionBegan{UsageSubject: used, BeganAt: began, At: began.Add(time.Minute)},
			events.FirstSessionBegan{UsageSubject: used, BeganAt: began, At: began.Add(9 * time.Hour)},
			events.CapReached{UsageSubject: used, CapPeriod: next, CapCount: events.CapCount{Used: 5, Allowed: 5}},
			events.TopUpAdded{UsageSubject: used, CapPeriod: next, Bytes: 5}).Events() {
		log.Append(e.Meta, e.Event)
	}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(subscribersviews.Timeline{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	head, _ := log.Head(t.Context())
	coretest.WaitFor(t, r.Views(), head, subscribersviews.TimelineName)
	rows, err := subscribersviews.TimelineQuery{Views: r.Views()}.List(t.Context(), acme, amina,
		subscribersviews.TimelineFilter{}, subscribersviews.TimelineKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, row := range rows {
		told = append(told, row.Says().In(time.FixedZone("EAT", 3*60*60)))
	}
	for _, want := range []string{
		"A subscription to the plan {2026-99-01T00:00:00Z} was made.",
		"The clock of dunning was stopped by hand until 1 Jan 2027 01:53.",
		"The clock of dunning stands still since 2 Mar 2026 12:00: no line.",
		"The clock of dunning stood still from 2 Mar 2026 12:00 to 1 Jan 2027 01:53: no line.",
		"The subscription was used for the first time.",
		"The subscription was used for the first time, from 2 Mar 2026 12:00 on.",
		"The traffic of the month was used up: 5 bytes of 5 bytes. Access is slow until 1 Jan 2027 00:00.",
		"5 bytes were added until 1 Jan 2027 00:00.",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("nothing says %q:\n%s", want, strings.Join(told, "\n"))
		}
	}
}
