package directory_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestUnchanged_ByNoEventAndByNoTime: a payment, a block and the end of the paid time change what a customer is
// entitled to, also when it is the same again.
func TestUnchanged_ByNoEventAndByNoTime(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
	record := func(after time.Duration, list ...events.Event) {
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
