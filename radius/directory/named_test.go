package directory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// owns checks whose a session of which nothing was reported is; zero = of nobody.
func (k *kit) owns(org id.Organization, shown directory.Shown, want id.Subscription) {
	k.t.Helper()
	who, got := k.dir.Named(org, shown, k.clock.Now())
	if got != want || who.IsZero() != want.IsZero() {
		k.t.Errorf("%+v is of %s, %s, want %s", shown, who, got, want)
	}
}

// online is a session by a name over PPPoE.
func online(name string) directory.Shown { return directory.Shown{Username: name, MAC: laptop} }

// device is a session that a hotspot has begun by a MAC alone.
func device(mac string) directory.Shown {
	return directory.Shown{Username: strings.ReplaceAll(mac, ":", "-"), MAC: mac, Hotspot: true}
}

// has gives a subscription devices.
func (i isp) has(macs ...string) events.Event {
	e := events.SubscriptionAddressesAssigned{SubscriptionID: i.subscription}
	for _, mac := range macs {
		e.MACAddresses = append(e.MACAddresses, personal.Of(mac))
	}
	return e
}

// isCalled gives a subscription another username.
func (i isp) isCalled(name string) events.Event {
	return events.SubscriptionCredentialsSet{SubscriptionID: i.subscription, Username: personal.Of(name)}
}

// TestNamed_FindsLoginsAndVouchersThatWereUsed of the organization, and of no other one. Codes are for hotspots.
func TestNamed_FindsLoginsAndVouchersThatWereUsed(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 2)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	used, nobody := directory.VoucherService(v.subject(0).VoucherID), id.Subscription{}
	other := id.New[id.Organization]()
	code := func(n int) directory.Shown { return directory.Shown{Username: v.codes[n], MAC: phone, Hotspot: true} }
	k.owns(v.org, code(0), used)
	k.owns(v.org, code(1), nobody)
	k.owns(v.org, online(v.codes[0]), nobody)
	k.owns(v.org, online("nobody"), nobody)
	k.owns(v.org, online("amina"), v.subscription)
	k.owns(other, code(0), nobody)
	k.owns(other, online("amina"), nobody)
}

// TestNamed_FindsDevicesThatSignInByTheirMAC: where a hotspot has tried the MAC, of a subscription and of a voucher. Of
// several subscriptions the one that gives access counts.
func TestNamed_FindsDevicesThatSignInByTheirMAC(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 1)
	k := newKit(t, s, append(history, v.has(laptop))...)
	k.owns(v.org, device(laptop), v.subscription)
	k.owns(id.New[id.Organization](), device(laptop), id.Subscription{})
	k.owns(v.org, directory.Shown{Username: laptop, MAC: laptop}, id.Subscription{}) // not a hotspot's
	k.owns(v.org, directory.Shown{Username: laptop, MAC: phone, Hotspot: true}, id.Subscription{})
	k.owns(v.org, directory.Shown{Username: "omar", MAC: laptop, Hotspot: true}, id.Subscription{})
	k.owns(v.org, directory.Shown{Hotspot: true}, id.Subscription{})
	paid := v.next()
	k.apply(paid.moves(s, "baraka", "pw")...)
	k.apply(paid.has(laptop))
	k.owns(v.org, device(laptop), paid.subscription)

	k.owns(v.org, device(phone), id.Subscription{})
	k.accepted(typed(phone, v.codes[0]))
	k.owns(v.org, device(phone), directory.VoucherService(v.subject(0).VoucherID))
}

// TestNamed_FindsWhoHadANameOrADevice: a session goes on when its contract ends, its name or device is changed, or its
// voucher is void or moves on. Somebody else who gets the name or the device has it.
func TestNamed_FindsWhoHadANameOrADevice(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 2)
	k := newKit(t, s, append(history, v.has(equipment, laptop))...)
	k.apply(v.paid(noon.Add(time.Hour))...)
	k.apply(v.isCalled("amina2"), v.has(equipment))
	for one, names := range map[directory.Shown]bool{
		online("amina"): false, online("amina2"): true, device(equipment): true, device(laptop): false,
	} {
		k.owns(v.org, one, v.subscription)
		p := k.dir.Present(v.subscription, noon)
		if got := p.Names(one); got != names {
			t.Errorf("%+v is a present name: %v", one, got)
		}
		if got := p.Admits(one, noon); got != (names && p.Allows(one.MAC)) {
			t.Errorf("%+v could sign in again: %v", one, got)
		}
	}
	p := k.dir.Present(v.subscription, noon)
	if line := (directory.Shown{Username: equipment, MAC: equipment}); p.Names(line) || p.Admits(line, noon) {
		t.Error("a device is a name by PPP")
	}
	if !p.Admits(directory.Shown{Username: "amina2", MAC: equipment}, noon) {
		t.Error("the own device could not sign in again")
	}
	k.apply(events.SubscriberBlocked{SubscriberID: v.subscriber})
	if p := k.dir.Present(v.subscription, noon); p.Grant.Access != entitlement.None {
		t.Errorf("who is blocked has %s", p.Grant.Access)
	}
	k.apply(events.SubscriptionEnded{SubscriptionID: v.subscription})
	for _, one := range []directory.Shown{
		online("amina"), online("amina2"), device(equipment), device(laptop),
	} {
		k.owns(v.org, one, v.subscription)
	}
	other := v.next()
	k.apply(other.moves(s, "amina", "pw")...)
	k.owns(v.org, online("amina"), other.subscription)
	k.owns(v.org, device(equipment), other.subscription)
	k.owns(v.org, device(laptop), v.subscription)

	first, second := v.subject(0), v.subject(1)
	k.accepted(typed(phone, v.codes[0]))
	k.clock.Advance(time.Minute)
	k.accepted(typed("02:00:00:00:00:03", v.codes[0]))
	for _, mac := range []string{phone, "02:00:00:00:00:03"} {
		k.owns(v.org, device(mac), directory.VoucherService(first.VoucherID))
	}
	k.refused(hotspot(phone, phone, ""), directory.CodeUnknownUser)
	k.apply(events.VoucherVoided{VoucherSubject: first, At: k.clock.Now()})
	k.owns(v.org, device("02:00:00:00:00:03"), directory.VoucherService(first.VoucherID))
	k.refused(hotspot("02:00:00:00:00:03", "02:00:00:00:00:03", ""), directory.CodeUnknownUser)
	k.accepted(typed(phone, v.codes[1]))
	k.owns(v.org, device(phone), directory.VoucherService(second.VoucherID))

	k.apply(events.SubscriberForgotten{SubscriberID: v.subscriber})
	k.owns(v.org, online("amina2"), id.Subscription{})
	k.owns(v.org, device(laptop), id.Subscription{})
}

// TestNamed_FormerNamesAndDevicesOfOneAreBounded: the latest ones are known, also of one that has ended.
func TestNamed_FormerNamesAndDevicesOfOneAreBounded(t *testing.T) {
	t.Parallel()
	const changes = 40
	s, i := newSafe(), newISP()
	i.terms.Kind = "hotspot"
	k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
	mac := func(n int) string { return fmt.Sprintf("02:00:00:00:01:%02X", n) }
	name := func(n int) string { return fmt.Sprintf("amina-%d", n) }
	for n := range changes {
		k.apply(i.isCalled(name(n)), i.has(mac(n)))
	}
	has := func(first, devices int) {
		t.Helper()
		for n := range changes {
			name, mac := online(name(n)), device(mac(n))
			k.owns(i.org, name, map[bool]id.Subscription{true: i.subscription}[n >= first])
			k.owns(i.org, mac, map[bool]id.Subscription{true: i.subscription}[n >= devices])
		}
	}
	has(changes-5, changes-17)
	k.apply(events.SubscriptionEnded{SubscriptionID: i.subscription})
	has(changes-4, changes-16)
	k.owns(i.org, online("amina"), id.Subscription{})
}
