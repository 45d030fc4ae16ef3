package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// failing runs a command line that must fail, and gives what it says.
func (k *kit) failing(args ...string) string {
	k.t.Helper()
	var out, errs logBuffer
	if code := (program{environ: k.environ, out: &out, err: &errs}).run(k.t.Context(), args); code == exitOK {
		k.t.Errorf("lastmile %s succeeded: %s", strings.Join(args, " "), out.String())
	}
	return errs.String()
}

// wants looks for texts in what a command printed.
func wants(t *testing.T, printed string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			t.Errorf("%q is not in:\n%s", text, printed)
		}
	}
}

// TestEvents_SupportReadsTheLogWhileTheProgramRunsAndNot: what happened to a customer who did not pay, was blocked and
// paid, replayed at the command line, and again when nothing runs. Each look is in the audit log.
func TestEvents_SupportReadsTheLogWhileTheProgramRunsAndNot(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	customer, account := k.subscriber("254711000777")
	began := time.Now()
	subscription := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	number := k.pay("254711000777", account, 1500)
	receipt := k.receiptOf(number, customer)
	k.must(k.admin, "POST", "/subscribers/"+customer+"/block", map[string]string{"reason": "asked at the counter"})
	k.eventually("a block in the explanation", func(context.Context) (bool, error) {
		x := k.must(k.admin, "GET", "/subscribers/"+customer+"/access", nil)
		return x.text("entitled") == "none", nil
	})
	look := func(state string) {
		t.Helper()
		list := k.command("events", "list", "--category", "subscriber", "--org", "acme")
		wants(t, list, "subscriber-"+customer, "subscribers.SubscriberRegistered", "acme")
		show := k.command("events", "show", "subscriber-"+customer)
		wants(t, show, "subscribers.SubscriberBlocked", "asked at the counter", "blocked", "false -> true",
			"details.phone", "(admin)")
		wants(t, k.command("events", "show", "account-"+customer, "--newest", "--limit", "5"), "billing.",
			"KES 1500.00")
		wants(t, k.command("events", "state", "subscriber-"+customer), "blocked            true", account)
		wants(t, k.command("events", "diff", "subscription-"+subscription, "--from", "2020-01-01T00:00:00Z"),
			"username", "from nothing to event")
		wants(t, k.command("explain", "subscriber", customer), "entitled to none", "blocked", "asked at the counter",
			subscription, "The subscriber was blocked by hand.", "Ada (admin)")
		wants(t, k.command("explain", "subscriber", customer, "--at", stampNow(began)), "entitled to")
		wants(t, k.command("explain", "receipt", strings.ToLower(number)), receipt, "KES 1500.00", "credited", customer)
		if strings.Contains(show, "passwordRef") && !strings.Contains(show, "(secret)") {
			t.Errorf("%s: a secret is shown:\n%s", state, show)
		}
	}
	look("while it runs")
	wants(t, k.failing("events", "show", "subscriber-x"), "not the name of a stream")
	wants(t, k.failing("events", "show", "claim-"+customer), "no history of this type")
	wants(t, k.failing("events", "state", "plan-"+customer), "plan")
	wants(t, k.failing("events", "state", "subscriber-"+customer, "--at", "2020-01-01T00:00:00Z"),
		"Nothing was recorded")
	wants(t, k.failing("events", "state", "subscriber-"+customer, "--at", "2999-01-01T00:00:00Z"), "in the future")
	wants(t, k.failing("events", "list", "--org", "nobody"), `no organization "nobody"`)
	wants(t, k.failing("events", "list", "--limit", "0"), "--limit")
	wants(t, k.failing("explain", "receipt", "NOTHING1"), `no receipt "NOTHING1"`)
	k.app.Stop()
	look("while nothing runs")
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.eventually("the looks in the audit log", func(context.Context) (bool, error) {
		entries := k.must(k.admin, "GET", "/audit-log?action=audit.ReadHistory&limit=100", nil).list("data")
		by := map[string]int{}
		for _, e := range entries {
			by[e.at("actor.kind")+" "+e.at("actor.id")+" "+e.at("target.type")]++
		}
		return by["operator events show subscriber"] == 2 && by["operator events state subscriber"] == 3 &&
			by["operator events diff subscription"] == 2 && by["operator explain subscriber subscriber"] == 4 &&
			by["operator explain receipt receipt"] == 2, fmt.Errorf("looks: %v", by)
	})
}

// stampNow writes an instant for a flag.
func stampNow(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// TestEvents_ListGoesOnWhereItEnded: every stream is in one page, once, and JSON has the same.
func TestEvents_ListGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	for _, phone := range []string{"254711000001", "254711000002", "254711000003"} {
		k.subscriber(phone)
	}
	seen, after := map[string]bool{}, "0"
	for range 3 {
		text := k.command("events", "list", "--category", "subscriber", "--limit", "1", "--after", after, "--json")
		var line streamLine
		if err := json.Unmarshal([]byte(text), &line); err != nil || seen[line.Stream] || line.Org != "acme" {
			t.Fatalf("%s: %v", text, err)
		}
		seen[line.Stream] = true
		after = strconv.FormatUint(line.Position, 10)
	}
	if text := k.command("events", "list", "--category", "subscriber", "--after", after, "--json"); text != "" {
		t.Errorf("behind the last: %s", text)
	}
	page := k.command("events", "list", "--category", "subscriber", "--limit", "2")
	wants(t, page, "more: lastmile events list --after ")
}

// TestExplainDevice_NamesTheEventOfEachField: a router that was renamed is explained by the event that did it.
func TestExplainDevice_NamesTheEventOfEachField(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	device := k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "tower", "ipAddress": "203.0.113.20", "radiusSecret": "secret-of-acme",
		"managementAddress": "127.0.0.1:9",
	}).text("id")
	before := time.Now()
	k.must(k.admin, "PATCH", "/nas/devices/"+device, map[string]any{"name": "mast"})
	now := k.command("explain", "device", device)
	wants(t, now, "router "+device, "mast", "network.Device", "(secret)", "(admin)")
	wants(t, k.command("explain", "device", device, "--at", stampNow(before)), "tower")
	if strings.Contains(now, "secret-of-acme") {
		t.Errorf("a secret is shown:\n%s", now)
	}
	shown := k.command("events", "show", "device-"+device, "--json")
	var first entryLine
	if err := json.Unmarshal([]byte(strings.SplitN(shown, "\n", 2)[0]), &first); err != nil || first.Number != 0 ||
		first.Actor.Kind != events.ActorUser {
		t.Errorf("the first event: %+v, %v", first, err)
	}
}

func TestPrinter_WhatPeopleTypedCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := printer{&out}.table()
	row(w, "\x1b[2Jname\tcell\nline", words(historycases.Secret), words(nil), words(json.Number("7")))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.ContainsAny(got, "\x1b\t") || strings.Count(got, "\n") != 1 {
		t.Errorf("printed %q", got)
	}
}

// TestHistory_EveryRegisteredCategoryIsDecidedAbout: whoever adds a kind of aggregate says who reads its history.
func TestHistory_EveryRegisteredCategoryIsDecidedAbout(t *testing.T) {
	t.Parallel()
	var have, want []string
	for _, k := range historycases.Kinds() {
		have = append(have, k.Category)
	}
	for _, k := range wiredBus().Kinds() {
		want = append(want, k.Category)
	}
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("categories (-registered +table)\n%s", diff)
	}
}

// TestCategories_AreThoseOfTheRegisteredAggregates: a category that the catalog does not list would be passed over as
// another application's.
func TestCategories_AreThoseOfTheRegisteredAggregates(t *testing.T) {
	t.Parallel()
	want := []string{commands.ClaimCategory} // the bus keeps it itself
	for _, k := range wiredBus().Kinds() {
		want = append(want, k.Category)
	}
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), catalog.Categories()); diff != "" {
		t.Errorf("categories (-registered +catalog)\n%s", diff)
	}
}
