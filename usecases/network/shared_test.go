package networkcases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// Before management subnets were claimed on the whole platform, two organizations could have the same. The one that had
// it later is told, and gets another one by a change.
func TestManagementSubnet_ThatAnotherOrganizationHadFirstIsToldAndRefused(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	in := p.pppoe("ether4")
	in.Type = events.ServiceCPEManagement
	service, _, err := p.services.Create(t.Context(), p.asked(), in)
	if err != nil {
		t.Fatal(err)
	}
	p.settled(service)
	subnet := p.service(service).Addressing.Subnet
	older := p.legacy(subnet, p.clock.Now().Add(-time.Hour))
	p.until("the overlap", func(row networkviews.ServiceRow) bool { return row.Shared }, service)
	if p.row(older).Shared {
		t.Error("the one that had the subnet first is told, too")
	}
	diff, err := p.workers.Diff(t.Context(), service)
	if err != nil || len(diff.Resources) != 1 || diff.Resources[0].Name != subnet ||
		diff.Resources[0].Actual["shared"] != "true" {
		t.Errorf("the difference is %+v, %v", diff, err)
	}
	_, err = p.services.Reconcile(t.Context(), p.asked(), service)
	if err == nil || !strings.Contains(told(err).Message+strings.Join(told(err).Faults, " "), "another organization") {
		t.Errorf("a reconcile: %+v", told(err))
	}
	other := "10.20.99.0/24"
	if _, err := p.services.Change(t.Context(), p.asked(), service,
		networkcases.ServiceChange{Subnet: &other}); err != nil {
		t.Fatal(err)
	}
	p.until("another subnet", func(row networkviews.ServiceRow) bool {
		return !row.Shared && row.State == networkviews.StateActive && row.Open == ""
	}, service)
}

// legacy records a management service of another organization as it was before there were claims, and waits until it
// is shown.
func (p *plant) legacy(subnet string, at time.Time) id.Service {
	p.t.Helper()
	service, org := id.New[id.Service](), id.New[id.Organization]()
	_, err := p.Store.Append(p.t.Context(), commands.ServiceCategory+"-"+service.String(), eventstore.NoStream,
		[]eventstore.New{{
			Event: events.ServiceRequested{
				ServiceID: service, OrgID: org, DeviceID: id.New[id.Device](), Generation: 1, At: at,
				Binding:    events.ServiceBinding{Type: events.ServiceCPEManagement, ParentInterface: "ether2"},
				Addressing: commands.CompleteAddressing(events.ServiceAddressing{Subnet: subnet}),
			},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(service),
				Action: commands.RequestService{}.CommandName(), OrgID: org, At: at,
			},
		}})
	if err != nil {
		p.t.Fatal(err)
	}
	return service
}
