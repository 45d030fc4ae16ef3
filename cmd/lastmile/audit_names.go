package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi/audit"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// auditNames gives what people call some targets of one type in an organization: customers, staff, API keys and routers
// by their names, devices at customers by their serial numbers, documents and money by their numbers, a payment by that
// of its receipt. An account has the id of its customer.
func (a *App) auditNames(
	ctx context.Context, org id.Organization, kind string, targets []id.Any,
) (map[id.Any]string, error) {
	views := a.engines.views
	switch kind {
	case "subscriber", "account":
		rows, err := subscribersviews.SubscribersQuery{Views: views}.Names(ctx, org, as[id.Subscriber](targets))
		out := map[id.Any]string{}
		for _, row := range rows {
			out[id.Any(row.ID)] = null.Zero(row.Name())
		}
		return out, err
	case "user":
		return namesOf(identityviews.UsersQuery{Views: views}.Names(ctx, org, as[id.User](targets)))
	case "apikey":
		return namesOf(identityviews.APIKeysQuery{Views: views}.Names(ctx, org, as[id.APIKey](targets)))
	case "device":
		return namesOf(networkviews.DevicesQuery{Views: views}.Names(ctx, org, as[id.Device](targets)))
	case "cpe":
		return namesOf(cpeviews.CPEsQuery{Views: views}.Serials(ctx, org, as[id.CPE](targets)))
	case "invoice":
		return namesOf(billingviews.InvoicesQuery{Views: views}.Numbers(ctx, org, as[id.Invoice](targets)))
	case "receipt":
		return namesOf(paymentsviews.ReceiptsQuery{Views: views}.Numbers(ctx, org, as[id.Receipt](targets)))
	case "payment":
		return namesOf(paymentsviews.PaymentsQuery{Views: views}.Numbers(ctx, org, as[id.Payment](targets)))
	}
	return nil, nil
}

// auditOrganizations names some organizations. It reads as the platform.
func (a *App) auditOrganizations(
	ctx context.Context, orgs []id.Organization,
) (map[id.Organization]auditapi.Organization, error) {
	rows, err := identityviews.OrganizationsQuery{Views: a.engines.views}.Some(ctx, orgs)
	out := make(map[id.Organization]auditapi.Organization, len(rows))
	for _, row := range rows {
		out[row.ID] = auditapi.Organization{Name: row.Name, Slug: row.Slug}
	}
	return out, err
}

// as turns ids of any type into those of one.
func as[I ~[16]byte](targets []id.Any) []I {
	out := make([]I, len(targets))
	for i, t := range targets {
		out[i] = I(t)
	}
	return out
}

// namesOf turns names by ids of one type into names by ids of any.
func namesOf[I ~[16]byte](names map[I]string, err error) (map[id.Any]string, error) {
	out := make(map[id.Any]string, len(names))
	for i, name := range names {
		out[id.Any(i)] = name
	}
	return out, err
}
