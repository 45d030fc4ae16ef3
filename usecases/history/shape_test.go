package historycases_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// register adds the aggregates of all areas.
func register(b *bus.Bus) {
	bus.Register(b, access.Differences())
	bus.Register(b, access.Dunnings())
	bus.Register(b, access.DunningPolicies())
	bus.Register(b, access.Enforcements())
	bus.Register(b, access.Outages())
	bus.Register(b, access.Usages())
	bus.Register(b, access.VoucherBatches())
	bus.Register(b, access.Vouchers())
	bus.Register(b, audit.Lookups())
	bus.Register(b, audit.Refusals())
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.Allowances())
	bus.Register(b, billing.Approvals())
	bus.Register(b, billing.BatchUndos())
	bus.Register(b, billing.Fuses())
	bus.Register(b, billing.NumberSeries())
	bus.Register(b, billing.Runs())
	bus.Register(b, billing.Signatures())
	bus.Register(b, payments.BillOptIns())
	bus.Register(b, payments.BillManagers())
	bus.Register(b, payments.Bills())
	bus.Register(b, billing.TaxContacts())
	bus.Register(b, billing.TaxGateways())
	bus.Register(b, identity.APIKeys())
	bus.Register(b, identity.Organizations())
	bus.Register(b, identity.Sessions())
	bus.Register(b, identity.Users())
	bus.Register(b, cpe.CPEs())
	bus.Register(b, cpe.Operations())
	bus.Register(b, cpe.FirmwareFiles())
	bus.Register(b, cpe.Campaigns())
	bus.Register(b, cpe.Provisions())
	bus.Register(b, cpe.Onus())
	bus.Register(b, messaging.AllSettings())
	bus.Register(b, messaging.Messages())
	bus.Register(b, messaging.SupportRequests())
	bus.Register(b, network.AddressPlans())
	bus.Register(b, network.Devices())
	bus.Register(b, network.Runs())
	bus.Register(b, network.Services())
	bus.Register(b, network.Topologies())
	bus.Register(b, outages.Compensations())
	bus.Register(b, outages.Outages())
	bus.Register(b, outages.Rules())
	bus.Register(b, payments.Gateways())
	bus.Register(b, payments.Payments())
	bus.Register(b, payments.Receipts())
	bus.Register(b, payments.Reconciliations())
	bus.Register(b, payments.Refunds())
	bus.Register(b, subscribers.Exports())
	bus.Register(b, subscribers.Imports())
	bus.Register(b, subscribers.PlanMoves())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Subscriptions())
	bus.Register(b, webhooks.Endpoints())
}

// shown lists every type whose values a history can show: all events and all states.
func shown() (types []reflect.Type) {
	b := bus.New(bus.Config{})
	register(b)
	for _, k := range b.Kinds() {
		types = append(types, k.State)
	}
	for _, e := range catalog.Events() {
		types = append(types, reflect.TypeOf(e))
	}
	return types
}

// TestShown_NoTextWithASuspiciousNameIsShownUnlessListed: a new field that could have a secret is hidden by its name,
// and this test asks whether it is harmless. Secrets themselves never come into the log.
func TestShown_NoTextWithASuspiciousNameIsShownUnlessListed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, of := range shown() {
		maps.Copy(found, historycases.Suspicious(of))
	}
	for _, field := range slices.Sorted(maps.Keys(found)) {
		if found[field] {
			t.Errorf("%s is hidden by its name: list it as harmless, or make it a reference to the vault", field)
		}
	}
	for field := range historycases.Harmless() {
		if _, used := found[field]; !used {
			t.Errorf("%s is listed as harmless and is not there", field)
		}
	}
}

// TestShown_EveryFieldOfEveryEventAndStateHasAForm: nothing of an event or a state is left out because of its type.
func TestShown_EveryFieldOfEveryEventAndStateHasAForm(t *testing.T) {
	t.Parallel()
	for _, of := range shown() {
		for _, place := range historycases.Unshown(of) {
			t.Errorf("%s has no form", place)
		}
	}
}

func TestShown_StatesThatAreNumbersHaveWords(t *testing.T) {
	t.Parallel()
	for _, of := range shown() {
		for _, kind := range historycases.Wordless(of) {
			t.Errorf("%s: a number of %s has no word", of, kind)
		}
	}
}

// TestKinds_EveryCategoryIsDecidedAbout: each category of the log is in the table, once, and each event is of one
// category or of claims.
func TestKinds_EveryCategoryIsDecidedAbout(t *testing.T) {
	t.Parallel()
	b := bus.New(bus.Config{})
	register(b)
	var have, want []string
	for _, k := range historycases.Kinds() {
		have = append(have, k.Category)
		if k.Name == "" || k.Role == "" && !k.Platform {
			t.Errorf("%s: nobody reads it, or it has no name", k.Category)
		}
	}
	for _, k := range b.Kinds() {
		want = append(want, k.Category)
	}
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("categories (-log +table)\n%s", diff)
	}
	for _, e := range catalog.Events() {
		var of []string
		for _, k := range b.Kinds() {
			if k.Holds(e) {
				of = append(of, k.Category)
			}
		}
		if _, claim := e.(events.ClaimEvent); len(of) != 1 && !claim {
			t.Errorf("%s is of %v", e.EventType(), of)
		}
	}
}
