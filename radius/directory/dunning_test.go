package directory_test

import (
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

func TestDirectory_DunningLeavesTheWalledGardenAndItsSpeed(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon)...)...)
	about := events.DunningSubject{SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber}
	k.apply(events.DunningBegan{DunningSubject: about})
	if answer, rate := k.accepted(request("amina", "pw")); rate != "1500k/10M" || mikrotik(answer, 19) != "" {
		t.Errorf("in grace: %q", rate)
	}
	k.apply(events.WalledGardenEntered{DunningSubject: about})
	answer, rate := k.accepted(request("amina", "pw"))
	if rate != "1500k/2M" || mikrotik(answer, 19) != "walled-garden" {
		t.Errorf("in the walled garden: %q, list %q", rate, mikrotik(answer, 19))
	}
	k.apply(events.ServiceSuspended{DunningSubject: about})
	k.refused(request("amina", "pw"), directory.CodeUnpaid)
	k.apply(events.SubscriptionExtended{SubscriptionID: i.subscription, PaidUntil: noon.Add(time.Hour)})
	k.accepted(request("amina", "pw"))
}

func TestDirectory_ASessionLastsUntilTheNextChangeOfAccess(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	until := noon.Add(time.Hour)
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(until)...)...)
	about := events.DunningSubject{SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber}
	expect := func(next events.DunningState, at time.Time) events.DunningReviewed {
		return events.DunningReviewed{DunningSubject: about, NextState: next, NextAt: at}
	}
	lasts := func(when string, seconds int, list string) {
		t.Helper()
		answer, _ := k.accepted(request("amina", "pw"))
		if got := int(rfc2865.SessionTimeout_Get(answer)); got != seconds || mikrotik(answer, 19) != list {
			t.Errorf("%s: %d seconds, list %q", when, got, mikrotik(answer, 19))
		}
	}
	k.apply(expect(events.DunningReminding, until))
	lasts("paid", 3600, "")
	k.clock.Advance(time.Hour)
	lasts("in a grace that is not recorded yet", 0, "")
	k.apply(events.DunningBegan{DunningSubject: about}, expect(events.DunningWalledGarden, until.Add(2*time.Hour)))
	lasts("in grace", 7200, "")
	k.apply(events.WalledGardenEntered{DunningSubject: about})
	lasts("in the walled garden, before the review", 0, "walled-garden")
	k.apply(expect(events.DunningSuspended, until.Add(3*time.Hour)))
	lasts("in the walled garden", 10_800, "walled-garden")
	k.apply(events.ServiceSuspended{DunningSubject: about}, expect(events.DunningWrittenOff, until.Add(9*time.Hour)))
	k.refused(request("amina", "pw"), directory.CodeUnpaid)
	k.apply(events.SubscriptionExtended{SubscriptionID: i.subscription, PaidUntil: until.Add(time.Hour)},
		events.DunningEnded{DunningSubject: about}, expect(events.DunningWalledGarden, until.Add(time.Hour)))
	lasts("paid again", 3600, "")
	k.clock.Advance(time.Hour)
	lasts("in the walled garden of a policy without grace, before it is recorded", 0, "walled-garden")
	k.apply(expect(events.DunningSuspended, until.Add(time.Hour)))
	k.refused(request("amina", "pw"), directory.CodeUnpaid) // a plan by day leaves nothing to wait for
}

// TestDirectory_AStepOfDunningThatIsLateEndsNoSession: what comes next is not known again before its review.
func TestDirectory_AStepOfDunningThatIsLateEndsNoSession(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	about := events.DunningSubject{SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber}
	k.clock.Advance(time.Hour)
	k.apply(events.DunningBegan{DunningSubject: about}, events.DunningReviewed{
		DunningSubject: about, NextState: events.DunningWalledGarden, NextAt: noon.Add(3 * time.Hour),
	})
	for _, seconds := range []rfc2865.SessionTimeout{7200, 0} {
		answer, _ := k.accepted(request("amina", "pw"))
		if got := rfc2865.SessionTimeout_Get(answer); got != seconds {
			t.Errorf("%d seconds, want %d", got, seconds)
		}
		k.clock.Advance(3 * time.Hour)
	}
}
