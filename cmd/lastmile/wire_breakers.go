package main

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// nameBreakers writes the names of routers and of their organizations into breakers, with one query for each kind.
func (a *App) nameBreakers(ctx context.Context, breakers []httpapi.BreakerState) error {
	var devices []id.Device
	var orgs []id.Organization
	for _, b := range breakers {
		org, err := id.Parse[id.Organization](b.OrgID)
		if err != nil {
			continue // a system of the platform
		}
		if device, err := id.Parse[id.Device](b.Target); err == nil {
			devices = append(devices, device)
		}
		if !slices.Contains(orgs, org) {
			orgs = append(orgs, org)
		}
	}
	if len(orgs) == 0 {
		return nil
	}
	names, err := networkviews.DevicesQuery{Views: a.engines.views}.AnyNames(ctx, devices)
	if err != nil {
		return err
	}
	rows, err := identityviews.OrganizationsQuery{Views: a.engines.views}.Some(ctx, orgs)
	if err != nil {
		return err
	}
	owners := make(map[string]*httpapi.BreakerOrganization, len(rows))
	for _, r := range rows {
		owners[r.ID.String()] = &httpapi.BreakerOrganization{ID: r.ID, Slug: r.Slug, Name: r.Name}
	}
	for i, b := range breakers {
		breakers[i].Organization = owners[b.OrgID]
		if device, err := id.Parse[id.Device](b.Target); err == nil && names[device] != "" {
			breakers[i].Device = &httpapi.BreakerDevice{ID: device, Name: names[device]}
		}
	}
	return nil
}
