package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// phones are devices at the hotspot of a router.
type phones struct {
	k      *kit
	r      simRouter
	server string
	code   string
}

// signIn signs a device in on the page with the code, or by its MAC.
func (p phones) signIn(mac, method string) handset.Result {
	p.k.t.Helper()
	c := handset.Customer{Service: handset.Hotspot, Server: p.server, Method: method, MAC: mac}
	if method != handset.MACLogin {
		c.Name, c.Password = p.code, p.code
	}
	got, err := p.r.SignIn(p.k.t.Context(), c)
	if err != nil {
		p.k.t.Fatalf("%s signs in: %v", mac, err)
	}
	return got
}

// have waits until exactly one device is online.
func (p phones) have(mac string) {
	p.k.t.Helper()
	p.k.eventually("only "+mac+" to be online", func(context.Context) (bool, error) {
		active := p.r.Snapshot(true)["ip/hotspot/active"]
		return len(active) == 1 && active[0]["mac-address"] == mac, fmt.Errorf("%v", active)
	})
}

// moves gives how often the voucher moved.
func (p phones) moves() string {
	p.k.t.Helper()
	return fmt.Sprint(p.k.all(p.k.admin, "/vouchers")[0]["moves"])
}

// TestHotspot_AMovedVoucherStaysWhereItsOwnerHasMovedIt: a phone that loses a voucher does not come back by itself on a
// router that was set up here, and takes nothing over on one whose operator has switched cookies on. Devices are known
// by their MAC, and a device that nobody knows leaves no trace.
func TestHotspot_AMovedVoucherStaysWhereItsOwnerHasMovedIt(t *testing.T) {
	t.Parallel()
	k := newKit(t).withCustomers("7.16").start().signIn()
	r := k.installed(0)
	service := k.service(r, map[string]any{"type": "hotspot", "parentInterface": "ether5"})
	plan := k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "day", "name": "A day", "kind": "hotspot", "price": 50, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "day"}, "rates": map[string]any{
			"down": 4000, "up": 1000,
		},
	}).text("id")
	made := k.must(k.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1, "prefix": "CAFE"})
	p := phones{k: k, r: r, server: "hs-svc-" + service[:8], code: made["codes"].([]any)[0].(string)}
	first, second, third := "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"

	k.eventually("sign-in with a new code", func(context.Context) (bool, error) {
		got := p.signIn(first, "")
		return got.Outcome == handset.Accepted, fmt.Errorf("%+v", got)
	})
	p.have(first)
	k.eventually("session on its service", func(context.Context) (bool, error) {
		one := k.must(k.admin, "GET", "/nas/services/"+service, nil)
		row := k.must(k.admin, "GET", "/nas/devices/"+r.device+"/services", nil).list("data")[0]
		return one["activeSessions"] == 1.0 && row["activeSessions"] == 1.0, fmt.Errorf("%v %v", one, row)
	})
	if got := p.signIn(second, ""); got.Outcome != handset.Accepted {
		t.Fatalf("moved: %+v", got)
	}
	p.have(second)
	if cookies := r.Snapshot(true)["ip/hotspot/cookie"]; len(cookies) != 0 || len(r.Customers()) != 0 {
		t.Errorf("cookies %v, who come back %v", cookies, r.Customers())
	}
	p.byMAC(second, third)
	p.byCookie(service, second, third)
}

// byCookie moves the voucher on from a device that has a cookie, and puts the hotspot right afterwards.
func (p phones) byCookie(service, second, third string) {
	k, r, t := p.k, p.r, p.k.t
	t.Helper()
	profile := r.Snapshot(false)["ip/hotspot/profile"]
	for _, row := range profile {
		if _, err := r.Do("ip/hotspot/profile", "set", router.Item{
			".id": row[".id"], "login-by": "cookie,http-chap,http-pap",
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.signIn(second, ""); got.Outcome != handset.Accepted {
		t.Fatalf("with a cookie: %+v", got)
	}
	if got := p.signIn(third, ""); got.Outcome != handset.Accepted {
		t.Fatalf("moved: %+v", got)
	}
	k.eventually("phone to try its cookie", func(context.Context) (bool, error) {
		for _, c := range r.Customers() {
			if c.MAC == second && c.Refused > 1 {
				return true, nil
			}
		}
		return false, fmt.Errorf("%v", r.Customers())
	})
	p.have(third)
	if got := p.moves(); got != "2" {
		t.Errorf("%s moves", got)
	}
	k.eventually("refusals of the phone alone", func(context.Context) (bool, error) {
		counts := map[string]float64{}
		for _, row := range k.must(k.admin, "GET", "/nas/devices/"+r.device+"/refusals", nil).list("data") {
			counts[row.text("code")], _ = row["count"].(float64)
		}
		return counts["voucher_moved"] > 0 && counts["unknown_user"] < 20, fmt.Errorf("%v", counts)
	})
	k.must(k.admin, "POST", "/nas/services/"+service+"/reconcile", nil)
	for _, row := range r.Snapshot(false)["ip/hotspot/profile"] {
		if row["hotspot-address"] != "0.0.0.0" && row["login-by"] != "http-chap,mac,http-pap" {
			t.Errorf("repaired: %v", row)
		}
	}
}

// byMAC signs the device in by its MAC that has the voucher, after it went away, and tries one that nobody knows.
func (p phones) byMAC(mac, unknown string) {
	t := p.k.t
	t.Helper()
	p.r.Disconnect(p.code)
	if got := p.signIn(mac, handset.MACLogin); got.Outcome != handset.Accepted {
		t.Fatalf("by its MAC: %+v", got)
	}
	p.r.Disconnect(mac)
	for range 20 {
		if got := p.signIn(unknown, handset.MACLogin); got.Outcome != handset.Rejected {
			t.Fatalf("a device that nobody knows: %+v", got)
		}
	}
}
