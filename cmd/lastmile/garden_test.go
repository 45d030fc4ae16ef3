package main

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/vendors/mikrotik"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestGarden_ACustomerPaysOnThePageAndIsOnlineAgain moves the clock until a customer is in the walled garden, who then
// pays on the payment page; nobody else does anything.
func TestGarden_ACustomerPaysOnThePageAndIsOnlineAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	c := k.connect(k.admin, "radiussecret", "amina")
	account := k.must(k.admin, "GET", "/subscribers/"+c.subscriber, nil).text("accountNumber")
	page := k.client("acme") // nobody is signed in
	pays := func() {
		t.Helper()
		if a := k.must(page, "POST", "/pay", map[string]any{"account": account}); a.text("status") != "accepted" {
			t.Errorf("the page answers %v", a)
		}
	}
	list := func() string {
		t.Helper()
		answer := k.dial(c.secret, c.username, c.password)
		if answer.Code != radius.CodeAccessAccept {
			return "refused"
		}
		return mikrotik.MikrotikAddressList_GetString(answer)
	}
	becomes := func(want string) {
		t.Helper()
		k.eventually("the address list to be "+want, func(context.Context) (bool, error) { return list() == want, nil })
	}
	k.issued(c.subscriber, 1)
	pays()
	becomes("")
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(c.subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.AddDate(0, 0, 3).Add(time.Hour)})
	k.dunning(c.subscription, events.DunningWalledGarden)
	becomes(routerplan.GardenList) // the rules on routers are for this list
	k.issued(c.subscriber, 2)      // the page asks for what is owed, and the clock's jump invoices and walls in at once
	pays()
	k.dunning(c.subscription, events.DunningNone)
	becomes("")
}

// TestGarden_OnARouterIsMadeKeptAndRepaired goes the way of an operator: script, service, a change of what it allows,
// somebody's edit, repair.
func TestGarden_OnARouterIsMadeKeptAndRepaired(t *testing.T) {
	t.Parallel()
	k := newKit(t, "WALLED_GARDEN_SITES=status.example.net").withRouters("7.16").start().signIn()
	r := k.register(0)
	path := "/nas/devices/" + r.device
	firewall := func() bool { return k.must(k.admin, "GET", path+"/firewall", nil)["inSync"] == true }
	if firewall() {
		t.Error("a router without the script has the walled garden")
	}
	script, err := k.admin.text(t.Context(), path+"/bootstrap-script")
	if err != nil {
		t.Fatal(err)
	}
	if _, faults := r.Paste(script); len(faults) > 0 {
		t.Fatal(faults)
	}
	if !firewall() {
		t.Errorf("after the script: %v", k.must(k.admin, "GET", path+"/firewall", nil))
	}
	service := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4", "walledGarden": map[string]any{
		"domains": []string{"bank.example"},
	}})
	allowed := func() (names []string) {
		for _, row := range r.Snapshot(false)["ip/firewall/address-list"] {
			names = append(names, row["address"])
		}
		slices.Sort(names)
		return names
	}
	k.must(k.admin, "PATCH", "/nas/services/"+service, map[string]any{"walledGarden": map[string]any{
		"domains": []string{"news.example"}, "addresses": []string{"198.51.100.7"},
	}})
	k.serviceIs(service, "active")
	want := "198.51.100.7 acme.lastmile.test news.example status.example.net"
	if got := strings.Join(allowed(), " "); got != want || !firewall() {
		t.Errorf("allowed: %s, want %s", got, want)
	}
	for path, name := range map[string]string{
		"ip/firewall/nat": "garden-nat-redirect", "ip/firewall/filter": "garden-forward",
	} {
		for _, rule := range r.Snapshot(false)[path] {
			if rule["comment"] == routerplan.FirewallTag+name {
				if _, err := r.Do(path, "remove", router.Item{".id": rule[".id"]}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if firewall() {
		t.Error("a removed rule is no difference")
	}
	k.must(k.admin, "POST", path+"/firewall/reconcile", nil)
	k.eventually("the firewall to be repaired", func(context.Context) (bool, error) { return firewall(), nil })
	k.must(k.admin, "DELETE", "/nas/services/"+service, nil)
	if got := strings.Join(allowed(), " "); got != "acme.lastmile.test status.example.net" || !firewall() {
		t.Errorf("after the service is gone: %s", got)
	}
}

// TestGarden_RedirectKnowsRoutersByTheirTunnelAlone asks from this machine, which is no router's tunnel.
func TestGarden_RedirectKnowsRoutersByTheirTunnelAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	address := k.must(k.admin, "GET", "/nas/devices/"+r.device, nil).text("tunnelAddress")
	found, err := networkviews.DevicesQuery{Views: k.app.engines.views}.OfTunnel(t.Context(),
		netip.MustParseAddr(address))
	if err != nil || found == nil || found.ID.String() != r.device {
		t.Errorf("the router at %s: %v %v", address, found, err)
	}
	if page := k.app.payPage("acme"); !strings.HasPrefix(page, "http://acme.lastmile.test:") ||
		!strings.HasSuffix(page, "/pay") {
		t.Errorf("the page is %s", page)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+k.app.redirect.Addr()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("a stranger gets %d", answer.StatusCode)
	}
}

func TestGarden_SettingsThatARouterCannotHoldAreRefused(t *testing.T) {
	t.Parallel()
	for setting, fault := range map[string]bool{
		"WALLED_GARDEN_SITES=bank.example, *.news.example,198.51.100.7 203.0.113.0/24": false,
		"WALLED_GARDEN_SITES=": false, "WALLED_GARDEN_SITES=https://bank.example": true,
		"WALLED_GARDEN_SITES=0.0.0.0/0": true, "WALLED_GARDEN_SITES=203.0.113.7/24": true,
		"WALLED_GARDEN_SITES=a b;/system": true, "WALLED_GARDEN_SITES=2001:db8::1": true,
		"WALLED_GARDEN_ADDR=10.99.0.1:1880": false, "WALLED_GARDEN_ADDR=10.99.0.1": true,
	} {
		name, _, _ := strings.Cut(setting, "=")
		_, err := loadConfig([]string{setting})
		if got := err != nil && strings.Contains(err.Error(), name); got != fault {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
