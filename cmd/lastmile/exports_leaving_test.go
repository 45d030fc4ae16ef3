package main

import (
	"slices"
	"strings"
	"testing"
)

// TestExport_HasWhatAnISPNeedsToGoOnElsewhere: what customers have beside the plan for each month to come, what they
// and the staff wrote to each other, outages, and how the organization has set itself up.
func TestExport_HasWhatAnISPNeedsToGoOnElsewhere(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other := k.organization("other", "admin@other.test")
	plan := k.plan("home", 1500)
	customer := k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Amina", "phone": "+254711000911",
	}).text("id")
	line := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": customer, "planId": plan,
	}).text("id")
	k.issued(customer, 1)
	k.must(k.admin, "POST", "/subscriptions/"+line+"/add-ons", map[string]any{
		"description": "Public address", "amount": 300,
	})
	for _, c := range []apiClient{k.admin, other} {
		title := "=The mast of " + c.host
		k.must(c, "POST", "/outages", map[string]any{"title": title, "message": "It is down", "tag": "hill"})
	}
	files := k.copied(k.admin)
	if got := columnOf(t, files["extras.csv"], "description"); !slices.Equal(got, []string{"Public address"}) ||
		columnOf(t, files["extras.csv"], "amount")[0] != "300.00" {
		t.Errorf("extras %v", files["extras.csv"])
	}
	mast := "'=The mast of " + k.admin.host
	if got := columnOf(t, files["outages.csv"], "title"); !slices.Equal(got, []string{mast}) {
		t.Errorf("outages %v", got)
	}
	if got := columnOf(t, files["organization.csv"], "slug"); !slices.Equal(got, []string{"acme"}) {
		t.Errorf("organization %v", got)
	}
	settings := strings.Join(columnOf(t, files["settings.csv"], "value"), "\n")
	for _, want := range []string{`"reminderDays":[`, `"timezone":"Africa/Nairobi"`} {
		if !strings.Contains(settings, want) {
			t.Errorf("no %s in the settings %s", want, settings)
		}
	}
	for _, name := range []string{
		"blocks", "dunning", "top_ups", "tax_signatures", "tax_gateway", "reconciliations", "payment_gateway",
		"support_requests", "support_texts", "outage_rules", "compensations", "compensation_items", "letterheads",
		"api_keys",
	} {
		if files[name+".csv"] == nil {
			t.Errorf("no %s", name)
		}
	}
	for name, table := range files {
		for _, row := range table {
			if strings.Contains(strings.Join(row, "\n"), other.host) {
				t.Errorf("%s has %v", name, row)
			}
		}
	}
}
