package main

import (
	"github.com/lastmile-isp/lastmile/processmanagers/gatewayregistration"
	"github.com/lastmile-isp/lastmile/processmanagers/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/paymentprompt"
	"github.com/lastmile-isp/lastmile/processmanagers/provisioning"
	"github.com/lastmile-isp/lastmile/processmanagers/rebooting"
	"github.com/lastmile-isp/lastmile/processmanagers/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/reconciling"
	"github.com/lastmile-isp/lastmile/processmanagers/renewal"
	processes "github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/payments"
	projections "github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// readModels are all tables that are filled from the log.
func readModels() []projections.Projection {
	return []projections.Projection{
		identity.Organizations{}, identity.Users{},
		subscribers.Subscribers{}, subscribers.Plans{}, subscribers.Subscriptions{}, subscribers.Timeline{},
		billing.Invoices{}, billing.Statement{}, billing.Collections{},
		payments.Payments{}, payments.Receipts{}, payments.Gateways{}, payments.Matching{},
		network.Devices{}, network.Services{}, network.History{},
		audit.Log{}, outbox.Outbox{},
	}
}

// registerProcesses adds all reactions over time.
func registerProcesses(r *processes.Runner) {
	processes.Register(r, invoicing.Process())
	processes.Register(r, invoicing.DocumentProcess())
	processes.Register(r, renewal.Process())
	processes.Register(r, paymentprompt.Process())
	processes.Register(r, receipts.Process())
	processes.Register(r, gatewayregistration.Process())
	processes.Register(r, provisioning.Process())
	processes.Register(r, reconciling.Process())
	processes.Register(r, rebooting.Process())
}
