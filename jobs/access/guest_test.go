package accessjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestEnforce_WhoIsPutOffAtAHotspotComesBackByTheMAC before any report of the end is heard, by both ways of ending. A
// session that began so is as much a reason to leave a customer alone who could not come back.
func TestEnforce_WhoIsPutOffAtAHotspotComesBackByTheMAC(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	phone := handset.Customer{
		Service: handset.Hotspot, Name: "amina", Password: "pw", MAC: "02:00:00:00:00:02", Address: "100.64.0.7",
	}
	signsIn := func(want handset.Outcome) {
		t.Helper()
		r, err := k.nas.SignIn(t.Context(), phone)
		if err != nil || r.Outcome != want {
			t.Fatalf("sign in: %+v, %v", r, err)
		}
		k.idle()
	}
	moves := func(address string) int {
		t.Helper()
		k.apply(events.SubscriptionAddressesAssigned{
			SubscriptionID: k.subscription, StaticIP: personal.Of(address),
		})
		_ = k.enforce() // looks once more later
		k.idle()
		return k.nas.Statistics().Online
	}
	signsIn(handset.Accepted)
	phone.Method = handset.MACLogin
	if n := moves("100.64.0.8"); n != 0 {
		t.Fatalf("%d online", n)
	}
	signsIn(handset.Accepted)
	k.deaf()
	if n := moves("100.64.0.9"); n != 0 {
		t.Fatalf("%d online", n)
	}
	signsIn(handset.Accepted)
	k.menus.deaf = true
	k.clock.Advance(time.Minute) // what was known of the router is asked again
	if n := moves("100.64.0.10"); n != 1 {
		t.Errorf("%d online where who is ended stays off", n)
	}
}

// TestBeginnings_WhoseSessionMakesWayStaysOut: the program that answers routers knows it before any job ends the
// session, in whichever program. An end for the limit lets nobody come back either.
func TestBeginnings_WhoseSessionMakesWayStaysOut(t *testing.T) {
	t.Parallel()
	for what, ends := range map[string]func(k *kit, s telemetry.Session){
		"as the sign-in tells": func(k *kit, s telemetry.Session) {
			accessjobs.NewBeginnings(k.Enforcer).End(telemetry.Replaced{
				OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription,
				Sessions: []telemetry.SessionID{s.ID}, MadeWay: []telemetry.LiveSession{{
					OrgID: s.OrgID, DeviceID: s.DeviceID, SessionKey: s.SessionKey, MAC: s.MAC,
				}},
			})
			k.dir.PutOff(s)
		},
		"as the limit tells": func(k *kit, s telemetry.Session) {
			_ = k.EnforceLimit(t.Context(), commands.EnforceLimit{
				OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription,
				Sessions: []id.Online{id.As[id.Online](s.ID)},
			}, k.cause()) // looks once more later
			k.idle()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			phone := handset.Customer{
				Service: handset.Hotspot, Name: "amina", Password: "pw", MAC: "02:00:00:00:00:02",
				Address: "100.64.0.7",
			}
			signsIn := func(want handset.Outcome) {
				t.Helper()
				if r, err := k.nas.SignIn(t.Context(), phone); err != nil || r.Outcome != want {
					t.Errorf("sign in: %+v, %v", r, err)
				}
				k.idle()
			}
			signsIn(handset.Accepted)
			list, err := k.Sessions.OpenOf(t.Context(), k.subscriber)
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			ends(k, list[0])
			phone.Method = handset.MACLogin
			signsIn(handset.Rejected)
		})
	}
}

// TestEnforce_ADeviceThatWasTakenAwayIsEnded where a hotspot has signed it in by its MAC: also the only one.
func TestEnforce_ADeviceThatWasTakenAwayIsEnded(t *testing.T) {
	t.Parallel()
	const tv = "02:00:00:00:00:02"
	for what, rest := range map[string][]string{
		"another one stays": {"02:00:00:00:00:09"}, "it was the only one": nil,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.subscription = id.New[id.Subscription]()
			k.apply(events.SubscriptionCreated{
				SubscriptionID: k.subscription, OrgID: k.org, SubscriberID: k.subscriber, StartsAt: noon,
				CreatedAt: noon, Username: personal.Of("spot"), PasswordRef: k.safe.put("pw"),
				Terms: events.PlanTerms{Name: "Spot", Kind: "hotspot", Mode: events.Prepaid},
			})
			k.pay(noon.Add(24 * time.Hour))
			k.apply(
				events.SubscriptionActivated{SubscriptionID: k.subscription, SubscriberID: k.subscriber, At: noon},
				k.equipped(append([]string{tv}, rest...)...),
			)
			r, err := k.nas.SignIn(t.Context(), handset.Customer{
				Service: handset.Hotspot, Method: handset.MACLogin, MAC: tv, Address: "100.64.0.7",
			})
			if err != nil || r.Outcome != handset.Accepted {
				t.Fatalf("%+v %v", r, err)
			}
			k.idle()
			k.clock.Advance(time.Hour)
			k.apply(k.equipped(rest...))
			_ = k.enforce() // looks once more later
			k.idle()
			if n := k.nas.Statistics().Online; n != 0 {
				t.Errorf("%d online", n)
			}
		})
	}
}

// equipped gives the subscription devices.
func (k *kit) equipped(macs ...string) events.Event {
	return events.SubscriptionAddressesAssigned{SubscriptionID: k.subscription, MACAddresses: texts(macs...)}
}
