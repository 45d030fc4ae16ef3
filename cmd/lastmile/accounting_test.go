package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
)

// told is a report of a router about a session.
type told struct {
	session, mac, ip string
	status           rfc2866.AcctStatusType
	online           time.Duration
	down, up         uint64
}

// report sends a report about a customer's session with the Class of the accept, and repeats it until it is
// acknowledged.
func (k *kit) report(c connection, class []byte, r told) {
	k.t.Helper()
	k.eventually("acknowledgement of "+r.session, func(ctx context.Context) (bool, error) {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := radius.Exchange(limited, k.reportOf(c, class, r), k.acctAddr())
		return err == nil, nil
	})
}

// reportOf makes the packet in which a router tells about a session of a customer, with the Class of the accept.
func (k *kit) reportOf(c connection, class []byte, r told) *radius.Packet {
	k.t.Helper()
	p := radius.New(radius.CodeAccountingRequest, []byte(c.secret))
	for _, err := range []error{
		rfc2866.AcctStatusType_Set(p, r.status), rfc2866.AcctSessionID_SetString(p, r.session),
		rfc2865.UserName_SetString(p, c.username), rfc2865.Class_Set(p, class),
		rfc2865.CallingStationID_SetString(p, r.mac),
		rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_FramedUser),
		rfc2866.AcctSessionTime_Set(p, rfc2866.AcctSessionTime(r.online/time.Second)),
		rfc2866.AcctOutputOctets_Set(p, rfc2866.AcctOutputOctets(uint32(r.down))),
		rfc2869.AcctOutputGigawords_Set(p, rfc2869.AcctOutputGigawords(r.down>>32)),
		rfc2866.AcctInputOctets_Set(p, rfc2866.AcctInputOctets(uint32(r.up))),
	} {
		if err != nil {
			k.t.Fatal(err)
		}
	}
	if r.ip != "" {
		if err := rfc2865.FramedIPAddress_Set(p, []byte{100, 64, 0, 9}); err != nil {
			k.t.Fatal(err)
		}
	}
	return p
}

// acctAddr is where the program takes reports.
func (k *kit) acctAddr() string {
	if k.radius.acct != "" {
		return k.radius.acct
	}
	return k.app.radius.server.AccountingAddr().String()
}

// accessAddr is where the program is asked who may sign in.
func (k *kit) accessAddr() string {
	if k.radius.access != "" {
		return k.radius.access
	}
	return k.app.radius.server.AccessAddr().String()
}

// childPorts are the addresses at which the program of a child is asked by routers.
type childPorts struct{ access, acct string }

// signedIn pays for a customer, who then signs in and gets a Class.
func (k *kit) signedIn(admin apiClient, c connection) []byte {
	k.t.Helper()
	k.must(admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": c.subscriber, "amount": 1000, "reference": "till 1",
	})
	return rfc2865.Class_Get(k.online(c))
}

// TestAccounting_IsShownAsSessionsAndUsage: what a router reports is the customer's session and use, of the right
// organization, also when another organization has the same username.
func TestAccounting_IsShownAsSessionsAndUsage(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	beta := k.organization("beta", "admin@beta.test")
	k.connect(beta, "secret-of-beta", "amina")
	class := k.signedIn(k.admin, ours)
	k.report(ours, class, told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_Start,
	})
	k.report(ours, class, told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_InterimUpdate, online: time.Second, down: 5 << 32, up: 7,
	})
	page := k.must(k.admin, "GET", "/sessions?online=true&subscriberId="+ours.subscriber, nil).list("data")
	if len(page) != 1 {
		t.Fatalf("sessions: %v", page)
	}
	one := k.must(k.admin, "GET", "/sessions/"+page[0].text("id"), nil)
	if one.text("subscriptionId") != ours.subscription || one.text("username") != "amina" ||
		one["bytesIn"] != float64(5<<32) || one["bytesOut"] != float64(7) || one.text("access") != "full" ||
		one.text("macAddress") != "AA:BB:CC:00:11:22" || one["endedAt"] != nil {
		t.Errorf("session: %v", one)
	}
	rate, _ := one["rate"].(map[string]any)
	if rate["down"] != float64(10_000) || rate["up"] != float64(5_000) {
		t.Errorf("rate: %v", rate)
	}
	var used float64
	for _, day := range k.must(k.admin, "GET", "/subscribers/"+ours.subscriber+"/usage", nil).list("data") {
		bytes, _ := day["bytesIn"].(float64)
		used += bytes
	}
	if used != 5<<32 {
		t.Errorf("used %v", used)
	}
	if theirs := k.must(beta, "GET", "/sessions", nil).list("data"); len(theirs) != 0 {
		t.Errorf("sessions of the other organization: %v", theirs)
	}
	who := k.must(k.admin, "GET", "/sessions?ip=100.64.0.9&at="+one.text("updatedAt"), nil).list("data")
	if len(who) != 1 || who[0].text("id") != one.text("id") {
		t.Errorf("who had the address: %v", who)
	}
	k.eventually("the question in the audit log", func(context.Context) (bool, error) {
		entries := k.must(k.admin, "GET", "/audit-log?action=audit.LookUpAddress", nil).list("data")
		if len(entries) == 0 {
			return false, nil
		}
		target, _ := entries[0]["target"].(map[string]any)
		return len(entries) == 1 && target["type"] == "subscriber" && target["id"] == ours.subscriber, nil
	})
	k.refused(beta, "GET /subscribers/"+ours.subscriber+"/usage", nil, 404, "subscriber_not_found")
	ready := k.must(k.client("acme"), "GET", "/readyz", nil)
	if checks, _ := ready["checks"].(map[string]any); checks["accounting"] == nil {
		t.Errorf("readiness: %v", strings.ReplaceAll(ready.text("status"), "\n", " "))
	}
}

// TestAccounting_TheNewestSessionWins: the second device of a customer is let in and the first one has to end, also
// after a restart of the program, which reads who is online.
func TestAccounting_TheNewestSessionWins(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	class := k.signedIn(k.admin, ours)
	k.report(ours, class, told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", status: rfc2866.AcctStatusType_Value_Start,
	})
	dial := func(mac string) {
		t.Helper()
		answer := k.dialFrom(mac, ours.secret, ours.username, ours.password)
		if answer.Code != radius.CodeAccessAccept {
			t.Errorf("%s: %v", mac, answer.Code)
		}
	}
	dial("AA-BB-CC-00-11-22")
	if n := k.app.radius.live.Ended(); n != 0 {
		t.Errorf("the same device: %d ended", n)
	}
	k.app.Stop()
	k.start()
	k.online(ours) // the ports are open, and the device has no name: it is another one
	if n := k.app.radius.live.Ended(); n != 1 {
		t.Errorf("%d ended", n)
	}
	dial("AA-BB-CC-00-11-33")
	if n := k.app.radius.live.Ended(); n != 1 {
		t.Errorf("%d ended", n)
	}
}
