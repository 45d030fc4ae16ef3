package directory_test

import (
	"fmt"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

func TestPasswords_TryingSlowsTheGuesserAlone(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "4711"), i.paid(noon.AddDate(0, 1, 0))...)...)
	k.accepted(hotspot(phone, "amina", "4711"))
	const neighbour = "02:00:00:00:00:66"
	for n := range 10 {
		k.refused(hotspot(neighbour, "amina", fmt.Sprintf("%04d", n)), directory.CodeWrongPassword)
	}
	k.refused(hotspot(neighbour, "amina", "0010"), directory.CodeTooManyCodes)
	k.refused(hotspot(neighbour, "amina", "4711"), directory.CodeTooManyCodes) // the right one would tell the guesser
	k.accepted(hotspot(laptop, "amina", "4711"))
	for range 20 { // a device that has proven the password is not hindered, whatever is typed there
		k.refused(hotspot(phone, "amina", "wrong"), directory.CodeWrongPassword)
	}
	k.accepted(hotspot(phone, "amina", "4711"))
	k.clock.Advance(2 * time.Minute)
	k.accepted(hotspot(neighbour, "amina", "4711")) // waiting helps
}

func TestPasswords_ManyDevicesTogetherHaveABound(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "4711"), i.paid(noon.AddDate(0, 1, 0))...)...)
	k.accepted(hotspot(phone, "amina", "4711"))
	strays, wrong := 0, 0
	try := func(password string) *layeh.Packet {
		strays++
		mac := radius.MAC{2, 9, 0, 0, byte(strays >> 8), byte(strays)}.String()
		return k.ask(hotspot(mac, "amina", password))
	}
	for n := range 400 { // each time with another MAC
		if text := rfc2865.ReplyMessage_GetString(try(fmt.Sprint(n))); text == directory.CodeWrongPassword.Message() {
			wrong++
		}
	}
	if wrong != 200 {
		t.Errorf("%d passwords were looked at", wrong)
	}
	k.accepted(hotspot(phone, "amina", "4711"))
	online := telemetry.LiveSession{SubscriptionID: i.subscription, MAC: laptop}
	k.sessions.Observe(telemetry.Committed{Sessions: []*telemetry.Session{{
		ID: id.New[telemetry.SessionID](), SubscriptionID: online.SubscriptionID, MAC: online.MAC, DeviceID: i.router,
	}}})
	k.accepted(hotspot(laptop, "amina", "4711")) // it is online, as the tables told
	k.clock.Advance(3 * time.Second)
	if try("4711").Code != layeh.CodeAccessAccept {
		t.Error("one is forgiven every three seconds")
	}
}

// line is a sign-in over a line whose router tells no MAC.
func line(name, password string) *layeh.Packet {
	p := request(name, password)
	p.Del(rfc2865.CallingStationID_Type)
	return p
}

// TestPasswords_OneDeviceHasABoundOverAllAccounts: a neighbour tries some passwords at each account. Customers on lines
// without a MAC, such as those behind a reseller's router, share no bound.
func TestPasswords_OneDeviceHasABoundOverAllAccounts(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	history := append(i.begin(s, "127.0.0.1", "user0", "4711"), i.paid(noon.AddDate(0, 1, 0))...)
	for n := 1; n < 12; n++ {
		one := i
		one.subscription, one.subscriber = id.New[id.Subscription](), id.New[id.Subscriber]()
		begun := one.begin(s, "127.0.0.1", fmt.Sprint("user", n), "4711")
		history = append(append(history, begun[len(begun)-1]), one.paid(noon.AddDate(0, 1, 0))...)
	}
	k := newKit(t, s, history...)
	k.accepted(hotspot(laptop, "user11", "4711"))
	for n := range 30 {
		k.refused(hotspot(laptop, fmt.Sprint("user", n%10), "wrong"), directory.CodeWrongPassword)
	}
	k.refused(hotspot(laptop, "user10", "wrong"), directory.CodeTooManyCodes)
	k.refused(hotspot(laptop, "user10", "4711"), directory.CodeTooManyCodes)
	k.accepted(hotspot(laptop, "user11", "4711")) // its own account
	k.accepted(hotspot(phone, "user10", "4711"))
	for n := range 60 {
		k.refused(line(fmt.Sprint("user", n%10), "wrong"), directory.CodeWrongPassword)
	}
	k.accepted(line("user10", "4711"))
	k.clock.Advance(20 * time.Second) // one is forgiven
	k.refused(hotspot(laptop, "user10", "wrong"), directory.CodeWrongPassword)
	k.refused(hotspot(laptop, "user10", "4711"), directory.CodeTooManyCodes)
}

func TestPasswords_ANewOneBeginsWithNoTries(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "4711"), i.paid(noon.AddDate(0, 1, 0))...)...)
	for range 12 {
		k.ask(request("amina", "of before"))
	}
	k.refused(request("amina", "4711"), directory.CodeTooManyCodes)
	k.apply(events.SubscriptionCredentialsSet{
		SubscriptionID: i.subscription, SubscriberID: i.subscriber, Username: personal.Of("amina"),
		PasswordRef: s.put("of before"), At: noon,
	})
	for end := time.Now().Add(10 * time.Second); k.ask(request("amina", "of before")).Code != layeh.CodeAccessAccept; {
		if time.Now().After(end) {
			t.Fatal("the customer's router is hindered by what it tried before")
		}
	}
}

func TestDirectory_KnowsTheLimitOfSessions(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	i.terms.Access.SessionLimit = 3
	k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "4711")...)
	if n := k.dir.SessionLimit(i.subscription, noon); n != 3 {
		t.Errorf("limit %d of a subscription", n)
	}
	if n := k.dir.SessionLimit(id.New[id.Subscription](), noon); n != 0 {
		t.Errorf("limit %d of nobody", n)
	}
	v, history := sell(s, i.terms.Period, 1)
	k.apply(history[len(history)-2:]...)
	if n := k.dir.SessionLimit(directory.VoucherService(v.subject(0).VoucherID), noon); n != 1 {
		t.Errorf("limit %d of a voucher", n)
	}
}
