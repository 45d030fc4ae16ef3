package main

import (
	"context"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// The daily run of the program gives a prefix up while nobody changes any settings, once nothing is due under it.
func TestDevClock_AJumpOverADayReleasesThePrefixOfSettledInvoices(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.must(k.admin, "PUT", "/settings/organization", map[string]string{"invoicePrefix": "NEXT"})
	k.advance(map[string]any{"advance": "24h"})
	k.eventually("the old prefix to be released", func(ctx context.Context) (bool, error) {
		rows, err := identityviews.OrganizationsQuery{Views: k.app.engines.views}.List(ctx,
			identityviews.OrganizationFilter{}, identityviews.OrganizationKey{}, 1)
		if err != nil {
			return false, err
		}
		org, _, err := bus.LoadUnchecked[identity.Organization](ctx, k.app.engines.bus, rows[0].ID)
		return err == nil && slices.Equal(org.Prefixes, []string{"NEXT"}), err
	})
}
