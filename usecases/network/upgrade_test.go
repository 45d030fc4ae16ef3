package networkcases_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// legacyPlan records that an older version gave a management service its addresses: nothing was reserved then. It waits
// until the service is shown, and gives its organization.
func (p *plant) legacyPlan(subnet string, at time.Time) id.Organization {
	p.t.Helper()
	service := p.legacy(subnet, at)
	org := p.service(service).Org
	_, err := p.Store.Append(p.t.Context(), commands.At(commands.AddressingCategory, org).Stream(), eventstore.NoStream,
		[]eventstore.New{{
			Event: events.AddressesAllocated{
				OrgID: org, ServiceID: service, DeviceID: id.New[id.Device](), At: at,
				Binding:    events.ServiceBinding{Type: events.ServiceCPEManagement, ParentInterface: "ether2"},
				Addressing: commands.CompleteAddressing(events.ServiceAddressing{Subnet: subnet}),
			},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(org),
				Action: commands.AllocateAddresses{}.CommandName(), OrgID: org, At: at,
			},
		}})
	if err != nil {
		p.t.Fatal(err)
	}
	return org
}

// Management subnets were not reserved once. At the upgrade each plan takes what it uses and nobody has; of two that
// use one the first one gets it, and the other one is named at every start.
func TestUpgrade_ManagementSubnetsOfBeforeAreReserved(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	began := p.clock.Now()
	late := p.legacyPlan("10.20.7.0/24", began.Add(-time.Hour))
	early := p.legacyPlan("10.20.7.128/25", began.Add(-2*time.Hour))
	p.legacyPlan("10.20.8.0/23", began.Add(-time.Hour))
	var log bytes.Buffer
	upgrade := networkcases.Upgrade{
		Bus: p.Bus, Services: p.rows, Head: p.Store.Head, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	for range 2 { // each start
		log.Reset()
		if err := upgrade.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, late.String()) {
			t.Errorf("the log of the upgrade says\n%s", got)
		}
	}
	if strings.Contains(log.String(), "reserved") {
		t.Errorf("the second start reserves again:\n%s", log.String())
	}
	for _, subnet := range []string{"10.20.7.0/24", "10.20.8.0/24", "10.20.9.0/24"} {
		newcomer := id.New[id.Organization]()
		_, err := p.Bus.Execute(t.Context(), commands.AllocateAddresses{
			OrgID: newcomer, ServiceID: id.New[id.Service](), DeviceID: id.New[id.Device](),
			Wanted:  events.ServiceAddressing{Subnet: subnet},
			Binding: events.ServiceBinding{Type: events.ServiceCPEManagement, ParentInterface: "ether2"},
		}, coretest.Keyed(newcomer).Meta)
		coretest.Refused(t, "the subnet of a plan of before", err, "management_subnet_taken")
	}
	list, err := p.Store.Read(t.Context(), "claim-"+p.Vault.ClaimKey("management_subnet", "10.20.7.0/24").String(), 0)
	if err != nil || len(list) != 1 || list[0].Event.(events.ClaimTaken).Owner != id.Any(early) {
		t.Errorf("the block of two is reserved so: %+v, %v", list, err)
	}
}
