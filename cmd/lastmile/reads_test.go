package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestReads_NeedNoEventStore: every list of an organization, and what a customer's page reads first, answers from the
// read models while the event store is away. Dunning policies, texts of messages and the limit of approvals are
// exceptions: they are read where they are changed.
func TestReads_NeedNoEventStore(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, stop := k.besideEventStore()
	customer, _ := k.subscriber("254711000001")
	lists := k.lists()
	if len(lists) < 20 {
		t.Fatalf("only %v are lists", lists)
	}
	for _, part := range []string{"", "/access", "/statement", "/timeline", "/usage"} {
		lists = append(lists, "/subscribers/"+customer+part)
	}
	stop()
	for _, path := range lists {
		if _, err := k.admin.call(t.Context(), "GET", path, "", nil); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// decided are reads that are no rows of read models: the aggregates are asked.
var decided = []string{"/events/stream", "/settings/dunning", "/settings/messages", "/settings/approvals",
	"/settings/bill-manager",
	"/billing/preview/invoices"}

// lists gives the addresses that staff read, from a day on where they can begin at one.
func (k *kit) lists() []string {
	k.t.Helper()
	text, err := json.Marshal(k.must(k.admin, "GET", "/openapi.json", nil)["paths"])
	if err != nil {
		k.t.Fatal(err)
	}
	var paths map[string]map[string]struct {
		Access     string `json:"x-access"`
		Parameters []struct {
			Name string `json:"name"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(text, &paths); err != nil {
		k.t.Fatal(err)
	}
	var out []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		get, is := paths[path]["get"]
		role := slices.Contains([]string{"support", "technician", "admin", "subscriber"}, get.Access)
		if !is || !role || strings.Contains(path, "{") || slices.Contains(decided, path) {
			continue
		}
		for _, p := range get.Parameters {
			if value := map[string]string{"from": "2026-01-01", "q": "amina"}[p.Name]; value != "" {
				path += "?" + p.Name + "=" + value
				break
			}
		}
		out = append(out, path)
	}
	return out
}
