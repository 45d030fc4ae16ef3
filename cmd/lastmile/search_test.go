package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// finds searches, and gives "type match title" of each result.
func (k *kit) finds(c apiClient, q string) []string {
	k.t.Helper()
	found := []string{}
	for _, r := range k.results(c, q) {
		found = append(found, r.text("type")+" "+r.text("match")+" "+r.text("title"))
	}
	return found
}

// results searches.
func (k *kit) results(c apiClient, q string) []answer {
	k.t.Helper()
	return k.must(c, "GET", "/search?q="+url.QueryEscape(q), nil).list("data")
}

// searched is an organization with one of each thing that a search finds.
type searched struct {
	connection
	account, invoice, receipt, cash, code string
}

// toSearch makes such an organization: Amina has a line with addresses, is online, and has paid.
func (k *kit) toSearch() searched {
	k.t.Helper()
	s := searched{connection: k.connect(k.admin, "secret-of-acme", "amina.o"), cash: "Till 0042"}
	s.account = k.must(k.admin, "GET", "/subscribers/"+s.subscriber, nil).text("accountNumber")
	k.must(k.admin, "PATCH", "/subscriptions/"+s.subscription, map[string]any{
		"staticIp": "100.64.0.7", "staticIpv6Prefix": "2001:db8:1:100::/56",
		"macAddresses": []string{"AA:BB:CC:00:11:22"},
	})
	s.invoice = k.issued(s.subscriber, 1)[0].text("number")
	s.receipt = k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": s.subscriber, "amount": 1000, "reference": s.cash,
	}).text("receiptNumber")
	plan := k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "day", "name": "A day", "kind": "hotspot", "price": 50, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "day"},
		"rates":   map[string]any{"down": 4000, "up": 1000},
	}).text("id")
	made := k.must(k.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1})
	s.code = made["codes"].([]any)[0].(string)
	k.report(s.connection, nil, told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_Start,
	})
	k.eventually("all of it to be shown", func(context.Context) (bool, error) {
		invoices := k.must(k.admin, "GET", "/invoices?state=paid", nil).list("data")
		receipts := k.must(k.admin, "GET", "/receipts?state=allocated", nil).list("data")
		vouchers := k.must(k.admin, "GET", "/vouchers", nil).list("data")
		sessions := k.must(k.admin, "GET", "/sessions?subscriberId="+s.subscriber, nil).list("data")
		return len(invoices) == 1 && len(receipts) == 1 && len(vouchers) == 1 && len(sessions) == 1, nil
	})
	return s
}

func TestSearch_FindsEachThingByWhatPeopleReadOut(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.toSearch()
	k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Brian", "lastName": "Otieno-Amin", "phone": "+255754123456", "email": "brian@mail.test",
	})
	const amina, line = "Amina Otieno", "subscription username amina.o"
	device, session := "subscription mac AA:BB:CC:00:11:22", "session mac AA:BB:CC:00:11:22"
	byAccount := "subscriber account " + amina
	for q, want := range map[string][]string{
		"ami":               {"subscriber name " + amina, "subscriber name Brian Otieno-Amin", line},
		" OTIENO  ami ":     {"subscriber name " + amina, "subscriber name Brian Otieno-Amin"},
		"otieno amina":      {"subscriber name " + amina},
		"brian@mail":        {"subscriber email Brian Otieno-Amin"},
		s.account:           {byAccount},
		"ACME-" + s.account: {byAccount}, "acme" + s.account: {byAccount},
		s.account[:4] + " " + s.account[4:]: {byAccount}, s.account[:6]: {byAccount},
		"0711000077": {"subscriber phone " + amina}, "711000077": {"subscriber phone " + amina},
		"+254 711-000-077": {"subscriber phone " + amina}, "(0711) 000 077": {"subscriber phone " + amina},
		"00254711000077": {"subscriber phone " + amina}, "+2540711000077": {"subscriber phone " + amina},
		"71100": {"subscriber phone " + amina}, "+2547110": {"subscriber phone " + amina},
		"otieno 0711": {"subscriber name " + amina}, "711 otieno": {"subscriber name " + amina},
		"071100": {"subscriber phone " + amina}, "0077": {"subscriber phone " + amina},
		"0754123456": {"subscriber phone Brian Otieno-Amin"}, "3456": {"subscriber phone Brian Otieno-Amin"},
		"077":               {},
		"AMINA.o":           {line, "subscriber name " + amina},
		"amina.":            {"subscriber name " + amina, line},
		"aa-bb-cc-00-11-22": {device, session}, "AABB.CC00.1122": {device, session}, "aabbcc": {device, session},
		"aa:bb:c": {device, session}, "aa:bb:cd": {},
		"100.64.0.9": {"session ip 100.64.0.9"}, "100.64.0.7": {"subscription ip 100.64.0.7"},
		"100.64.0":          {"subscription ip 100.64.0.7"},
		"2001:db8:1:1ff::1": {"subscription ip 2001:db8:1:100::/56", "session ip 2001:db8:1:1ff::1"},
		"2001:db8:1:200::1": {},
		s.invoice:           {"invoice invoice " + s.invoice},
		"acme 1":            {"invoice invoice " + s.invoice}, "acme0001": {"invoice invoice " + s.invoice},
		"ACME-00":   {"invoice invoice " + s.invoice},
		"till 0042": {"receipt receipt " + s.receipt}, "TILL 00": {"receipt receipt " + s.receipt},
		strings.ToLower(s.code):              {"voucher voucher A day"},
		strings.ReplaceAll(s.code, "-", " "): {"voucher voucher A day"},
		"tower":                              {"device name tower"}, "203.0.113.2": {"device ip tower"},
	} {
		if diff := cmp.Diff(want, k.finds(k.admin, q)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", q, diff)
		}
	}
	if got := k.finds(k.admin, "1"); !slices.Contains(got, "invoice invoice "+s.invoice) {
		t.Errorf("the digits of an invoice alone: %v", got)
	}
	support := k.supportOf("acme")
	if got := k.finds(support, "tower"); len(got) != 0 {
		t.Errorf("support finds routers: %v", got)
	}
	if got := k.finds(support, s.invoice); len(got) != 1 {
		t.Errorf("support does not find an invoice: %v", got)
	}
}

func TestSearch_ShowsWhoseItIsAndRecordsQuestionsAboutAddresses(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.toSearch()
	const amina = "Amina Otieno"
	for q, want := range map[string]answer{
		s.account: {
			"id": s.subscriber, "subscriberId": s.subscriber, "state": "active",
			"subtitle": s.account + " · +254711000077",
		},
		"amina.o":    {"id": s.subscription, "state": "active", "subtitle": amina + " · Home"},
		"100.64.0.9": {"subscriberId": s.subscriber, "state": "online", "subtitle": amina},
		s.invoice:    {"subscriberId": s.subscriber, "state": "paid", "subtitle": amina + " · KES 1000.00"},
		"till 0042":  {"subscriberId": s.subscriber, "state": "allocated", "subtitle": amina + " · KES 1000.00"},
		s.code:       {"subscriberId": nil, "state": "unused", "subtitle": ""},
	} {
		got := k.results(k.admin, q)[0]
		for field, value := range want {
			if got[field] != value {
				t.Errorf("%q: %s is %v, want %v", q, field, got[field], value)
			}
		}
	}
	k.eventually("the questions about an address in the audit log", func(context.Context) (bool, error) {
		entries := k.must(k.admin, "GET", "/audit-log?action=audit.LookUpAddress", nil).list("data")
		if len(entries) != 1 {
			return false, nil
		}
		target, _ := entries[0]["target"].(map[string]any)
		return target["type"] == "subscriber" && target["id"] == s.subscriber, nil
	})
}

func TestAuditLog_NamesDocumentsAndMoneyByTheirNumbers(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.toSearch()
	wrong := k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": s.subscriber,
		"lines":        []any{map[string]any{"description": "Cable", "quantity": 1, "unitPrice": 300}},
	})
	k.must(k.admin, "POST", "/invoices/"+wrong.text("id")+"/void", map[string]string{"reason": "not sold"})
	k.eventually("numbers in the audit log", func(context.Context) (bool, error) {
		named := map[string]map[string]bool{}
		for _, entry := range k.must(k.admin, "GET", "/audit-log?limit=100", nil).list("data") {
			target, _ := entry["target"].(map[string]any)
			kind, _ := target["type"].(string)
			name, _ := target["name"].(string)
			if named[kind] == nil {
				named[kind] = map[string]bool{}
			}
			named[kind][name] = true
		}
		return named["invoice"][wrong.text("number")] && named["receipt"][s.cash],
			fmt.Errorf("%v", named)
	})
}

// supportOf makes a support user of an organization and signs the user in.
func (k *kit) supportOf(slug string) apiClient {
	k.t.Helper()
	const email = "sue@support.test"
	k.must(k.admin, "POST", "/users", map[string]string{
		"email": email, "firstName": "Sue", "role": "support", "temporaryPassword": "temporary-1",
	})
	c, _ := k.login(slug, email, "temporary-1")
	k.must(c, "POST", "/auth/password", map[string]string{
		"currentPassword": "temporary-1", "newPassword": testPassword,
	})
	return c
}

func TestSearch_NoRowOfAnotherTenantAndNoForgottenPerson(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.toSearch()
	beta := k.organization("beta", "admin@beta.test")
	all := []string{
		"amina", "amina otieno", s.account, "acme-" + s.account, "0711000077", "0077", "amina.o", "aa:bb:cc",
		"100.64.0.9",
		"100.64.0.7", "2001:db8:1:1ff::1", s.invoice, "1", "till 0042", s.code, "tower", "203.0.113.20",
	}
	for _, q := range all {
		if got := k.finds(beta, q); len(got) != 0 {
			t.Errorf("%q of another organization finds %v", q, got)
		}
		if got := k.finds(k.admin, q); len(got) == 0 {
			t.Errorf("%q finds nothing", q)
		}
	}
	who, err := id.Parse[id.Subscriber](s.subscriber)
	if err != nil {
		t.Fatal(err)
	}
	org, err := id.Parse[id.Organization](k.org())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.app.storage.store.Append(t.Context(), "subscriber-"+s.subscriber, eventstore.At(0),
		[]eventstore.New{{
			Event: events.SubscriberForgotten{SubscriberID: who, Reason: "asked for it"},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "forget",
				At: time.Now().UTC(), Actor: events.Actor{Kind: events.ActorOperator},
			},
		}}); err != nil {
		t.Fatal(err)
	}
	k.eventually("the person to be gone from all read models and sessions", func(context.Context) (bool, error) {
		return len(k.finds(k.admin, "aa:bb:cc")) == 0 && len(k.finds(k.admin, "amina")) == 0, nil
	})
	for _, q := range all[:11] {
		if got := k.finds(k.admin, q); len(got) != 0 {
			t.Errorf("%q of a forgotten person finds %v", q, got)
		}
	}
	if got := k.results(k.admin, s.invoice); len(got) != 1 || got[0].text("subtitle") != "KES 1000.00" {
		t.Errorf("an invoice of a forgotten person: %v", got)
	}
}

func TestSearch_TextIsPlainAndBounded(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.toSearch()
	for _, q := range []string{
		"%", "_", "*", "ami%", "amin_", "' or true --", `"amina"; drop table x`, `\`, "$1", "{schema}", "@org",
		"🐘", "<script>", "a'mina", "..", "::", "-", "+", "0x", "1e9", strings.Repeat("9", 200),
		strings.Repeat("a ", 90), "10.0.0.0.1",
		strings.Repeat("a", 200), "amina\tx", "::1", "100.64.0.9/24", "fe80::1%eth0", "null", "NaN",
	} {
		for _, r := range k.results(k.admin, q) {
			if !slices.Contains([]string{"subscriber"}, r.text("type")) || q[0] == '%' || q[0] == '*' {
				t.Errorf("%q finds %v", q, r)
			}
		}
	}
	if got := k.finds(k.admin, "ami%"); !slices.Contains(got, "subscriber name Amina Otieno") {
		t.Errorf("a sign after a name is no part of it: %v", got)
	}
	if diff := cmp.Diff(k.finds(k.admin, "amina"), k.finds(k.admin, "\u202eamina")); diff != "" {
		t.Errorf("a sign that nobody sees, which is pasted along, changes what is found:\n%s", diff)
	}
	for range 30 {
		k.must(k.admin, "POST", "/subscribers", map[string]any{"firstName": "Zawadi", "phone": "+254711000078"})
	}
	first := k.results(k.admin, "zawa")
	if len(first) != 20 || len(k.must(k.admin, "GET", "/search?q=z&limit=50", nil).list("data")) != 30 ||
		len(k.must(k.admin, "GET", "/search?q=z&limit=1", nil).list("data")) != 1 {
		t.Errorf("%d results", len(first))
	}
	if diff := cmp.Diff(first, k.results(k.admin, "zawa")); diff != "" {
		t.Errorf("the same question has another order:\n%s", diff)
	}
	for call, code := range map[string]string{
		"": "invalid_input", "?q=": "invalid_input", "?q=%20%20": "invalid_input", "?q=a&q=b": "invalid_input",
		"?q=" + strings.Repeat("a", 201): "invalid_input", "?q=%00": "invalid_input", "?q=%ff": "invalid_input",
		"?q=a&limit=0": "invalid_input", "?q=a&limit=51": "invalid_input", "?q=a&limit=x": "invalid_input",
		"?q=a&limit=": "invalid_input",
	} {
		k.refused(k.admin, "GET /search"+call, nil, 422, code)
	}
	k.refused(k.admin, "GET /search?q=a&cursor=x", nil, 400, "unknown_parameter")
	k.refused(k.client("acme"), "GET /search?q=a", nil, 401, "")
}

func TestSearch_OnThePlatform(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.organization("beta-net", "admin@beta.test")
	k.paybillReady()
	lost := k.pay("254711000099", "nobody", 20)
	k.eventually("money in suspense", func(ctx context.Context) (bool, error) {
		page, err := k.root.call(ctx, "GET", "/receipts?state=suspense&receiptNumber="+lost, "", nil)
		return len(page.list("data")) == 1, err
	})
	for q, want := range map[string][]string{
		"beta": {"organization slug beta-net"}, "BETA-NET": {"organization slug beta-net"},
		"net": {"organization name beta-net"}, "acme": {"organization slug acme"}, "gamma": {},
		strings.ToLower(lost): {"receipt receipt " + lost}, lost[:5]: {"receipt receipt " + lost},
	} {
		if diff := cmp.Diff(want, k.finds(k.root, q)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", q, diff)
		}
	}
	if got := k.finds(k.admin, lost); len(got) != 0 {
		t.Errorf("an organization finds money that belongs to none: %v", got)
	}
	k.refused(k.root, "GET /search?q=", nil, 422, "invalid_input")
}
