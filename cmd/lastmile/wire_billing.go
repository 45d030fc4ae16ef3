package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// registerBilling adds accounts and number series, and what the processes ask of them.
func registerBilling(b *bus.Bus) {
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
	bus.RegisterStored[commands.DraftInvoice](b)
	bus.RegisterStored[commands.IssueInvoice](b)
	bus.RegisterStored[commands.VoidInvoice](b)
	bus.RegisterStored[commands.IssueCreditNote](b)
	bus.RegisterStored[commands.GrantNumber](b)
	bus.RegisterStored[commands.CreditReceipt](b)
	bus.RegisterStored[commands.WithdrawReceipt](b)
	bus.RegisterStored[commands.ReleasePrompt](b)
}
