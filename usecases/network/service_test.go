package networkcases_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

func TestCreate_TakesAddressesAndIsApplied(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	asked, in := p.asked(), p.pppoe("ether4")
	if _, _, err := p.services.Create(t.Context(), broken(asked), in); failure.KindOf(err) != failure.Stale {
		t.Fatalf("a try that ends after the addresses: %v", err)
	}
	taken := p.plan().Held
	service, done, err := p.services.Create(t.Context(), asked, in)
	if err != nil || !done.Changed {
		t.Fatalf("repeat: %+v, %v", done, err)
	}
	if held := p.plan().Held; len(taken) != 1 || len(held) != 1 || held[0] != taken[0] || held[0].Service != service {
		t.Errorf("the first try took %+v, the repeat %+v", taken, held)
	}
	p.settled(service)
	if state := p.service(service); state.Addressing != taken[0].Addressing || state.Org != p.org {
		t.Errorf("the service is %+v", state)
	}
	again, repeated, err := p.services.Create(t.Context(), asked, in)
	if err != nil || again != service || repeated.Changed || len(p.plan().Held) != 1 {
		t.Errorf("repeat after the end: %s %+v, %v", again, repeated, err)
	}
}

func TestCreate_RefusesBeforeAddressesAreTaken(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	vlan := 4095
	type input = networkcases.CreateInput
	for name, c := range map[string]struct {
		change func(*input)
		code   string
	}{
		"another organization's router": {
			func(in *input) { in.Device = id.New[id.Device]() }, "device_not_found",
		},
		"unknown type":       {func(in *input) { in.Type = "ipoe" }, "invalid_input"},
		"VLAN":               {func(in *input) { in.VlanID = &vlan }, "invalid_input"},
		"half an address":    {func(in *input) { in.Addressing.Gateway = "10.1.1.1" }, "invalid_input"},
		"reserved interface": {func(in *input) { in.ParentInterface = "ether1" }, "reserved_interface"},
		"a garden without customers": {func(in *input) {
			in.Type, in.WalledGarden.Domains = events.ServiceCPEManagement, []string{"example.com"}
		}, "invalid_input"},
	} {
		in := p.pppoe("ether4")
		c.change(&in)
		_, _, err := p.services.Create(t.Context(), p.asked(), in)
		coretest.Refused(t, name, err, c.code)
	}
	stranger := coretest.Keyed(id.New[id.Organization]())
	_, _, err := p.services.Create(t.Context(), stranger, p.pppoe("ether4"))
	coretest.Refused(t, "another organization", err, "device_not_found")
	p.router.SetFaults(router.Faults{Refuse: true})
	_, _, err = p.services.Create(t.Context(), p.asked(), p.pppoe("ether4"))
	coretest.Refused(t, "a router without power", err, "device_unreachable")
	if held := p.plan().Held; len(held) != 0 || p.router.Writes() != 0 {
		t.Errorf("refused, but taken: %+v, %d writes", held, p.router.Writes())
	}
}

func TestCreate_OfTwoOnOneInterfaceAtOnceOneIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	errs := coretest.AtOnce(2, func(int) error {
		_, _, err := p.services.Create(t.Context(), p.asked(), p.pppoe("ether4"))
		return err
	})
	at := slices.Index(errs, nil)
	if at < 0 {
		t.Fatalf("both are refused: %v", errs)
	}
	coretest.Refused(t, "the other", errs[1-at], "interface_in_use")
}

func TestChange_TwoAtOnceOfDifferentFieldsBothCount(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	in := p.pppoe("ether4")
	in.Type = events.ServiceHotspot
	service, _, err := p.services.Create(t.Context(), p.asked(), in)
	if err != nil {
		t.Fatal(err)
	}
	p.settled(service)
	subnet, garden := "10.70.0.0/24", events.WalledGarden{Domains: []string{"example.com"}}
	changes := []networkcases.ServiceChange{{Subnet: &subnet}, {WalledGarden: &garden}}
	errs := coretest.AtOnce(len(changes), func(n int) error {
		_, err := p.services.Change(t.Context(), p.asked(), service, changes[n])
		return err
	})
	state := p.service(service)
	if errs[0] != nil || errs[1] != nil || state.Addressing.Subnet != subnet ||
		!slices.Equal(state.WalledGarden.Domains, garden.Domains) {
		t.Errorf("%+v, %v", state, errs)
	}
	p.settled(service)
	for _, name := range p.actions(commands.ServiceCategory, id.Any(service)) {
		if name == (commands.ConfirmNasServiceChange{}).CommandName() {
			t.Error("nobody confirmed anything")
		}
	}
}

func TestChange_ThatDisconnectsMustBeConfirmed(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether4")
	p.connect(service, "jane", "joe")
	parent := "ether5"
	in := networkcases.ServiceChange{ParentInterface: &parent}
	_, err := p.services.Change(t.Context(), p.asked(), service, in)
	coretest.Refused(t, "unconfirmed", err, "confirmation_required")
	if told := told(err); told.Details["affectedSessions"] != 2 {
		t.Errorf("the refusal says %+v", told)
	}
	if held := p.plan().Held; len(held) != 1 || held[0].Binding.ParentInterface != "ether4" {
		t.Errorf("a refused change took %+v", held)
	}
	in.Confirmed = true
	asked := p.asked()
	if _, err := p.services.Change(t.Context(), broken(asked), service, in); failure.KindOf(err) != failure.Stale {
		t.Fatalf("a try that ends after the addresses: %v", err)
	}
	done, err := p.services.Change(t.Context(), asked, service, in)
	if err != nil || !done.Changed {
		t.Fatalf("repeat: %+v, %v", done, err)
	}
	p.settled(service)
	if state := p.service(service); state.Binding.ParentInterface != parent || p.router.Summary().Sessions != 0 {
		t.Errorf("%+v, %d sessions", state, p.router.Summary().Sessions)
	}
	if again, err := p.services.Change(t.Context(), asked, service, in); err != nil || again.Changed {
		t.Errorf("repeat after the end: %+v, %v", again, err)
	}
	p.free() // the process gives the former addresses back a moment after the end
	if held := p.plan().Held; held[0].Binding.ParentInterface != parent {
		t.Errorf("held: %+v", held)
	}
	names := p.actions(commands.ServiceCategory, id.Any(service))
	if !slices.Contains(names, "network.ConfirmNasServiceChange") ||
		slices.Contains(names, "network.ChangeNasService") {
		t.Errorf("the audit log will show %v", names)
	}
}

func TestChange_RefusesBadInputAndStrangers(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether4")
	before := p.service(service)
	host, reserved, vlan := "10.70.0.1/24", "ether1", -1
	type change = networkcases.ServiceChange
	for name, c := range map[string]struct {
		in   change
		code string
	}{
		"host bits":          {change{Subnet: &host}, "invalid_input"},
		"VLAN":               {change{VlanID: &vlan, Confirmed: true}, "invalid_input"},
		"reserved interface": {change{ParentInterface: &reserved, Confirmed: true}, "reserved_interface"},
	} {
		_, err := p.services.Change(t.Context(), p.asked(), service, c.in)
		coretest.Refused(t, name, err, c.code)
	}
	stranger := coretest.Keyed(id.New[id.Organization]())
	_, err := p.services.Change(t.Context(), stranger, service, networkcases.ServiceChange{})
	coretest.Refused(t, "another organization", err, "service_not_found")
	_, err = p.services.Delete(t.Context(), stranger, networkcases.DeleteInput{Service: service, Confirmed: true})
	coretest.Refused(t, "another organization deletes", err, "service_not_found")
	_, err = p.services.Reconcile(t.Context(), stranger, service)
	coretest.Refused(t, "another organization reconciles", err, "service_not_found")
	if now := p.service(service); now.Generation != before.Generation || now.Addressing != before.Addressing {
		t.Errorf("%+v became %+v", before, now)
	}
}

func TestDelete_WaitsUntilTheServiceIsGone(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether4")
	p.connect(service, "jane")
	in, asked := networkcases.DeleteInput{Service: service}, p.asked()
	_, err := p.services.Delete(t.Context(), asked, in)
	coretest.Refused(t, "with a customer online", err, "confirmation_required")
	if told := told(err); told.Details["affectedSessions"] != 1 {
		t.Errorf("the refusal says %+v", told)
	}
	in.Confirmed = true
	gone, err := p.services.Delete(t.Context(), asked, in)
	if err != nil || !gone || !p.service(service).Removed {
		t.Fatalf("gone %t, %v", gone, err)
	}
	if held := p.plan().Held; len(held) != 0 {
		t.Errorf("held: %+v", held)
	}
	_, err = p.services.Delete(t.Context(), asked, in)
	coretest.Refused(t, "repeat after the end", err, "service_not_found")
}

func TestDelete_ARepeatWaitsForTheSameRemoval(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service, asked := p.active("ether4"), p.asked()
	// The first try asks for the removal and stops.
	ask := commands.RequestRemoval{ServiceID: service, Confirmed: true}
	if _, err := p.Bus.Execute(t.Context(), ask, asked.Meta); err != nil {
		t.Fatal(err)
	}
	_, err := p.services.Delete(t.Context(), asked, networkcases.DeleteInput{Service: service, Confirmed: true})
	if err != nil && failure.CodeOf(err) != "service_not_found" { // the removal may have ended before
		t.Fatal(err)
	}
	if !p.service(service).Removed {
		t.Error("it is still there")
	}
	asks := 0
	for _, name := range p.actions(commands.ServiceCategory, id.Any(service)) {
		if name == ask.CommandName() || name == (commands.ReconcileService{}).CommandName() {
			asks++
		}
	}
	if asks != 1 {
		t.Errorf("asked for %d times", asks)
	}
}

func TestDelete_OfASilentRouterMustBeConfirmedAndMayBeAbandoned(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether4")
	p.router.SetFaults(router.Faults{Refuse: true})
	in := networkcases.DeleteInput{Service: service, Abandon: true}
	_, err := p.services.Delete(t.Context(), p.asked(), in)
	coretest.Refused(t, "unconfirmed", err, "device_unreachable")
	in.Confirmed = true
	gone, err := p.services.Delete(t.Context(), p.asked(), in)
	if err != nil || !gone {
		t.Errorf("gone %t, %v", gone, err)
	}
	if _, err := p.devices.Decommission(t.Context(), p.asked(), p.device); err != nil {
		t.Errorf("the router is in the way: %v", err)
	}
}

func TestReconcileService_RepairsOrTellsInTheRoutersWords(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether4")
	for _, item := range p.router.Snapshot(false)["ip/pool"] {
		if item["name"] == "pool-svc-"+service.String()[:8] {
			change := router.Item{".id": item[".id"], "ranges": "10.50.77.2-10.50.77.9"}
			if _, err := p.router.Do("ip/pool", "set", change); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.router.SetFaults(router.Faults{DenyWrites: true})
	_, err := p.services.Reconcile(t.Context(), p.asked(), service)
	coretest.Refused(t, "writes are denied", err, "router_refused")
	if told := told(err); told.Message != "not enough permissions (9)" {
		t.Errorf("told %+v", told)
	}
	p.router.SetFaults(router.Faults{})
	writes, asked := p.router.Writes(), p.asked()
	for range 2 { // the second is a repeat
		row, err := p.services.Reconcile(t.Context(), asked, service)
		if err != nil || row == nil || row.State != networkviews.StateActive || p.router.Writes() != writes+1 {
			t.Fatalf("%+v after %d writes, %v", row, p.router.Writes()-writes, err)
		}
	}
	if _, _, err := bus.LoadOwned[network.Service](t.Context(), p.Bus, p.org, service); err != nil {
		t.Error(err)
	}
}

// Two operators change the same part of one service at the same time. One change counts, the other is told, so that
// none is undone without a word.
func TestChange_OfTwoAtOnceOfTheSameFieldOneIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	in := p.pppoe("ether4")
	in.Type = events.ServiceHotspot
	service, _, err := p.services.Create(t.Context(), p.asked(), in)
	if err != nil {
		t.Fatal(err)
	}
	p.settled(service)
	a, b := events.WalledGarden{Domains: []string{"a.example"}}, events.WalledGarden{Domains: []string{"b.example"}}
	subnets, parents := []string{"10.70.0.0/24", "10.71.0.0/24"}, []string{"ether5", "ether6"}
	vlan, end := 12, "10.50.0.99"
	for name, changes := range map[string][2]networkcases.ServiceChange{
		"walled garden":             {{WalledGarden: &a}, {WalledGarden: &b}},
		"pool and its subnet":       {{Subnet: &subnets[0]}, {PoolEnd: &end}},
		"interface":                 {{ParentInterface: &parents[0]}, {ParentInterface: &parents[1]}},
		"interface and VLAN":        {{ParentInterface: &parents[0]}, {VlanID: &vlan}},
		"subnet":                    {{Subnet: &subnets[0]}, {Subnet: &subnets[1]}},
		"subnet, wanted by the two": {{Subnet: &subnets[0]}, {Subnet: &subnets[0]}},
	} {
		from := p.service(service)
		now := from
		if changes[0].Subnet != nil {
			now.Addressing.Subnet = *changes[0].Subnet
		}
		if changes[0].ParentInterface != nil {
			now.Binding.ParentInterface = *changes[0].ParentInterface
		}
		if changes[0].WalledGarden != nil {
			now.WalledGarden = *changes[0].WalledGarden
		}
		if got := changes[1].Overtakes(from, now); got == (name == "subnet, wanted by the two") {
			t.Errorf("%s: overtakes %v", name, got)
		}
	}
	gardens := []events.WalledGarden{a, b}
	errs := coretest.AtOnce(2, func(n int) error {
		_, err := p.services.Change(t.Context(), p.asked(), service, networkcases.ServiceChange{
			WalledGarden: &gardens[n],
		})
		return err
	})
	winner := slices.Index(errs, nil)
	if winner < 0 {
		t.Fatalf("both are refused: %v", errs)
	}
	if errs[1-winner] != nil {
		coretest.Refused(t, "the other", errs[1-winner], "concurrent_change")
		if got := p.service(service).WalledGarden; !slices.Equal(got.Domains, gardens[winner].Domains) {
			t.Errorf("the garden is %v", got)
		}
	}
}

// Two organizations plan from the one management range. Neither gets a subnet of the other, not even at the same moment
// or when it names one.
func TestCreate_ManagementSubnetsDifferBetweenOrganizations(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	in := p.pppoe("ether4")
	in.Type = events.ServiceCPEManagement
	service, _, err := p.services.Create(t.Context(), p.asked(), in)
	if err != nil {
		t.Fatal(err)
	}
	mine := p.service(service).Addressing.Subnet
	other, foreign := id.New[id.Organization](), id.New[id.Service]()
	ask := func(wanted events.ServiceAddressing, try int) error {
		_, err := p.Bus.Execute(t.Context(), commands.AllocateAddresses{
			OrgID: other, ServiceID: foreign, DeviceID: id.New[id.Device](), Wanted: wanted, Try: try,
			Binding: events.ServiceBinding{Type: events.ServiceCPEManagement, ParentInterface: "ether2"},
		}, coretest.Keyed(other).Meta)
		return err
	}
	coretest.Refused(t, "the first free subnet", ask(events.ServiceAddressing{}, 0), "management_subnet_taken")
	coretest.Refused(t, "the same subnet", ask(commands.CompleteAddressing(events.ServiceAddressing{Subnet: mine}), 0),
		"management_subnet_taken")
	if err := ask(events.ServiceAddressing{}, 1); err != nil {
		t.Errorf("the next free subnet: %v", err)
	}
	if others, err := p.rows.ManagementSubnets(t.Context(), other); err != nil || !slices.Contains(others, mine) {
		t.Errorf("subnets of others: %v, %v", others, err)
	}
}
