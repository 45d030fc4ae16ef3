package following_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/following"
)

// What these tests are about.
var (
	now  = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	box  = id.Derive[id.CPE]("test", "box")
	acme = id.Derive[id.Organization]("test", "acme")
	jane = id.Derive[id.Subscriber]("test", "jane")
	line = id.Derive[id.Subscription]("test", "line")
)

// TestFollowing_EachEventLeadsToItsJobs: the login is pushed only where it is known and wanted at once; in any case the
// device asks for it at its next call.
func TestFollowing_EachEventLeadsToItsJobs(t *testing.T) {
	t.Parallel()
	claimed := events.CpeClaimed{CpeID: box, OrgID: acme, SubscriberID: jane, SubscriptionID: line, At: now}
	given := events.CpeSubscriberAssigned{
		CpeID: box, OrgID: acme, SubscriberID: jane, SubscriptionID: line, PushNow: true, At: now,
	}
	waiting, without := given, given
	waiting.PushNow, without.SubscriptionID = false, id.Subscription{}
	tag := commands.TagCpe{CpeID: box, Position: processtest.Position}
	asks := tag
	asks.Asks = true
	neither := waiting
	neither.SubscriptionID = id.Subscription{}
	leave := commands.LeaveCpe{CpeID: box, OrgID: acme, Position: processtest.Position}
	push := commands.FollowCpeLine{
		OrgID: acme, SubscriptionID: line, CpeID: box, Push: true, Position: processtest.Position,
	}
	all := push
	all.CpeID = id.CPE{}
	look := all
	look.Push = false
	for _, c := range []struct {
		event events.Event
		jobs  []commands.Job
	}{
		{claimed, []commands.Job{asks, push}}, {events.CpeAssigned(claimed), []commands.Job{asks, push}},
		{events.CpeClaimed{CpeID: box, OrgID: acme, At: now}, []commands.Job{tag}},
		{given, []commands.Job{asks, push}}, {waiting, []commands.Job{asks}}, {without, []commands.Job{tag}},
		{neither, []commands.Job{tag}},
		{events.CpeSubscriberRemoved{CpeID: box, OrgID: acme, SubscriberID: jane, At: now}, []commands.Job{tag}},
		{events.CpeReleased{CpeID: box, OrgID: acme, At: now}, []commands.Job{tag, leave}},
		{events.CpeSignInEnded{CpeID: box, OrgID: acme, At: now}, []commands.Job{asks}},
		{events.SubscriptionCredentialsSet{SubscriptionID: line, SubscriberID: jane, At: now}, []commands.Job{all}},
		{events.SubscriptionPlanChanged{SubscriptionID: line, OrgID: acme, At: now}, []commands.Job{look}},
		{events.SubscriptionEnded{SubscriptionID: line, SubscriberID: jane, At: now}, []commands.Job{look}},
	} {
		processtest.For(t, following.Process(), now).With(events.Metadata{OrgID: acme}).When(c.event).
			Then(processmanagers.Output{Jobs: c.jobs}).ThenEnded()
	}
}

func TestFollowing_InstancesAreOfDevicesAndLogins(t *testing.T) {
	t.Parallel()
	login := id.As[id.Subscription](box) // the examples have one key
	processtest.CheckKeys(t, following.Process(), box.String(), events.CpeClaimed{CpeID: box},
		events.CpeAssigned{CpeID: box}, events.CpeSubscriberAssigned{CpeID: box},
		events.CpeSubscriberRemoved{CpeID: box}, events.CpeReleased{CpeID: box},
		events.CpeSignInEnded{CpeID: box},
		events.SubscriptionCredentialsSet{SubscriptionID: login}, events.SubscriptionPlanChanged{SubscriptionID: login},
		events.SubscriptionEnded{SubscriptionID: login})
}
