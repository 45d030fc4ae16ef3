package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// empty are openings that no closed period ever wrote.
func empty() []string {
	return []string{`null`, `{}`, ``, `[]`, `0`, `"x"`, `{"form":2}`, `{"form":3}`, `{"Reboot":{}}`, `{"last":7}`}
}

func TestOpening_WithoutAStateIsNoAggregateThatDoesNotExist(t *testing.T) {
	t.Parallel()
	var closing []string
	for _, category := range []string{
		checkEmptyOpenings(t, identity.Organizations()), checkEmptyOpenings(t, identity.Users()),
		checkEmptyOpenings(t, identity.Sessions()), checkEmptyOpenings(t, identity.APIKeys()),
		checkEmptyOpenings(t, subscribers.Subscribers()),
		checkEmptyOpenings(t, subscribers.Plans()), checkEmptyOpenings(t, subscribers.Subscriptions()),
		checkEmptyOpenings(t, billing.Accounts()), checkEmptyOpenings(t, billing.NumberSeries()),
		checkEmptyOpenings(t, payments.Payments()), checkEmptyOpenings(t, payments.Receipts()),
		checkEmptyOpenings(t, payments.Gateways()), checkEmptyOpenings(t, network.Devices()),
		checkEmptyOpenings(t, network.Services()), checkEmptyOpenings(t, network.AddressPlans()),
		checkEmptyOpenings(t, network.Topologies()), checkEmptyOpenings(t, network.Runs()),
		checkEmptyOpenings(t, audit.Refusals()),
		checkEmptyOpenings(t, audit.Lookups()),
		checkEmptyOpenings(t, access.DunningPolicies()), checkEmptyOpenings(t, access.Dunnings()),
		checkEmptyOpenings(t, access.Enforcements()), checkEmptyOpenings(t, webhooks.Endpoints()),
	} {
		if category != "" {
			closing = append(closing, category)
		}
	}
	slices.Sort(closing)
	want := []string{
		"account", "addressing", "device", "dunning", "enforcement", "nasservice", "numbering", "reconcile",
		"subscription", "topology", "webhook",
	}
	if diff := cmp.Diff(want, closing); diff != "" {
		t.Errorf("aggregates whose streams are closed (-want +have)\n%s", diff)
	}
}

// checkEmptyOpenings wants an aggregate whose streams are closed to stop at every empty opening, and gives its
// category; "" for one whose streams are never closed.
func checkEmptyOpenings[S any, C commands.Command, E events.Event](
	t *testing.T, def aggregates.Definition[S, C, E],
) string {
	t.Helper()
	if def.Close == nil {
		return ""
	}
	var none S
	for _, opening := range empty() {
		closed := reflect.New(reflect.TypeOf(def.Close(none))).Elem()
		closed.FieldByName("Opening").SetBytes([]byte(opening))
		event, ok := closed.Interface().(E)
		if !ok {
			t.Fatalf("%s: the closing event is not one of the aggregate", def.Category)
		}
		state, err := def.Reopen(event)
		if err == nil || !strings.Contains(err.Error(), "opening of "+def.Category) {
			t.Errorf("%s: %q is read as %+v, %v", def.Category, opening, state, err)
		}
	}
	return def.Category
}
