package directory_test

import (
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// history is a random life of one subscription, kept in the plainest way beside the directory.
type history struct {
	isp   isp
	state entitlement.State
	now   time.Time
}

// next draws what happens, notes it, and gives its events.
func (h *history) next(t *rapid.T) []events.Event {
	s, about := &h.state.Subscriptions[0], events.DunningSubject{SubscriptionID: h.isp.subscription}
	step := func(state events.DunningState) { s.Dunning = &entitlement.Dunning{State: state} }
	what := rapid.SampledFrom([]string{
		"pay", "withdraw", "pause", "resume", "block", "unblock", "remind", "wall", "suspend", "restore", "review",
		"wait", "use up", "top up",
	}).Draw(t, "what")
	switch what {
	case "pay":
		s.PaidUntil, s.Standing = h.now.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "hours"))*time.Hour),
			entitlement.Active
		return []events.Event{
			events.SubscriptionExtended{SubscriptionID: s.ID, PaidUntil: s.PaidUntil},
			events.SubscriptionActivated{SubscriptionID: s.ID, At: h.now},
		}
	case "withdraw":
		s.PaidUntil = time.Time{}
		return []events.Event{events.PeriodWithdrawn{SubscriptionID: s.ID}}
	case "pause":
		s.Standing = entitlement.Paused
		return []events.Event{events.SubscriptionPaused{SubscriptionID: s.ID, At: h.now}}
	case "resume":
		s.Standing = entitlement.Active
		return []events.Event{events.SubscriptionResumed{SubscriptionID: s.ID, PaidUntil: s.PaidUntil, At: h.now}}
	case "block":
		h.state.Block = &entitlement.Block{}
		return []events.Event{events.SubscriberBlocked{SubscriberID: h.isp.subscriber}}
	case "unblock":
		h.state.Block = nil
		return []events.Event{events.SubscriberUnblocked{SubscriberID: h.isp.subscriber}}
	case "remind":
		step(events.DunningReminding)
		return []events.Event{events.DunningBegan{DunningSubject: about}}
	case "wall":
		step(events.DunningWalledGarden)
		return []events.Event{events.WalledGardenEntered{DunningSubject: about}}
	case "suspend":
		step(events.DunningSuspended)
		return []events.Event{events.ServiceSuspended{DunningSubject: about}}
	case "use up", "top up":
		return h.traffic(t, what)
	case "review":
		known := entitlement.Dunning{}
		if s.Dunning != nil {
			known = *s.Dunning
		}
		known.NextState = rapid.SampledFrom([]events.DunningState{
			"", events.DunningReminding, events.DunningWalledGarden, events.DunningSuspended,
		}).Draw(t, "next")
		known.Next = h.now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "next in")) * time.Hour)
		s.Dunning = &known
		return []events.Event{events.DunningReviewed{
			DunningSubject: about, NextState: known.NextState, NextAt: known.Next,
		}}
	case "restore":
		s.Dunning = nil
		return []events.Event{events.DunningEnded{DunningSubject: about}}
	}
	return nil
}

// traffic uses a cap up, or ends it.
func (h *history) traffic(t *rapid.T, what string) []events.Event {
	s := &h.state.Subscriptions[0]
	about := events.UsageSubject{SubscriptionID: s.ID}
	if what == "top up" {
		s.Used = nil
		return []events.Event{events.CapReset{UsageSubject: about}}
	}
	s.Used = &entitlement.CapUse{Until: h.now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "until")) * time.Hour)}
	return []events.Event{events.CapReached{
		UsageSubject: about, CapPeriod: events.CapPeriod{ResetsAt: s.Used.Until},
	}}
}

// TestDirectory_AnswersWhatFollowsFromTheLog: after every step of a random history the answer over the network is the
// entitlement that follows from it, and nobody is cut who has paid up to now, is not paused and not blocked, and has
// traffic left.
func TestDirectory_AnswersWhatFollowsFromTheLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, i := newSafe(), newISP()
		i.terms.Mode = rapid.SampledFrom([]events.BillingMode{events.Prepaid, events.Postpaid}).Draw(rt, "mode")
		i.terms.Access.Cap = events.Cap{Bytes: 1, Period: "day", Then: events.CapStop}
		k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
		defer k.stop()
		h := &history{isp: i, now: noon, state: entitlement.State{Subscriptions: []entitlement.Subscription{{
			ID: i.subscription, Standing: entitlement.Pending, Mode: i.terms.Mode, CreatedAt: noon, Since: noon,
			StartsAt: noon, Rates: i.terms.Rates, Terms: i.terms.Access,
		}}}}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			k.apply(h.next(rt)...)
			d := time.Duration(rapid.IntRange(0, 3).Draw(rt, "later")) * time.Hour
			h.now = h.now.Add(d)
			k.clock.Advance(d)
			want := entitlement.Of(h.state, h.now).Services[0]
			answer := k.ask(request("amina", "pw"))
			got := entitlement.None
			if answer.Code == layeh.CodeAccessAccept {
				if got = entitlement.Full; mikrotik(answer, 19) != "" {
					got = entitlement.WalledGarden
				}
			}
			end := entitlement.SessionEnd(h.state.Subscriptions[0], h.now)
			if limit := rfc2865.SessionTimeout_Get(answer); got != entitlement.None &&
				(limit == 0) != end.IsZero() || limit > 0 && !h.now.Add(time.Duration(limit)*time.Second).Equal(end) {
				rt.Fatalf("the session lasts %d seconds, until %v", limit, end)
			}
			if got != want.Access {
				rt.Fatalf("%s, want %s because of %s", got, want.Access, want.Decided.Code)
			}
			sub := h.state.Subscriptions[0]
			if sub.Mode == events.Prepaid && sub.PaidUntil.After(h.now) && sub.Standing == entitlement.Active &&
				h.state.Block == nil && (sub.Used == nil || !sub.Used.Until.After(h.now)) && got != entitlement.Full {
				rt.Fatalf("%s although it is paid until %v", got, sub.PaidUntil)
			}
			if held, found := k.dir.Holder(i.org, nil, "amina", h.now); !found || held.Grant.Access != want.Access ||
				held.Grant.Down != want.Rate.Speed.Down || held.Grant.Up != want.Rate.Speed.Up ||
				held.SubscriptionID == (id.Subscription{}) {
				rt.Fatalf("holder %+v, want %+v", held, want)
			}
		}
	})
}
