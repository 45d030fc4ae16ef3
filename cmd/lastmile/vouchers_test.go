package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// cafe is a hotspot of an organization whose vouchers are worth a day.
type cafe struct {
	k     *kit
	nas   *handset.NAS
	door  uint16 // where the hotspot takes requests to end sessions
	batch answer
	codes []string
}

// openCafe registers a router, makes vouchers, and starts the hotspot.
func (k *kit) openCafe(count int) *cafe { return k.openCafeOf(count, nil) }

// openCafeOf has vouchers of a plan with other terms.
func (k *kit) openCafeOf(count int, terms map[string]any) *cafe {
	k.t.Helper()
	c := &cafe{k: k}
	c.open()
	k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "cafe", "ipAddress": "203.0.113.21", "radiusSecret": "secret-of-cafe",
		"managementAddress": "127.0.0.1:9", "coaPort": c.door,
	})
	body := map[string]any{
		"code": "day", "name": "A day", "kind": "hotspot", "price": 50, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "day"},
		"rates":   map[string]any{"down": 4000, "up": 1000},
	}
	maps.Copy(body, terms)
	plan := k.must(k.admin, "POST", "/plans", body).text("id")
	c.batch = k.must(k.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": count, "prefix": "CAFE"})
	for _, code := range c.batch["codes"].([]any) {
		c.codes = append(c.codes, code.(string))
	}
	return c
}

// open starts the hotspot at the address where the program answers now.
func (c *cafe) open() {
	t, server := c.k.t, c.k.app.radius.server
	var err error
	c.nas, err = handset.New(handset.Config{
		Server:     netip.MustParseAddrPort(server.AccessAddr().String()),
		Accounting: netip.MustParseAddrPort(server.AccountingAddr().String()), Secret: []byte("secret-of-cafe"),
		CoAPort: c.door,
	})
	if err == nil {
		err = c.nas.Start(t.Context())
	}
	if err != nil {
		t.Fatalf("start hotspot: %v", err)
	}
	atEnd(t, c.nas.Stop)
	c.door = netip.MustParseAddrPort(c.nas.CoAAddr().String()).Port()
}

// signIn signs a device in with a code.
func (c *cafe) signIn(mac, code string) handset.Result {
	c.k.t.Helper()
	result, err := c.nas.SignIn(c.k.t.Context(), handset.Customer{
		Service: handset.Hotspot, Name: code, Password: code, MAC: mac,
	})
	if err != nil {
		c.k.t.Fatalf("sign in: %v", err)
	}
	return result
}

// online wants a sign-in to be accepted.
func (c *cafe) online(mac, code string) handset.Result {
	c.k.t.Helper()
	result := c.signIn(mac, code)
	if result.Outcome != handset.Accepted {
		c.k.t.Fatalf("signed in: %+v", result)
	}
	return result
}

// alone waits until these devices have a session each, and no other one has.
func (c *cafe) alone(macs ...string) {
	c.k.t.Helper()
	c.k.eventually("sessions to end", func(context.Context) (bool, error) {
		var have []string
		for _, s := range c.nas.Sessions() {
			have = append(have, s.MAC)
		}
		slices.Sort(have)
		return slices.Equal(have, macs), nil
	})
}

// refused waits until a sign-in is refused with a text.
func (c *cafe) refused(mac, code, text string) {
	c.k.t.Helper()
	c.k.eventually("refusal because it is "+text, func(context.Context) (bool, error) {
		result := c.signIn(mac, code)
		return result.Outcome == handset.Rejected && strings.Contains(result.Message, text), nil
	})
}

// states waits until so many vouchers are in a state, and gives them.
func (c *cafe) states(state string, count int) []answer {
	c.k.t.Helper()
	var rows []answer
	c.k.eventually("vouchers to be "+state, func(context.Context) (bool, error) {
		rows = c.k.all(c.k.admin, "/vouchers?state="+state)
		return len(rows) == count, nil
	})
	return rows
}

// TestVouchers_FromTheSaleToTheEnd: vouchers are made, used at the hotspot, moved, voided and used up; the report has
// what was sold, and nothing tells a code again.
func TestVouchers_FromTheSaleToTheEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	moving := clock.NewMovable(clock.System(), 0)
	k.clock = moving
	k.start().signIn()
	c := k.openCafe(4)
	if result := c.online("02:00:00:00:00:01", strings.ToLower(c.codes[0])); !strings.Contains(
		attribute(result, "Mikrotik-Rate-Limit"), "1M/4M") {
		t.Errorf("accepted with %+v", result.Attributes)
	}
	c.online("02:00:00:00:00:02", strings.ReplaceAll(c.codes[0], "-", ""))
	c.online("02:00:00:00:00:03", c.codes[1])
	c.k.eventually("the move to be listed", func(context.Context) (bool, error) {
		rows := c.states("active", 2)
		return fmt.Sprint(rows[0]["moves"])+fmt.Sprint(rows[1]["moves"]) != "00", nil
	})
	c.alone("02:00:00:00:00:02", "02:00:00:00:00:03")
	k.eventually("the sessions to be shown", func(context.Context) (bool, error) {
		rows := k.all(k.admin, "/sessions?username="+c.codes[1])
		return len(rows) == 1 && rows[0].text("voucherId") != "" && rows[0]["subscriberId"] == nil &&
			rows[0].text("macAddress") == "02:00:00:00:00:03", nil
	})
	k.must(k.admin, "POST", "/vouchers/"+c.codes[1]+"/void", map[string]string{"reason": "stolen"})
	k.must(k.admin, "POST", "/vouchers/"+c.codes[2]+"/void", map[string]string{"reason": "torn"})
	c.alone("02:00:00:00:00:02")
	c.refused("02:00:00:00:00:03", c.codes[1], "not valid")
	c.refused("02:00:00:00:00:03", c.codes[2], "not valid")
	c.refused("02:00:00:00:00:03", "CAFE-2345-2345-2345", "not known")
	report := k.must(k.admin, "GET", "/reports/collections", nil)
	text, _ := json.Marshal(report)
	for _, part := range []string{
		`"channels":[{"channel":"voucher","count":2,"received":100,"takenBack":0,"total":100}]`, `"total":100`,
		`"userId":"`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	k.app.Stop()
	k.start()
	c.nas.Stop()
	c.open()
	c.online("02:00:00:00:00:02", c.codes[0])
	c.refused("02:00:00:00:00:03", c.codes[1], "not valid")
	moving.Advance(25 * time.Hour)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	c.refused("02:00:00:00:00:02", c.codes[0], "used up")
	c.states("used", 1)
	k.neverTold(c.codes)
}

// neverTold checks that the audit log, the list of vouchers and the program's own log have no code.
func (k *kit) neverTold(codes []string) {
	k.t.Helper()
	audit, _ := json.Marshal(k.all(k.admin, "/audit-log"))
	vouchers, _ := json.Marshal(k.all(k.admin, "/vouchers"))
	for _, code := range codes {
		plain := strings.ReplaceAll(code, "-", "")
		for name, text := range map[string]string{
			"audit log": string(audit), "list": string(vouchers), "log": k.log.String(),
		} {
			if strings.Contains(text, code) || strings.Contains(text, plain) {
				k.t.Errorf("the %s has a code", name)
			}
		}
	}
	for _, action := range []string{"access.MakeVouchers", "access.SignInVoucher", "access.VoidVoucher"} {
		if !strings.Contains(string(audit), action) {
			k.t.Errorf("the audit log has no %s", action)
		}
	}
}

// attribute is the value of an attribute of an answer; "" without it.
func attribute(r handset.Result, name string) string {
	for _, a := range r.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}
