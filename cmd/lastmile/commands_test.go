package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates"
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
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestCommands_AllCanBeReadByTheirNames(t *testing.T) {
	t.Parallel()
	wired := wiredBus()
	for kind, name := range commandNames(t) {
		cmd, err := wired.DecodeStored(name, []byte("{}"))
		if err != nil {
			t.Errorf("%s: no registered definition lists it: %v", kind, err)
			continue
		}
		if cmd.CommandName() != name {
			t.Errorf("%s is read as %T", name, cmd)
		}
	}
}

func TestDefinitions_DecideTakesEveryListedCommand(t *testing.T) {
	t.Parallel()
	listed := slices.Concat(
		checkDefinition(t, identity.Organizations()), checkDefinition(t, identity.Users()),
		checkDefinition(t, identity.Sessions()), checkDefinition(t, identity.APIKeys()),
		checkDefinition(t, subscribers.Subscribers()),
		checkDefinition(t, subscribers.Plans()), checkDefinition(t, subscribers.Subscriptions()),
		checkDefinition(t, subscribers.Imports()), checkDefinition(t, subscribers.PlanMoves()),
		checkDefinition(t, subscribers.Exports()),
		checkDefinition(t, billing.Accounts()), checkDefinition(t, billing.NumberSeries()),
		checkDefinition(t, payments.Payments()), checkDefinition(t, payments.Receipts()),
		checkDefinition(t, payments.Refunds()), checkDefinition(t, payments.Reconciliations()),
		checkDefinition(t, billing.Allowances()), checkDefinition(t, billing.Approvals()),
		checkDefinition(t, billing.BatchUndos()), checkDefinition(t, billing.Fuses()),
		checkDefinition(t, billing.TaxGateways()), checkDefinition(t, billing.TaxContacts()),
		checkDefinition(t, billing.Signatures()),
		checkDefinition(t, billing.Runs()), checkDefinition(t, payments.Gateways()),
		checkDefinition(t, payments.BillOptIns()), checkDefinition(t, payments.BillManagers()),
		checkDefinition(t, payments.Bills()),
		checkDefinition(t, network.Devices()),
		checkDefinition(t, network.Services()), checkDefinition(t, network.AddressPlans()),
		checkDefinition(t, outages.Outages()), checkDefinition(t, outages.Rules()),
		checkDefinition(t, outages.Compensations()),
		checkDefinition(t, network.Topologies()), checkDefinition(t, network.Runs()),
		checkDefinition(t, audit.Refusals()),
		checkDefinition(t, audit.Lookups()),
		checkDefinition(t, access.DunningPolicies()), checkDefinition(t, access.Dunnings()),
		checkDefinition(t, access.Usages()), checkDefinition(t, access.Enforcements()),
		checkDefinition(t, access.VoucherBatches()), checkDefinition(t, access.Vouchers()),
		checkDefinition(t, access.Outages()), checkDefinition(t, access.Differences()),
		checkDefinition(t, cpe.CPEs()), checkDefinition(t, cpe.Operations()),
		checkDefinition(t, cpe.FirmwareFiles()), checkDefinition(t, cpe.Campaigns()),
		checkDefinition(t, messaging.Messages()), checkDefinition(t, messaging.AllSettings()),
		checkDefinition(t, messaging.SupportRequests()),
		checkDefinition(t, webhooks.Endpoints()),
		[]string{reflect.TypeFor[commands.ReleaseUnusedClaim]().Name()}, // the bus itself decides
	)
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(commandNames(t))), listed); diff != "" {
		t.Errorf("the definitions list other commands than package commands has (-commands +listed)\n%s", diff)
	}
}

// checkDefinition asks an aggregate that does not exist for the zero value of each command, and gives the names of the
// types of the commands. A panic fails the test.
func checkDefinition[S any, C commands.Command, E events.Event](
	t *testing.T, def aggregates.Definition[S, C, E],
) (kinds []string) {
	t.Helper()
	for _, cmd := range def.Commands {
		kind := reflect.TypeOf(cmd)
		kinds = append(kinds, kind.Name())
		if !reflect.ValueOf(cmd).IsZero() {
			t.Errorf("%s is listed with a value", kind)
		}
		if got := cmd.Target().Category; got != def.Category {
			t.Errorf("%s is for %q, not for %q", kind, got, def.Category)
		}
		if err := cmd.Validate(); err != nil && failure.CodeOf(err) == "" {
			t.Errorf("%s: Validate gives an error without a code: %v", kind, err)
		}
		var none S
		if _, err := def.Decide(none, cmd, time.Unix(0, 0).UTC()); err != nil && failure.CodeOf(err) == "" {
			t.Errorf("%s: Decide gives an error without a code: %v", kind, err)
		}
	}
	return kinds
}

// commandNames reads the stable names of all commands from the source, by the names of their types.
func commandNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, file := range sources(t, "commands", "*.go") {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "CommandName" {
				continue
			}
			result, ok := fn.Body.List[0].(*ast.ReturnStmt)
			if !ok {
				t.Fatal("a CommandName does more than to give the name")
			}
			receiver, isType := fn.Recv.List[0].Type.(*ast.Ident)
			text, isText := result.Results[0].(*ast.BasicLit)
			if !isType || !isText {
				t.Fatal("a CommandName is not that of a plain struct, or gives no literal")
			}
			name, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			names[receiver.Name] = name
		}
	}
	return names
}

// sources parses the files of a pattern below the root of the repository, without tests.
func sources(t *testing.T, pattern ...string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(append([]string{"..", ".."}, pattern...)...))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no source in %v: %v", pattern, err)
	}
	var list []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, file)
	}
	return list
}
