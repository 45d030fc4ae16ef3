package main

import (
	rules "github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
)

// registerBilling adds accounts and number series, and what the processes ask of them.
func registerBilling(b *bus.Bus) {
	bus.Register(b, bus.Aggregate[rules.Account, commands.AccountCommand, events.AccountEvent]{
		Category: rules.AccountCategory, Evolve: rules.EvolveAccount, Decide: rules.DecideAccount, Owner: rules.OwnerAccount, Close: rules.CloseAccount,
	})
	bus.Register(b, bus.Aggregate[rules.Numbering, commands.NumberingCommand, events.NumberingEvent]{
		Category: rules.NumberingCategory, Evolve: rules.EvolveNumbering, Decide: rules.DecideNumbering, Owner: rules.OwnerNumbering, Close: rules.CloseNumbering,
	})
	bus.RegisterStored[commands.DraftInvoice](b)
	bus.RegisterStored[commands.IssueInvoice](b)
	bus.RegisterStored[commands.VoidInvoice](b)
	bus.RegisterStored[commands.IssueCreditNote](b)
	bus.RegisterStored[commands.GrantNumber](b)
	bus.RegisterStored[commands.CreditReceipt](b)
	bus.RegisterStored[commands.WithdrawReceipt](b)
	bus.RegisterStored[commands.ReleasePrompt](b)
}
