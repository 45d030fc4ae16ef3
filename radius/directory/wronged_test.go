package directory_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestDirectory_ARefusalAgainstTheLogIsWrong: one for the entitlement, from a minute after the last change on, while
// the customer was entitled all that minute.
func TestDirectory_ARefusalAgainstTheLogIsWrong(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
	is := func(what string, code directory.Code, after time.Duration, want bool) {
		t.Helper()
		if got := k.dir.Wronged(i.subscription, code, noon.Add(after)); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	is("unpaid", directory.CodeUnpaid, time.Hour, false)
	record := func(after time.Duration, list ...events.Event) {
		k.clock.Set(noon.Add(after))
		for _, e := range list {
			k.dir.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: noon.Add(after)}})
		}
	}
	record(0, i.paid(noon.Add(time.Hour))...)
	is("a minute after the payment", directory.CodeUnpaid, time.Minute, false)
	is("later", directory.CodeUnpaid, time.Minute+time.Second, true)
	is("another reason", directory.CodeWrongPassword, 10*time.Minute, false)
	is("when the paid time is over", directory.CodeUnpaid, time.Hour+time.Second, false)
	if k.dir.Wronged(id.New[id.Subscription](), directory.CodeUnpaid, noon.Add(10*time.Minute)) {
		t.Error("a subscription that nobody knows")
	}
	record(5*time.Minute, events.SubscriberBlocked{SubscriberID: i.subscriber})
	is("blocked", directory.CodeBlocked, 20*time.Minute, false)
	record(7*time.Minute, events.SubscriberUnblocked{SubscriberID: i.subscriber})
	is("refused while blocked", directory.CodeBlocked, 6*time.Minute, false)
	is("long after the block", directory.CodeBlocked, 10*time.Minute, true)
}
