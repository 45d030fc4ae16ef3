package main

import (
	"context"
	"fmt"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
)

// TestVouchers_AKillWhileTheEventStoreIsAwayLosesNone: somebody signs in with a voucher while nothing can be recorded,
// and the program is killed at once. The router reports nothing. Afterwards the log has the sign-in, and another device
// takes the voucher over with what is left of its time.
func TestVouchers_AKillWhileTheEventStoreIsAwayLosesNone(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	ports := childPorts{access: freePort(t), acct: freePort(t)}
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "RADIUS_AUTH_ADDR="+ports.access, "RADIUS_ACCT_ADDR="+ports.acct)
	k.radius = ports
	program := k.spawn(freePort(t))
	k.signIn()
	code := k.sellVoucher()
	k.eventually("the voucher to be known", func(context.Context) (bool, error) {
		answer := k.typeCode("", code+"0")
		return rfc2865.ReplyMessage_GetString(answer) != "", nil
	})
	stopCluster(t, cluster)
	if answer := k.typeCode("02-00-00-00-00-01", code); answer.Code != radius.CodeAccessAccept {
		t.Fatalf("%v %q", answer.Code, rfc2865.ReplyMessage_GetString(answer))
	}
	program.kill9()
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.spawn(freePort(t))
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.typeCode("02-00-00-00-00-02", code)
	k.eventually("both sign-ins to be listed", func(context.Context) (bool, error) {
		rows := k.all(k.admin, "/vouchers?state=active")
		return len(rows) == 1 && fmt.Sprint(rows[0]["moves"]) == "1", fmt.Errorf("%v", rows)
	})
}

// sellVoucher registers a hotspot behind this machine and makes one voucher.
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
	batch := k.must(k.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1, "prefix": "CAFE"})
	return batch["codes"].([]any)[0].(string)
}

// typeCode signs a device in at the hotspot with a code.
func (k *kit) typeCode(mac, code string) *radius.Packet {
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
	return k.exchange(p)
}
