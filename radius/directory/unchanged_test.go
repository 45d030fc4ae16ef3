package directory_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestUnchanged_ByNoEventAndByNoTime: a payment, a block and the end of the paid time change what a customer is
// entitled to, also when it is the same again.
func TestUnchanged_ByNoEventAndByNoTime(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
	record := func(after time.Duration, list ...events.Event) {
		k.clock.Set(noon.Add(after))
		for _, e := range list {
			k.dir.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: noon.Add(after)}})
		}
	}
	is := func(what string, since, until time.Duration, want bool) {
		t.Helper()
		if got := k.dir.Unchanged(i.subscription, noon.Add(since), noon.Add(until)); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	record(0, i.paid(noon.Add(2*time.Hour))...)
	is("since before the payment", -time.Minute, time.Minute, false)
	is("since the payment", time.Second, time.Minute, true)
	is("beyond the paid time", time.Second, 2*time.Hour+time.Second, false)
	is("after the paid time", 2*time.Hour+time.Second, 3*time.Hour, true)
	record(5*time.Minute, events.SubscriberBlocked{SubscriberID: i.subscriber})
	record(6*time.Minute, events.SubscriberUnblocked{SubscriberID: i.subscriber})
	is("blocked in between", 4*time.Minute, 10*time.Minute, false)
	is("since the block", 7*time.Minute, 10*time.Minute, true)
	if k.dir.Unchanged(id.New[id.Subscription](), noon, noon) {
		t.Error("a subscription that nobody knows")
	}
}

// TestUnchanged_AnotherZoneIsAChange of the organization's own: the hours of plans are others.
func TestUnchanged_AnotherZoneIsAChange(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(2*time.Hour))...)...)
	in := func(after time.Duration, i isp, zone string) {
		k.clock.Set(noon.Add(after))
		k.dir.Apply(events.Envelope{
			Event: events.BillingSettingsAdopted{OrgID: i.org, Billing: events.BillingSettings{Timezone: zone}},
			Meta:  events.Metadata{At: noon.Add(after)},
		})
	}
	is := func(what string, since time.Duration, want bool) {
		t.Helper()
		if got := k.dir.Unchanged(i.subscription, noon.Add(since), noon.Add(time.Hour)); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	other := newISP()
	for _, zone := range []string{"Africa/Lagos", "Asia/Tokyo"} {
		in(10*time.Minute, other, zone)
	}
	is("of another organization", 5*time.Minute, true)
	in(10*time.Minute, i, "Africa/Nairobi")
	in(20*time.Minute, i, "Asia/Tokyo")
	is("before it", 15*time.Minute, false)
	is("since then", 21*time.Minute, true)
	in(30*time.Minute, i, "Asia/Tokyo")
	is("the same zone once more", 21*time.Minute, true)
}

// TestUnchanged_OfAVoucher: hours of its plan, its cap and what ends it change what it gives, also when it is the same
// again.
func TestUnchanged_OfAVoucher(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Month, 2)
	made := history[len(history)-2].(events.VoucherBatchMade)
	made.Terms.Access.Schedule = []events.ScheduleWindow{{
		Days: []time.Weekday{time.Monday, time.Tuesday}, From: 20 * 60, To: 23 * 60,
		Speed: events.Speed{Down: 1, Up: 1},
	}}
	made.Terms.Access.Cap = events.Cap{Bytes: 1 << 30, Period: "month", Then: events.CapStop}
	history[len(history)-2] = made
	k := newKit(t, s, history...)
	one := v.subject(0)
	k.apply(events.VoucherRedeemed{VoucherSubject: one, At: noon, EndsAt: noon.Add(750 * time.Hour)})
	is := func(what string, since, until time.Duration, want bool) {
		t.Helper()
		subscription := directory.VoucherService(one.VoucherID)
		if got := k.dir.Unchanged(subscription, noon.Add(since), noon.Add(until)); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	const hour = time.Hour
	is("before and after the first sign-in", -hour, hour, true)
	is("at the plan's hours", hour, 6*hour, false) // noon is three hours later there
	is("in them", 6*hour, 7*hour, true)
	is("in them a day later", 6*hour, 30*hour, false)
	is("when the cap counts anew", 704*hour+30*time.Minute, 706*hour, false)
	is("over its end", 749*hour, 751*hour, false)
	about := events.VoucherUsage(v.org, one.VoucherID)
	k.apply(events.CapReached{
		UsageSubject: about, CapPeriod: events.CapPeriod{ResetsAt: noon.Add(105 * hour)}, At: noon.Add(102 * hour),
	})
	is("before the cap was reached", 101*hour, 103*hour, false)
	is("since then", 103*hour, 104*hour, true)
	is("until it is over", 103*hour, 106*hour, false)
	k.apply(events.VoucherVoided{VoucherSubject: one, At: noon.Add(110 * hour), Redeemed: true})
	is("before it was voided", 109*hour, 111*hour, false)
	is("since then", 111*hour, 112*hour, true)
}
