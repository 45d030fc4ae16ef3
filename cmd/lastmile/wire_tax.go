package main

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/taxgateway"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/signing"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/simulators/taxauthority"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// taxArea gives the signatures of the tax authority on invoices and credit notes.
func taxArea() area {
	return area{
		aggregates: registerTax, readModels: []runner.Projection{billingviews.Signatures{}},
		processes: []processmanagers.Any{signing.QueueProcess(), signing.Process()}, wire: (*App).wireTax,
	}
}

// registerTax adds the settings of gateways, and signatures.
func registerTax(b *bus.Bus) {
	bus.Register(b, billing.TaxGateways())
	bus.Register(b, billing.TaxContacts())
	bus.Register(b, billing.Signatures())
}

// The queue of the calls to gateways, and how they are tried: for months, because a process asks for each of them once
// and a gateway may be away for a long time.
const (
	taxQueue    = "tax"
	taxAttempts = 30_000
	taxPatience = 10 * time.Minute // the longest pause between two attempts
)

// notItsTurn is the pause before a document is looked at again whose invoice is not signed yet.
const notItsTurn = time.Minute

// wireTax registers the job that has documents signed, and makes the endpoints.
func (a *App) wireTax(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	client := taxgateway.New(taxgateway.Config{
		Guard: a.breakers, Clock: a.clock, Logger: a.logger,
		Addresses: egress.Guard{Inside: a.cfg.taxNetworks(), Domain: a.cfg.ServiceDomain},
	})
	a.life.startedBeside("tax gateway client", stopStorage, func(context.Context) { client.Close() })
	settings := billingcases.TaxGateways{
		Bus: e.bus, Secrets: a.storage.vault.Secrets,
		Allows: func(address string, secret secrets.Text) error { return a.allowsTaxGateway(client, address, secret) },
	}
	work := billingcases.Signing{Bus: e.bus, Views: e.views, Secrets: settings, Gateway: taxCalls{client}}
	jobrunner.AddWorker(e.jobs, func(ctx context.Context, job commands.SignDocument, cause jobs.Cause) error {
		err := work.Sign(ctx, job, cause.Meta)
		var known *failure.Error
		switch {
		case errors.Is(err, billingcases.ErrNotItsTurn):
			return jobrunner.Snooze(notItsTurn)
		case errors.As(err, &known) && known.RetryAfter > 0: // its breaker is open
			return jobrunner.Snooze(known.RetryAfter)
		}
		return err
	}, jobrunner.Options{
		Queue: taxQueue, MaxAttempts: taxAttempts, Backoff: jobrunner.Doubling(time.Second, taxPatience),
	})
	signatures := billingviews.SignaturesQuery{Views: e.views}
	return [][]httpapi.Route{
		billingapi.TaxGateway{Cases: settings, Signatures: signatures}.Routes(),
		billingapi.TaxDocuments{Bus: e.bus, Signatures: signatures, Clock: a.clock}.Routes(),
	}, nil
}

// demoTaxSecret is the secret of the demo's device. Everybody can read it, so it is refused outside the demo.
const demoTaxSecret = secrets.Text("lastmile-demo-tax-secret")

// allowsTaxGateway refuses an address that a gateway may not have, and outside the demo those of its simulator.
func (a *App) allowsTaxGateway(client *taxgateway.Client, address string, secret secrets.Text) error {
	switch {
	case a.taxSimulator == "" && secret == demoTaxSecret:
		return errors.New("belongs to the demo")
	case address == "":
		return nil
	case a.taxSimulator == "" && a.cfg.Production() && address == "http://"+usualTaxSimulatorAddr:
		return errors.New("is the address of the demo's simulator")
	}
	return client.Check(address)
}

// taxCalls speaks the words of the use cases to the client.
type taxCalls struct{ client *taxgateway.Client }

// Submit hands a document over.
func (g taxCalls) Submit(
	ctx context.Context, by billingcases.TaxDevice, d billingcases.TaxDocument,
) (billingcases.TaxOutcome, error) {
	doc := taxgateway.Document{
		ID: d.SignatureID.String(), Kind: d.Document, Number: d.Number, Original: d.Original,
		Seller: taxgateway.Party(d.Seller), Buyer: taxgateway.Party(d.Buyer), IssuedAt: d.IssuedAt, Net: d.Net(),
		Total: d.Total,
	}
	for _, l := range d.Lines {
		doc.Lines = append(doc.Lines, taxgateway.Line{
			Description: l.Description.Reveal(), Quantity: l.Quantity, Net: l.Net, Total: l.Gross,
		})
	}
	for _, t := range d.Taxes {
		doc.Taxes = append(doc.Taxes, taxgateway.Tax(t))
	}
	out, err := g.client.Submit(ctx, deviceOf(by), doc)
	return outcomeOf(out), err
}

// Find asks about a document.
func (g taxCalls) Find(
	ctx context.Context, by billingcases.TaxDevice, which id.Signature,
) (billingcases.TaxOutcome, error) {
	out, err := g.client.Find(ctx, deviceOf(by), which.String())
	if errors.Is(err, taxgateway.ErrUnknownDocument) {
		return billingcases.TaxOutcome{}, nil
	}
	return outcomeOf(out), err
}

// deviceOf is a device in the client's words.
func deviceOf(by billingcases.TaxDevice) taxgateway.Device {
	return taxgateway.Device{
		Address: by.Address, Serial: by.Serial, Branch: by.Branch, Secret: by.Secret.Reveal(),
	}
}

// outcomeOf is an outcome in the words of the use cases.
func outcomeOf(out taxgateway.Outcome) (o billingcases.TaxOutcome) {
	if s := out.Signature; s != nil {
		o.ControlNumber, o.Verification, o.SignedAt = s.ControlNumber, s.Verification, s.At
	}
	if r := out.Refusal; r != nil {
		o.RefusedCode, o.RefusedMessage = r.Code, r.Message
	}
	return o
}

// usualTaxSimulatorAddr is the simulator's address when its port is free, so that examples work as they stand.
const usualTaxSimulatorAddr = "127.0.0.1:8093"

// startTaxSimulator starts the demo's tax authority on its usual loopback port, or on a free one. It accepts the demo's
// secret alone.
func startTaxSimulator(ctx context.Context, c clock.Clock, l *lifecycle) (string, error) {
	cfg := taxauthority.Config{
		Addr: usualTaxSimulatorAddr, Secret: demoTaxSecret.Reveal(), Clock: c, Logger: l.logger,
	}
	sim := taxauthority.New(cfg)
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		cfg.Addr = ""
		sim = taxauthority.New(cfg)
		if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
			return "", err
		}
	}
	l.started("tax authority simulator", stopStorage, func(ctx context.Context) { _ = sim.Stop(ctx) })
	return sim.URL(), nil
}

// taxNetworks are the networks without public addresses in which a tax gateway may be. In development this machine is
// one, because simulators are here.
func (c Config) taxNetworks() []netip.Prefix {
	list := append([]netip.Prefix(nil), c.TaxGatewayNetworks...)
	if !c.Production() {
		list = append(list, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	return list
}
