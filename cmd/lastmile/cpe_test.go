package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// internalKey is ACS_INTERNAL_KEY of the tests.
const internalKey = "an internal key of the tests"

// identified is the answer of the hook.
type identified struct {
	Known      bool
	OrgSlug    *string
	Tags       []string
	Parameters [][]any
}

// hooked sends a question of the CPE server.
func (k *kit) hooked(key string, body map[string]any) apitest.Answer {
	k.t.Helper()
	return apitest.Send(k.t, http.DefaultClient, k.addr, apitest.Request{
		Method: "POST", Path: "/internal/cpe/identify", Host: "127.0.0.1", Body: body,
		Header: map[string]string{"X-Internal-Key": key},
	})
}

// calls lets a CPE call, and gives what it is told.
func (k *kit) calls(serial string) (told identified) {
	k.t.Helper()
	got := k.hooked(internalKey, map[string]any{"serialNumber": serial, "oui": "00aabb", "productClass": "ONT"})
	if err := json.Unmarshal(got.Body, &told); err != nil || got.Status != 200 {
		k.t.Fatalf("identify %s: %d %s (%v)", serial, got.Status, got.Body, err)
	}
	return told
}

// pendingID waits until a CPE is on the pending list, and gives its id.
func (k *kit) pendingID(as apiClient, serial string) (cpe string) {
	k.t.Helper()
	k.eventually(serial+" on the pending list", func(ctx context.Context) (bool, error) {
		page, err := as.call(ctx, "GET", "/cpe/pending?serial="+serial, "", nil)
		for _, row := range page.list("data") {
			cpe = row.text("id")
		}
		return cpe != "", err
	})
	return cpe
}

// tagsAre waits until a CPE is told tags.
func (k *kit) tagsAre(serial string, want ...string) (told identified) {
	k.t.Helper()
	k.eventually(fmt.Sprint("tags ", want), func(context.Context) (bool, error) {
		told = k.calls(serial)
		return slices.Equal(told.Tags, want), nil
	})
	return told
}

// valueOf is a parameter that a CPE is told; nil = it is not.
func (i identified) valueOf(name string) any {
	for _, p := range i.Parameters {
		if p[0] == name {
			return p[1]
		}
	}
	return nil
}

// newCpeKit runs a program with a key for the CPE server.
func newCpeKit(t *testing.T) *kit {
	t.Helper()
	return newKit(t, "ACS_INTERNAL_KEY="+internalKey).start().signIn()
}

func TestCpe_TheKeyOfTheHook(t *testing.T) {
	t.Parallel()
	box := map[string]any{"serialNumber": "SN-1", "oui": "00AABB"}
	unset := newKit(t).start()
	for _, key := range []string{"", "anything"} {
		if got := unset.hooked(key, box); got.Status != 404 || got.Code() != "not_found" {
			t.Errorf("without a key of ours: %d %s", got.Status, got.Body)
		}
	}
	k := newCpeKit(t)
	for _, key := range []string{"", "x", internalKey + "x", internalKey[:5], strings.ToUpper(internalKey)} {
		got := k.hooked(key, box)
		if got.Status != 401 || got.Code() != "unauthenticated" || strings.Contains(string(got.Body), "key") {
			t.Errorf("%q: %d %s", key, got.Status, got.Body)
		}
	}
	for _, bad := range []map[string]any{
		{"serialNumber": "", "oui": "00AABB"}, {"serialNumber": strings.Repeat("9", 65), "oui": "00AABB"},
		{"serialNumber": "SN\u0001", "oui": "00AABB"}, {"serialNumber": "SN-1", "oui": "00AABB", "more": 1},
	} {
		if got := k.hooked(internalKey, bad); got.Status != 422 {
			t.Errorf("%v: %d %s", bad, got.Status, got.Body)
		}
	}
	if got := k.hooked(internalKey, map[string]any{"oui": "00AABB"}); got.Status != 400 {
		t.Errorf("without a serial number: %d %s", got.Status, got.Body)
	}
	if rows := k.all(k.admin, "/cpe/pending"); len(rows) != 0 {
		t.Errorf("refused questions made %v", rows)
	}
}

// TestCpe_IdentificationIsWhole goes from the first call to tags and login, and looks for the password where it must
// not be.
func TestCpe_IdentificationIsWhole(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	first := k.calls("SN-1")
	if again := k.calls(" SN-1 "); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("told %v, and again %v", first, again)
	}
	if first.Known || first.OrgSlug != nil || len(first.Tags) != 0 ||
		first.valueOf("Device.ManagementServer.PeriodicInformEnable") != true ||
		first.valueOf("InternetGatewayDevice.ManagementServer.PeriodicInformInterval") != 300.0 {
		t.Errorf("told at first %v", first)
	}
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	box := k.pendingID(k.admin, "SN-1")
	claimed := k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{
		"subscriberId": line.subscriber, "label": "Kitchen", "location": "first floor",
	})
	if claimed.text("subscriptionId") != line.subscription || claimed.text("label") != "Kitchen" ||
		claimed.at("online") != "true" || claimed.text("lastInform") == "" {
		t.Errorf("claimed %v", claimed)
	}
	told := k.tagsAre("SN-1", "org:acme", "sub:amina-line", "plan:home")
	for _, at := range []string{
		"Device.PPP.Interface.1.", "InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.",
	} {
		if told.valueOf(at+"Username") != "amina-line" || told.valueOf(at+"Password") != line.password ||
			told.valueOf(at+"Enable") != true {
			t.Errorf("told %v", told.Parameters)
		}
	}
	if !told.Known || told.OrgSlug == nil || *told.OrgSlug != "acme" {
		t.Errorf("told %v", told)
	}
	k.must(k.admin, "POST", "/subscriptions/"+line.subscription+"/credentials", map[string]any{
		"username": "amina-new", "password": "another secret",
	})
	told = k.tagsAre("SN-1", "org:acme", "sub:amina-new", "plan:home")
	if told.valueOf("Device.PPP.Interface.1.Password") != "another secret" {
		t.Errorf("after the change %v", told.Parameters)
	}
	k.must(k.admin, "POST", "/subscriptions/"+line.subscription+"/end", map[string]any{"reason": "moved away"})
	if told = k.tagsAre("SN-1", "org:acme"); told.valueOf("Device.PPP.Interface.1.Password") != nil {
		t.Errorf("after the end %v", told.Parameters)
	}
	for _, path := range []string{"/cpe/devices/" + box, "/cpe/devices", "/audit-log?limit=100", "/outbox"} {
		got := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
			Path: path, Host: k.admin.host, As: k.admin.token,
		})
		if got.Status != 200 || strings.Contains(string(got.Body), line.password) ||
			strings.Contains(string(got.Body), "another secret") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	if strings.Contains(k.log.String(), line.password) || strings.Contains(k.log.String(), internalKey) {
		t.Error("a secret is in the log")
	}
}

func TestCpe_ThePendingListShowsNothingOfOthers(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	rival := k.organization("rival", "ada@rival.test")
	for _, serial := range []string{"SN-1", "SN-2", "OTHER-3"} {
		k.calls(serial)
		k.pendingID(k.admin, serial)
	}
	mine := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+mine+"/claim", nil) // the body is optional
	for _, as := range []apiClient{k.admin, rival, k.root} {
		rows := k.all(as, "/cpe/pending")
		if len(rows) != 2 || rows[0].text("serialNumber") != "OTHER-3" || rows[1].text("serialNumber") != "SN-2" {
			t.Errorf("pending %v", rows)
		}
		for _, field := range []string{"orgId", "subscriberId", "label", "tags"} {
			if _, has := rows[0][field]; has {
				t.Errorf("the pending list shows %s", field)
			}
		}
		if rows := k.all(as, "/cpe/pending?serial=sn"); len(rows) != 1 {
			t.Errorf("by the beginning of a serial number: %v", rows)
		}
	}
	at := "/cpe/devices/" + mine
	customer, _ := k.subscriber("254711000071")
	k.refused(rival, "GET "+at, nil, 404, "cpe_not_found")
	k.refused(rival, "POST "+at+"/release", nil, 404, "cpe_not_found")
	k.refused(rival, "POST "+at+"/assign-subscriber", map[string]any{"subscriberId": customer}, 404, "cpe_not_found")
	k.refused(rival, "POST /cpe/pending/"+mine+"/claim", nil, 409, "already_claimed")
	k.refused(k.admin, "POST /cpe/pending/"+mine+"/claim", nil, 409, "already_claimed")
	pending := k.pendingID(rival, "SN-2")
	k.refused(k.admin, "GET /cpe/devices/"+pending, nil, 404, "cpe_not_found") // no organization has it yet
	k.refused(k.admin, "POST /cpe/devices/"+pending+"/release", nil, 404, "cpe_not_found")
	k.refused(rival, "POST /cpe/pending/"+pending+"/claim", map[string]any{"subscriberId": customer}, 404,
		"subscriber_not_found")
	k.refused(rival, "POST /cpe/pending/"+id.New[id.CPE]().String()+"/claim", nil, 404, "cpe_not_found")
	k.refused(rival, "POST /cpe/pending/"+pending+"/claim", map[string]any{"label": strings.Repeat("a", 61)}, 422, "")
	k.refused(k.admin, "POST /cpe/pending/"+pending+"/assign", map[string]any{}, 404, "") // on the root host alone
	support := apiClient{addr: k.addr, host: k.admin.host, token: k.staff(events.RoleSupport)}
	k.refused(support, "GET /cpe/pending", nil, 403, "role_required")
	k.refused(support, "POST "+at+"/release", nil, 403, "role_required")
	if rows := k.all(support, "/cpe/devices"); len(rows) != 1 || rows[0].text("id") != mine {
		t.Errorf("support sees %v", rows)
	}
	if rows := k.all(rival, "/cpe/devices"); len(rows) != 0 {
		t.Errorf("the rival sees %v", rows)
	}
}

func TestCpe_TheUserOfAnAssignmentIsOneCustomer(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	acme := k.must(k.admin, "GET", "/auth/me", nil).at("org.id")
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	k.seen(line.subscriber, map[string]string{})
	user := k.must(k.atPortal("acme", "+254711000077", 1), "GET", "/auth/me", nil).text("id")
	second, _ := k.subscriber("254711000072")
	staff := k.must(k.admin, "GET", "/auth/me", nil).text("id")
	boxes := map[string]string{}
	for _, serial := range []string{"SN-1", "SN-2", "SN-3"} {
		k.calls(serial)
		boxes[serial] = "/cpe/pending/" + k.pendingID(k.root, serial) + "/assign"
	}
	for _, of := range []string{staff, id.New[id.User]().String()} {
		k.refused(k.root, "POST "+boxes["SN-1"], map[string]any{"orgId": acme, "userId": of}, 422, "invalid_input")
	}
	k.refused(k.root, "POST "+boxes["SN-1"], map[string]any{"orgId": id.New[id.Organization]().String()}, 404,
		"organization_not_found")
	k.refused(k.root, "POST "+boxes["SN-1"], map[string]any{}, 400, "")
	for serial, of := range map[string]string{"SN-1": line.subscriber, "SN-2": user} {
		made := k.must(k.root, "POST", boxes[serial], map[string]any{"orgId": acme, "userId": of})
		if made.text("subscriberId") != line.subscriber || made.text("orgId") != acme {
			t.Errorf("assigned %v", made)
		}
	}
	k.refused(k.root, "POST "+boxes["SN-1"], map[string]any{"orgId": acme}, 409, "already_claimed")
	k.seen(second, map[string]string{"phone": "+254711000077"}) // now the sign-in sees two
	k.eventually("a sign-in that sees two", func(ctx context.Context) (bool, error) {
		_, err := k.root.call(ctx, "POST", boxes["SN-3"], "", map[string]any{"orgId": acme, "userId": user})
		no := asAPIError(err)
		return no != nil && no.Status == 422, nil
	})
	k.must(k.root, "POST", boxes["SN-3"], map[string]any{"orgId": acme})
	mine := k.all(k.atPortal("acme", "+254711000077", 2), "/me/devices")
	if len(mine) != 2 || mine[0].text("subscriberId") != line.subscriber || mine[0]["tags"] != nil {
		t.Errorf("the customer sees %v", mine)
	}
	if rows := k.all(k.admin, "/me/devices"); len(rows) != 0 {
		t.Errorf("staff have %v", rows)
	}
	told := k.published("cpe.assigned", 3)
	if told[0].at("data.orgId") != acme || told[0].at("data.actor.role") != "super_admin" {
		t.Errorf("the outbox has %v", told)
	}
}

// published waits until the outbox has so many messages of a type.
func (k *kit) published(topic string, n int) (list []answer) {
	k.t.Helper()
	k.eventually(fmt.Sprint(n, " messages ", topic), func(context.Context) (bool, error) {
		list = slices.DeleteFunc(k.all(k.admin, "/outbox"), func(m answer) bool { return m.text("type") != topic })
		return len(list) == n, nil
	})
	return list
}

func TestCpe_ADeviceGoesFromCustomerToCustomer(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	next, _ := k.subscriber("254711000073")
	k.calls("SN-1")
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"label": "Kitchen"})
	give := "/cpe/devices/" + box + "/assign-subscriber"
	given := k.must(k.admin, "POST", give, map[string]any{"subscriberId": line.subscriber, "pushNow": true})
	if fmt.Sprint(given["tags"]) != "[org:acme sub:amina-line plan:home]" || given.text("label") != "Kitchen" {
		t.Errorf("given %v", given)
	}
	k.refused(k.admin, "POST "+give, map[string]any{"subscriberId": next, "subscriptionId": line.subscription}, 404,
		"subscription_not_found")
	k.refused(k.admin, "POST "+give, map[string]any{"subscriberId": id.New[id.Subscriber]().String()}, 404,
		"subscriber_not_found")
	on := k.must(k.admin, "POST", give, map[string]any{"subscriberId": next})
	if fmt.Sprint(on["tags"]) != "[org:acme]" || on.text("subscriberId") != next || on["label"] != nil {
		t.Errorf("given on %v", on)
	}
	k.tagsAre("SN-1", "org:acme")
	k.timelineTells(line.subscriber, "cpe_given", "cpe_taken")
	k.timelineTells(next, "cpe_given")
	k.audited("cpe.AssignSubscriberToCpe")
	found := k.must(k.admin, "GET", "/search?q=sn-1", nil).list("data")
	if len(found) != 1 || found[0].text("type") != "cpe" || found[0].text("subscriberId") != next {
		t.Errorf("found %v", found)
	}
	for of, has := range map[string]bool{next: true, line.subscriber: false} {
		kept := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
			Path: "/subscribers/" + of + "/personal-data", Host: k.admin.host, As: k.admin.token,
		})
		if kept.Status != 200 || strings.Contains(string(kept.Body), "SN-1") != has {
			t.Errorf("kept of the customer: %d %.300s", kept.Status, kept.Body)
		}
	}
	plan := k.must(k.admin, "GET", "/plans", nil).list("data")[0].text("id")
	for _, username := range []string{"first-line", "second-line"} {
		k.must(k.admin, "POST", "/subscriptions", map[string]any{
			"subscriberId": next, "planId": plan, "username": username,
		})
	}
	k.refused(k.admin, "POST "+give, map[string]any{"subscriberId": next}, 422, "invalid_input") // which one?
	told := k.published("cpe.claimed", 1)
	if told[0].at("data.deviceId") != box || told[0].at("data.actor.role") != "admin" ||
		told[0].at("data.subscriberId") != "<nil>" {
		t.Errorf("the outbox has %v", told)
	}
}

func TestCpe_AReleasedDeviceBelongsToNoOrganization(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	rival := k.organization("rival", "ada@rival.test")
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	k.calls("SN-1")
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{
		"subscriberId": line.subscriber, "label": "Kitchen",
	})
	k.tagsAre("SN-1", "org:acme", "sub:amina-line", "plan:home")
	k.dashboardIs(k.admin, 1, 1, 0)
	released := k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	if released.text("serialNumber") != "SN-1" || len(released) != 10 {
		t.Errorf("released %v", released)
	}
	if told := k.tagsAre("SN-1"); told.Known || told.valueOf("Device.PPP.Interface.1.Password") != nil {
		t.Errorf("afterwards it is told %v", told)
	}
	k.dashboardIs(k.admin, 0, 0, 0)
	k.refused(k.admin, "GET /cpe/devices/"+box, nil, 404, "cpe_not_found")
	k.timelineTells(line.subscriber, "cpe_taken")
	taken := k.must(rival, "POST", "/cpe/pending/"+box+"/claim", nil)
	if taken["label"] != nil || taken["subscriberId"] != nil || fmt.Sprint(taken["tags"]) != "[org:rival]" {
		t.Errorf("claimed anew %v", taken)
	}
	k.dashboardIs(rival, 1, 1, 0)
	k.tagsAre("SN-1", "org:rival")
	k.audited("cpe.ReleaseCpe")
}

// dashboardIs waits until an organization has these counts: those of calls follow a claim and a release.
func (k *kit) dashboardIs(as apiClient, total, online, stale int) {
	k.t.Helper()
	firmware := map[string]any{}
	if total > 0 {
		firmware["Unknown"] = float64(total)
	}
	have, want := "", fmt.Sprint(total, online, total-online, stale, firmware)
	defer func() {
		if k.t.Failed() {
			k.t.Logf("the dashboard has %s, want %s", have, want)
		}
	}()
	k.eventually("the dashboard", func(ctx context.Context) (bool, error) {
		got, err := as.call(ctx, "GET", "/cpe/dashboard", "", nil)
		have = fmt.Sprint(got["total"], got["online"], got["offline"], got["staleDevices"], got["firmwareCounts"])
		return have == want, err
	})
}

// TestCpe_IsOnlineForTenMinutesAndStaleAnHourLater, in the list, on the dashboard and by filters.
func TestCpe_IsOnlineForTenMinutesAndStaleAnHourLater(t *testing.T) {
	t.Parallel()
	k := newKit(t, "ACS_INTERNAL_KEY="+internalKey)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.start().signIn()
	k.calls("SN-1")
	k.calls("SN-2")
	for _, serial := range []string{"SN-1", "SN-2"} {
		k.must(k.admin, "POST", "/cpe/pending/"+k.pendingID(k.admin, serial)+"/claim", nil)
	}
	k.dashboardIs(k.admin, 2, 2, 0)
	rows := func(filter string) string {
		var serials []string
		for _, row := range k.all(k.admin, "/cpe/devices?"+filter) {
			serials = append(serials, row.text("serialNumber"))
		}
		return strings.Join(serials, " ")
	}
	expect := func(online, offline, stale, lately string) {
		t.Helper()
		for filter, want := range map[string]string{
			"online=true": online, "online=false": offline, "stale=true": stale, "stale=false": lately,
			"online=true&stale=true": "", "online=false&stale=true": stale,
		} {
			if got := rows(filter); got != want {
				t.Errorf("%s: %q, want %q", filter, got, want)
			}
		}
	}
	expect("SN-2 SN-1", "", "", "SN-2 SN-1")
	now.Advance(9 * time.Minute)
	k.calls("SN-2")
	now.Advance(2 * time.Minute)
	k.eventually("the call of SN-2 to be written", func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/dashboard", "", nil)
		return got.at("online") == "1", err
	})
	k.dashboardIs(k.admin, 2, 1, 0)
	expect("SN-2", "SN-1", "", "SN-2 SN-1")
	now.Advance(time.Hour)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.dashboardIs(k.admin, 2, 0, 1)
	expect("", "SN-2 SN-1", "SN-1", "SN-2")
	if got := rows("q=sn-1") + rows("model=none") + rows("firmwareVersion=none"); got != "SN-1" {
		t.Errorf("by serial number, model and version: %s", got)
	}
}

// TestCpe_ManyFirstCallsAtOnce: each makes its device once, and none waits for the read model.
func TestCpe_ManyFirstCallsAtOnce(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	const boxes, callers = 60, 6
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for n := range boxes {
				got := k.hooked(internalKey, map[string]any{"serialNumber": fmt.Sprint("SN-", n), "oui": "00AABB"})
				if got.Status != 200 {
					t.Errorf("%d: %d %s", n, got.Status, got.Body)
				}
			}
		})
	}
	all.Wait()
	k.eventually("all devices", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/cpe/pending")) == boxes, nil
	})
}
