package accessjobs_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

func TestEnforce_ABlockEndsTheSessionAndIsRecordedWithItsCause(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	if err := k.enforce(); err != nil || len(k.history(s)) != 0 {
		t.Fatalf("a session that is right: %v, %v", err, k.history(s))
	}
	k.block(true)
	if err := k.enforce(); err == nil {
		t.Error("nobody looks whether the session is gone")
	}
	if got := k.session(s); got.EndedAt == nil || got.EndReason != "admin_reset" || k.nas.Statistics().Online != 0 {
		t.Errorf("the session ended at %v, %q", got.EndedAt, got.EndReason)
	}
	last := k.changed(s)
	if last.Action != events.EndOnline || last.Via != events.ViaRadius || last.Reason != "blocked" ||
		last.By.ID != "clerk" || last.Before != (events.SessionGrant{Access: "full", Down: 10_000, Up: 1_000}) ||
		last.After.Access != "none" || last.Found || last.SubscriberID != k.subscriber {
		t.Errorf("recorded %+v", last)
	}
	if err := k.enforce(); err != nil || len(k.history(s)) != 2 {
		t.Errorf("once more: %v, %v", err, k.history(s))
	}
}

func TestEnforce_ARateIsChangedWithoutEndingTheSession(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.clock.Advance(8 * time.Hour) // the plan's hours
	for range 3 {
		if err := k.enforce(); err != nil {
			t.Fatal(err)
		}
	}
	now, online := k.nas.Session(s.SessionKey)
	if !online || now.RateLimit != "500k/5M" || k.nas.Statistics().Changed != 1 {
		t.Errorf("at the router: %+v, %+v", now, k.nas.Statistics())
	}
	if got := k.session(s); got.EndedAt != nil || got.RateDown != 5_000 || got.RateUp != 500 || got.Stamp == s.Stamp {
		t.Errorf("recorded %+v", got)
	}
	if last := k.changed(s); last.Action != events.ChangeRate || last.Reason != "rate" {
		t.Errorf("recorded %+v", last)
	}
}

// TestEnforce_AnAcknowledgedRateIsProvenOnlyWhereItCanBeReadBack: a router whose own interface cannot be read is
// believed, and that is told; it is asked once.
func TestEnforce_AnAcknowledgedRateIsProvenOnlyWhereItCanBeReadBack(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]events.EnforcementVia{
		"500k/5M": events.ViaRadius, "": events.ViaUnverified,
	} {
		k := newKit(t)
		s := k.online()
		k.menus.limit = limit
		k.clock.Advance(8 * time.Hour)
		for range 3 {
			if err := k.enforce(); err != nil {
				t.Fatal(err)
			}
		}
		if got := k.changed(s); got.Via != want || got.Found || k.nas.Statistics().Changed != 1 {
			t.Errorf("limit %q: %+v", limit, k.history(s))
		}
	}
}

func TestEnforce_ARateThatTheQueueDoesNotShowIsHadByAnotherSignIn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.passes(s, 8*time.Hour)
	k.menus.limit = "1000000/10M" // as before
	if err := k.enforce(); err == nil || k.session(s).EndedAt == nil || k.changed(s).Action != events.EndOnline {
		t.Errorf("%v, %v", err, k.history(s))
	}
	again := k.online()
	k.menus.limit = "500k/5000000"
	if err := k.enforce(); err != nil || again.RateDown != 5_000 || len(k.history(again)) != 0 {
		t.Errorf("the next session %+v, %v", again, err)
	}
}

func TestEnforce_GardenPasswordAddressAndDeviceNeedAnotherSignIn(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]func(k *kit) events.Event{
		"overdue": func(k *kit) events.Event {
			k.clock.Advance(25 * time.Hour)
			return events.WalledGardenEntered{DunningSubject: events.DunningSubject{SubscriptionID: k.subscription}}
		},
		"changed": func(k *kit) events.Event {
			return events.SubscriptionCredentialsSet{SubscriptionID: k.subscription, PasswordRef: k.safe.put("next")}
		},
		"wrong_mac": func(k *kit) events.Event {
			return events.SubscriptionAddressesAssigned{
				SubscriptionID: k.subscription, MACAddresses: texts("02:00:00:00:00:01"),
			}
		},
		"ended": func(k *kit) events.Event { return events.SubscriptionEnded{SubscriptionID: k.subscription} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			if name == "overdue" { // postpaid would do as well: the router must not end the session by itself
				k.pay(noon.Add(100 * time.Hour))
			}
			s := k.online()
			k.apply(e(k))
			if name == "overdue" {
				k.pay(noon)
			}
			if err := k.enforce(); err == nil || k.session(s).EndedAt == nil || k.changed(s).Reason != name {
				t.Errorf("%v, %v", err, k.history(s))
			}
		})
	}
}

func TestEnforce_ASilentRouterIsAskedByItsOwnInterface(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.deaf()
	k.block(true)
	if err := k.enforce(); err == nil || k.session(s).EndedAt == nil || k.changed(s).Via != events.ViaRouter {
		t.Errorf("%v, %v", err, k.history(s))
	}
}

func TestEnforce_ARefusalIsRecordedAndTheOwnInterfaceIsAsked(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Refuse}); err != nil {
		t.Fatal(err)
	}
	k.block(true)
	if err := k.enforce(); err == nil || k.session(s).EndedAt == nil {
		t.Errorf("%v, %+v", err, k.session(s))
	}
	list := k.history(s)
	refusal, ok := list[1].(events.SessionChangeRefused)
	if len(list) != 3 || !ok || refusal.Message != "Session-Context-Not-Removable" {
		t.Errorf("recorded %+v", list)
	}
}

func TestEnforce_ASessionThatItsRouterDoesNotKnowIsOver(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	if err := k.nas.SetFaults(handset.Faults{LoseStops: 1}); err != nil {
		t.Fatal(err)
	}
	k.nas.SignOut(s.SessionKey, handset.UserRequest)
	k.block(true)
	if err := k.enforce(); err != nil {
		t.Fatal(err)
	}
	if got := k.session(s); got.EndReason != telemetry.ReasonGone || !k.changed(s).Found {
		t.Errorf("%+v, %v", got, k.history(s))
	}
}

func TestEnforce_ADeadRouterIsOneJobAndOneAnnouncementHoweverOften(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.deaf()
	k.menus.away = true
	k.block(true)
	for range 7 { // the breaker opens on the way
		if err := k.enforce(); err != nil {
			t.Fatal(err)
		}
		if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.history(s); len(got) != 1 || k.waiting() != 1 {
		t.Fatalf("%d jobs, %v", k.waiting(), got)
	}
	again := commands.EnforceRouter{DeviceID: k.device}
	coretest.Refused(t, "still away", k.EnforceRouter(t.Context(), again, k.cause()), "device_unreachable")
	k.menus.away = false
	if err := k.nas.SetFaults(handset.Faults{}); err != nil {
		t.Fatal(err)
	}
	k.Radius = &coa.Client{Tries: 1, Pause: 10 * time.Second}
	k.clock.Advance(time.Hour) // the breaker's pause
	k.idle()
	if err := k.EnforceRouter(t.Context(), again, k.cause()); err == nil || k.session(s).EndedAt == nil {
		t.Fatalf("back again: %v", err)
	}
	if err := k.EnforceRouter(t.Context(), again, k.cause()); err != nil || len(k.history(s)) != 2 {
		t.Errorf("%v, %v", err, k.history(s))
	}
}

func TestEnforce_SurvivesAKillBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"announced", "done", "kept", "recorded"} {
		for _, wish := range []string{"end", "rate"} {
			t.Run(step+" "+wish, func(t *testing.T) {
				t.Parallel()
				k := newKit(t)
				s := k.online()
				if wish == "end" {
					k.block(true)
				} else {
					k.clock.Advance(8 * time.Hour)
				}
				args, cause := commands.EnforceAccess{SubscriberID: k.subscriber}, k.cause()
				k.Step = func(name string) {
					if name == step {
						panic("killed")
					}
				}
				func() {
					defer func() { _ = recover() }()
					_ = k.Enforce(t.Context(), args, cause)
					t.Error("it was not killed")
				}()
				k.Step = nil
				k.idle()
				for range 2 {
					_ = k.Enforce(t.Context(), args, cause) // it wishes to look again
					k.idle()
				}
				if err := k.enforce(s); err != nil {
					t.Fatal(err)
				}
				now := k.session(s)
				if ended := now.EndedAt != nil; ended != (wish == "end") || !ended && now.RateDown != 5_000 {
					t.Errorf("the session %+v", now)
				}
				changes := 0
				for _, e := range k.history(s) {
					if _, is := e.(events.SessionChanged); is {
						changes++
					}
				}
				if k.changed(s); changes != 1 {
					t.Errorf("%d outcomes: %v", changes, k.history(s))
				}
			})
		}
	}
}

func TestEnforce_AnOlderJobDoesNotUndoANewerOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	older, newer := k.cause(), k.cause()
	k.block(true)
	k.block(false) // the payment and the cut in the same instant
	args := commands.EnforceAccess{SubscriberID: k.subscriber}
	for _, cause := range []jobs.Cause{newer, older, older} {
		if err := k.Enforce(t.Context(), args, cause); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.session(s); got.EndedAt != nil || len(k.history(s)) != 0 {
		t.Errorf("%+v, %v", got, k.history(s))
	}
}

func TestEnforce_JobsOfOneSubscriberTakeTurns(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.block(true)
	coretest.AtOnce(6, func(int) error { return k.enforce() })
	if got := k.nas.Statistics().Disconnected; got != 1 || k.session(s).EndedAt == nil {
		t.Errorf("%d requests", got)
	}
}

func TestEnforce_ASessionThatBeganWithSomethingElseIsFound(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.apply(events.SubscriberBlocked{SubscriberID: k.subscriber})
	k.apply(events.SubscriberUnblocked{SubscriberID: k.subscriber})
	s := k.online()
	k.apply(events.SubscriptionAddressesAssigned{SubscriptionID: k.subscription, StaticIP: texts("100.64.9.9")[0]})
	ask := func() {
		t.Helper()
		if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	if k.waiting() != 1 {
		t.Fatalf("%d jobs", k.waiting())
	}
	if err := k.EnforceRouter(t.Context(), commands.EnforceRouter{DeviceID: k.device}, k.cause()); err == nil {
		t.Error("nobody looks again")
	}
	if k.session(s).EndedAt == nil || k.online().IP.String() != "100.64.9.9" {
		t.Error("the session goes on")
	}
}

func TestEnforce_ASessionThatARouterLetInByItselfIsLeftAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	if err := k.store.Regrant(t.Context(), s.ID, telemetry.Given{Access: "full"}); err != nil {
		t.Fatal(err)
	}
	k.block(true)
	if err := k.enforce(); err != nil || k.session(s).EndedAt != nil {
		t.Errorf("%v", err)
	}
}

func TestDisconnect_EndsASessionAndTellsOnWhichWay(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	meta := commands.Meta{
		CommandID: id.New[id.Command](), OrgID: k.org, Actor: events.Actor{Kind: events.ActorUser, ID: "clerk"},
		Reason: "moves house", IP: "198.51.100.7",
	}
	theirs := meta
	theirs.OrgID = id.New[id.Organization]()
	_, err := k.Disconnect(t.Context(), s.ID, false, theirs)
	coretest.Refused(t, "another organization's", err, "session_not_found")
	done, err := k.Disconnect(t.Context(), s.ID, false, meta)
	if err != nil || !done.Ended || done.Via != events.ViaRadius || k.session(s).EndedAt == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	list, err := k.Store.Read(t.Context(), "enforcement-"+s.ID.String(), 0)
	if err != nil || len(list) != 2 || list[0].Meta.Why() != "moves house" ||
		list[0].Meta.IP.Reveal() != "198.51.100.7" {
		t.Errorf("%+v, %v", list, err)
	}
	if done, err = k.Disconnect(t.Context(), s.ID, false, meta); err != nil || !done.Ended || done.Via != "" {
		t.Errorf("again: %+v, %v", done, err)
	}
	k.deaf()
	k.menus.away = true
	other := k.online()
	meta.CommandID = id.New[id.Command]()
	if done, err = k.Disconnect(t.Context(), other.ID, false, meta); err != nil || done.Ended || done.Error == "" {
		t.Errorf("a dead router: %+v, %v", done, err)
	}
}

func TestEnforce_NothingIsDoneWhileItIsNotKnownWhoMayUseTheNetwork(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.block(true)
	k.Entitled.Reached = func(context.Context, uint64) error { return fmt.Errorf("behind") }
	if err := k.enforce(); err == nil || k.session(s).EndedAt != nil {
		t.Errorf("%v", err)
	}
}

func TestBeginnings_APaymentBetweenAcceptAndStartIsNoticed(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	begins := accessjobs.NewBeginnings(k.Enforcer)
	coretest.Start(t, "beginnings", begins)
	k.begins.Store(begins)
	waiting := func() int {
		t.Helper()
		list, err := jobrunner.Waiting[commands.EnforceAccess](t.Context(), k.Queue)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	s := k.online()
	if waiting() != 0 {
		t.Error("a session that is right has a job")
	}
	class, err := hex.DecodeString(k.nas.Sessions()[0].Class)
	if err != nil {
		t.Fatal(err)
	}
	k.block(true)
	begins.Began(telemetry.Report{Org: k.org, Class: class, User: "amina", MAC: s.MAC, At: noon})
	begins.Began(telemetry.Report{Org: k.org, User: "amina", At: noon}) // not ours
	deadline, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for waiting() == 0 {
		if !loop.Sleep(deadline, 5*time.Millisecond) {
			t.Fatal("no job")
		}
	}
	if waiting() != 1 {
		t.Errorf("%d jobs", waiting())
	}
}

func TestEnforce_ARouterIsAskedWhereItReportsFrom(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.apply(events.DeviceRegistered{ // its tunnel is elsewhere now; nothing listens there
		DeviceID: k.device, OrgID: k.org, TunnelAddress: "127.0.0.9", RadiusRef: k.safe.put(secret),
		Details: events.DeviceDetails{Name: "tower", CoAPort: int(k.nas.CoAAddr().Port())},
	})
	k.block(true)
	if err := k.enforce(); err == nil {
		t.Error("nobody looks whether the session is gone")
	}
	if k.changed(s).Via != events.ViaRadius || len(k.nas.Sessions()) != 0 {
		t.Errorf("%v", k.history(s))
	}
}

func TestEnforce_EverySessionThatReportsEnds(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.online()
	k.clock.Advance(10 * time.Minute)
	k.idle()
	r, err := k.nas.SignIn(t.Context(), handset.Customer{Name: "amina", Password: "pw", MAC: "AA:BB:CC:00:11:22"})
	if err != nil || r.Outcome != handset.Accepted {
		t.Fatalf("a copied MAC: %+v %v", r, err)
	}
	k.clock.Advance(10 * time.Minute)
	k.idle()
	k.block(true)
	for range 5 {
		_ = k.enforce() // wishes to look again
		k.clock.Advance(6 * time.Minute)
		k.idle()
	}
	if n := k.nas.Statistics().Online; n != 0 {
		t.Errorf("blocked for half an hour: %d still online at the router", n)
	}
}

// TestEnforce_AnAnnouncementWhoseRouterNeverAnswersComesToNothing: its session was lost meanwhile, or its customer is
// entitled to it again. Nobody wrote to the router, and nothing else is told.
func TestEnforce_AnAnnouncementWhoseRouterNeverAnswersComesToNothing(t *testing.T) {
	t.Parallel()
	for _, loses := range []bool{true, false} {
		k := newKit(t)
		s := k.online()
		k.deaf()
		k.menus.away = true
		k.block(true)
		if err := k.enforce(); err != nil {
			t.Fatal(err)
		}
		if loses {
			k.silence(s)
		} else {
			k.block(false)
		}
		if err := k.enforce(s); err != nil {
			t.Fatal(err)
		}
		if got := k.changed(s); !got.Lapsed || got.Via != "" {
			t.Errorf("lost %v: %+v", loses, got)
		}
	}
}
