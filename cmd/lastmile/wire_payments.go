package main

import (
	"context"

	rules "github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
)

// registerPayments adds attempts, receipts and gateway settings, and what the processes ask of them.
func registerPayments(b *bus.Bus) {
	bus.Register(b, bus.Aggregate[rules.Payment, commands.PaymentCommand, events.PaymentEvent]{
		Category: commands.PaymentCategory, Evolve: rules.EvolvePayment, Decide: rules.DecidePayment, Owner: rules.OwnerPayment,
	})
	bus.Register(b, bus.Aggregate[rules.Receipt, commands.ReceiptCommand, events.ReceiptEvent]{
		Category: commands.ReceiptCategory, Evolve: rules.EvolveReceipt, Decide: rules.DecideReceipt, Owner: rules.OwnerReceipt,
	})
	bus.Register(b, bus.Aggregate[rules.Gateway, commands.GatewayCommand, events.GatewayEvent]{
		Category: commands.GatewayCategory, Evolve: rules.EvolveGateway, Decide: rules.DecideGateway, Owner: rules.OwnerGateway, Claims: rules.ClaimsGateway,
	})
	bus.RegisterStored[commands.ExpirePayment](b)
	bus.RegisterStored[commands.SettlePayment](b)
	bus.RegisterStored[commands.MatchReceipt](b)
	bus.RegisterStored[commands.HoldReceipt](b)
	bus.RegisterStored[commands.AbsorbReceipt](b)
	bus.RegisterStored[commands.ClaimProvisional](b)
	bus.RegisterStored[commands.MarkUnclaimed](b)
}

// wirePayments registers the jobs of payments and makes their endpoints.
func (a *App) wirePayments(_ context.Context) ([][]httpapi.Route, error) {
	return nil, nil
}
