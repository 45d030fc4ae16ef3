package accessjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// placed is a router whose sessions the auditor brings back.
type placed struct {
	*kit
	auditor *accessjobs.Auditor
}

// newPlaced starts everything.
func newPlaced(t *testing.T) placed {
	t.Helper()
	k := newKit(t)
	bus.Register(k.Kit.Bus, access.Differences())
	return placed{k, &accessjobs.Auditor{Enforcer: k.Enforcer, Every: time.Minute}}
}

// brings has a session brought back, and reports whether something was done about it.
func (p placed) brings(s telemetry.Session) bool {
	p.t.Helper()
	did, err := p.auditor.BringOpenForTest(p.t.Context(), s, p.cause())
	if err != nil {
		p.t.Errorf("bring back %s: %v", s.ID, err)
	}
	return did
}

// state gives the record of an id.
func (p placed) state(of id.Online) access.Enforcement {
	p.t.Helper()
	state, _, err := bus.LoadUnchecked[access.Enforcement](p.t.Context(), p.Kit.Bus, of)
	if err != nil {
		p.t.Fatal(err)
	}
	return state
}

// afterwards is when a session is looked at that was right at first.
const afterwards = 10 * time.Minute

// TestBringOpen_ARouterThatObeysRADIUSAloneIsAskedByRADIUSEachTime: that it has ended earlier sessions of a device does
// not say that it ignores requests about the present one.
func TestBringOpen_ARouterThatObeysRADIUSAloneIsAskedByRADIUSEachTime(t *testing.T) {
	t.Parallel()
	p := newPlaced(t)
	p.menus.away = true
	for i := range 4 {
		s := p.online()
		p.clock.Advance(afterwards)
		if !p.brings(s) || p.session(s).EndedAt == nil {
			t.Errorf("session %d goes on: %+v", i+1, p.session(s))
		}
	}
}

// TestBringOpen_AnEndWithoutEffectIsMadeInAnotherWay from the third time on, where all of them are about one session.
func TestBringOpen_AnEndWithoutEffectIsMadeInAnotherWay(t *testing.T) {
	t.Parallel()
	p := newPlaced(t)
	s := p.online()
	place := p.auditor.PlaceForTest(s)
	at := events.EnforcedSession{
		SessionID: place, OrgID: s.OrgID, SubscriberID: s.SubscriberID, DeviceID: s.DeviceID,
	}
	for range 2 {
		for _, c := range []commands.Command{
			commands.AnnounceSessionChange{Session: at, Step: events.EnforcementStep{
				Action: events.EndOnline, Shown: id.As[id.Online](s.ID),
			}},
			commands.RecordSessionChange{Session: at, Via: events.ViaRadius},
		} {
			meta := p.cause().Meta(c.CommandName())
			meta.OrgID = s.OrgID
			if _, err := p.Kit.Bus.Execute(t.Context(), c, meta); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.brings(s)
	if last := p.changed(telemetry.Session{ID: id.As[telemetry.SessionID](place)}); last.Via != events.ViaRouter {
		t.Errorf("asked in the same way once more: %+v", last)
	}
}

// TestBringOpen_AnEndWhoseAnswerIsLateIsAnEnd: the router ends the session, and acknowledges that too late. So the end
// of the next one would be in vain, also where the report of the first end does not come.
func TestBringOpen_AnEndWhoseAnswerIsLateIsAnEnd(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]float64{"reported": 0, "not reported": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaced(t)
			p.clock.Advance(time.Minute) // from the payment
			p.Radius = &coa.Client{Tries: 1, Pause: 50 * time.Millisecond}
			first := p.online()
			late := handset.Faults{Dynamic: handset.Slow, DynamicDelayMs: 3_600_000, LoseStops: lost}
			if err := p.nas.SetFaults(late); err != nil {
				t.Fatal(err)
			}
			if !p.brings(first) || p.session(first).EndedAt == nil {
				t.Fatalf("the session goes on: %+v", p.session(first))
			}
			if p.state(p.auditor.PlaceForTest(first)).First.IsZero() {
				t.Error("the end is taken for one that the customer's device made")
			}
			if next := p.online(); p.brings(next) || p.session(next).EndedAt != nil {
				t.Error("the next session was ended in vain")
			}
		})
	}
}

// TestBringOpen_ASessionThatHadGoneWasNotEnded, so its end says nothing about the next one.
func TestBringOpen_ASessionThatHadGoneWasNotEnded(t *testing.T) {
	t.Parallel()
	p := newPlaced(t)
	s := p.online()
	if err := p.nas.SetFaults(handset.Faults{LoseStops: 1}); err != nil {
		t.Fatal(err)
	}
	p.nas.SignOut(s.SessionKey, handset.UserRequest)
	p.brings(s)
	place := p.auditor.PlaceForTest(s)
	if got := p.session(s); got.EndReason != telemetry.ReasonGone || !p.state(place).First.IsZero() {
		t.Errorf("%+v, %+v", got, p.state(place))
	}
}

// TestEnforce_TheOutcomeOfAnEndUnderAPlaceIsThatOfItsSession: the program died after the router had ended it.
func TestEnforce_TheOutcomeOfAnEndUnderAPlaceIsThatOfItsSession(t *testing.T) {
	t.Parallel()
	p := newPlaced(t)
	s := p.online()
	p.Step = func(name string) {
		if name == "done" {
			panic("killed")
		}
	}
	func() {
		defer func() { _ = recover() }()
		p.brings(s)
		t.Error("it was not killed")
	}()
	p.Step = nil
	p.idle()
	of := telemetry.Session{ID: id.As[telemetry.SessionID](p.auditor.PlaceForTest(s))}
	if err := p.enforce(of); err != nil {
		t.Fatal(err)
	}
	if got := p.changed(of); got.Lapsed || got.SessionID != id.As[id.Online](of.ID) {
		t.Errorf("%+v", got)
	}
}
