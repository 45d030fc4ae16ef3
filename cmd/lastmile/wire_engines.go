package main

import (
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/network/provisioning"
	"github.com/lastmile-isp/lastmile/processmanagers/network/rebooting"
	"github.com/lastmile-isp/lastmile/processmanagers/network/reconciling"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// registerAggregates adds the aggregates of all areas.
func registerAggregates(b *bus.Bus) {
	registerIdentity(b)
	registerSubscribers(b)
	registerBilling(b)
	registerPayments(b)
	registerNetwork(b)
	registerAudit(b)
}

// readModels are all tables that are filled from the log.
func readModels() []runner.Projection {
	return []runner.Projection{
		identityviews.Organizations{}, identityviews.Users{}, subscribersviews.Subscribers{}, subscribersviews.Plans{},
		subscribersviews.Subscriptions{}, subscribersviews.Timeline{}, billingviews.Invoices{},
		billingviews.Statement{}, billingviews.Collections{}, paymentsviews.Payments{}, paymentsviews.Receipts{},
		paymentsviews.Gateways{}, paymentsviews.Matching{}, networkviews.Devices{}, networkviews.Services{},
		networkviews.History{}, auditviews.Log{}, outbox.Outbox{},
	}
}

// processes are all reactions over time.
func processes() []processmanagers.Any {
	return []processmanagers.Any{
		invoicing.Process(), invoicing.DocumentProcess(), renewal.Process(), paymentprompt.Process(),
		receipts.Process(), gatewayregistration.Process(), provisioning.Process(), reconciling.Process(),
		rebooting.Process(),
	}
}
