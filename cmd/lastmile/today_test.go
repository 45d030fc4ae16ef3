package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// at gives a number or another value inside an answer by its path, such as "money.today.count".
func (a answer) at(path string) string {
	var v any = map[string]any(a)
	for _, name := range strings.Split(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return fmt.Sprint(v)
}

// todayShows waits until some figures of the report are as given; a read model may be behind.
func (k *kit) todayShows(c apiClient, want map[string]string) answer {
	k.t.Helper()
	var report answer
	k.eventually(fmt.Sprintf("the report to have %v", want), func(ctx context.Context) (bool, error) {
		var err error
		report, err = c.call(ctx, "GET", "/reports/today?since=2000-01-01", "", nil)
		for path, value := range want {
			if err == nil && report.at(path) != value {
				err = fmt.Errorf("%s is %s", path, report.at(path))
			}
		}
		return err == nil, err
	})
	return report
}

// TestToday_FiguresAreTheRowsOfTheirLists compares each figure with the list that it leads to. Before there is
// anything, all of them are zero.
func TestToday_FiguresAreTheRowsOfTheirLists(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.nothingYet()
	k.paybillReady()
	c := k.capped(k.admin, k.connect(k.admin, "secret-of-acme", "amina"))
	k.report(c, rfc2865.Class_Get(k.online(c)), told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_Start,
	})
	k.must(k.admin, "POST", "/payments/cash",
		map[string]any{"subscriberId": c.subscriber, "amount": 70, "reference": "Book 1"})
	payer, account := k.subscriber("254711000601")
	k.subscribe(payer, k.plan("fibre", 1500))
	k.issued(payer, 1)
	k.pay("254711000601", account, 1500)
	report := k.todayShows(k.admin, map[string]string{
		"money.today.count": "2", "customers.total": "2", "online.sessions": "1", "since.newCustomers": "2",
		"devices.total": "1", "subscriptions.active": "2",
	})
	from := "from=" + report.text("date")
	first := "from=" + report.text("date")[:8] + "01"
	for path, list := range map[string]string{
		"overdue.invoices": "/invoices?overdue=true", "suspense.count": "/receipts?state=suspense",
		"customers.total": "/subscribers", "customers.newThisMonth": "/reports/changes?kind=new_customer&" + first,
		"subscriptions.active":       "/subscriptions?state=active",
		"subscriptions.walledGarden": "/dunning?state=walled_garden",
		"subscriptions.suspended":    "/dunning?state=suspended",
		"subscriptions.reminding":    "/dunning?state=reminding",
		"online.sessions":            "/sessions?online=true",
		"online.walledGarden":        "/sessions?online=true&access=walled_garden",
		"pending.payments":           "/payments?status=PENDING", "failed.payments": "/payments?status=FAILED&" + from,
		"failed.messages": "/messages?state=failed&" + from, "failed.services": "/nas/services?state=failed",
		"devices.total": "/nas/fleet", "devices.up": "/nas/fleet?state=up", "devices.down": "/nas/fleet?state=down",
		"devices.unknown": "/nas/fleet?state=unknown", "drift.devices": "/nas/fleet?drift=true",
		"drift.services": "/nas/services?drift=true", "differences.total": "/access-differences",
		"since.restored": "/reports/changes?kind=restored",
	} {
		if rows := k.all(k.admin, list); report.at(path) != fmt.Sprint(len(rows)) {
			t.Errorf("%s is %s, and %s has %d rows", path, report.at(path), list, len(rows))
		}
	}
	day := k.must(k.admin, "GET", "/reports/collections?"+from, nil)
	month := k.must(k.admin, "GET", "/reports/collections?"+first, nil)
	if day.at("total") != report.at("money.today.amount") || month.at("total") != report.at("money.month.amount") {
		t.Errorf("money %v, collections %v and %v", report.at("money"), day.at("total"), month.at("total"))
	}
	if report.at("online.customers") != "1" || report.at("since.payments.count") != "2" {
		t.Errorf("online %s, since %s", report.at("online"), report.at("since"))
	}
	if k.refused(k.admin, "GET /reports/today?since=tomorrow", nil, 422, ""); len(k.all(k.admin,
		"/receipts?from=2000-01-01&to=2000-01-02")) != 0 {
		t.Error("receipts of another time")
	}
}

// nothingYet checks the report of an organization that has nothing.
func (k *kit) nothingYet() {
	t := k.t
	t.Helper()
	empty := k.must(k.admin, "GET", "/reports/today?since=2000-01-01", nil)
	for path, want := range map[string]string{
		"money.today.amount": "0", "money.lastMonth.untilNow.count": "0", "overdue.invoices": "0",
		"suspense.amount": "0", "suspense.oldestAt": "<nil>", "customers.total": "0", "subscriptions.active": "0",
		"online.sessions": "0", "devices.total": "0", "drift.devices": "0", "differences.total": "0",
		"failed.payments": "0", "since.payments.count": "0", "faults": "[]",
	} {
		if got := strings.TrimSuffix(empty.at(path), ".00"); got != want {
			t.Errorf("%s of nothing is %s, want %s", path, got, want)
		}
	}
}

// TestToday_AnOutageIsOneFaultOfItsRouter: a service that failed counts as a fault while its router answers, and as an
// effect of the outage when it does not. The one with a customer is the worse one. Support reads the router's name,
// and another organization nothing.
func TestToday_AnOutageIsOneFaultOfItsRouter(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.withRouters("7.16").start().signIn()
	r := k.register(0)
	service := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	r.SetFaults(router.Faults{DenyWrites: true})
	k.must(k.admin, "PATCH", "/nas/services/"+service, map[string]any{"subnet": "10.70.0.0/24"})
	k.serviceIs(service, "failed")
	report := k.todayShows(k.admin, map[string]string{"failed.services": "1", "since.failed.services": "1"})
	if f := report.list("faults"); len(f) != 1 || f[0].text("kind") != "service_failed" ||
		f[0].at("root.id") != service || f[0].text("words") != "not enough permissions (9)" {
		t.Errorf("faults with a router that answers: %v", f)
	}

	c := k.capped(k.admin, k.connect(k.admin, "secret-of-acme", "amina"))
	k.report(c, rfc2865.Class_Get(k.online(c)), told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_Start,
	})
	session := k.must(k.admin, "GET", "/sessions?online=true", nil).list("data")[0]
	tower := session.text("deviceId")
	row := k.all(k.admin, "/nas/fleet?state=unknown")
	if len(row) != 1 || row[0].text("deviceId") != tower || row[0].at("customers") != "1" {
		t.Errorf("the router without credentials: %v", row)
	}
	now.Advance(time.Second)
	k.must(k.admin, "PATCH", "/nas/devices/"+tower, map[string]any{"apiUsername": "u", "apiPassword": "a-password"})
	r.SetFaults(router.Faults{Refuse: true})
	for _, device := range []string{r.device, tower} {
		for range 6 { // opens the breaker
			k.refused(k.admin, "GET /nas/devices/"+device+"/resource", nil, 503, "device_unreachable")
		}
	}
	k.outage(r.device, tower)
}

// outage checks what everybody is told while two routers do not answer, one of which had a customer.
func (k *kit) outage(bare, tower string) {
	t := k.t
	t.Helper()
	report := k.todayShows(k.admin, map[string]string{"devices.down": "2", "since.devicesDown": "2"})
	faults := report.list("faults")
	if len(faults) != 2 || faults[0].at("root.id") != tower || faults[0].at("customers") != "1" ||
		faults[1].at("root.id") != bare || faults[1].at("customers") != "0" {
		t.Fatalf("faults %v", faults)
	}
	if effects := faults[1].list("effects"); len(effects) != 1 || effects[0].text("kind") != "service_failed" {
		t.Errorf("effects %v", effects)
	}
	for _, row := range k.all(k.admin, "/nas/fleet?reachable=false") {
		if row.text("state") != "down" || row["unreachableSince"] == nil || row.text("deviceId") == bare &&
			(row.at("services.failed") != "1" || row.at("services.total") != "1" || len(row.list("history")) == 0) {
			t.Errorf("fleet %v", row)
		}
	}
	other, support := k.strangers()
	seen := k.must(support, "GET", "/reports/today?since=2000-01-01", nil)
	text := fmt.Sprint(seen)
	if f := seen.list("faults"); len(f) != 2 || f[0].at("root.name") != "tower" || f[0].at("root.id") != "<nil>" ||
		f[0].at("customers") != "1" || f[0].at("words") != "<nil>" {
		t.Errorf("support is told %v", f)
	} else if off := k.all(support, "/subscribers?offBehind="+f[0].text("offBehind")); len(off) != 1 {
		t.Errorf("1 is counted as off, and the list has %v", off)
	} else {
		k.offInLists(support, off[0], seen)
		why := k.must(support, "GET", "/subscribers/"+off[0].text("id")+"/access", nil)
		if s := why.list("services"); why.at("observed") != "online" || s[0].at("outage") != "<nil>" ||
			s[1].at("outage.deviceName") != "tower" || s[1].at("outage.since") != f[0].text("since") ||
			s[0].at("notHeard.never") != "true" || s[1].at("heard.deviceId") != s[1].at("outage.deviceId") {
			t.Errorf("who is off behind it reads %v", why)
		}
	}
	for _, path := range []string{"devices", "drift", "failed.services", "since.devicesDown", "since.driftFound"} {
		if seen.at(path) != "<nil>" {
			t.Errorf("support reads %s: %s", path, seen.at(path))
		}
	}
	if strings.Contains(text, bare) || strings.Count(text, tower) != 1 {
		t.Errorf("support reads ids of routers: %s", text)
	}
	if got := k.must(other, "GET", "/reports/today", nil); len(got.list("faults")) != 0 ||
		got.at("devices.total") != "0" || got.at("online.sessions") != "0" || got.at("customers.total") != "0" {
		t.Errorf("another organization reads %v", got)
	}
	k.changesByRole(other, support)
	k.oneOutage(support, bare, tower)
}

// oneOutage checks that an outage which lasts has one line in place of one for each of its routers.
func (k *kit) oneOutage(support apiClient, bare, tower string) {
	k.t.Helper()
	behind := k.must(k.admin, "PATCH", "/nas/devices/"+bare, map[string]any{"upstreamId": tower})
	if behind.text("upstreamId") != tower || behind.text("upstreamName") != "tower" {
		k.t.Errorf("behind the tower: %v", behind)
	}
	began := k.must(k.admin, "POST", "/outages", map[string]any{"deviceId": tower})
	for _, who := range []apiClient{k.admin, support} {
		f := k.must(who, "GET", "/reports/today", nil).list("faults")
		if len(f) != 1 || f[0].text("kind") != "outage" || f[0].at("root.id") != began.text("id") ||
			f[0].at("root.name") != "tower" || f[0].at("customers") != began.at("customers") {
			k.t.Errorf("faults %v, of the outage %v", f, began)
			continue
		}
		effects := map[string]string{}
		for _, e := range f[0].list("effects") {
			effects[e.text("kind")] = e.at("count")
		}
		if effects["router_down"] != "2" || effects["service_failed"] != "1" || began.at("customers") != "1" {
			k.t.Errorf("effects %v of %v", effects, began)
		}
	}
	k.must(k.admin, "POST", "/outages/"+began.text("id")+"/end", map[string]any{})
	if f := k.must(k.admin, "GET", "/reports/today", nil).list("faults"); len(f) != 2 {
		k.t.Errorf("after its end: %v", f)
	}
}

// offInLists checks that a customer who is off behind the router tower is so in each list, and among who is online.
func (k *kit) offInLists(support apiClient, row, today answer) {
	k.t.Helper()
	alone := k.must(support, "GET", "/subscribers/"+row.text("id"), nil)
	for _, c := range []answer{row, alone} {
		if c.at("outage.deviceName") != "tower" || c.at("outage.since") != today.list("faults")[0].text("since") {
			k.t.Errorf("who is off behind the router is shown as %v", c)
		}
	}
	counts := k.must(support, "GET", "/reports/customers", nil)
	if counts.at("online") != "1" || counts.at("unheard") != "1" || today.at("online.unheard") != "1" {
		k.t.Errorf("of 1 who is off are online %v, and %s by the report", counts, today.at("online.unheard"))
	}
	for _, other := range k.all(support, "/subscribers?online=false") {
		if other["outage"] != nil {
			k.t.Errorf("who was not there has an outage: %v", other)
		}
	}
}

// changesByRole checks that changes of the network are an admin's, and of one organization.
func (k *kit) changesByRole(other, support apiClient) {
	t := k.t
	t.Helper()
	if rows := k.all(k.admin, "/reports/changes?kind=router_down"); len(rows) != 2 ||
		rows[0].text("deviceId") == "" || rows[0].text("deviceName") == "" || rows[0]["subscriber"] != nil {
		t.Errorf("an admin reads %v", rows)
	}
	k.refused(support, "GET /reports/changes?kind=router_down", nil, 403, "role_required")
	if rows := k.all(support, "/reports/changes"); len(rows) != 1 || rows[0].text("kind") != "new_customer" ||
		rows[0].at("subscriber.id") != rows[0].text("subscriberId") || rows[0].at("subscriber.name") == "" {
		t.Errorf("support reads %v", rows)
	}
	if rows := k.all(other, "/reports/changes"); len(rows) != 0 {
		t.Errorf("another organization reads %v", rows)
	}
	root := k.must(k.root, "GET", "/reports/today", nil)
	if root.at("breakers.open") != "2" || len(root.list("faults")) != 0 || root.at("organizations.total") != "2" {
		t.Errorf("the root host tells %v", root)
	}
	for _, row := range k.all(k.root, "/orgs") {
		if want := map[string]string{"acme": "1", "other": "0"}[row.text("slug")]; row.at("subscribers") != want {
			t.Errorf("%v has %s subscribers, want %s", row.text("slug"), row.at("subscribers"), want)
		}
	}
}

// TestProcesses_AnOrganizationSeesItsOwnWithoutErrors: an instance of one organization stops. Its admin sees that, and
// another one does not; only a super_admin reads why, and tries it again.
func TestProcesses_AnOrganizationSeesItsOwnWithoutErrors(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other, support := k.strangers()
	_, err := k.db.Owner.Exec(t.Context(), `insert into `+k.db.Namespace.Schema("processes")+`.instances
		(process, key, state, last_position, error, stopped_at)
		values ('receipts', 'one', $1, 0, 'a secret fault', now())`,
		`{"orgId": "`+k.organizationID("acme").String()+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	parts := func(c apiClient) string {
		for _, p := range k.must(c, "GET", "/system/processes", nil).list("data") {
			if p.text("name") == "receipts" {
				return p.at("stopped")
			}
		}
		return "none"
	}
	if got := parts(k.admin); !strings.Contains(got, "key:one") || strings.Contains(got, "secret") {
		t.Errorf("the admin sees %s", got)
	}
	if got := parts(other); got != "[]" {
		t.Errorf("another organization sees %s", got)
	}
	if got := parts(k.root); !strings.Contains(got, "a secret fault") {
		t.Errorf("the super_admin sees %s", got)
	}
	if root := k.must(k.root, "GET", "/reports/today", nil); root.at("processes.stopped") != "1" ||
		len(root.list("faults")) != 1 {
		t.Errorf("the root host tells %v", root)
	}
	k.refused(support, "GET /system/processes", nil, 403, "role_required")
	k.refused(k.admin, "POST /system/processes/receipts/retry", map[string]any{}, 404, "")
	k.refused(k.root, "POST /system/processes/nobody/retry", map[string]any{}, 404, "process_not_found")
	k.refused(k.root, "POST /system/processes/receipts/retry", map[string]any{"key": "two"}, 409, "nothing_stopped")
	k.must(k.root, "POST", "/system/processes/receipts/retry", map[string]any{"key": "one"})
	k.eventually("tried again", func(context.Context) (bool, error) { return parts(k.root) == "[]", nil })
}
