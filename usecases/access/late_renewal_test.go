package accesscases_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// The customer of these tests is paid until expiry, and pays again ten days later.
var (
	expiry = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	begun  = expiry.AddDate(0, -1, 0)
	repaid = expiry.AddDate(0, 0, 10)
	owing  = events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "line"), OrgID: id.Derive[id.Organization]("test", "org"),
		SubscriberID: id.Derive[id.Subscriber]("test", "amina"),
	}
)

// days is the instant some days after the expiry.
func days(n int) time.Time { return expiry.AddDate(0, 0, n) }

// told is an event that is recorded some days after the expiry.
func told(n int, e events.Event) events.Envelope {
	return events.Envelope{Event: e, Meta: events.Metadata{At: days(n)}}
}

// graceEnds are the events of a customer with three days of grace, and the steps after them.
func graceEnds(more ...events.Envelope) []events.Envelope {
	at := func(e events.Event) events.Envelope {
		return events.Envelope{Event: e, Meta: events.Metadata{At: begun}}
	}
	line, who := owing.SubscriptionID, owing.SubscriberID
	return append([]events.Envelope{
		at(events.SubscriberRegistered{SubscriberID: who, RegisteredAt: begun}),
		at(events.SubscriptionCreated{
			SubscriptionID: line, SubscriberID: who, Terms: events.PlanTerms{Mode: events.Prepaid}, StartsAt: begun,
			CreatedAt: begun,
		}),
		at(events.SubscriptionActivated{SubscriptionID: line, SubscriberID: who, At: begun}),
		at(events.SubscriptionExtended{SubscriptionID: line, SubscriberID: who, PaidUntil: expiry}),
		at(events.DunningReviewed{DunningSubject: owing, NextState: events.DunningReminding, NextAt: expiry}),
	}, more...)
}

// step is a step of dunning some days after the expiry.
func step(n int) events.DunningStep { return events.DunningStep{DueAt: expiry, At: days(n)} }

// garden puts the customer into the walled garden.
func garden(n int) events.Envelope {
	return told(n, events.WalledGardenEntered{DunningSubject: owing, DunningStep: step(n)})
}

// began gives the customer the days of grace.
func began(n int) events.Envelope {
	return told(n, events.DunningBegan{DunningSubject: owing, DunningStep: step(n)})
}

// servedCases have what happens after the expiry, and the days between which the customer is served.
var servedCases = map[string]struct {
	more []events.Envelope
	want []int // days from and to
}{
	"no step is recorded, one is expected": {nil, []int{0, 10}},
	"the walled garden":                    {[]events.Envelope{began(0), garden(3)}, []int{0, 3}},
	"suspended": {
		[]events.Envelope{began(0), told(4, events.ServiceSuspended{DunningSubject: owing, DunningStep: step(4)})},
		[]int{0, 4},
	},
	"given back by a pause of the clock": {[]events.Envelope{began(0), garden(3), began(6)}, []int{0, 3, 6, 10}},
	"blocked": {
		[]events.Envelope{
			began(0), told(1, events.SubscriberBlocked{SubscriberID: owing.SubscriberID}),
			told(2, events.SubscriberUnblocked{SubscriberID: owing.SubscriberID}), garden(3),
		},
		[]int{0, 1, 2, 3},
	},
	"paused by us": {
		[]events.Envelope{
			began(0), told(1, events.SubscriptionPaused{SubscriptionID: owing.SubscriptionID, At: days(1)}),
			told(8, events.SubscriptionResumed{SubscriptionID: owing.SubscriptionID, PaidUntil: expiry, At: days(8)}),
		},
		[]int{0, 1, 8, 10},
	},
	"no line, told later": {
		[]events.Envelope{
			began(0), told(2, events.DunningClockStopped{DunningSubject: owing, Cause: "no_line", From: days(1)}),
			told(5, events.DunningClockStarted{
				DunningSubject: owing, Cause: "no_line", From: days(1), Until: days(4),
			}), garden(6),
		},
		[]int{0, 1, 4, 6},
	},
	"the clock still stands": {
		[]events.Envelope{
			began(0), told(2, events.DunningClockStopped{DunningSubject: owing, Cause: "no_line", From: days(1)}),
		},
		[]int{0, 1},
	},
	"a hold that was lifted, and another one": {
		[]events.Envelope{
			began(0), told(1, events.HoldPlaced{DunningSubject: owing, From: days(1), Until: days(9)}),
			told(2, events.HoldLifted{DunningSubject: owing, From: days(1), At: days(2)}),
			told(4, events.HoldPlaced{DunningSubject: owing, From: days(4), Until: days(5)}),
			told(7, events.HoldPlaced{DunningSubject: owing, From: days(7), Until: days(20)}),
		},
		[]int{0, 1, 2, 4, 5, 7},
	},
	"a hold in the place of one from when a clock was ahead": {
		[]events.Envelope{
			began(0), told(1, events.HoldPlaced{DunningSubject: owing, From: days(6), Until: days(9)}),
			told(2, events.HoldPlaced{DunningSubject: owing, From: days(2), Until: days(4)}),
		},
		[]int{0, 2, 4, 10},
	},
	"a period that was given back whole": {
		[]events.Envelope{
			began(0), told(2, events.SubscriptionExtended{SubscriptionID: owing.SubscriptionID, PaidUntil: days(30)}),
			told(5, events.PeriodCancelled{SubscriptionID: owing.SubscriptionID, Ordinal: 2, PaidUntil: expiry}),
			garden(7),
		},
		[]int{5, 7},
	},
	"after the payment": {[]events.Envelope{began(0), garden(11)}, []int{0, 10}},
}

// docs/rules/subscribers.md#late-renewal
func TestServed_IsTheTimeOfWholeAccessWhileTheClockRan(t *testing.T) {
	t.Parallel()
	for name, c := range servedCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []events.TimeSpan
			for i := 0; i < len(c.want); i += 2 {
				want = append(want, events.TimeSpan{From: days(c.want[i]), To: days(c.want[i+1])})
			}
			got := accesscases.Served(graceEnds(c.more...), events.TimeSpan{From: expiry, To: repaid})
			if diff := cmp.Diff(want, joined(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// joined makes one span of those that touch.
func joined(list []events.TimeSpan) []events.TimeSpan {
	var out []events.TimeSpan
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && out[last].To.Equal(s.From) {
			out[last].To = s.To
			continue
		}
		out = append(out, s)
	}
	return out
}
