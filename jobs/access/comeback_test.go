package accessjobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestCompare_WhoHasPaidIsEndedOnlyWhereHeCanComeBack: the sign-ins of the router come to the platform, and something
// was heard of it since his session's reports stopped.
func TestCompare_WhoHasPaidIsEndedOnlyWhereHeCanComeBack(t *testing.T) {
	t.Parallel()
	reported := func(at *time.Time) func(*town) {
		return func(town *town) { town.heard(false).Reported, town.heard(true).Reported = at, at }
	}
	ago := func(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }
	letIn := func(uptime time.Duration) func(*town) {
		return func(town *town) {
			reported(nil)(town)
			more := town.shown.Sessions[0]
			more.User, more.Key, more.MAC, more.Address = "neighbour", "99", "02:00:00:00:09:99", "100.64.9.9"
			more.Interface, more.Uptime = "", uptime
			town.shown.Sessions = append(town.shown.Sessions, more)
		}
	}
	for name, c := range map[string]struct {
		change func(*town)
		ends   bool
	}{
		"another session is reported":              {func(*town) {}, true},
		"nothing is":                               {reported(nil), false},
		"another one of the last round of reports": {reported(new(ago(5))), false},
		"another one was let in since":             {letIn(time.Minute), true},
		"another one was let in before":            {letIn(time.Hour), false},
		"another one of unknown age":               {letIn(0), false},
		"the router asks nobody": {func(town *town) {
			town.shown.SignIns, town.shown.Reported.SignIns = routerplan.SignIns{}, routerplan.SignIns{}
		}, false},
		"its secret was refused since":  {func(town *town) { town.refused(noon) }, false},
		"its secret was refused before": {func(town *town) { town.refused(ago(2)) }, true},
	} {
		for _, hotspot := range []bool{false, true} {
			town := silentTown(hotspot, false)
			town.shown.Garden[town.shown.Sessions[0].Address] = true
			c.change(town)
			for _, f := range accessjobs.Compare(town.shown, town.known) {
				if f.Kind == events.PaidButWalledIn && (f.ByHand() == "") != c.ends {
					t.Errorf("%s, hotspot %v: %q", name, hotspot, f.ByHand())
				}
			}
		}
	}
}

// TestCompare_WhoHasTheLoginNowIsNotEndedWithAContractThatEnded where he could not come back.
func TestCompare_WhoHasTheLoginNowIsNotEndedWithAContractThatEnded(t *testing.T) {
	t.Parallel()
	for _, paid := range []bool{true, false} {
		town := silentTown(false, false)
		town.shown.SignIns, town.shown.Reported.SignIns = routerplan.SignIns{}, routerplan.SignIns{}
		ended, now := town.names["amina"], id.New[id.Subscription]()
		town.present[now] = town.present[ended]
		town.present[ended] = directory.Present{Code: entitlement.CodeEnded}
		if paid {
			town.names["amina"] = now
		}
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || got[0].Kind != events.UnpaidButOnline || (got[0].ByHand() != "") != paid {
			t.Errorf("paid %v: %+v", paid, got)
		}
	}
}

// locksOut is longer than a refusal of a router's secret counts.
const locksOut = 2 * time.Hour

// TestEnforce_WhoHasPaidIsEndedOnlyWhereHeCanComeBack: the session is left alone while the router asks nobody, or
// its secret is refused, and is ended when sign-ins come again. Who is blocked is ended at once.
func TestEnforce_WhoHasPaidIsEndedOnlyWhereHeCanComeBack(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]bool{"paid": false, "blocked": true} {
		k := newKit(t)
		s := k.online()
		k.menus.deaf = true
		k.apply(events.SubscriptionAddressesAssigned{
			SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0],
		})
		if block {
			k.block(true)
		}
		step := func(when string, ended bool) {
			t.Helper()
			k.passes(s, 10*time.Minute)
			err := k.enforce()
			if now := k.session(s); (now.EndedAt != nil) != ended {
				t.Errorf("%s, %s: %v, %+v", name, when, err, now)
			}
		}
		step("the router asks nobody", block)
		if block {
			continue
		}
		k.menus.deaf = false
		refused := telemetry.Refusal{
			OrgID: k.org, DeviceID: k.device, Code: "wrong_secret", Count: 1,
			At: k.clock.Now().Add(11 * time.Minute), // after the reports of the next step
		}
		refused.FirstAt = refused.At
		if err := k.store.SaveRefusals(t.Context(), []telemetry.Refusal{refused}); err != nil {
			t.Fatal(err)
		}
		step("its secret is refused", false)
		k.passes(s, locksOut)
		step("it was refused long ago", true)
	}
}

// passes lets time pass until a session is reported again.
func (k *kit) passes(s telemetry.Session, d time.Duration) {
	k.t.Helper()
	was := k.session(s).UpdatedAt
	k.clock.Advance(d)
	for !k.session(s).UpdatedAt.After(was) { // the report is on its way
		time.Sleep(time.Millisecond)
	}
}

// TestEnforce_WhoHasPaidIsNotEndedWhereSignInsAreDropped as not proven although the router's reports come; he is ended
// when another customer was let in since.
func TestEnforce_WhoHasPaidIsNotEndedWhereSignInsAreDropped(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.apply(events.SubscriptionAddressesAssigned{SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0]})
	k.clock.Advance(time.Minute)
	if err := k.store.SaveRefusals(t.Context(), []telemetry.Refusal{{
		OrgID: k.org, DeviceID: k.device, Code: "unproven", Count: 1, FirstAt: k.clock.Now(), At: k.clock.Now(),
	}}); err != nil {
		t.Fatal(err)
	}
	step := func(when string, ended bool) {
		t.Helper()
		k.passes(s, 10*time.Minute)
		err := k.enforce()
		if now := k.session(s); (now.EndedAt != nil) != ended {
			t.Errorf("%s: %v, %+v", when, err, now)
		}
	}
	step("reports come", false)
	start := telemetry.Report{
		Kind: telemetry.Start, Org: k.org, Device: k.device, Session: "neighbour", User: "neighbour",
		At: k.clock.Now(),
	}
	given := telemetry.Given{Subscription: id.New[id.Subscription](), Stamp: "granted"}
	if _, err := k.store.Commit(t.Context(), telemetry.Directory{
		Resolve: func(telemetry.Report) telemetry.Given { return given }, Zone: k.dir.Zone,
	}, []telemetry.Report{start}); err != nil {
		t.Fatal(err)
	}
	step("another one was let in", true)
}

// TestEnforce_PacketsThatAreDroppedBesideSignInsHoldNobodyBack: something else at the router's address sends them.
func TestEnforce_PacketsThatAreDroppedBesideSignInsHoldNobodyBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.apply(events.SubscriptionAddressesAssigned{SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0]})
	dropped := telemetry.Refusal{OrgID: k.org, DeviceID: k.device, Code: "unproven", Count: 60, FirstAt: k.clock.Now()}
	k.clock.Advance(4 * time.Minute)
	start := telemetry.Report{
		Kind: telemetry.Start, Org: k.org, Device: k.device, Session: "neighbour", User: "neighbour",
		At: k.clock.Now(),
	}
	given := telemetry.Given{Subscription: id.New[id.Subscription](), Stamp: "granted"}
	if _, err := k.store.Commit(t.Context(), telemetry.Directory{
		Resolve: func(telemetry.Report) telemetry.Given { return given }, Zone: k.dir.Zone,
	}, []telemetry.Report{start}); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(time.Minute)
	dropped.At = k.clock.Now()
	if err := k.store.SaveRefusals(t.Context(), []telemetry.Refusal{dropped}); err != nil {
		t.Fatal(err)
	}
	k.idle()
	if err := k.enforce(); k.session(s).EndedAt == nil {
		t.Errorf("%v, %+v", err, k.session(s))
	}
}

// TestDisconnect_SaysThatTheCustomerCouldNotSignInAgain, and ends the session when that is confirmed.
func TestDisconnect_SaysThatTheCustomerCouldNotSignInAgain(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]bool{"paid": false, "blocked": true} {
		k := newKit(t)
		s := k.online()
		k.menus.deaf = true
		if blocked {
			k.block(true)
		}
		meta := commands.Meta{
			CommandID: id.New[id.Command](), OrgID: k.org, Actor: events.Actor{Kind: events.ActorUser, ID: "clerk"},
			Reason: "is in the walled garden",
		}
		done, err := k.Disconnect(t.Context(), s.ID, false, meta)
		if err != nil || done.Ended != blocked || strings.Contains(done.Error, "RADIUS clients") == blocked {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		if !blocked && len(k.history(s)) > 0 {
			t.Errorf("%s: recorded %+v", name, k.history(s))
		}
		meta.CommandID = id.New[id.Command]()
		if done, err = k.Disconnect(t.Context(), s.ID, true, meta); err != nil || !done.Ended || done.Error != "" {
			t.Errorf("%s, confirmed: %+v, %v", name, done, err)
		}
	}
}

// TestCompare_AnOpenSessionThatGoesOnSaysWhy its customer is still in the walled garden.
func TestCompare_AnOpenSessionThatGoesOnSaysWhy(t *testing.T) {
	t.Parallel()
	for comes, want := range map[bool]string{true: "in the walled garden", false: "does not ask this platform"} {
		town := newTown()
		town.add("amina", entitlement.Full, false, true)
		town.shown.Garden[town.shown.Sessions[0].Address] = true
		town.shown.SignIns.PPP = comes
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || got[0].Kind != events.PaidButWalledIn || !strings.Contains(got[0].Actual, want) ||
			strings.Contains(got[0].Actual, "is not ended") == comes || got[0].ByHand() != "" {
			t.Errorf("sign-ins come %v: %+v", comes, got)
		}
	}
}

// neighbour brings another customer online, of a town without open sessions, who was reported at an instant.
func (t *town) neighbour(hotspot bool, reported time.Time) {
	t.known.Open = make([]telemetry.Session, 1) // the address and device of the first customer are taken
	t.add("neighbour", entitlement.Full, hotspot, true)
	t.known.Open = t.known.Open[1:]
	t.known.Open[0].UpdatedAt = reported
	t.known.Heard = telemetry.RouterHeard{}
	if !reported.After(noon) { // else it is from when the clock was ahead, and nothing was heard
		t.heard(hotspot).Reported = &reported
	}
}

// TestCompare_TheAddressOfTheClientDoesNotCountWhereReportsCome: the platform may have moved. It counts where nothing
// was reported of that service when it was due, or what was is still to come.
func TestCompare_TheAddressOfTheClientDoesNotCountWhereReportsCome(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		hotspot  bool
		reported time.Duration
		comes    bool
	}{
		"reports of PPP come": {false, -time.Minute, true}, "reports have stopped": {false, -8 * time.Minute, false},
		"reports of hotspots come": {true, -time.Minute, false}, "the clock was ahead": {false, time.Hour, false},
	} {
		paid := silentTown(false, false)
		paid.shown.Garden[paid.shown.Sessions[0].Address] = true
		never := silentTown(false, true)
		never.present[never.names["amina"]] = directory.Present{Code: entitlement.CodeExpired}
		for name, town := range map[string]*town{"paid": paid, "never reported and unpaid": never} {
			town.shown.SignIns, town.shown.Asks = routerplan.SignIns{}, routerplan.Asks{}
			town.neighbour(c.hotspot, noon.Add(c.reported))
			got := accessjobs.Compare(town.shown, town.known)
			if len(got) != 1 || (got[0].Let() && got[0].ByHand() == "") != c.comes {
				t.Errorf("%s, %s: %+v", what, name, got)
			}
		}
	}
}

// TestCompare_AServerOfPPPoEHasTheClientOfItsService.
func TestCompare_AServerOfPPPoEHasTheClientOfItsService(t *testing.T) {
	t.Parallel()
	for server, ends := range map[string]bool{"lan": true, "wan": false} {
		town := silentTown(false, false)
		town.shown.Garden[town.shown.Sessions[0].Address] = true
		town.shown.SignIns = routerplan.SignIns{Except: map[routerplan.Server]bool{{Name: server}: true}}
		town.shown.Reported.SignIns = town.shown.SignIns
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || (got[0].ByHand() == "") != ends {
			t.Errorf("ours serves %s: %+v", server, got)
		}
	}
}

// TestEnforce_WhoMayNotUseTheLoginIsEndedWhereSignInsAreInDoubt: he could come back to no router, by his device, by a
// former name or by a former password.
func TestEnforce_WhoMayNotUseTheLoginIsEndedWhereSignInsAreInDoubt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(k *kit) events.Event{
		accessjobs.ReasonWrongMAC: func(k *kit) events.Event {
			return events.SubscriptionAddressesAssigned{
				SubscriptionID: k.subscription, MACAddresses: texts("AA:BB:CC:00:99:99"),
			}
		},
		"another name": func(k *kit) events.Event {
			return events.SubscriptionCredentialsSet{
				SubscriptionID: k.subscription, Username: personal.Of("wanjiru"),
			}
		},
		"another password": func(k *kit) events.Event {
			return events.SubscriptionCredentialsSet{
				SubscriptionID: k.subscription, Username: personal.Of("amina"), PasswordRef: k.safe.put("next"),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			s := k.online()
			k.menus.deaf = true
			k.clock.Advance(10 * time.Minute)
			k.apply(change(k))
			if name == "another password" {
				k.renewed()
			}
			if err := k.enforce(); k.session(s).EndedAt == nil {
				t.Errorf("goes on: %v", err)
			}
		})
	}
}

// renewed waits until the vault has given the customer's next password.
func (k *kit) renewed() {
	k.t.Helper()
	for range 10_000 {
		if !k.dir.Present(k.subscription, k.clock.Now()).Renewed.IsZero() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	k.t.Fatal("the vault has not given the next password")
}
