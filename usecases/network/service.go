package networkcases

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Services creates, changes, reconciles and deletes services on routers. All fields are required. Safe for concurrent
// use.
type Services struct {
	Bus      *bus.Bus
	Services networkviews.ServicesQuery
	Routers  Routers
}

// CreateInput describes a new service.
type CreateInput struct {
	Device          id.Device
	Type            events.ServiceType
	ParentInterface string
	VlanID          *int                     // nil = none, else 1 to 4094
	Addressing      events.ServiceAddressing // empty fields follow from the others; no subnet = the first free one
	WalledGarden    events.WalledGarden      // in the form of commands.NormalWalledGarden; none for cpe-management
}

// Create checks the form, then asks the router whether the service may be at its place, takes addresses from the plan
// and asks for the service, which a process applies. It waits a short while for the router's answer. A crash in between
// leaves addresses that no service uses; the process provisioning gives them back. A repeat under the same key finds
// the service and the addresses of the first try. Fails: device_not_found, invalid_input, reserved_interface,
// device_unreachable, router_refused, interface_in_use, subnet_overlaps, addresses_exhausted, device_closed.
func (s Services) Create(ctx context.Context, asked usecases.Asked, in CreateInput) (id.Service, bus.Result, error) {
	service := newServiceID(asked)
	if err := OwnDevice(ctx, s.Bus, asked.Org(), in.Device); err != nil {
		return service, bus.Result{}, err
	}
	binding := events.ServiceBinding{Type: in.Type, ParentInterface: in.ParentInterface}
	if err := checkForm(&binding, in.VlanID, in.Addressing, in.WalledGarden); err != nil {
		return service, bus.Result{}, err
	}
	occupied, err := s.Routers.Occupied(ctx, in.Device, service, binding)
	if err != nil {
		return service, bus.Result{}, err
	}
	addressing, err := s.allocate(ctx, asked, commands.AllocateAddresses{
		OrgID: asked.Org(), ServiceID: service, DeviceID: in.Device, Binding: binding, Wanted: in.Addressing,
		Occupied: occupied,
	})
	if err != nil {
		return service, bus.Result{}, err
	}
	done, err := s.Bus.Execute(ctx, commands.RequestService{
		ServiceID: service, OrgID: asked.Org(), DeviceID: in.Device, Binding: binding, Addressing: addressing,
		WalledGarden: in.WalledGarden,
	}, asked.Meta)
	if err != nil {
		return service, done, err
	}
	return service, done, s.waitForChange(ctx, asked, service, done)
}

// newServiceID makes an id whose first 8 hex digits come from a hash. Other new ids begin with the time, and names on a
// router are made of these digits.
func newServiceID(asked usecases.Asked) id.Service {
	return id.Derive[id.Service]("network_service", usecases.NewID[id.Any](asked, "service").String())
}

// checkForm finds all faults that can be found without the router, and sets the VLAN of the binding. Fails:
// invalid_input.
func checkForm(
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

// ServiceChange has the new values of a service; nil = no change.
type ServiceChange struct {
	Type            *events.ServiceType
	ParentInterface *string
	VlanID          *int // 0 = none
	Subnet          *string
	Gateway         *string
	PoolStart       *string
	PoolEnd         *string
	WalledGarden    *events.WalledGarden // replaces the present one, whole
	Confirmed       bool                 // customers may be disconnected
}

// Change adopts another desired state, which a process applies. It checks the form, then the place with the router, and
// takes the addresses. A change that disconnects customers is refused with their number unless it is confirmed, and
// then takes no addresses. It waits a short while for the router's answer. A crash in between leaves addresses that no
// service uses; the process provisioning gives them back. A repeat under the same key changes nothing more. Two changes
// at once of different fields both count; of two that do not go together one is refused. Fails: service_not_found,
// service_removing, confirmation_required, stale_revision, concurrent_change, and as Create does.
func (s Services) Change(
	ctx context.Context, asked usecases.Asked, service id.Service, in ServiceChange,
) (bus.Result, error) {
	var from *network.Service // the state that the change was made from
	done, err := usecases.Amend(ctx, s.Bus, asked, service, func(present network.Service) (commands.Command, error) {
		if from == nil {
			from = &present
		} else if in.overtakes(*from, present) {
			return nil, bus.ErrConcurrentChange()
		}
		return s.change(ctx, asked, present, in)
	})
	if err != nil {
		return done, err
	}
	return done, s.waitForChange(ctx, asked, service, done)
}

// change makes the command for the present state of a service, after the checks with the router.
func (s Services) change(
	ctx context.Context, asked usecases.Asked, present network.Service, in ServiceChange,
) (commands.Command, error) {
	to := in.binding(present.Binding)
	wanted, garden := in.addressing(present, to), in.garden(present, to)
	if err := checkForm(&to, nil, wanted, garden); err != nil {
		return nil, err
	}
	occupied, err := s.Routers.Occupied(ctx, present.Device, present.ID, to)
	if err != nil {
		return nil, err
	}
	sessions := 0
	if network.Disruptive(present.Binding, to) {
		if sessions, err = s.Routers.AffectedSessions(ctx, present.ID); err != nil {
			return nil, err
		}
		if !in.Confirmed { // the stream refuses this, too, but only after addresses were taken
			return nil, commands.ErrConfirmationRequired(sessions)
		}
	}
	addressing, err := s.allocate(ctx, asked, commands.AllocateAddresses{
		OrgID: present.Org, ServiceID: present.ID, DeviceID: present.Device, Binding: to, Wanted: wanted,
		Occupied: occupied,
	})
	if err != nil {
		return nil, err
	}
	command := commands.ChangeNasService{
		ServiceID: present.ID, Binding: to, Addressing: addressing, WalledGarden: garden, AffectedSessions: sessions,
	}
	if in.Confirmed {
		return commands.ConfirmNasServiceChange(command), nil
	}
	return command, nil
}

// overtakes reports whether a change cannot be merged with those that came since from, the state that it was made from:
// they set the same field to something else, moved the service that this one moves too, or took the subnet away in
// which this one gives addresses.
func (in ServiceChange) overtakes(from, now network.Service) bool {
	moved := from.Binding != now.Binding && in.binding(from.Binding) != from.Binding &&
		in.binding(now.Binding) != now.Binding
	a, b := from.Addressing, now.Addressing
	elsewhere := a.Subnet != b.Subnet && (in.Gateway != nil || in.PoolStart != nil || in.PoolEnd != nil)
	garden := in.WalledGarden != nil && !sameGarden(from.WalledGarden, now.WalledGarden) &&
		!sameGarden(*in.WalledGarden, now.WalledGarden)
	return moved || elsewhere || garden || overtakes(in.Subnet, a.Subnet, b.Subnet) ||
		overtakes(in.Gateway, a.Gateway, b.Gateway) || overtakes(in.PoolStart, a.PoolStart, b.PoolStart) ||
		overtakes(in.PoolEnd, a.PoolEnd, b.PoolEnd)
}

// sameGarden compares two walled gardens in their normal form, entry by entry.
func sameGarden(a, b events.WalledGarden) bool {
	return slices.Equal(a.Domains, b.Domains) && slices.Equal(a.Addresses, b.Addresses)
}

// binding applies the change to the present binding.
func (in ServiceChange) binding(b events.ServiceBinding) events.ServiceBinding {
	if in.Type != nil {
		b.Type = *in.Type
	}
	if in.ParentInterface != nil {
		b.ParentInterface = *in.ParentInterface
	}
	if in.VlanID != nil {
		b.VlanID = *in.VlanID
	}
	return b
}

// addressing gives the addresses that a service should have. With another subnet, gateway and pool follow from the
// subnet unless they are given. A change to or from cpe-management takes new addresses, since those come from another
// plan.
func (in ServiceChange) addressing(present network.Service, to events.ServiceBinding) events.ServiceAddressing {
	out := present.Addressing
	management := events.ServiceCPEManagement
	if in.Subnet != nil && *in.Subnet != out.Subnet {
		out = events.ServiceAddressing{Subnet: *in.Subnet}
	} else if in.Subnet == nil && (to.Type == management) != (present.Binding.Type == management) {
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

// garden applies the change to the present walled garden; a service without customers keeps none.
func (in ServiceChange) garden(present network.Service, to events.ServiceBinding) events.WalledGarden {
	switch {
	case in.WalledGarden != nil:
		return *in.WalledGarden
	case to.Type == events.ServiceCPEManagement:
		return events.WalledGarden{}
	}
	return present.WalledGarden
}

// DeleteInput names the service to remove, and which losses the caller accepts.
type DeleteInput struct {
	Service   id.Service
	Confirmed bool // customers may be disconnected
	Abandon   bool // with Confirmed: forget the service when its router is not reached; what is left there is an orphan
}

// Delete asks for the removal and waits for it; gone is false when it goes on. While sessions are up it must be
// confirmed; a router that cannot be asked may have some, so that must be confirmed, too. A removal that was asked for
// before starts again at once. A crash in between leaves a removal that a process carries out. A repeat under the same
// key waits for the same removal; after its end it finds no service. Fails: service_not_found, confirmation_required,
// device_unreachable, router_refused.
func (s Services) Delete(ctx context.Context, asked usecases.Asked, in DeleteInput) (gone bool, err error) {
	state, _, err := bus.LoadOwned[network.Service](ctx, s.Bus, asked.Org(), in.Service)
	if err != nil {
		return false, err
	}
	sessions, silent := s.Routers.AffectedSessions(ctx, state.ID)
	if silent != nil && !in.Confirmed {
		return false, silent
	}
	var command commands.Command = commands.RequestRemoval{
		ServiceID: state.ID, Confirmed: in.Confirmed, AffectedSessions: sessions,
	}
	if state.Removing() {
		command = commands.ReconcileService{ServiceID: state.ID, RunID: usecases.NewID[id.Run](asked, "run")}
	}
	done, err := s.Bus.Execute(ctx, command, asked.Meta)
	if err == nil && in.Abandon && in.Confirmed && failure.KindOf(silent) == failure.Unavailable {
		done, err = s.Bus.Execute(ctx, commands.ReportRemoved{ServiceID: state.ID, Abandoned: true},
			asked.Step("abandon"))
	}
	if err != nil {
		return false, err
	}
	row, err := s.outcome(ctx, asked.Org(), state.ID, done.Position-1, actionWait)
	switch {
	case err != nil || row == nil:
		return false, err
	case row.RemovedAt == nil:
		return false, errOfService(*row)
	}
	s.settle(ctx, asked, *row)
	return true, nil
}

// Reconcile brings the router in line with a service and gives the service afterwards; nil when the work takes longer
// and goes on. A removal that was asked for before is continued. A repeat under the same key waits for the same work.
// Fails: service_not_found, reserved_interface, device_unreachable, router_refused.
func (s Services) Reconcile(
	ctx context.Context, asked usecases.Asked, service id.Service,
) (*networkviews.ServiceRow, error) {
	state, _, err := bus.LoadOwned[network.Service](ctx, s.Bus, asked.Org(), service)
	if err != nil {
		return nil, err
	}
	if !state.Removing() { // a removal needs no place on the router
		if err := s.Routers.Placement(ctx, state.Device, service, state.Binding); err != nil {
			return nil, err
		}
	}
	command := commands.ReconcileService{ServiceID: service, RunID: usecases.NewID[id.Run](asked, "run")}
	done, err := s.Bus.Execute(ctx, command, asked.Meta)
	if err != nil {
		return nil, err
	}
	row, err := s.outcome(ctx, asked.Org(), service, done.Position, actionWait)
	if err != nil || row == nil {
		return nil, err
	}
	return row, errOfService(*row)
}
