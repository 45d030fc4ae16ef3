package main

import (
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/network/provisioning"
	"github.com/lastmile-isp/lastmile/processmanagers/network/rebooting"
	"github.com/lastmile-isp/lastmile/processmanagers/network/reconciling"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
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

// registerProcesses adds all reactions over time.
func registerProcesses(r *processrunner.Runner) {
	processrunner.Register(r, invoicing.Process())
	processrunner.Register(r, invoicing.DocumentProcess())
	processrunner.Register(r, renewal.Process())
	processrunner.Register(r, paymentprompt.Process())
	processrunner.Register(r, receipts.Process())
	processrunner.Register(r, gatewayregistration.Process())
	processrunner.Register(r, provisioning.Process())
	processrunner.Register(r, reconciling.Process())
	processrunner.Register(r, rebooting.Process())
}
