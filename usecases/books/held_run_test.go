package bookscases_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// TestPeriodMissing_IsNoFaultWhileABillingRunIsHeld: nothing becomes due until a person releases the run, and for a
// while afterwards; a period that is still missing then is a fault.
func TestPeriodMissing_IsNoFaultWhileABillingRunIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subs.do(commands.CreateSubscription{
		SubscriptionID: id.New[id.Subscription](), OrgID: w.org, SubscriberID: w.brian, PlanID: id.New[id.Plan](),
		PlanVersion: 1, Timezone: "Africa/Nairobi", Username: personal.Of("brian"),
		Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Price: kes(1000), Mode: events.Postpaid, Period: calendar.Month,
		},
	})
	w.pass(70)
	run := id.New[id.BillingRun]()
	of := func(e events.Event) {
		w.write("billing_run-"+run.String(), e, events.Metadata{OrgID: w.org, At: w.now})
	}
	missing := func() bool {
		return slices.ContainsFunc(w.books(w.org, w.log).Faults(w.now, time.Hour), func(f bookscases.Fault) bool {
			return f.Code == bookscases.PeriodMissing
		})
	}
	if !missing() {
		t.Fatal("without a held run the period is missing")
	}
	of(events.BillingRunHeld{RunID: run, OrgID: w.org, Due: 200, Usual: 10, At: w.now})
	if missing() {
		t.Error("a period is missing while the run waits for a person")
	}
	of(events.BillingRunReleased{RunID: run, OrgID: w.org, At: w.now})
	if missing() {
		t.Error("a period is missing at the moment of the release")
	}
	w.now = w.now.Add(24 * time.Hour)
	if !missing() {
		t.Error("a day after the release nobody misses the period")
	}
}
