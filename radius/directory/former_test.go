package directory_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// equipment is the device of request and of byMAC.
const equipment = "AA:BB:CC:00:11:22"

// byMAC is a sign-in that a hotspot tries by itself for a device.
func byMAC() *layeh.Packet {
	p := layeh.New(layeh.CodeAccessRequest, []byte(secret))
	_ = rfc2865.UserName_SetString(p, equipment)
	_ = rfc2865.UserPassword_SetString(p, "")
	_ = rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_LoginUser)
	_ = rfc2865.CallingStationID_SetString(p, equipment)
	return p
}

// next is another customer of the same organization.
func (i isp) next() isp {
	i.subscriber, i.subscription = id.New[id.Subscriber](), id.New[id.Subscription]()
	return i
}

// moves makes a subscription with a username and the device, and pays it.
func (i isp) moves(s *safe, name, password string) []events.Event {
	return append([]events.Event{
		events.SubscriptionCreated{
			SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber, Terms: i.terms, StartsAt: noon,
			Username: personal.Of(name), PasswordRef: s.put(password), CreatedAt: noon,
		},
		events.SubscriptionAddressesAssigned{
			SubscriptionID: i.subscription, MACAddresses: []personal.Text{personal.Of(equipment)},
		},
	}, i.paid(noon.Add(time.Hour))...)
}

// TestDirectory_AnEndedSubscriptionIsRefusedAsSuch: by name and by device, whatever the password, and counted for its
// customer. Somebody else who gets the name or the device has it.
func TestDirectory_AnEndedSubscriptionIsRefusedAsSuch(t *testing.T) {
	t.Parallel()
	s, first := newSafe(), newISP()
	first.terms.Kind = "hotspot"
	k := newKit(t, s, append(first.begin(s, "127.0.0.1", "amina", "pw"), first.paid(noon.Add(time.Hour))...)...)
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: first.subscription, MACAddresses: []personal.Text{personal.Of(equipment)},
	})
	k.accepted(byMAC())
	k.apply(events.SubscriptionEnded{SubscriptionID: first.subscription})
	k.refused(request("amina", "pw"), directory.CodeEnded)
	k.refused(request("amina", "guess"), directory.CodeEnded)
	k.refused(byMAC(), directory.CodeEnded)
	k.refused(request("omar", "pw"), directory.CodeUnknownUser)
	for _, r := range k.refusals.Drain() {
		if r.Code == "ended" && (r.Count != 3 || r.SubscriberID != first.subscriber ||
			r.SubscriptionID != first.subscription || r.OrgID != first.org || r.DeviceID != first.router) {
			t.Errorf("refusal %+v", r)
		}
	}
	second := first.next()
	k.apply(second.moves(s, "amina", "other")...)
	k.eventually(func() bool { return k.ask(request("amina", "other")).Code == layeh.CodeAccessAccept })
	k.accepted(byMAC())
	k.refused(request("amina", "pw"), directory.CodeWrongPassword)
	k.apply(events.SubscriptionEnded{SubscriptionID: second.subscription})
	k.refusals.Drain()
	k.refused(request("amina", "other"), directory.CodeEnded)
	k.refused(byMAC(), directory.CodeEnded)
	if list := k.refusals.Drain(); len(list) != 1 || list[0].SubscriberID != second.subscriber || list[0].Count != 2 {
		t.Errorf("refusals %+v", list)
	}
	k.apply(events.SubscriberForgotten{SubscriberID: second.subscriber})
	k.refused(request("amina", "other"), directory.CodeUnknownUser)
	k.refused(byMAC(), directory.CodeUnknownUser)
}

// TestDirectory_AFormerNameIsRefusedForItsCustomer: the device that still has the name of before a change is refused as
// by an unknown one, whatever the password, and counted for the customer, also after another change. Somebody else who
// gets the name has it, and what a hotspot tries by itself counts for nobody.
func TestDirectory_AFormerNameIsRefusedForItsCustomer(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	i.terms.Kind = "hotspot"
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	k.apply(i.has(equipment), i.isCalled(equipment), i.isCalled("amina2"))
	k.refused(request("amina", "pw"), directory.CodeUnknownUser)
	k.refused(request("amina", "guess"), directory.CodeUnknownUser)
	k.refused(hotspot(phone, "amina", "pw"), directory.CodeUnknownUser)
	list := k.refusals.Drain()
	if len(list) != 1 || list[0].Code != "unknown_user" || list[0].Count != 3 ||
		list[0].SubscriberID != i.subscriber || list[0].SubscriptionID != i.subscription ||
		list[0].DeviceID != i.router {
		t.Errorf("refusals %+v", list)
	}
	k.apply(i.has())
	k.refused(byMAC(), directory.CodeUnknownUser)
	if list := k.refusals.Drain(); len(list) != 0 {
		t.Errorf("what a hotspot tries by itself: %+v", list)
	}
	other := i.next()
	k.apply(other.moves(s, "amina", "other")...)
	k.eventually(func() bool { return k.ask(request("amina", "other")).Code == layeh.CodeAccessAccept })
	k.refusals.Drain()
	k.apply(i.isCalled("amina3"))
	k.refused(request("amina2", "pw"), directory.CodeUnknownUser)
	k.refused(request("amina", "pw"), directory.CodeWrongPassword)
	k.apply(events.SubscriptionEnded{SubscriptionID: i.subscription})
	k.refused(request("amina2", "pw"), directory.CodeEnded)
	for _, r := range k.refusals.Drain() {
		want := map[bool]id.Subscriber{true: other.subscriber, false: i.subscriber}[r.Code == "wrong_password"]
		if r.SubscriberID != want {
			t.Errorf("refusal %+v", r)
		}
	}
}

// TestMemory_EndedSubscriptionsStaySmall is serial, because it measures the heap. 100,000 are ten years of an internet
// service provider that loses a fifth of 50,000 customers each year.
func TestMemory_EndedSubscriptionsStaySmall(t *testing.T) { //nolint:paralleltest // measures the heap
	const ended, most = 100_000, 30 << 20
	i := newISP()
	d := directory.New(directory.Config{})
	before := heap()
	for n := range ended {
		i.subscription, i.subscriber = id.New[id.Subscription](), id.New[id.Subscriber]()
		d.Apply(events.Envelope{Event: events.SubscriptionCreated{
			SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber, Terms: i.terms,
			Username: personal.Of(fmt.Sprintf("customer-%06d", n)),
		}})
		d.Apply(events.Envelope{Event: events.SubscriptionEnded{SubscriptionID: i.subscription}})
	}
	if used := heap() - before; used > most {
		t.Errorf("%d ended subscriptions take %d bytes", ended, used)
	} else {
		t.Logf("%d ended subscriptions take %d bytes", ended, used)
	}
	runtime.KeepAlive(d)
}
