// Package networkcases has the use cases of routers and of the services on them: register, change and decommission a
// router, create, change, reconcile and delete a service, bring a router or its firewall in line, reboot. A use case
// writes to the log; processes and jobs do the work on the router. The caller waits for the report for a limited time;
// work that takes longer goes on.
package networkcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Routers asks a router at this moment, through its breaker. A refusal is failure.Refused "router_refused" in the
// router's own words, no answer failure.Unavailable "device_unreachable". Implementations are safe for concurrent use.
type Routers interface {
	// Resource reads the load. Here only the fact counts that the router answers.
	Resource(ctx context.Context, device id.Device) (networkviews.LiveResource, error)
	// Placement fails when a service may not be there: 400 reserved_interface, or 422 naming the field.
	Placement(ctx context.Context, device id.Device, service id.Service, b events.ServiceBinding) error
	// Occupied is Placement, and gives the subnets that the router uses for something of its own, in CIDR form.
	Occupied(ctx context.Context, device id.Device, service id.Service, b events.ServiceBinding) ([]string, error)
	// Placements is Placement for all services of a router, with one reading.
	Placements(ctx context.Context, device id.Device) error
	// SetupRisks lists the menus of those writes of a repair of the setup that must be confirmed: those that could cut
	// the platform's own way, or put its RADIUS client before another one.
	SetupRisks(ctx context.Context, device id.Device) ([]string, error)
	// AffectedSessions counts the customers who are online through a service.
	AffectedSessions(ctx context.Context, service id.Service) (int, error)
}

// OwnDevice fails with device_not_found unless the organization has the router at this moment, as the log has it. It is
// for callers that only read from the router.
func OwnDevice(ctx context.Context, b *bus.Bus, org id.Organization, device id.Device) error {
	_, _, err := bus.LoadOwned[network.Device](ctx, b, org, device)
	return err
}

// OwnService fails with service_not_found unless the organization has the service at this moment, as the log has it.
func OwnService(ctx context.Context, b *bus.Bus, org id.Organization, service id.Service) error {
	_, _, err := bus.LoadOwned[network.Service](ctx, b, org, service)
	return err
}

// errUnreachable is the failure for a router that did not answer; the message says how.
func errUnreachable(message string) error {
	return failure.NewUnavailable("device_unreachable", message, 0, nil)
}

// errRefused is the failure for a router that refused, in the router's own words.
func errRefused(words string) error {
	return &failure.Error{Kind: failure.Refused, Code: "router_refused", Message: words}
}

// overtakes reports whether a change of one field meets another one: the field is no longer what it was when the change
// was made, and not what the change wants. given nil = the change leaves the field as it is.
func overtakes[T comparable](given *T, from, now T) bool {
	return given != nil && from != now && *given != now
}
