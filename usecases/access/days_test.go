package accesscases_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// berlin has the day of 23 hours on 29 March 2026.
func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// march is a day of March 2026.
func march(day int) calendar.Date { return calendar.Date{Year: 2026, Month: time.March, Day: day} }

// dayCases have what happens after the expiry on 2 March at 9:00 UTC, 10:00 in Berlin, with a grace that is expected.
// The wanted texts are state, hours of each state that was there, and marks.
var dayCases = map[string]struct {
	more     []events.Envelope
	away     []events.TimeSpan
	from, to int
	want     []string
}{
	"grace, then the walled garden, then suspended": {
		more: []events.Envelope{
			began(0), garden(3), told(5, events.ServiceSuspended{DunningSubject: owing, DunningStep: step(5)}),
		},
		from: 4, to: 8,
		want: []string{
			"paid paid:24h0m0s", "walled_garden walled_garden:14h0m0s paid:10h0m0s cut@10:00",
			"walled_garden walled_garden:24h0m0s", "off off:14h0m0s walled_garden:10h0m0s cut@10:00", "off off:24h0m0s",
		},
	},
	"paused and back": {
		more: []events.Envelope{
			began(0), told(1, events.SubscriptionPaused{SubscriptionID: owing.SubscriptionID, At: days(1)}),
			told(3, events.SubscriptionResumed{SubscriptionID: owing.SubscriptionID, PaidUntil: days(9), At: days(3)}),
		},
		from: 3, to: 5,
		want: []string{
			"paused paused:14h0m0s paid:10h0m0s pause@10:00", "paused paused:24h0m0s",
			"paused paused:10h0m0s paid:14h0m0s restored@10:00",
		},
	},
	"blocked while suspended, and no longer": {
		more: []events.Envelope{
			began(0), told(1, events.ServiceSuspended{DunningSubject: owing, DunningStep: step(1)}),
			told(2, events.SubscriberBlocked{SubscriberID: owing.SubscriberID}),
			told(3, events.SubscriberUnblocked{SubscriberID: owing.SubscriberID}),
		},
		from: 4, to: 5,
		want: []string{"off off:24h0m0s block@10:00", "off off:24h0m0s"},
	},
	"the router was away for less than a minute": {
		more: []events.Envelope{began(0)},
		away: []events.TimeSpan{{From: days(1), To: days(1).Add(59 * time.Second)}},
		from: 3, to: 3,
		want: []string{"paid outage:59s paid:23h59m1s"},
	},
	"the router is away, also while nothing is paid": {
		more: []events.Envelope{began(0), garden(3)},
		away: []events.TimeSpan{{From: days(2), To: days(4)}, {From: days(1), To: days(1).Add(time.Minute)}},
		from: 3, to: 5,
		want: []string{
			"outage outage:1m0s paid:23h59m0s", "outage outage:14h0m0s paid:10h0m0s",
			"walled_garden walled_garden:14h0m0s outage:10h0m0s cut@10:00",
		},
	},
	"the day with 23 hours, and a cut at its first moment": {
		more: []events.Envelope{
			began(0), {Event: events.WalledGardenEntered{DunningSubject: owing, DunningStep: step(27)},
				Meta: events.Metadata{At: time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC)}},
		},
		from: 28, to: 30,
		want: []string{
			"paid paid:24h0m0s", "walled_garden walled_garden:23h0m0s cut@00:00", "walled_garden walled_garden:24h0m0s",
		},
	},
	"only the day of the cut is asked for": {
		more: []events.Envelope{
			began(0), {Event: events.WalledGardenEntered{DunningSubject: owing, DunningStep: step(27)},
				Meta: events.Metadata{At: time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC)}},
		},
		from: 29, to: 29, want: []string{"walled_garden walled_garden:23h0m0s cut@00:00"},
	},
}

// shownDay is a day as the cases have it.
func shownDay(d accesscases.Day, zone *time.Location) string {
	text := string(d.State)
	for _, state := range accesscases.DayStates {
		if spent := d.Spent[state]; spent > 0 {
			text += " " + string(state) + ":" + spent.String()
		}
	}
	for _, m := range d.Marks {
		text += " " + string(m.Type) + "@" + m.At.In(zone).Format("15:04")
	}
	return text
}

func TestDays_AreTheWorstOfTheirExactTimes(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	for name, c := range dayCases {
		in := accesscases.DaysInput{From: march(c.from), To: march(c.to)}
		var got []string
		for _, d := range accesscases.DaysOf(graceEnds(c.more...), in, zone, c.away, days(60)) {
			got = append(got, shownDay(d, zone))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestDays_BeforeAServiceThereIsNoneAndTodayEndsNow(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	from := calendar.On(begun, zone).AddDays(-1) // the day before the customer was registered
	list := accesscases.DaysOf(
		graceEnds(), accesscases.DaysInput{From: from, To: from.AddDays(2)}, zone, nil, begun.AddDate(0, 0, 1))
	var got []string
	for _, d := range list {
		got = append(got, shownDay(d, zone))
	}
	want := []string{"none none:24h0m0s", "paid paid:14h0m0s none:10h0m0s", "paid paid:10h0m0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDays_NobodyIsOnlineForLongerThanTheDay(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	from := calendar.On(begun, zone)
	used := []telemetry.UsageRow{{Starts: from, Seconds: 24*3600 + 1}, {Starts: from.AddDays(1), Seconds: 40 * 3600}}
	var got []int64
	for _, d := range accesscases.UsedDays(graceEnds(), zone, used, begun.AddDate(0, 0, 1)) {
		got = append(got, d.Used.Seconds)
	}
	if want := []int64{24 * 3600, 10 * 3600}; !slices.Equal(got, want) { // of the second day ten hours are over
		t.Errorf("online for %d seconds, want %d", got, want)
	}
}

// TestDays_ARouterCountsWhileItIsTheCustomers: what befell another router, or one that the customer has left, is not
// felt.
func TestDays_ARouterCountsWhileItIsTheCustomers(t *testing.T) {
	t.Parallel()
	north, south := id.New[id.Device](), id.New[id.Device]()
	begun := []telemetry.Begun{
		{DeviceID: north, At: days(-9)}, {DeviceID: south, At: days(2)}, {DeviceID: north, At: days(6)},
	}
	rows := []networkviews.Happening{
		{DeviceID: north, At: days(-20), Kind: "unreachable"}, // it still is when the days begin
		{DeviceID: south, At: days(0), Kind: "unreachable"}, {DeviceID: south, At: days(1), Kind: "recovered"},
		{DeviceID: north, At: days(1), Kind: "recovered"}, {DeviceID: north, At: days(1), Kind: "reboot_confirmed"},
		{DeviceID: north, At: days(3), Kind: "reboot_confirmed"}, {DeviceID: south, At: days(4), Kind: "repaired"},
		{DeviceID: south, At: days(5), Kind: "unreachable"}, {DeviceID: north, At: days(7), Kind: "unreachable"},
	}
	away, marks := accesscases.Befell(begun, rows, events.TimeSpan{From: days(0), To: days(8)})
	want := []events.TimeSpan{{From: days(0), To: days(1)}, {From: days(5), To: days(6)}, {From: days(7), To: days(8)}}
	if diff := cmp.Diff(want, away); diff != "" {
		t.Errorf("away (-want +got)\n%s", diff)
	}
	if len(marks) != 2 || marks[0].Type != accesscases.MarkReboot || !marks[0].At.Equal(days(1)) ||
		marks[1].Type != accesscases.MarkRepair || !marks[1].At.Equal(days(4)) {
		t.Errorf("%+v", marks)
	}
}

// TestDays_AgreeWithTheAccessOfEachInstant: customers live through anything, and at random instants of each day they
// were entitled to what the day says.
func TestDays_AgreeWithTheAccessOfEachInstant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, err := telemetry.Open(t.Context(), w.DB)
	if err != nil {
		t.Fatal(err)
	}
	cases := accesscases.Days{
		Bus: w.Bus, Settings: w.cases.Settings, Subscribers: w.cases.Subscribers, Subscriptions: w.cases.Subscriptions,
		Clock:    w.clock,
		Timeline: subscribersviews.TimelineQuery{Views: w.views}, Routers: networkviews.HistoryQuery{Views: w.views},
		Telemetry: store,
	}
	r := rand.New(rand.NewPCG(7, 9)) //nolint:gosec // the same lives each time
	var people []*customer
	for range 4 {
		people = append(people, w.register(t, r))
	}
	w.subscribe(t, r, people[0])
	for range 60 {
		w.clock.Advance(time.Duration(r.IntN(14*60)) * time.Minute)
		c := people[r.IntN(len(people))]
		w.happens(t, w.commands(t, r, c)...)
	}
	w.clock.Advance(time.Hour)
	w.settle(t)
	w.WaitForAll(t, w.views, subscribersviews.TimelineName, networkviews.HistoryName)
	zone := time.FixedZone("EAT", 3*60*60)
	for _, c := range people {
		list, err := cases.Of(t.Context(), w.org, accesscases.DaysInput{SubscriberID: c.id})
		if err != nil || len(list) != 30 {
			t.Fatalf("%d days, %v", len(list), err)
		}
		for _, day := range list {
			w.compare(t, c, day, zone, r)
		}
	}
	w.refusals(t, cases, people[0].id)
}

// compare compares a day with the access at some of its instants.
func (w *world) compare(t *testing.T, c *customer, day accesscases.Day, zone *time.Location, r *rand.Rand) {
	t.Helper()
	from, now := day.Date.Start(zone), w.clock.Now()
	length := min(day.Date.AddDays(1).Start(zone).Sub(from), now.Sub(from))
	var sum time.Duration
	for _, spent := range day.Spent {
		sum += spent
	}
	if sum != length {
		t.Errorf("%s: %s of %s", day.Date, sum, length)
	}
	row, err := w.cases.Subscribers.Get(t.Context(), w.org, c.id)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		at := from.Add(time.Duration(r.Int64N(int64(length))))
		if at.Before(row.CreatedAt) {
			continue
		}
		got := w.explain(t, c, at).Entitlement.Access
		ok := day.Spent[accesscases.DayPaid] > 0
		switch got {
		case entitlement.WalledGarden:
			ok = day.Spent[accesscases.DayWalledGarden] > 0
		case entitlement.None:
			ok = day.Spent[accesscases.DayOff]+day.Spent[accesscases.DayPaused]+day.Spent[accesscases.DayNone] > 0
		case entitlement.Throttled, entitlement.Full:
		}
		if !ok {
			t.Errorf("%s: %s at %s, but %v", day.Date, got, at, day.Spent)
		}
	}
}

// refusals asks for what nobody can answer.
func (w *world) refusals(t *testing.T, cases accesscases.Days, who id.Subscriber) {
	t.Helper()
	today := calendar.On(w.clock.Now(), time.FixedZone("EAT", 3*60*60))
	for name, in := range map[string]accesscases.DaysInput{
		"the future": {SubscriberID: who, To: today.AddDays(1)},
		"backwards":  {SubscriberID: who, From: today, To: today.AddDays(-1)},
		"too many":   {SubscriberID: who, From: today.AddDays(-366)},
	} {
		_, err := cases.Of(t.Context(), w.org, in)
		coretest.Refused(t, name, err, "invalid_input")
	}
	year := accesscases.DaysInput{SubscriberID: who, From: today.AddDays(-365)}
	if list, err := cases.Of(t.Context(), w.org, year); err != nil || len(list) != 366 ||
		slices.ContainsFunc(list[:300], func(d accesscases.Day) bool { return d.State != "none" }) {
		t.Errorf("a year: %d days, %v", len(list), err)
	}
	_, err := cases.Of(t.Context(), id.New[id.Organization](), accesscases.DaysInput{SubscriberID: who})
	coretest.Refused(t, "another organization", err, "subscriber_not_found")
	_, err = cases.Of(t.Context(), w.org, accesscases.DaysInput{SubscriberID: id.New[id.Subscriber]()})
	coretest.Refused(t, "nobody", err, "subscriber_not_found")
}
