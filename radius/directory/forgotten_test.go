package directory_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// What a router still reports is known to be of somebody who is forgotten, also when the subscription ended before.
func TestDirectory_SessionsOfAForgottenPersonAreKnownByTheirClass(t *testing.T) {
	t.Parallel()
	s, ours, theirs := newSafe(), newISP(), newISP()
	history := append(ours.begin(s, "127.0.0.1", "amina", "pw"), ours.paid(noon.Add(time.Hour))...)
	k := newKit(t, s, append(history, theirs.begin(s, "127.0.0.2", "amina", "other")...)...)
	k.apply(
		events.SubscriptionEnded{SubscriptionID: theirs.subscription},
		events.SubscriberForgotten{SubscriberID: theirs.subscriber},
		events.SubscriberForgotten{SubscriberID: ours.subscriber},
	)
	for _, i := range []isp{ours, theirs} {
		class := directory.NewClass([]byte("key"), i.subscription, directory.Grant{})
		got, found := k.dir.Holder(i.org, class, "amina", noon)
		if !found || !got.Forgotten {
			t.Errorf("%+v %v", got, found)
		}
	}
}
