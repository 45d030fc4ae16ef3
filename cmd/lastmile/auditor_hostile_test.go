package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// nonsense are 10,000 sessions that a router invents: with the login and the session number of a customer who is online
// elsewhere, with logins and ids of another organization, without names, with ids that are none or all the same, with
// HTML, bytes that are no letters, and texts that are far too long.
func nonsense(key string, strangers ...string) []router.Item {
	names := append([]string{
		"amina", "", "<script>alert(1)</script>", "a\x00b\n\x1b[2J", strings.Repeat("long ", 20_000), "' or 1=1 --",
		"*1",
	}, strangers...)
	rows := make([]router.Item, 10_000)
	for i := range rows {
		name := fmt.Sprint("stranger-", i)
		if i < len(names) {
			name = names[i]
		}
		rows[i] = router.Item{
			".id": []string{"*1", "*80000001", "not an id", ""}[i%4], "name": name, "service": "pppoe",
			"radius": "true", "caller-id": "<b>" + name, "address": "not an address", "uptime": "1h", "session-id": key,
		}
	}
	return rows
}

// TestAuditor_ARouterThatLiesHarmsNobodyElse: whatever it shows, differences are its own, few, and of nobody in another
// organization; a repair writes to no other router and ends no other session; and the other router is still looked at.
func TestAuditor_ARouterThatLiesHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	amina := w.joins("amina", 1)
	liar := w.installed(1)
	beta := w.organization("beta", "admin@beta.test")
	zuri := w.connect(beta, "secret-of-beta", "zuri")
	w.later(3 * time.Minute)
	w.shows(w.r, "before")
	key := "0x" + strings.ToUpper(w.r.Snapshot(true)["ppp/active"][0]["session-id"][2:])
	liar.Lie("ppp/active", nonsense(key, "zuri", zuri.subscriber, zuri.subscription, zuri.subscriber+"@beta"))
	liar.Lie("queue/simple", []router.Item{
		{".id": "*1", "target": "\x00", "max-limit": "\x00/\x00", "dynamic": "true"},
	})
	liar.Lie("interface/ethernet", []router.Item{{".id": "*1", "name": "\x00<b>"}})
	before, writes := w.all(w.admin, "/sessions?username=amina")[0].text("id"), w.r.Writes()

	var list []answer
	w.eventually("differences of the router that lies", func(context.Context) (bool, error) {
		w.look(liar)
		list = w.all(w.admin, "/access-differences")
		return len(list) > 0, fmt.Errorf("%v", w.all(w.admin, "/access-audits"))
	})
	named := 0 // the customer whose name the router uses is shown once, beside 100 of nobody and one for the rest
	for _, d := range list {
		if d["subscriberId"] != nil {
			named++
		}
		if d.text("deviceId") != liar.device || len(d.text("actual")) > 400 ||
			d["subscriberId"] != nil && d.text("subscriberId") != amina.subscriber {
			t.Errorf("difference %v", d)
		}
	}
	if named != 1 || len(list) != named+101 {
		t.Errorf("%d differences, %d of a customer", len(list), named)
	}
	if got := w.all(beta, "/access-differences"); len(got) > 0 {
		t.Errorf("another organization sees %v", got)
	}
	w.refused(beta, "POST /access-differences/"+list[0].text("id")+"/repair", nil, 404, "difference_not_found")
	w.refused(beta, "POST /access-audits", map[string]any{"deviceId": liar.device}, 404, "device_not_found")
	for _, d := range list[:8] {
		if got := w.repair(d); !slices.Contains([]string{"done", "gone", "repair_by_hand", "device_unreachable"}, got) {
			t.Errorf("repair of %v: %s", d, got)
		}
	}
	if got := w.all(w.admin, "/sessions?username=amina")[0]; got.text("id") != before || got["endedAt"] != nil ||
		w.r.Writes() != writes {
		t.Errorf("the session at the other router: %v; %d writes there", got, w.r.Writes()-writes)
	}

	w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{"max-limit": "1/1"})
	w.repairs(w.shows(w.r, "the other router", "wrong_rate")["wrong_rate"])
	for _, menu := range []string{"ppp/active", "queue/simple", "interface/ethernet"} {
		liar.Lie(menu, nil)
	}
	w.shows(liar, "the truth")
}

// TestAuditor_LooksThatAreAskedForAtOnceAreTwoAtMost: the one that runs, and one after it, for what changed meanwhile.
// The answer tells at which routers.
func TestAuditor_LooksThatAreAskedForAtOnceAreTwoAtMost(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.r.SetFaults(router.Faults{LatencyMs: 200})
	for range 5 {
		got := w.must(w.admin, "POST", "/access-audits", map[string]any{})
		if got["routers"] != 1.0 || fmt.Sprint(got["deviceIds"]) != "["+w.r.device+"]" {
			t.Errorf("%v", got)
		}
	}
	w.idle()
	var looks int
	if err := w.db.Owner.QueryRow(t.Context(), `select count(*) from `+w.db.Namespace.Schema("river")+`.river_job
		where kind = 'access_audit_router'`).Scan(&looks); err != nil || looks < 1 || looks > 2 {
		t.Errorf("%d looks, %v", looks, err)
	}
	if list := w.all(w.admin, "/access-audits"); len(list) != 1 || list[0]["lookedAt"] == nil {
		t.Errorf("looks %v", list)
	}
}
