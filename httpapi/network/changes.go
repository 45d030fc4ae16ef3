package networkapi

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

// How long requests wait for a router. A new or changed service is shown as it stands after a short while; who asks for
// a reconcile or a reboot wants to know how it went.
const (
	changeWait = 2 * time.Second
	actionWait = 25 * time.Second
)

// garden is a walled garden in the form of commands.
func (g *gardenShape) garden() events.WalledGarden {
	if g == nil {
		return events.WalledGarden{}
	}
	return commands.NormalWalledGarden(events.WalledGarden{Domains: g.Domains, Addresses: g.Addresses})
}

// createService checks everything, takes addresses, and asks for the service; a process has it applied.
func (a API) createService(ctx context.Context, c *httpapi.Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[serviceRequest](c)
	if err != nil {
		return err
	}
	binding := events.ServiceBinding{Type: events.ServiceType(in.Type), ParentInterface: in.ParentInterface}
	wanted := events.ServiceAddressing{
		Subnet: in.Subnet, Gateway: in.Gateway, PoolStart: in.PoolStart, PoolEnd: in.PoolEnd,
	}
	garden := in.WalledGarden.garden()
	if err := checkServiceForm(&binding, in.VlanID, wanted, garden); err != nil {
		return err
	}
	service := newServiceID(c)
	occupied, err := a.Routers.Placement(ctx, device, service, binding)
	if err != nil {
		return err
	}
	addressing, err := a.allocate(ctx, c, commands.AllocateAddresses{
		OrgID: c.Org.ID, ServiceID: service, DeviceID: device, Binding: binding, Wanted: wanted, Occupied: occupied,
	})
	if err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, commands.RequestService{
		ServiceID: service, OrgID: c.Org.ID, DeviceID: device, Binding: binding, Addressing: addressing,
		WalledGarden: garden,
	}, c.Meta())
	if err != nil {
		return err
	}
	return a.sendChanged(ctx, c, 201, service, done)
}

// checkServiceForm notes all faults that need no router, and puts the VLAN in.
func checkServiceForm(
	b *events.ServiceBinding, vlan *int, wanted events.ServiceAddressing, garden events.WalledGarden,
) error {
	var f failure.Faults
	if vlan != nil {
		b.VlanID = *vlan
		f.Check(*vlan >= 1 && *vlan <= 4094, "vlanId", "must be from 1 to 4094")
	}
	if len(f) == 0 {
		commands.CheckBinding(&f, *b)
	}
	if wanted != (events.ServiceAddressing{}) {
		commands.CheckAddressing(&f, commands.CompleteAddressing(wanted))
	}
	commands.CheckWalledGarden(&f, b.Type, garden)
	return f.Err()
}

// allocate takes addresses and gives what was taken.
func (a API) allocate(
	ctx context.Context, c *httpapi.Call, command commands.AllocateAddresses,
) (events.ServiceAddressing, error) {
	if _, err := a.Bus.Execute(ctx, command, c.Asked().Step("allocate")); err != nil {
		return events.ServiceAddressing{}, err
	}
	plan, _, err := bus.LoadUnchecked[network.Addressing](ctx, a.Bus, c.Org.ID)
	if err != nil {
		return events.ServiceAddressing{}, err
	}
	held, ok := plan.Of(command.ServiceID)
	if !ok {
		return events.ServiceAddressing{},
			failure.NewConflict("concurrent_change", "The service was removed at the same time.")
	}
	return held.Addressing, nil
}

// sendChanged answers a change with the service, as it is after a short while.
func (a API) sendChanged(ctx context.Context, c *httpapi.Call, status int, service id.Service, done bus.Result) error {
	if done.Changed {
		row, err := a.outcome(ctx, c.Org.ID, service, done.Position, changeWait)
		if err != nil {
			return err
		}
		a.settle(ctx, c, row)
	}
	v := httpapi.Visible{Projection: networkviews.ServicesName, ID: service.String(), Result: done}
	return httpapi.SendVisible(ctx, c, status, v, func(ctx context.Context) (serviceResponse, error) {
		row, err := a.readService(ctx, c.Org.ID, service)
		return showService(row), err
	})
}

// settle gives back what a service that was applied held before, so that the next request finds it free. The process
// does the same a moment later, and does it when this fails.
func (a API) settle(ctx context.Context, c *httpapi.Call, r *networkviews.ServiceRow) {
	var command commands.Command
	switch {
	case r == nil || r.Open != "":
		return
	case r.RemovedAt != nil:
		command = commands.ReleaseAddresses{OrgID: r.OrgID, ServiceID: r.ID}
	default:
		command = commands.SettleAddresses{
			OrgID: r.OrgID, ServiceID: r.ID, Binding: r.Binding, Subnet: r.Addressing.Subnet,
		}
	}
	_, _ = a.Bus.Execute(ctx, command, c.Asked().Step("settle"))
}

// outcome waits until work that was asked for at a position is reported; nil when it is not in time.
func (a API) outcome(
	ctx context.Context, org id.Organization, service id.Service, asked uint64, patience time.Duration,
) (*networkviews.ServiceRow, error) {
	var row *networkviews.ServiceRow
	reported, err := a.await(ctx, networkviews.ServicesName, patience, func(ctx context.Context) (bool, error) {
		var err error
		row, err = a.Services.Get(ctx, org, service)
		return row != nil && uint64(row.OutcomePosition) > asked, err //nolint:gosec // positions are not negative
	})
	if err != nil || !reported {
		return nil, err
	}
	return row, nil
}

// await tries a condition again and again as a read model moves, for a while. It tells whether it held.
func (a API) await(
	ctx context.Context, projection string, patience time.Duration, cond func(ctx context.Context) (bool, error),
) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		held, err := a.Services.Views.WaitUntil(wait, projection, cond)
		switch {
		case held:
			return true, nil
		case wait.Err() != nil && ctx.Err() == nil && (err == nil || errors.Is(err, context.DeadlineExceeded)):
			return false, nil
		case err != nil:
			return false, err
		}
	}
}

// serviceChange is the body of PATCH: what is absent stays.
type serviceChange struct {
	Type            *string      `json:"type,omitempty" enum:"pppoe,hotspot,cpe-management"`
	ParentInterface *string      `json:"parentInterface,omitempty"`
	VlanID          *int         `json:"vlanId,omitempty" doc:"0 = none"`
	Subnet          *string      `json:"subnet,omitempty"`
	Gateway         *string      `json:"gateway,omitempty"`
	PoolStart       *string      `json:"poolStart,omitempty"`
	PoolEnd         *string      `json:"poolEnd,omitempty"`
	WalledGarden    *gardenShape `json:"walledGarden,omitempty" doc:"replaces the present one, whole"`
}

// binding is a service's with the change.
func (in serviceChange) binding(b events.ServiceBinding) events.ServiceBinding {
	if in.Type != nil {
		b.Type = events.ServiceType(*in.Type)
	}
	if in.ParentInterface != nil {
		b.ParentInterface = *in.ParentInterface
	}
	b.VlanID = null.Or(in.VlanID, b.VlanID)
	return b
}

// addressing is what a service should have: with another subnet, gateway and pool follow from it unless they are given,
// and another kind of service comes from another plan.
func (in serviceChange) addressing(state network.Service, to events.ServiceBinding) events.ServiceAddressing {
	out := state.Addressing
	management := events.ServiceCPEManagement
	if in.Subnet != nil && *in.Subnet != out.Subnet {
		out = events.ServiceAddressing{Subnet: *in.Subnet}
	} else if in.Subnet == nil && (to.Type == management) != (state.Binding.Type == management) {
		out = events.ServiceAddressing{}
	}
	for _, f := range []struct {
		given *string
		to    *string
	}{{in.Gateway, &out.Gateway}, {in.PoolStart, &out.PoolStart}, {in.PoolEnd, &out.PoolEnd}} {
		if f.given != nil {
			*f.to = *f.given
		}
	}
	return out
}

// walledGarden is a service's with the change; another type than hotspot has none.
func (in serviceChange) walledGarden(state network.Service, to events.ServiceBinding) events.WalledGarden {
	switch {
	case in.WalledGarden != nil:
		return in.WalledGarden.garden()
	case to.Type != events.ServiceHotspot:
		return events.WalledGarden{}
	}
	return state.WalledGarden
}

// changeService adopts another desired state. What disconnects customers is told first, with their number.
func (a API) changeService(ctx context.Context, c *httpapi.Call) error {
	state, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[serviceChange](c)
	if err != nil {
		return err
	}
	confirmed, err := confirmed(c)
	if err != nil {
		return err
	}
	to := in.binding(state.Binding)
	wanted, garden := in.addressing(state, to), in.walledGarden(state, to)
	if err := checkServiceForm(&to, nil, wanted, garden); err != nil {
		return err
	}
	occupied, err := a.Routers.Placement(ctx, state.Device, state.ID, to)
	if err != nil {
		return err
	}
	sessions := 0
	if network.Disruptive(state.Binding, to) {
		if sessions, err = a.Routers.AffectedSessions(ctx, state.ID); err != nil {
			return err
		}
		if !confirmed {
			return errConfirm(sessions)
		}
	}
	addressing, err := a.allocate(ctx, c, commands.AllocateAddresses{
		OrgID: c.Org.ID, ServiceID: state.ID, DeviceID: state.Device, Binding: to, Wanted: wanted, Occupied: occupied,
	})
	if err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, commands.ChangeService{
		ServiceID: state.ID, Binding: to, Addressing: addressing, WalledGarden: garden, Confirmed: confirmed,
		AffectedSessions: sessions,
	}, c.Meta())
	if err != nil {
		return err
	}
	return a.sendChanged(ctx, c, 200, state.ID, done)
}

// confirmed reads the query parameter.
func confirmed(c *httpapi.Call) (bool, error) { return asked(c, "confirm") }

// asked reads a query parameter that is true or false, which is also what none means.
func asked(c *httpapi.Call, name string) (bool, error) {
	f := c.Filters()
	given := f.Bool(name)
	return given != nil && *given, f.Err()
}

// errConfirm tells how many customers would be disconnected.
func errConfirm(sessions int) error {
	return failure.NewConflict("confirmation_required", "This disconnects %d users. Repeat it with confirm=true.",
		sessions).With("affectedSessions", sessions)
}

// deleteService asks for the removal and waits for it. While sessions are up it must be confirmed; a router that cannot
// be asked may have some, so that must be confirmed, too.
func (a API) deleteService(ctx context.Context, c *httpapi.Call) error {
	state, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	confirmed, err := confirmed(c)
	if err != nil {
		return err
	}
	sessions, err := a.Routers.AffectedSessions(ctx, state.ID)
	switch {
	case err != nil && !confirmed:
		return err
	case sessions > 0 && !confirmed && !state.Removing():
		return errConfirm(sessions)
	}
	var command commands.Command = commands.RequestRemoval{
		ServiceID: state.ID, Confirmed: confirmed, AffectedSessions: sessions,
	}
	if state.Removing() { // asked for again: it goes on at once
		command = commands.ReconcileService{ServiceID: state.ID, RunID: usecases.NewID[id.Run](c.Asked(), "run")}
	}
	unreachable := failure.KindOf(err) == failure.Unavailable
	abandoned, err := asked(c, "abandon")
	if err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, command, c.Meta())
	if err == nil && abandoned && confirmed && unreachable {
		done, err = a.Bus.Execute(ctx, commands.ReportRemoved{ServiceID: state.ID, Abandoned: true},
			c.Asked().Step("abandon"))
	}
	if err != nil {
		return err
	}
	row, err := a.outcome(ctx, c.Org.ID, state.ID, done.Position-1, actionWait)
	switch {
	case err != nil:
		return err
	case row == nil:
		return c.Send(202, httpapi.Accepted{ID: state.ID.String(), Status: "accepted"})
	case row.RemovedAt == nil:
		if err := errOfService(*row); err != nil {
			return err
		}
		return c.Send(202, httpapi.Accepted{ID: state.ID.String(), Status: "accepted"})
	}
	a.settle(ctx, c, row)
	return c.NoContent()
}
