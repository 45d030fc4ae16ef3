package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/documents"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/documents"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// documentsArea makes documents of what the other areas show.
func documentsArea() area { return area{wire: (*App).wireDocuments} }

// wireDocuments makes the endpoints.
func (a *App) wireDocuments(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	logos := documentscases.Logos{
		Bus: e.bus, Vault: a.storage.vault.Logos, Organizations: identityviews.OrganizationsQuery{Views: e.views},
		Turns: a.turns,
	}
	return [][]httpapi.Route{
		documentsapi.Documents{Cases: documentscases.Documents{
			Press: paper.NewPress(), Views: e.views, Settings: a.engines.settings, Paybill: a.paybill, Logos: logos,
			Clock: a.clock,
		}}.Routes(),
		documentsapi.Logo{Cases: logos}.Routes(),
	}, nil
}

// paybill gives the number that customers of an organization pay to, as GET /paybill tells it.
func (a *App) paybill(ctx context.Context, org id.Organization) (documentscases.Paybill, error) {
	settings, err := a.engines.settings(ctx, org)
	if err != nil {
		return documentscases.Paybill{}, err
	}
	row, err := paymentsviews.GatewaysQuery{Views: a.engines.views}.Get(ctx, org)
	if err != nil {
		return documentscases.Paybill{}, err
	}
	shortcode, environment := paymentscases.Gateways{Platform: a.platformGateway()}.Paybill(row, settings.Currency)
	return documentscases.Paybill{Shortcode: shortcode, Sandbox: environment == "sandbox"}, nil
}
