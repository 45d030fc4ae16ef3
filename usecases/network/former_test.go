package networkcases_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// An operator made the leases of a hotspot longer than the platform does. After another subnet was set, the former
// gateway stays, and its subnet is given to nobody, until the last lease has really ended.
func TestChangeOfSubnet_TheFormerOneStaysWhileALeaseLasts(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.hotspot("10.60.0.0/24")
	server := "dhcp-svc-" + service.String()[:8]
	if _, err := p.router.Do("ip/dhcp-server", "set", router.Item{"numbers": server, "lease-time": "3h"}); err != nil {
		t.Fatal(err)
	}
	if err := p.router.Lease(router.Lease{Server: server, MAC: "02:00:00:00:00:01"}); err != nil {
		t.Fatal(err)
	}
	began := p.clock.Now()
	p.move(service, "10.61.0.0/24")
	if got := p.addresses(service); !slices.Equal(got, []string{"10.60.0.1/24 former", "10.61.0.1/24"}) {
		t.Errorf("after the change the router has %v", got)
	}
	edited := router.Item{"numbers": "pool-svc-" + service.String()[:8], "ranges": "10.61.0.50-10.61.0.60"}
	if _, err := p.router.Do("ip/pool", "set", edited); err != nil { // drift, which only a person has repaired
		t.Fatal(err)
	}
	former := p.row(service).Former
	if len(former) != 1 || former[0].Subnet != "10.60.0.0/24" || former[0].Gateway != "10.60.0.1" ||
		former[0].Until.Before(began.Add(time.Hour)) {
		t.Fatalf("told are %+v", former)
	}

	p.clock.Advance(75 * time.Minute) // past the time of the platform's own leases
	p.until("the subnet to be kept longer", func(row networkviews.ServiceRow) bool {
		return len(row.Former) == 1 && row.Former[0].Until.After(began.Add(170*time.Minute))
	}, service)
	if got := p.addresses(service); len(got) != 2 {
		t.Errorf("with a lease the router has %v", got)
	}
	_, _, err := p.services.Create(t.Context(), p.asked(), networkcases.CreateInput{
		Device: p.device, Type: events.ServicePPPoE, ParentInterface: "ether5",
		Addressing: events.ServiceAddressing{Subnet: "10.60.0.0/24"},
	})
	coretest.Refused(t, "the former subnet for another service", err, "subnet_overlaps")

	p.clock.Advance(2 * time.Hour) // past the end of the lease
	p.until("the subnet to be retired", func(row networkviews.ServiceRow) bool { return len(row.Former) == 0 }, service)
	if got := p.addresses(service); !slices.Equal(got, []string{"10.61.0.1/24"}) {
		t.Errorf("afterwards the router has %v", got)
	}
	p.free()
	if got := p.router.Snapshot(false)["ip/pool"]; !slices.ContainsFunc(got, func(pool router.Item) bool {
		return pool["ranges"] == edited["ranges"]
	}) {
		t.Errorf("the pools were repaired: %v", got)
	}
}

// A session keeps its address as long as it lasts, and keeps being translated. Until the last one has ended nobody else
// is given the subnet.
func TestChangeOfSubnet_TheFormerOneStaysWhileSessionsHaveAddressesOfIt(t *testing.T) {
	t.Parallel()
	for kind, active := range map[events.ServiceType]string{
		events.ServicePPPoE: "ppp/active", events.ServiceHotspot: "ip/hotspot/active",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			service := p.serving(kind, "10.60.0.0/24")
			server := map[events.ServiceType]string{events.ServicePPPoE: "pppoe-svc-", events.ServiceHotspot: "hs-svc-"}
			session, err := p.router.Connect(router.Session{
				Kind: string(kind), User: "ann", Server: server[kind] + service.String()[:8],
			})
			if err != nil {
				t.Fatal(err)
			}
			began := p.clock.Now()
			p.move(service, "10.61.0.0/24")
			held := func(row networkviews.ServiceRow) bool {
				return len(row.Former) == 1 && row.Former[0].Subnet == "10.60.0.0/24" &&
					row.Former[0].Until.After(p.clock.Now())
			}
			p.until("the subnet to be held", held, service)
			for range 2 { // looked at again, and again
				p.clock.Advance(75 * time.Minute)
				p.until("the subnet to be held longer", held, service)
			}
			if row := p.row(service); row.Former[0].Until.After(p.clock.Now().Add(61 * time.Minute)) {
				t.Errorf("after %s it is looked at again at %s", p.clock.Now().Sub(began), row.Former[0].Until)
			}
			_, _, err = p.services.Create(t.Context(), p.asked(), networkcases.CreateInput{
				Device: p.device, Type: events.ServicePPPoE, ParentInterface: "ether5",
				Addressing: events.ServiceAddressing{Subnet: "10.60.0.0/24"},
			})
			coretest.Refused(t, "the former subnet for another service", err, "subnet_overlaps")

			if _, err := p.router.Do(active, "remove", router.Item{".id": session}); err != nil {
				t.Fatal(err)
			}
			p.clock.Advance(75 * time.Minute)
			p.until("the subnet to be retired", func(row networkviews.ServiceRow) bool {
				return len(row.Former) == 0
			}, service)
			p.free()
		})
	}
}

// Without a lease in it, a former subnet is free at once.
func TestChangeOfSubnet_WithoutALeaseTheFormerOneIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.hotspot("10.60.0.0/24")
	p.move(service, "10.61.0.0/24")
	p.until("nothing former", func(row networkviews.ServiceRow) bool { return len(row.Former) == 0 }, service)
	p.free()
	if got := p.addresses(service); !slices.Equal(got, []string{"10.61.0.1/24"}) {
		t.Errorf("the router has %v", got)
	}
}

// hotspot makes a hotspot with a subnet on ether4 and waits until the router has it.
func (p *plant) hotspot(subnet string) id.Service { return p.serving(events.ServiceHotspot, subnet) }

// serving makes a service of a type with a subnet on ether4 and waits until the router has it.
func (p *plant) serving(kind events.ServiceType, subnet string) id.Service {
	p.t.Helper()
	service, _, err := p.services.Create(p.t.Context(), p.asked(), networkcases.CreateInput{
		Device: p.device, Type: kind, ParentInterface: "ether4",
		Addressing: events.ServiceAddressing{Subnet: subnet},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.settled(service)
	return service
}

// move gives a service another subnet and waits until the router has it and all reports about that are made.
func (p *plant) move(service id.Service, subnet string) {
	p.t.Helper()
	done, err := p.services.Change(p.t.Context(), p.asked(), service, networkcases.ServiceChange{Subnet: &subnet})
	if err != nil {
		p.t.Fatal(err)
	}
	ended, err := usecases.Await(p.t.Context(), p.views, networkviews.HistoryName, 20*time.Second,
		func(ctx context.Context) (bool, error) { return p.endedAfter(ctx, service, done.Position) })
	if err != nil || !ended {
		p.t.Fatalf("waited for the end of the run: %v", err)
	}
	p.until("the change to be applied", func(row networkviews.ServiceRow) bool {
		return row.Open == "" && row.Addressing.Subnet == subnet
	}, service)
}

// endedAfter reports whether a run for a service ended after a position of the log.
func (p *plant) endedAfter(ctx context.Context, service id.Service, position uint64) (bool, error) {
	rows, err := p.runs.History.OfService(ctx, p.org, service, networkviews.HistoryKey{}, 100)
	return slices.ContainsFunc(rows, func(row networkviews.HistoryRow) bool {
		return row.Kind == "reconcile_finished" && uint64(row.Position) > position //nolint:gosec // not negative
	}), err
}

// addresses lists the router's addresses of a service, with the note of a former one, in order.
func (p *plant) addresses(service id.Service) (list []string) {
	for _, row := range p.router.Snapshot(false)["ip/address"] {
		switch row["comment"] {
		case "Platform-svc:" + service.String():
			list = append(list, row["address"])
		case "Platform-svc:" + service.String() + " former":
			list = append(list, row["address"]+" former")
		}
	}
	slices.Sort(list)
	return list
}

// row is a service as its read model has it.
func (p *plant) row(service id.Service) networkviews.ServiceRow {
	p.t.Helper()
	row, err := p.rows.Any(p.t.Context(), service)
	if err != nil || row == nil {
		p.t.Fatalf("no service: %v", err)
	}
	return *row
}

// until waits until the read model shows a service as wanted.
func (p *plant) until(what string, holds func(networkviews.ServiceRow) bool, service id.Service) {
	p.t.Helper()
	ok, err := usecases.Await(p.t.Context(), p.views, networkviews.ServicesName, 20*time.Second,
		func(ctx context.Context) (bool, error) {
			row, err := p.rows.Any(ctx, service)
			return row != nil && holds(*row), err
		})
	if err != nil || !ok {
		p.t.Fatalf("waited for %s: %v, %+v", what, err, p.row(service))
	}
}

// free waits until the organization's plan has the present subnet of one service only.
func (p *plant) free() {
	p.t.Helper()
	for range 2000 {
		if len(p.plan().Held) == 1 {
			return
		}
		loop.Sleep(p.t.Context(), 10*time.Millisecond)
	}
	p.t.Fatalf("the plan still has %+v", p.plan().Held)
}
