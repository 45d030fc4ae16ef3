package router_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// The rows of the router, the reports and the answer of the server tell the same.
func TestCustomers_APPPoESessionIsOneOfRADIUS(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	r := k.signIn(customer("jane"), handset.Accepted)
	active := k.only("ppp/active", "name", "jane")
	begun := k.next(radius.StatusStart)
	if active["radius"] != "true" || active["address"] != "10.50.0.10" ||
		active["session-id"] != "0x"+strings.ToUpper(begun.SessionID) || begun.SessionID != r.Session.ID {
		t.Errorf("active %v, report %+v", active, begun)
	}
	queue := k.only("queue/simple", "name", "<pppoe-jane>")
	if queue["max-limit"] != "5000000/10000000" || queue["dynamic"] != "true" {
		t.Errorf("queue %v", queue)
	}
	if list := k.only("ip/firewall/address-list", "list", "garden"); list["address"] != "10.50.0.10" {
		t.Errorf("address list %v", list)
	}
	k.idle()
	k.clock.Advance(5 * time.Minute)
	interim := k.next(radius.StatusInterim)
	port := k.only("interface", "name", "<pppoe-jane>")
	if interim.BytesIn != 300*625_000 || port["rx-byte"] != "187500000" || port["tx-byte"] != "375000000" {
		t.Errorf("interim %+v, interface %v", interim, port)
	}
	k.idle()
	k.do("ppp/active", "remove", router.Item{".id": active[".id"]})
	if stop := k.next(radius.StatusStop); stop.TerminateCause != 6 || stop.SessionTime != 5*time.Minute {
		t.Errorf("stop %+v", stop)
	}
	if rows := k.do("queue/simple", "print", nil); len(rows) != 0 {
		t.Errorf("left %v", rows)
	}
	k.quiet()
}

func TestCustomers_TheServerChangesAndEndsSessions(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	s := k.plug(customer("jane"))
	k.next(radius.StatusStart)
	client := coa.Client{}
	a, err := client.Change(t.Context(), k.ask(), named(s), radius.Attributes{}.MikroTik(8, "1M/2M 2M/4M 1M/1M 8/8"))
	if err != nil || !a.Done {
		t.Fatalf("%+v, %v", a, err)
	}
	queue := k.only("queue/simple", "name", "<pppoe-jane>")
	if queue["max-limit"] != "1000000/2000000" || queue["burst-limit"] != "2000000/4000000" ||
		queue["burst-time"] != "8s/8s" {
		t.Errorf("queue %v", queue)
	}
	k.do("radius/incoming", "set", router.Item{"accept": "no"})
	quick := coa.Client{Tries: 1, Pause: 50 * time.Millisecond}
	if _, err := quick.Disconnect(t.Context(), k.ask(), named(s)); !errors.Is(err, coa.ErrNoAnswer) {
		t.Errorf("a router that accepts no requests: %v", err)
	}
	k.do("radius/incoming", "set", router.Item{"accept": "yes"})
	if a, err := client.Disconnect(t.Context(), k.ask(), named(s)); err != nil || !a.Done {
		t.Fatalf("%+v, %v", a, err)
	}
	k.next(radius.StatusStop)
	if rows := k.do("ppp/active", "print", nil); len(rows) != 0 || k.state("jane").State != "offline" {
		t.Errorf("rows %v, customer %+v", rows, k.state("jane"))
	}
	k.advance(time.Second) // the device dials again by itself
	k.next(radius.StatusStart)
	if now := k.state("jane"); now.State != "online" || now.Session.ID == s.ID {
		t.Errorf("%+v", now)
	}
}

func TestCustomers_DialAgainWithGrowingPausesUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.plug(customer("jane"))
	k.next(radius.StatusStart)
	k.refuse("jane", true)
	if k.Disconnect("jane") != 1 {
		t.Fatal("no session ended")
	}
	if stop := k.next(radius.StatusStop); stop.TerminateCause != 1 {
		t.Errorf("stop %+v", stop)
	}
	var at []int
	for second := 1; second <= 64; second++ {
		before := k.asks("jane")
		k.advance(time.Second)
		if k.asks("jane") > before {
			at = append(at, second)
		}
	}
	if len(at) != 6 || at[0] != 1 || at[1] != 3 || at[2] != 7 || at[3] != 15 || at[4] != 31 || at[5] != 61 {
		t.Errorf("dialled at seconds %v", at)
	}
	if now := k.state("jane"); now.Outcome != handset.Rejected || now.Message != "Not paid" || now.NextAt == nil {
		t.Errorf("%+v", now)
	}
	k.refuse("jane", false)
	k.advance(30 * time.Second)
	k.next(radius.StatusStart)
	if now := k.state("jane"); now.State != "online" || now.Refused != 0 {
		t.Errorf("%+v", now)
	}
	k.SetCustomer("jane", false)
	k.next(radius.StatusStop)
	k.advance(time.Hour)
	k.quiet()
}

func TestCustomers_AHotspotTakesCodesDevicesAndBindings(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	code := k.plug(guest("code1"))
	k.next(radius.StatusStart)
	mac := "A4:17:31:41:CB:B6"
	k.signIn(handset.Customer{Service: handset.Hotspot, Method: handset.MACLogin, MAC: mac}, handset.Accepted)
	k.next(radius.StatusStart)
	if row := k.only("ip/hotspot/active", "user", "code1"); row["radius"] != "true" || row["address"] != code.Address {
		t.Errorf("%v", row)
	}
	k.only("ip/hotspot/active", "user", mac)
	if _, err := k.SignIn(t.Context(), handset.Customer{
		Service: handset.Hotspot, Method: handset.PAP, Name: "u", Password: "pw-u",
	}); err == nil {
		t.Error("a login that the profile does not have")
	}
	a, err := (&coa.Client{}).Disconnect(t.Context(), k.ask(), named(code))
	if err != nil || !a.Done {
		t.Errorf("%+v, %v", a, err)
	}
	k.next(radius.StatusStop)
	k.do("ip/hotspot/ip-binding", "add", router.Item{"mac-address": "02:00:00:00:00:01", "type": "bypassed"})
	k.do("ip/hotspot/ip-binding", "add", router.Item{"mac-address": "02:00:00:00:00:02", "type": "blocked"})
	if _, err := k.SignIn(t.Context(), handset.Customer{
		Service: handset.Hotspot, Name: "x", MAC: "02:00:00:00:00:02",
	}); err == nil {
		t.Error("a blocked device passes")
	}
	before := k.asks("x")
	k.signIn(handset.Customer{Service: handset.Hotspot, Name: "x", MAC: "02:00:00:00:00:01"}, handset.Accepted)
	if host := k.only("ip/hotspot/host", "mac-address", "02:00:00:00:00:01"); host["bypassed"] != "true" ||
		k.asks("x") != before || len(k.do("ip/hotspot/active", "print", nil)) != 1 {
		t.Errorf("%v", host)
	}
}

func TestCustomers_LocalUsersAreNoSessionsOfRADIUS(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.do("ppp/secret", "add", router.Item{"name": "jane", "password": "local"})
	k.do("ip/hotspot/user", "add", router.Item{"name": "kim", "password": "local"})
	if _, err := k.SignIn(t.Context(), customer("jane")); err == nil {
		t.Error("a local user with the password of RADIUS")
	}
	for _, c := range []handset.Customer{customer("jane"), guest("kim")} {
		c.Password = "local"
		k.signIn(c, handset.Accepted)
	}
	if k.only("ppp/active", "name", "jane")["radius"] != "false" ||
		k.only("ip/hotspot/active", "user", "kim")["radius"] != "false" || k.asks("jane")+k.asks("kim") != 0 {
		t.Error("RADIUS was asked")
	}
	k.quiet()
}

func TestCustomers_ARouterThatRestartsTellsNobody(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	first := k.plug(customer("jane"))
	k.next(radius.StatusStart)
	k.Reboot()
	k.advance(time.Second)
	begun := k.next(radius.StatusStart)
	if begun.SessionID != "81100001" || first.ID != "81000001" {
		t.Errorf("session %s after the reboot, %s before", begun.SessionID, first.ID)
	}
	k.SetPower(false)
	quick := coa.Client{Tries: 1, Pause: 50 * time.Millisecond}
	if _, err := quick.Disconnect(t.Context(), k.ask(), named(first)); !errors.Is(err, coa.ErrNoAnswer) {
		t.Errorf("a router without power: %v", err)
	}
	k.advance(time.Hour)
	if now := k.state("jane"); now.State != "offline" || !strings.Contains(now.Message, "is off") {
		t.Errorf("%+v", now)
	}
	k.SetPower(true)
	k.advance(30 * time.Second)
	k.next(radius.StatusStart)
	k.SetLink("ether5", false)
	if stop := k.next(radius.StatusStop); stop.TerminateCause != 2 {
		t.Errorf("stop %+v", stop)
	}
	k.SetLink("ether5", true)
	k.advance(30 * time.Second)
	k.next(radius.StatusStart)
	k.quiet()
}

func TestCustomers_AWrongSecretIsSilenceUntilItIsSetRight(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	client := k.do("radius", "print", nil)[0][".id"]
	k.do("radius", "set", router.Item{".id": client, "secret": "other"})
	if err := k.SwitchOn("jane", customer("jane")); err != nil {
		t.Fatal(err)
	}
	k.until("the sign-in is given up", func() bool { return k.state("jane").Outcome == handset.Unanswered })
	if n := k.Handsets().Statistics().Repeated; n < 2 || k.asks("jane") != 0 {
		t.Errorf("repeated %d, understood %d", n, k.asks("jane"))
	}
	k.do("radius", "set", router.Item{".id": client, "secret": radiusSecret})
	k.until("the customer is online", func() bool { return k.state("jane").State == "online" })
	k.next(radius.StatusStart)
	k.do("radius", "set", router.Item{".id": client, "secret": "other"})
	if a, err := (&coa.Client{Tries: 1, Pause: 50 * time.Millisecond}).Disconnect(t.Context(), k.ask(),
		named(*k.state("jane").Session)); !errors.Is(err, coa.ErrNoAnswer) {
		t.Errorf("a request with the secret of before: %+v, %v", a, err)
	}
}

// Customers who dial at the same time, as after a power cut, get sessions and addresses of their own.
func TestCustomers_AllAtOnceGetRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	for i := range 20 {
		c := customer("u" + strconv.Itoa(i))
		if i%2 == 1 {
			c = guest(c.Name)
		}
		if err := k.SwitchOn(c.Name, c); err != nil {
			t.Fatal(err)
		}
	}
	k.idle()
	for _, menu := range []string{"ppp/active", "ip/hotspot/active"} {
		seen := map[string]bool{}
		for _, row := range k.do(menu, "print", nil) {
			seen[row[".id"]], seen[row["address"]] = true, true
		}
		if len(seen) != 20 {
			t.Errorf("%s: %v", menu, seen)
		}
	}
	if got := k.Handsets().Statistics(); got.Accepted != 20 || got.Online != 20 {
		t.Errorf("%+v", got)
	}
}

// A router that has accounting off for a service reports none of its sessions.
func TestCustomers_AccountingFollowsTheSettings(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.do("ppp/aaa", "set", router.Item{"accounting": "no"})
	k.signIn(customer("jane"), handset.Accepted)
	k.quiet()
	profile := k.do("ip/hotspot/profile", "print", nil)[0][".id"]
	k.do("ip/hotspot/profile", "set", router.Item{".id": profile, "radius-interim-update": "1m"})
	k.signIn(guest("kim"), handset.Accepted)
	k.next(radius.StatusStart)
	k.idle()
	k.clock.Advance(time.Minute)
	if r := k.next(radius.StatusInterim); r.UserName != "kim" {
		t.Errorf("report of %s", r.UserName)
	}
}

// A server that is silent is asked three times before the next one, which takes 9 seconds.
func TestCustomers_TheNextServerIsAskedAfterSilence(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	own := k.do("radius", "print", nil)[0][".id"]
	k.do("radius", "add", router.Item{
		"service": "ppp", "address": "192.0.2.1", "secret": "x", "timeout": "3s", "place-before": own,
	})
	if err := k.SwitchOn("jane", customer("jane")); err != nil {
		t.Fatal(err)
	}
	k.until("the customer is online", func() bool { return k.state("jane").State == "online" })
	if waited := k.clock.Now().Sub(start); waited < 9*time.Second {
		t.Errorf("online after %v", waited)
	}
	for _, change := range []func(){
		func() { k.do("ppp/aaa", "set", router.Item{"use-radius": "no"}) },
		func() { k.do("radius", "set", router.Item{".id": own, "disabled": "yes"}) },
	} {
		change()
	}
	if _, err := k.SignIn(t.Context(), customer("kim")); err == nil {
		t.Error("a router that does not use RADIUS lets users in")
	}
}
