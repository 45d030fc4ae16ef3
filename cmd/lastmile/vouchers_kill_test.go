package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
)

// TestVouchers_AKillWhileTheDatabaseIsAwayLosesNone: somebody signs in with a voucher while nothing can be recorded,
// and the program is killed at once. The router reports nothing.
func TestVouchers_AKillWhileTheDatabaseIsAwayLosesNone(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k, program := newKit(t).withVouchers("DATABASE_URL=" + cluster.URL())
	code := k.sellVoucher()
	stopCluster(t, cluster)
	k.typeCode("02-00-00-00-00-01", code)
	program.kill9()
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.taken(code)
}

// TestVouchers_AKillWhileTheEventStoreIsAwayLosesNone: PostgreSQL takes the reports about the session, which is over
// when the program is killed, so that no further one comes.
func TestVouchers_AKillWhileTheEventStoreIsAwayLosesNone(t *testing.T) {
	t.Parallel()
	node := freePort(t)
	k := newKit(t)
	stop := k.eventStoreAlone(node)
	k, program := k.withVouchers("EVENTSTORE_URL=esdb://" + node + "?tls=false")
	code := k.sellVoucher()
	stop()
	class := rfc2865.Class_Get(k.typeCode("02-00-00-00-00-01", code))
	for _, status := range []rfc2866.AcctStatusType{
		rfc2866.AcctStatusType_Value_Start, rfc2866.AcctStatusType_Value_Stop,
	} {
		k.report(connection{secret: "secret-of-cafe", username: code}, class, told{
			session: "81000001", mac: "02-00-00-00-00-01", status: status,
		})
	}
	program.kill9()
	k.eventStoreAlone(node)
	k.taken(code)
}

// withVouchers starts the program in a process of its own, with more settings.
func (k *kit) withVouchers(settings ...string) (*kit, *child) {
	k.t.Helper()
	k.radius = childPorts{access: freePort(k.t), acct: freePort(k.t)}
	k.environ = append(k.environ, append(settings,
		"RADIUS_AUTH_ADDR="+k.radius.access, "RADIUS_ACCT_ADDR="+k.radius.acct)...)
	program := k.spawn(freePort(k.t))
	return k.signIn(), program
}

// eventStoreAlone runs `lastmile eventstore` at an address until the end of the test, or until it is stopped.
func (k *kit) eventStoreAlone(addr string) (stop func()) {
	k.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.t.Context()))
	var out logBuffer
	ended := make(chan struct{})
	environ := append(slices.Clone(k.environ), "EVENTSTORE_ADDR="+addr, "EVENTSTORE_URL=")
	go func() {
		defer close(ended)
		program{environ: environ, out: &out, err: k.log}.run(ctx, []string{"eventstore"})
	}()
	k.eventually("event store node",
		func(context.Context) (bool, error) { return strings.HasPrefix(out.String(), "esdb://"), nil })
	stop = func() {
		cancel()
		<-ended
	}
	atEnd(k.t, stop)
	return stop
}

// besideEventStore starts a node of the event store at an address, and the program beside it, and signs everybody in.
func (k *kit) besideEventStore() (node string, stop func()) {
	k.t.Helper()
	node = freePort(k.t)
	stop = k.eventStoreAlone(node)
	k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+node+"?tls=false")
	k.app = k.startBeside(roles{roleAPI, roleProjections, roleProcesses, roleJobs})
	k.addr = k.app.Addr()
	k.signIn()
	return node, stop
}

// taken starts the program again. The voucher has its first sign-in: another device only takes it over.
func (k *kit) taken(code string) {
	k.t.Helper()
	k.spawn(freePort(k.t))
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.typeCode("02-00-00-00-00-02", code)
	k.eventually("both sign-ins to be listed", func(context.Context) (bool, error) {
		rows := k.all(k.admin, "/vouchers?state=active")
		moves := 0.0
		for _, row := range rows {
			moves += row["moves"].(float64)
		}
		return len(rows) == 2 && moves == 1, fmt.Errorf("%v", rows)
	})
}

// sellVoucher registers a hotspot behind this machine and makes a voucher. Another one of its batch is in use.
func (k *kit) sellVoucher() string {
	k.t.Helper()
	k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "cafe", "ipAddress": "203.0.113.21", "radiusSecret": "secret-of-cafe",
		"managementAddress": "127.0.0.1:9",
	})
	plan := k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "day", "name": "A day", "kind": "hotspot", "price": 50, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "day"},
		"rates":   map[string]any{"down": 4000, "up": 1000},
	}).text("id")
	batch := k.must(k.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 2, "prefix": "CAFE"})
	codes := batch["codes"].([]any)
	k.typeCode("02-00-00-00-00-09", codes[1].(string)) // router and vouchers are known in the child
	return codes[0].(string)
}

// typeCode waits until a device is signed in at the hotspot with a code: the program may not know the router yet.
func (k *kit) typeCode(mac, code string) *radius.Packet {
	k.t.Helper()
	var answer *radius.Packet
	k.eventually("the accept of a voucher", func(context.Context) (bool, error) {
		answer = k.exchange(k.codeRequest(mac, code))
		return answer.Code == radius.CodeAccessAccept, nil
	})
	return answer
}

// codeRequest is a sign-in at the hotspot with a code.
func (k *kit) codeRequest(mac, code string) *radius.Packet {
	k.t.Helper()
	p := radius.New(radius.CodeAccessRequest, []byte("secret-of-cafe"))
	for _, err := range []error{
		rfc2869.MessageAuthenticator_Set(p, make([]byte, 16)), rfc2865.UserName_SetString(p, code),
		rfc2865.UserPassword_SetString(p, code), rfc2865.CallingStationID_SetString(p, mac),
		rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_LoginUser),
	} {
		if err != nil {
			k.t.Fatal(err)
		}
	}
	return p
}
