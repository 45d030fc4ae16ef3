package accessjobs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// elsewhere is a customer who was refused at a router, and has an open difference about a session at another one.
type elsewhere struct {
	looked time.Duration // at the other router, from the refusal on
	why    string        // it could not be looked at since; "" = it could
	ended  bool          // the session was reported, and its end, after the look
	told   bool          // that the customer is refused
}

// TestRefused_ADifferenceOfARouterThatIsGoneHidesNobody who is refused elsewhere: it stays as long as the router cannot
// be looked at.
func TestRefused_ADifferenceOfARouterThatIsGoneHidesNobody(t *testing.T) {
	t.Parallel()
	k, mast := newKit(t), id.New[id.Device]()
	session := k.online()
	refused := noon.Add(50 * time.Minute)
	log, names := feedtest.New(), map[id.Subscription]string{}
	var want []string
	for name, c := range map[string]elsewhere{
		"shows the customer":             {looked: 5 * time.Minute},
		"showed him before the refusal":  {looked: -2 * time.Minute},
		"has gone after the refusal":     {looked: time.Minute, why: accessjobs.UnseenRouter},
		"had gone before the refusal":    {looked: -2 * time.Minute, why: accessjobs.UnseenRouter, told: true},
		"was looked at last before":      {looked: -time.Hour, told: true},
		"has reported the session's end": {looked: -2 * time.Minute, ended: true, told: true},
	} {
		subscription := c.happens(k, log, mast, refused)
		if names[subscription] = name; c.told {
			want = append(want, name)
		}
	}
	k.clock.Set(refused.Add(-time.Minute))
	k.nas.SignOut(session.SessionKey, handset.UserRequest)
	if k.session(session).EndedAt == nil {
		t.Fatal("the session goes on")
	}
	now := refused.Add(10 * time.Minute)
	k.clock.Set(now)
	a := &accessjobs.Auditor{
		Enforcer: k.Enforcer, Every: 5 * time.Minute, LostAfter: 15 * time.Minute,
		Open: accessviews.DifferencesQuery{Views: k.views(log, accessviews.Differences{})},
	}
	list, err := a.RefusedForTest(t.Context(), k.org, mast, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, names[r.SubscriptionID])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("refused are told of those whose other router %q, want %q", got, want)
	}
}

// happens has somebody refused at a router, and adds a difference at another one. That of the customer of the kit is at
// the kit's router.
func (c elsewhere) happens(k *kit, log *feedtest.Log, router id.Device, refused time.Time) id.Subscription {
	k.t.Helper()
	who, subscription, tower := id.New[id.Subscriber](), id.New[id.Subscription](), id.New[id.Device]()
	if c.ended {
		who, subscription, tower = k.subscriber, k.subscription, k.device
	}
	log.Append(events.Metadata{OrgID: k.org}, events.AccessDifferenceOpened{
		AccessDifference: events.AccessDifference{
			DifferenceID: id.New[id.Difference](), OrgID: k.org, DeviceID: tower, SubscriberID: who,
			SubscriptionID: subscription, Kind: events.WrongRate,
		},
	})
	err := k.store.KeepLook(k.t.Context(), k.org, tower, refused.Add(c.looked), "")
	if err == nil && c.why != "" {
		err = k.store.KeepLook(k.t.Context(), k.org, tower, refused.Add(c.looked+time.Minute), c.why)
	}
	if err == nil {
		err = k.store.SaveRefusals(k.t.Context(), []telemetry.Refusal{{
			OrgID: k.org, SubscriberID: who, SubscriptionID: subscription, DeviceID: router, Code: "wrong_password",
			FirstAt: refused, At: refused, Count: 1,
		}})
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return subscription
}
