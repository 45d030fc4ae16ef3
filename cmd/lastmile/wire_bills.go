package main

import (
	"cmp"
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/payments"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/bills"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// billsArea gives the invoices at the provider's bill manager.
func billsArea() area {
	return area{
		aggregates: registerBills, readModels: []runner.Projection{paymentsviews.Bills{}},
		processes: []processmanagers.Any{bills.QueueProcess(), bills.Process()}, wire: (*App).wireBills,
	}
}

// registerBills adds opt-ins, settings and bills.
func registerBills(b *bus.Bus) {
	bus.Register(b, payments.BillOptIns())
	bus.Register(b, payments.BillManagers())
	bus.Register(b, payments.Bills())
}

// billCredentials are the platform's own at the bill manager.
func (c Config) billCredentials() mobilemoney.Credentials {
	return mobilemoney.Credentials{
		ConsumerKey: c.BillManagerKey, ConsumerSecret: c.BillManagerSecret.Reveal(),
		ShortCode: cmp.Or(c.BillManagerShortcode, c.PaymentShortcode),
	}
}

// missingForBills names the settings without which the platform cannot opt in.
func (c Config) missingForBills() (list []string) {
	for _, s := range []struct{ name, value string }{
		{"BILL_MANAGER_CONSUMER_KEY", c.BillManagerKey},
		{"BILL_MANAGER_CONSUMER_SECRET", c.BillManagerSecret.Reveal()},
		{"BILL_MANAGER_SHORTCODE", c.billCredentials().ShortCode},
		{"BILL_MANAGER_EMAIL", c.BillManagerEmail},
		{"BILL_MANAGER_PHONE", c.BillManagerPhone},
	} {
		if s.value == "" {
			list = append(list, s.name)
		}
	}
	return list
}

// billOptIn is the id of the platform's opt-in; zero while it has no shortcode.
func (a *App) billOptIn() id.Shortcode {
	if code := a.cfg.billCredentials().ShortCode; code != "" {
		return commands.BillOptInID(a.cfg.PaymentEnv, code)
	}
	return id.Shortcode{}
}

// The locks of the bill manager: who works there, and who opts in.
const (
	lockBills  = "bills"
	lockOptIns = "bill manager opt-in"
)

// wireBills makes the client of the bill manager, registers its jobs and makes its endpoints.
func (a *App) wireBills(context.Context) ([][]httpapi.Route, error) {
	e, creds := a.engines, a.cfg.billCredentials()
	environment := mobilemoney.Environment(a.cfg.PaymentEnv)
	endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		Environment: environment, BaseURL: a.provider, Test: a.cfg.GatewayMode == gatewayTest, Guard: a.breakers,
		Clock: a.clock, Logger: a.logger,
	})
	if err != nil {
		return nil, err
	}
	a.life.startedBeside("bill manager client", stopStorage, func(context.Context) { endpoint.Close() })
	client := mobilemoney.NewBills(mobilemoney.New(endpoint, paymentsjobs.Tokens{
		Vault: a.storage.vault.ProviderTokens, Environment: a.cfg.PaymentEnv, Fetch: endpoint.FetchToken,
		Logger: a.logger,
	}), environment)
	paymentsjobs.NewBills(paymentsjobs.BillsConfig{
		Bus: e.bus, Views: e.views, Secrets: a.storage.vault.Secrets, Manager: client, Credentials: creds,
		OptIn: a.billOptIn(), Refused: paymentsjobs.NewBillsRefused(a.metrics), Clock: a.clock, Logger: a.logger,
		Alone: func(ctx context.Context) (func(), bool, error) {
			lock, got, err := a.storage.db.TryLock(ctx, lockBills)
			if err != nil || !got {
				return nil, false, err
			}
			return lock.Unlock, true, nil
		},
	}).Register(e.jobs)
	query := paymentsviews.BillsQuery{Views: e.views}
	callback := func() (string, error) { // scheme and host of prompts (docs/rules/payments.md#callback-endpoints)
		return paymentsjobs.Addresses{Prompt: a.callbackURL()}.OfBills()
	}
	return [][]httpapi.Route{paymentsapi.BillManager{Bills: query, Cases: paymentscases.BillManager{
		Bus: e.bus, Secrets: a.storage.vault.Secrets, Invoices: billingviews.InvoicesQuery{Views: e.views},
		Bills: query, Shortcode: creds.ShortCode, Environment: a.cfg.PaymentEnv, Missing: a.cfg.missingForBills(),
		Email: a.cfg.BillManagerEmail, Phone: a.cfg.BillManagerPhone, CallbackURL: callback,
		Ask: func(ctx context.Context, reminders bool) (secrets.Text, error) {
			address, err := callback()
			if err != nil {
				return "", err
			}
			return client.OptIn(ctx, creds, mobilemoney.OptIn{
				Email: a.cfg.BillManagerEmail, Phone: a.cfg.BillManagerPhone, Reminders: reminders,
				CallbackURL: address,
			})
		},
		Alone: func(ctx context.Context) (func(), error) {
			lock, err := a.storage.db.Lock(ctx, lockOptIns)
			if err != nil {
				return nil, err
			}
			return lock.Unlock, nil
		},
	}}.Routes()}, nil
}
