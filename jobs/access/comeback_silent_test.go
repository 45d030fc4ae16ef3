package accessjobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// heard gives what was heard of hotspots, or of PPP, to be changed.
func (t *town) heard(hotspot bool) *telemetry.Heard {
	if hotspot {
		return &t.known.Heard.Hotspots
	}
	return &t.known.Heard.PPP
}

// refused has the router's secret refused at an instant, which tells no service.
func (t *town) refused(at time.Time) {
	one := telemetry.Run{Began: &at, Last: &at}
	for _, hotspot := range []bool{false, true} {
		t.heard(hotspot).Refused, t.heard(hotspot).Doubted = one, one
	}
}

// mute has the router lose its reports for half an hour.
func (k *kit) mute() {
	k.t.Helper()
	if err := k.nas.SetFaults(handset.Faults{LoseInterims: 1}); err != nil {
		k.t.Fatal(err)
	}
	k.clock.Advance(30 * time.Minute)
	k.idle()
}

// reported has another customer of a service reported now, who was let in long ago.
func (k *kit) reported(service string) {
	k.t.Helper()
	report := telemetry.Report{
		Kind: telemetry.Interim, Org: k.org, Device: k.device, Session: service, User: service, Service: service,
		At: k.clock.Now(), Online: 3 * time.Hour,
	}
	given := telemetry.Given{
		Subscriber: id.New[id.Subscriber](), Subscription: id.New[id.Subscription](), Stamp: "granted",
	}
	if _, err := k.store.Commit(k.t.Context(), telemetry.Directory{
		Resolve: func(telemetry.Report) telemetry.Given { return given }, Zone: k.dir.Zone,
	}, []telemetry.Report{report}); err != nil {
		k.t.Fatal(err)
	}
}

// refused has the router's sign-ins refused without a pause.
func (k *kit) refused(code string, from, until time.Time) {
	k.t.Helper()
	if err := k.store.SaveRefusals(k.t.Context(), []telemetry.Refusal{{
		OrgID: k.org, DeviceID: k.device, Code: code, Count: 60, FirstAt: from, At: until,
	}}); err != nil {
		k.t.Fatal(err)
	}
}

// TestEnforce_WhoHasPaidIsNotEndedWhileNothingIsHeardOfTheRouter, as while no program runs that answers it. He is ended
// when reports of its PPP come again; those of its hotspots prove nothing. Who is blocked is ended at once.
func TestEnforce_WhoHasPaidIsNotEndedWhileNothingIsHeardOfTheRouter(t *testing.T) {
	t.Parallel()
	for _, blocked := range []bool{false, true} {
		k := newKit(t)
		s := k.online()
		k.mute()
		k.apply(events.SubscriptionAddressesAssigned{
			SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0],
		})
		if blocked {
			k.block(true)
		}
		step := func(when string, ended bool) {
			t.Helper()
			k.clock.Advance(20 * time.Second)
			k.idle()
			err := k.enforce()
			if now := k.session(s); (now.EndedAt != nil) != ended {
				t.Errorf("blocked %v, %s: %v, %+v", blocked, when, err, now)
			}
		}
		if step("silent", blocked); blocked {
			continue
		}
		k.reported("hotspot")
		step("a guest of its hotspot is reported", false)
		k.reported("pppoe")
		step("a neighbour is reported", true)
	}
}

// TestEnforce_ANeighbourWhoWasReportedOnceDoesNotProveThatSignInsCome now: the program that answered has gone since.
func TestEnforce_ANeighbourWhoWasReportedOnceDoesNotProveThatSignInsCome(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.mute()
	k.reported("pppoe")
	k.clock.Advance(20 * time.Minute)
	k.idle()
	k.apply(events.SubscriptionAddressesAssigned{SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0]})
	if err := k.enforce(); k.session(s).EndedAt != nil {
		t.Errorf("ended, %v", err)
	}
}

// TestEnforce_WhatACustomerTypesHoldsNobodyBackWhoseReportsCome: where they have stopped it may be the router's
// secret.
func TestEnforce_WhatACustomerTypesHoldsNobodyBackWhoseReportsCome(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		k := newKit(t)
		s := k.online()
		if silent {
			k.mute()
			k.reported("pppoe")
		}
		k.clock.Advance(20 * time.Second)
		k.idle()
		k.refused("secret_doubtful", k.clock.Now(), k.clock.Now())
		k.apply(events.SubscriptionAddressesAssigned{
			SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0],
		})
		if err := k.enforce(); (k.session(s).EndedAt == nil) != silent {
			t.Errorf("silent %v: %v, %+v", silent, err, k.session(s))
		}
	}
}

// TestEnforce_TheSecondOutageOfADayHoldsTheSessionToo: sign-ins are dropped while the tunnel is down, as they were in
// the night.
func TestEnforce_TheSecondOutageOfADayHoldsTheSessionToo(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.refused("unproven", noon.Add(-9*time.Hour), noon.Add(-9*time.Hour+10*time.Minute))
	s := k.online()
	k.clock.Advance(4 * time.Minute)
	k.refused("unproven", k.clock.Now().Add(-3*time.Minute), k.clock.Now())
	k.apply(events.SubscriptionAddressesAssigned{SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0]})
	k.idle()
	if err := k.enforce(); k.session(s).EndedAt != nil {
		t.Errorf("who has paid is ended (%v), and all sign-ins of the router are dropped", err)
	}
}

// TestDisconnect_ALostSessionIsEndedWhereNothingWasHeardWhenThatIsConfirmed, and where the router's reports come.
func TestDisconnect_ALostSessionIsEndedWhereNothingWasHeardWhenThatIsConfirmed(t *testing.T) {
	t.Parallel()
	for _, heard := range []bool{false, true} {
		k := newKit(t)
		s := k.online()
		k.mute()
		silent := telemetry.Silence{Since: k.clock.Now().Add(-15 * time.Minute)}
		if n, err := k.store.CloseLost(t.Context(), silent); n != 1 || err != nil {
			t.Fatalf("%d lost, %v", n, err)
		}
		if heard {
			k.reported("pppoe")
		}
		meta := commands.Meta{
			CommandID: id.New[id.Command](), OrgID: k.org, Actor: events.Actor{Kind: events.ActorUser, ID: "clerk"},
			Reason: "is slow",
		}
		done, err := k.Disconnect(t.Context(), s.ID, false, meta)
		if err != nil || done.Ended != heard || strings.Contains(done.Error, "Nothing was heard") == heard ||
			(len(k.nas.Sessions()) == 0) != heard {
			t.Errorf("heard %v: %+v, %v, at the router %d", heard, done, err, len(k.nas.Sessions()))
		}
		meta.CommandID = id.New[id.Command]()
		done, err = k.Disconnect(t.Context(), s.ID, true, meta)
		if err != nil || !done.Ended || len(k.nas.Sessions()) != 0 {
			t.Errorf("heard %v, confirmed: %+v, %v", heard, done, err)
		}
	}
}

// TestCompare_ReportsOfHotspotsDoNotProveTheSecretOfPPP: PPP has a RADIUS client of its own, whose secret was changed.
func TestCompare_ReportsOfHotspotsDoNotProveTheSecretOfPPP(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*town){
		"walled in":                  func(town *town) { town.shown.Garden[town.shown.Sessions[0].Address] = true },
		"has another speed at night": func(town *town) { town.shown.Queues[0].Limit = "1M/5M" },
	} {
		town := silentTown(false, false)
		town.known.Silent[0].UpdatedAt = noon.Add(-40 * time.Minute)
		town.known.Silent[0].StartedAt = noon.Add(-2 * time.Hour)
		town.shown.Sessions[0].Uptime = 2 * time.Hour
		change(town)
		town.neighbour(true, noon.Add(-time.Minute)) // a guest, who was let in a minute ago
		town.shown.Sessions[1].Uptime = time.Minute
		town.refused(noon.Add(-2 * time.Minute))
		for _, f := range accessjobs.Compare(town.shown, town.known) {
			if f.Let() && f.ByHand() == "" {
				t.Errorf("%s: is ended unasked (%s)", what, f.Kind)
			}
		}
	}
}

// TestCompare_AnOpenSessionWhoseNextReportIsOverdueIsSilent: it is not lost yet, and nothing was heard of its router.
func TestCompare_AnOpenSessionWhoseNextReportIsOverdueIsSilent(t *testing.T) {
	t.Parallel()
	for minutes, silent := range map[int]bool{6: false, 8: true} {
		town := newTown()
		town.add("amina", entitlement.Full, false, true)
		town.shown.SignIns.PPP, town.shown.Reported.SignIns.PPP = true, true
		town.shown.Garden[town.shown.Sessions[0].Address] = true
		town.known.Open[0].UpdatedAt = noon.Add(-time.Duration(minutes) * time.Minute)
		town.heard(false).Reported = &town.known.Open[0].UpdatedAt
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || strings.Contains(got[0].Actual, "Nothing was heard") != silent {
			t.Errorf("%d minutes: %+v", minutes, got)
		}
	}
}
