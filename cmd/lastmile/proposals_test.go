package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// edits lets the operator of a router type commands.
func (k *kit) edits(r simRouter, list ...router.Edit) {
	k.t.Helper()
	for _, e := range list {
		if _, err := r.Do(e.Menu, e.Command, e.Args); err != nil {
			k.t.Fatalf("%s %s: %v", e.Menu, e.Command, err)
		}
	}
}

// secret is a PPP secret of a customer of the time before.
func secret(name, password, profile string, more router.Item) router.Edit {
	args := router.Item{"name": name, "password": password, "profile": profile, "service": "pppoe"}
	for property, value := range more {
		args[property] = value
	}
	return router.Edit{Menu: "ppp/secret", Command: "add", Args: args}
}

// oldBase has the profiles and users of a router by which an ISP kept its customers.
var oldBase = []router.Edit{
	{Menu: "ppp/profile", Command: "add", Args: router.Item{
		"name": "Home 10", "rate-limit": "5M/10M 10M/20M 4M/8M 16/16",
	}},
	{Menu: "ppp/profile", Command: "add", Args: router.Item{"name": "Free"}},
	{Menu: "ppp/profile", Command: "add", Args: router.Item{"name": "platform-tunnel"}}, // of the bootstrap script
	{Menu: "ip/hotspot/user/profile", Command: "add", Args: router.Item{"name": "Home 10", "rate-limit": "1M/2M"}},
	secret("amina", "needle-amina", "Home 10", router.Item{
		"comment": "Amina Otieno 0711 000 901", "caller-id": "AA:BB:CC:DD:EE:01", "remote-address": "10.9.0.1",
	}),
	secret("AMINA", "needle-second", "Home 10", router.Item{"comment": "=cmd|' /C calc'!A0 0711000902"}),
	secret("0012", "needle-zeros", "Free", router.Item{"comment": "Brian Kip"}),
	secret("gone", "needle-gone", "Home 10", router.Item{"disabled": "yes", "comment": "0711000904"}),
	secret("branch", "needle-branch", "default-encryption", router.Item{"service": "l2tp"}),
	secret("plain", "needle-plain", "default", router.Item{"service": "any", "comment": "Pia 0711000905"}),
	{Menu: "ip/hotspot/user", Command: "add", Args: router.Item{
		"name": "room1", "password": "needle-room", "profile": "Home 10", "comment": "Rosa 0711000906",
		"mac-address": "AA:BB:CC:DD:EE:06", "limit-uptime": "1h",
	}},
}

// oldPasswords are those that nobody may find anywhere but in the vault.
var oldPasswords = []string{
	"needle-amina", "needle-second", "needle-zeros", "needle-gone", "needle-branch", "needle-plain", "needle-room",
}

// proposedPlans writes the plans of a proposal, each as "code kind up/down customers".
func proposedPlans(p answer) string {
	var lines []string
	for _, plan := range p.list("plans") {
		rates, _ := plan["rates"].(map[string]any)
		lines = append(lines, fmt.Sprint(plan["code"], " ", plan["kind"], " ", rates["up"], "/", rates["down"], " ",
			plan["customers"]))
	}
	return strings.Join(lines, "\n")
}

// notesOf writes the notes of a proposal, each as "name code leftOut".
func notesOf(p answer) string {
	var lines []string
	for _, n := range p.list("notes") {
		lines = append(lines, fmt.Sprint(n["name"], " ", n["code"], " ", n["leftOut"]))
	}
	return strings.Join(lines, "\n")
}

// TestProposal_ARoutersCustomersComeWithTheirPasswords over all releases and both protocols: no device needs a visit,
// and no password is anywhere but in the vault.
func TestProposal_ARoutersCustomersComeWithTheirPasswords(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"6.49.10", "7.23.7"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			k := newKit(t).withRouters(version).start().signIn()
			r := k.register(0)
			k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
			k.edits(r, oldBase...)
			p := k.must(k.admin, "POST", "/import-proposals", map[string]string{"deviceId": r.device})
			if got, want := proposedPlans(p), "default pppoe <nil>/<nil> 1\nHome-10 pppoe 5000/10000 2\n"+
				"Free pppoe <nil>/<nil> 1\nHome-10-hotspot hotspot 1000/2000 1"; got != want {
				t.Errorf("plans:\n%s\nwant:\n%s", got, want)
			}
			if got, want := notesOf(p), "AMINA alike false\ngone disabled true\nbranch other_service true\n"+
				"room1 limited false"; got != want {
				t.Errorf("notes:\n%s\nwant:\n%s", got, want)
			}
			if count(p, "customers") != 5 || count(p, "withoutPhone") != 1 || count(p, "leftOut") != 2 ||
				count(p, "withoutPassword") != 0 || p["passwordsHidden"] != false {
				t.Errorf("proposal %v", p)
			}
			k.takesIn(p)
			again := k.must(k.admin, "POST", "/import-proposals", map[string]string{"deviceId": r.device})
			if count(again, "customers") != 0 || !strings.Contains(notesOf(again), "amina here_already true") {
				t.Errorf("the second proposal: %v\n%s", again["customers"], notesOf(again))
			}
			k.eventually("both readings in the audit log", func(ctx context.Context) (bool, error) {
				path := "/audit-log?action=network.ReadDeviceCustomers&target=device:" + r.device
				told, err := k.admin.call(ctx, "GET", path, "", nil)
				return len(told.list("data")) == 2, err
			})
			k.shownIn(oldPasswords, nil)
			for _, needle := range oldPasswords {
				if strings.Contains(k.log.String(), needle) || strings.Contains(fmt.Sprint(p, again), needle) {
					t.Errorf("%s is in the log or an answer", needle)
				}
			}
		})
	}
}

// takesIn makes the plans of a proposal and imports its customers, with the phone that the router does not know.
func (k *kit) takesIn(p answer) {
	k.t.Helper()
	of := "/import-proposals/" + p.text("id")
	for _, plan := range p.list("plans") {
		rates := plan["rates"]
		if rates == nil {
			rates = map[string]int{"down": 3000, "up": 1000}
		}
		k.must(k.admin, "POST", "/plans", map[string]any{
			"code": plan["code"], "name": plan["name"], "kind": plan["kind"], "price": 1000, "rates": rates,
			"billing": map[string]string{"mode": "prepaid", "period": "month"},
		})
	}
	for _, plan := range k.must(k.admin, "GET", of, nil).list("plans") {
		if plan["planId"] == nil {
			k.t.Errorf("plan %v is not here", plan)
		}
	}
	table, err := k.admin.text(k.t.Context(), of+"/file")
	if err != nil || strings.Contains(table, "needle") || !strings.Contains(table, "'=cmd|'") {
		k.t.Fatalf("table %v:\n%s", err, table)
	}
	status, dry := k.upload(k.admin, "?dryRun=true&proposal="+p.text("id"), table)
	if status != 200 || count(dry, "valid") != 4 || !strings.HasPrefix(faultsOf(dry), "4 phone ") {
		k.t.Fatalf("dry run %d %v:\n%s", status, dry, faultsOf(dry))
	}
	whole := strings.Replace(table, "Brian,Kip,,", "Brian,Kip,0711000903,", 1)
	_, asked := k.upload(k.admin, "?proposal="+p.text("id"), whole)
	done := k.imported(k.admin, asked.text("id"))
	if count(done, "created") != 5 || done.text("source") != "router" {
		k.t.Fatalf("import %v\n%s", done, faultsOf(done))
	}
	k.shown()
	for phone, want := range map[string][2]string{
		"0711000901": {"amina", "needle-amina"}, "0711000902": {"AMINA", "needle-second"},
		"0711000903": {"0012", "needle-zeros"}, "0711000905": {"plain", "needle-plain"},
		"0711000906": {"room1", "needle-room"},
	} {
		services := k.found(phone).list("services")
		if len(services) != 1 {
			k.t.Fatalf("%s has %v", phone, services)
		}
		login := k.must(k.admin, "GET", "/subscriptions/"+services[0].text("subscriptionId")+"/credentials", nil)
		if login.text("username") != want[0] || login.text("password") != want[1] {
			k.t.Errorf("%s signs in as %s", phone, login.text("username"))
		}
	}
	second := k.found("0711000902")
	if !strings.HasPrefix(second.text("firstName"), "=cmd") {
		k.t.Errorf("the formula is %q", second.text("firstName"))
	}
	line := k.found("0711000901").list("services")[0].text("subscriptionId")
	sub := k.must(k.admin, "GET", "/subscriptions/"+line, nil)
	if sub.text("staticIp") != "10.9.0.1" || fmt.Sprint(sub["macAddresses"]) != "[AA:BB:CC:DD:EE:01]" {
		k.t.Errorf("Amina's service is %v", sub)
	}
}

// TestProposal_NobodyElseReadsARouterAndBadInputIsTold.
func TestProposal_NobodyElseReadsARouterAndBadInputIsTold(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	other := k.organization("other", "admin@other.test")
	r := k.register(0)
	k.edits(r, oldBase...)
	ask := map[string]string{"deviceId": r.device}
	k.refused(other, "POST /import-proposals", ask, 404, "device_not_found")
	k.refused(k.client("acme"), "POST /import-proposals", ask, 401, "")
	k.refused(k.admin, "POST /import-proposals", map[string]string{"deviceId": k.plan("x", 1)}, 404, "device_not_found")
	k.refused(k.admin, "POST /import-proposals", map[string]string{}, 400, "")
	p := k.must(k.admin, "POST", "/import-proposals", ask)
	of := p.text("id")
	for _, call := range []string{"GET /import-proposals/" + of, "GET /import-proposals/" + of + "/file"} {
		k.refused(other, call, nil, 404, "proposal_not_found")
	}
	table, err := k.admin.text(t.Context(), "/import-proposals/"+of+"/file")
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"?dryRun=true&proposal=" + of + "&source=radiusdesk": "422 invalid_input",
		"?dryRun=true&proposal=nothing":                      "422 invalid_input",
		"?proposal=" + k.plan("y", 1):                        "404 proposal_not_found",
	} {
		if status, out := k.upload(k.admin, query, table); fmt.Sprint(status, " ", out.text("code")) != want {
			t.Errorf("%s: %d %v", query, status, out)
		}
	}
	if status, out := k.upload(other, "?dryRun=true&proposal="+of, table); status != 404 {
		t.Errorf("another organization uses the passwords: %d %v", status, out)
	}
	_, asked := k.upload(k.admin, "", "firstName,phone\nIvy,0711000999\n")
	k.imported(k.admin, asked.text("id"))
	if status, out := k.upload(k.admin, "?dryRun=true&proposal="+asked.text("id"), table); status != 404 {
		t.Errorf("an import is taken for a proposal: %d %v", status, out)
	}
	// A spreadsheet has changed a username: its customer would be refused by the router.
	_, dry := k.upload(k.admin, "?dryRun=true&proposal="+of,
		"firstName,phone,planCode,username,password\nB,0711000903,x,12,\nC,0711000904,x,13,own\n")
	if count(dry, "valid") != 1 || !strings.HasPrefix(faultsOf(dry), "2 username is none that the router has") {
		t.Errorf("dry run %v\n%s", dry, faultsOf(dry))
	}
	r.SetPower(false)
	k.refused(k.admin, "POST /import-proposals", ask, 503, "device_unreachable")
	_, err = k.admin.call(t.Context(), "POST", "/import-proposals", "", ask)
	if no := asAPIError(err); no == nil || strings.Contains(fmt.Sprint(no), r.address) {
		t.Errorf("the reason is %v", err)
	}
}

// TestProposal_ARouterThatHidesPasswordsIsTold: customers would get new ones, and their devices would be refused.
func TestProposal_ARouterThatHidesPasswordsIsTold(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	k.edits(r, oldBase...)
	k.edits(r, router.Edit{Menu: "user/group", Command: "set", Args: router.Item{
		".id": "full", "policy": "read,write,api,rest-api,web,local,!sensitive",
	}})
	p := k.must(k.admin, "POST", "/import-proposals", map[string]string{"deviceId": r.device})
	if p["passwordsHidden"] != true || count(p, "withoutPassword") != count(p, "customers") {
		t.Errorf("proposal %v", p)
	}
}

// TestProposal_ThousandsOfSecretsWithOddNames are read at once, and nothing is lost.
func TestProposal_ThousandsOfSecretsWithOddNames(t *testing.T) {
	t.Parallel()
	const n = 6_000
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	rows := make([]router.Item, 0, n+5)
	for i := range n {
		rows = append(rows, router.Item{
			".id": fmt.Sprintf("*%X", i+1), "name": fmt.Sprintf("user%d", i), "password": fmt.Sprintf("needle-%d", i),
			"profile": "default", "service": "any", "comment": fmt.Sprintf("Customer %d 07%08d", i, i),
			"disabled": "false",
		})
	}
	for i, name := range []string{" a", "ünï\u200b", "x\x01y", strings.Repeat("z", 3000), "y\u00a0z"} {
		rows = append(rows, router.Item{
			".id": fmt.Sprintf("*%X", n+1+i), "name": name, "password": "p", "profile": "default", "service": "any",
		})
	}
	r.Lie("ppp/secret", rows)
	p := k.must(k.admin, "POST", "/import-proposals", map[string]string{"deviceId": r.device})
	if count(p, "customers") != n || count(p, "leftOut") != 5 || count(p, "withoutPhone") != 0 {
		t.Fatalf("proposal %v of %v", p["customers"], p["leftOut"])
	}
	k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "default", "name": "Default", "kind": "pppoe", "price": 10, "rates": map[string]int{"down": 1, "up": 1},
		"billing": map[string]string{"mode": "prepaid", "period": "month"},
	})
	table, err := k.admin.text(t.Context(), "/import-proposals/"+p.text("id")+"/file")
	if err != nil {
		t.Fatal(err)
	}
	_, dry := k.upload(k.admin, "?dryRun=true&proposal="+p.text("id"), table)
	if count(dry, "rows") != n || count(dry, "valid") != n {
		t.Errorf("dry run %v of %v\n%.500s", dry["valid"], dry["rows"], faultsOf(dry))
	}
}

// TestImportCommand_ProposesFromARouter beside the running program, and writes no password.
func TestImportCommand_ProposesFromARouter(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := simRouter{Router: k.routers.Routers()[0]}
	r.device = k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "tower", "ipAddress": "203.0.113.20", "radiusSecret": "radiussecret", "apiUsername": "admin",
		"apiPassword": routerPassword, "managementAddress": r.Summary().Addresses["www"],
	}).text("id")
	k.edits(r, oldBase...)
	k.eventually("the router", func(ctx context.Context) (bool, error) {
		device, err := k.admin.call(ctx, "GET", "/nas/devices/"+r.device, "", nil)
		return device.text("name") == "tower", err
	})
	file := filepath.Join(t.TempDir(), "customers.csv")
	out := k.command("import", "--from-router", "tower", "--org", "acme", "--out", file)
	for _, want := range []string{
		"\nHome-10-hotspot ", "2000 kbit/s   1000 kbit/s", "5 customers; 1 without a phone",
		"left out: gone (disabled)",
		"/app/imports/routers/",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	table, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(table), "firstName,lastName,phone,planCode,username") {
		t.Fatalf("table %v:\n%s", err, table)
	}
	if strings.Contains(out+string(table), "needle") {
		t.Errorf("a password is shown:\n%s\n%s", out, table)
	}
	_, of, _ := strings.Cut(out, "/app/imports/routers/")
	of, _, _ = strings.Cut(of, " ")
	if p := k.must(k.admin, "GET", "/import-proposals/"+of, nil); count(p, "customers") != 5 {
		t.Errorf("the proposal is %v", p)
	}
	again := k.command("import", "--from-router", r.device, "--org", "acme")
	if !strings.Contains(again, "5 customers") {
		t.Errorf("by its id:\n%s", again)
	}
	for _, args := range [][]string{
		{"--from-router", "tower", "--org", "nobody"}, {"--from-router", "nothing", "--org", "acme"}, {"--org", "acme"},
	} {
		var out, errs logBuffer
		if (program{environ: k.environ, out: &out, err: &errs}).run(t.Context(), append([]string{"import"}, args...)) ==
			exitOK {
			t.Errorf("%v: %s", args, out.String())
		}
	}
}
