package directory_test

import (
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

func TestGrant_ASessionKeepsWhatItsAcceptGaveWhateverIsTrueLater(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	answer, _ := k.accepted(request("amina", "pw"))
	class := rfc2865.Class_Get(answer)
	before := k.dir.Present(i.subscription, noon)
	held, found := k.dir.Holder(i.org, class, "", noon)
	if !found || !held.Told || held.Grant != before.Grant || held.Grant.Access != entitlement.Full {
		t.Fatalf("granted %+v %v, present %+v", held, found, before.Grant)
	}
	k.apply(events.WalledGardenEntered{DunningSubject: events.DunningSubject{SubscriptionID: i.subscription}})
	k.clock.Advance(2 * time.Hour)
	after := k.dir.Present(i.subscription, k.clock.Now())
	if held, _ := k.dir.Holder(i.org, class, "", k.clock.Now()); held.Grant != before.Grant {
		t.Errorf("the session had %+v, now %+v is told", before.Grant, held.Grant)
	}
	if after.Grant.Access != entitlement.WalledGarden || after.Grant.Stamp()[8:] == before.Grant.Stamp()[8:] {
		t.Errorf("present %+v", after.Grant)
	}
	k.apply(events.SubscriptionEnded{SubscriptionID: i.subscription})
	if p := k.dir.Present(i.subscription, k.clock.Now()); p.Grant.Access != entitlement.None || p.Code != "ended" {
		t.Errorf("after the end %+v", p)
	}
}

func TestGrant_AnotherPasswordOrAddressNeedsAnotherSignIn(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	now := func() string { return k.dir.Present(i.subscription, noon).Grant.Stamp() }
	begun := now()
	for _, e := range []events.Event{
		events.SubscriptionCredentialsSet{
			SubscriptionID: i.subscription, Username: personal.Of("amina"), PasswordRef: s.put("next"),
		},
		events.SubscriptionCredentialsSet{
			SubscriptionID: i.subscription, Username: personal.Of("wanjiru"), PasswordRef: s.put("next"),
		},
		events.SubscriptionAddressesAssigned{SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9")},
	} {
		before := now()
		k.apply(e)
		if after := now(); after[8:] == before[8:] || after[:8] != begun[:8] {
			t.Errorf("%T: %s became %s", e, before, after)
		}
	}
	before := now()
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9"),
		MACAddresses: []personal.Text{personal.Of("AA:BB:CC:00:11:22")},
	})
	p := k.dir.Present(i.subscription, noon)
	if now() != before || !p.Allows("aa-bb-cc-00-11-22") || p.Allows("AA:BB:CC:00:11:23") || p.Allows("") {
		t.Errorf("bound to a device: %+v", p)
	}
}

// TestPresent_OutlivedIsASessionFromBeforeTheLastPassword, as soon as nobody is let in by the former one any more.
func TestPresent_OutlivedIsASessionFromBeforeTheLastPassword(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	i.terms.Kind = "hotspot"
	begin := i.begin(s, "127.0.0.1", "amina", "pw")
	k := newKit(t, s, append(append(begin, i.has("02:00:00:00:00:01", equipment)), i.paid(noon.Add(4*time.Hour))...)...)
	set := func(after time.Duration, name string, ref id.Secret) {
		k.clock.Set(noon.Add(after))
		e := events.SubscriptionCredentialsSet{
			SubscriptionID: i.subscription, Username: personal.Of(name), PasswordRef: ref,
		}
		k.dir.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: noon.Add(after)}})
	}
	counts := func(name, password string) {
		k.eventually(func() bool { return k.ask(request(name, password)).Code == layeh.CodeAccessAccept })
	}
	is := func(what string, began, at time.Duration, want bool) {
		t.Helper()
		p := k.dir.Present(i.subscription, noon.Add(at))
		const mac, guest = "02:00:00:00:00:01", "02:00:00:00:00:03"
		for shown, byPassword := range map[directory.Shown]bool{
			{Username: "wanjiru", MAC: mac}: true, {Username: "wanjiru", MAC: mac, Hotspot: true}: true,
			{Username: "02-00-00-00-00-01", MAC: mac}:                true,
			{Username: "02-00-00-00-00-02", MAC: mac, Hotspot: true}: true,
			{Username: "02-00-00-00-00-01", MAC: mac, Hotspot: true}: false, // registered
			{Username: guest, MAC: guest, Hotspot: true}:             true,  // was let in by the password before
		} {
			if got := p.Outlived(shown, noon.Add(began)); got != (want && byPassword) {
				t.Errorf("%s, %+v: %v", what, shown, got)
			}
		}
	}
	counts("amina", "pw")
	is("never changed", -time.Hour, time.Hour, false)
	set(time.Hour, "wanjiru", begin[2].(events.SubscriptionCreated).PasswordRef)
	counts("wanjiru", "pw")
	is("another name", 0, 2*time.Hour, false)
	set(2*time.Hour, "wanjiru", id.New[id.Secret]())
	is("the vault does not have the next one yet", 0, 3*time.Hour, false)
	set(3*time.Hour, "wanjiru", s.put("next"))
	counts("wanjiru", "next")
	is("before", time.Hour, 4*time.Hour, true)
	is("about then", 3*time.Hour-30*time.Second, 4*time.Hour, false)
	is("after", 3*time.Hour+time.Minute, 4*time.Hour, false)
	is("the clock was set back", time.Hour, 3*time.Hour-time.Second, false)
}

// TestPresent_ADeviceThatWasTakenAwayFitsNoMore where it got in by its MAC alone: also when it was the only one, so
// that any device may use the subscription. Who signs in there by its MAC afterwards is a guest.
func TestPresent_ADeviceThatWasTakenAwayFitsNoMore(t *testing.T) {
	t.Parallel()
	byName := directory.Shown{Username: "amina", MAC: phone, Hotspot: true}
	line := directory.Shown{Username: phone, MAC: phone}
	for kind, byMAC := range map[string]bool{"hotspot": true, "pppoe": false} {
		s, i := newSafe(), newISP()
		i.terms.Kind = kind
		k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
		fits := func(shown directory.Shown, began time.Duration) bool {
			return k.dir.Present(i.subscription, k.clock.Now()).Fits(shown, noon.Add(began))
		}
		k.apply(i.has(phone, laptop)) // at noon
		if !fits(device(phone), -time.Hour) || fits(device(equipment), -time.Hour) {
			t.Errorf("%s: registered ones", kind)
		}
		p := k.dir.Present(i.subscription, k.clock.Now())
		if p.Renewed = noon; p.Outlived(device(phone), noon.Add(-time.Hour)) == byMAC {
			t.Errorf("%s: another password ends a session by the MAC: %v", kind, byMAC)
		}
		k.apply(i.has(phone))
		if !fits(device(phone), -time.Hour) {
			t.Errorf("%s: another one was taken away", kind)
		}
		k.apply(i.has())
		for began, fit := range map[time.Duration]bool{
			-time.Hour: !byMAC, 30 * time.Second: !byMAC, 2 * time.Minute: true,
		} {
			p := k.dir.Present(i.subscription, k.clock.Now())
			if fits(device(phone), began) != fit || p.Admits(device(phone), noon.Add(began)) != fit {
				t.Errorf("%s: it began %s after it was taken away", kind, began)
			}
		}
		if !fits(byName, -time.Hour) || !fits(line, -time.Hour) {
			t.Errorf("%s: a session by its username", kind)
		}
	}
}
