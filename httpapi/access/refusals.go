package accessapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Refusals serves /nas/devices/:id/refusals.
type Refusals struct {
	Store   *telemetry.Store
	Devices networkviews.DevicesQuery
	Clock   clock.Clock
}

// Routes lists the endpoint.
func (a Refusals) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/nas/devices/:id/refusals", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSupport, Response: httpapi.ListOf[refusalResponse]{}, Handle: a.get,
		Summary: "Sign-ins at a router that were refused or dropped and named no customer, or led to no session",
	}}
}

// get answers with the kinds of refusals that are kept, the latest first.
func (a Refusals) get(ctx context.Context, c *httpapi.Call) error {
	type list = httpapi.ListOf[refusalResponse]
	var names namedDevices
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Device, []telemetry.Refusal, list]{
		Missing: commands.ErrNoDevice,
		Show:    func(all []telemetry.Refusal) list { return list{Data: showRefusals(all, names)} },
		Read: func(ctx context.Context, org id.Organization, device id.Device) (*[]telemetry.Refusal, error) {
			row, err := a.Devices.Get(ctx, org, device)
			if err != nil || row == nil {
				return nil, err
			}
			names = namedDevices{row.ID: row.Details.Name}
			all, err := a.Store.RefusalsAt(ctx, org, device, a.Clock.Now())
			return &all, err
		},
	})
}
