package billingcases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// TaxDevice signs the documents of an organization.
type TaxDevice struct {
	Address, Serial, Branch string
	Secret                  secrets.Text
}

// TaxParty is a seller or a buyer. PIN is "" for a buyer without one.
type TaxParty struct{ PIN, Name string }

// TaxDocument is a document as it is handed over.
type TaxDocument struct {
	billing.Signature
	Original      string // control number of the invoice that a note or a cancellation is about; "" = none
	Seller, Buyer TaxParty
	Lines         []events.InvoiceLine
	Taxes         []events.TaxCharge
}

// TaxOutcome tells how a gateway decided. The zero value is none.
type TaxOutcome struct {
	ControlNumber, Verification string // of a signature
	SignedAt                    time.Time
	RefusedCode, RefusedMessage string
}

// TaxGateway hands documents to a tax authority. An error means that nobody knows the outcome.
type TaxGateway interface {
	Submit(ctx context.Context, by TaxDevice, d TaxDocument) (TaxOutcome, error)
	// Find gives the zero outcome for a document that the gateway does not have.
	Find(ctx context.Context, by TaxDevice, which id.Signature) (TaxOutcome, error)
}

// Signing takes documents to their signature. Safe for concurrent use.
type Signing struct {
	Bus     *bus.Bus
	Views   *runner.Views
	Secrets TaxGateways // reads the secrets
	Gateway TaxGateway
}

// ErrNotItsTurn is the failure of Sign for a document whose invoice is not signed yet.
var ErrNotItsTurn = errors.New("the invoice of the document is not signed yet")

// Sign makes one attempt at a document. The gateway knows it by its id: where an earlier attempt may have reached it,
// it is asked first, so that a lost answer is found and a document is signed once. An error is tried again until there
// is an outcome; a document that has one needs nothing more. Fails: tax_gateway_denied, tax_gateway_unavailable,
// ErrNotItsTurn, and as the log and the read models do.
func (s Signing) Sign(ctx context.Context, job commands.SignDocument, meta func(string) commands.Meta) error {
	doc, _, err := bus.LoadOwned[billing.Signature](ctx, s.Bus, job.OrgID, job.SignatureID)
	if err != nil {
		return fmt.Errorf("load signature %s: %w", job.SignatureID, err)
	}
	if doc.State != billing.SignatureQueued || doc.Round != job.Round {
		return nil
	}
	if voided, err := s.voided(ctx, doc); voided || err != nil {
		if err == nil {
			_, err = s.Bus.Execute(ctx, commands.VoidSignature{SignatureID: doc.SignatureID}, meta("void"))
		}
		return err
	}
	for _, model := range []string{
		billingviews.InvoicesName, subscribersviews.SubscribersName, identityviews.LetterheadsName,
	} {
		if err := s.Views.WaitFor(ctx, model, job.Position); err != nil {
			return err
		}
	}
	paper, needed, err := s.document(ctx, doc)
	if err != nil {
		return err
	}
	if !needed {
		_, err := s.Bus.Execute(ctx, commands.WithdrawSignature{SignatureID: doc.SignatureID}, meta("withdraw"))
		return err
	}
	by, err := s.device(ctx, job.OrgID)
	if err != nil {
		return err
	}
	_, err = s.Bus.Execute(ctx, commands.BeginSigning{SignatureID: doc.SignatureID, Round: job.Round}, meta("begin"))
	if failure.CodeOf(err) == "signature_over" {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.handOver(ctx, by, paper, job, meta)
	return errors.Join(err, s.tell(ctx, job.OrgID, err, meta))
}

// voided reports whether the log has an invoice as voided that the gateway cannot have yet: it is not handed over any
// more. One that it may have is taken back when that is signed.
func (s Signing) voided(ctx context.Context, doc billing.Signature) (bool, error) {
	if doc.Document != events.TaxInvoice || doc.Began {
		return false, nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, s.Bus, doc.OrgID, doc.SubscriberID)
	_, voided := account.Voided[doc.InvoiceID]
	return voided, err
}

// tell records that the gateway has taken a document, or why not. A failure that is not the gateway's says nothing of
// it.
func (s Signing) tell(
	ctx context.Context, org id.Organization, outcome error, meta func(string) commands.Meta,
) error {
	code := failure.CodeOf(outcome)
	if outcome != nil && !slices.Contains(billingviews.TaxFaults, code) {
		return nil
	}
	by := meta("tell")
	by.CommandID = id.New[id.Command]() // an attempt is no repeat of an earlier one
	_, err := s.Bus.Execute(ctx, commands.TellTaxContact{OrgID: org, Code: code}, by)
	return err
}

// handOver asks the gateway about a document that it may have, hands it over where it does not, and records the
// outcome.
func (s Signing) handOver(
	ctx context.Context, by TaxDevice, paper TaxDocument, job commands.SignDocument, meta func(string) commands.Meta,
) (err error) {
	var out TaxOutcome
	if paper.Began {
		if out, err = s.Gateway.Find(ctx, by, paper.SignatureID); err != nil {
			return err
		}
	}
	if out == (TaxOutcome{}) {
		if out, err = s.Gateway.Submit(ctx, by, paper); err != nil {
			return err
		}
	}
	if out.RefusedCode != "" {
		_, err = s.Bus.Execute(ctx, commands.RefuseSignature{
			SignatureID: paper.SignatureID, Round: job.Round, Code: out.RefusedCode, Message: out.RefusedMessage,
		}, meta("refuse"))
		return err
	}
	_, err = s.Bus.Execute(ctx, commands.RecordSignature{
		SignatureID: paper.SignatureID, ControlNumber: out.ControlNumber, Verification: out.Verification,
		SignedAt: out.SignedAt,
	}, meta("sign"))
	return err
}

// device is the present one of an organization: also of one that has turned the gateway off since.
func (s Signing) device(ctx context.Context, org id.Organization) (TaxDevice, error) {
	g, _, err := bus.LoadOwned[billing.TaxGateway](ctx, s.Bus, org, org)
	if err != nil {
		return TaxDevice{}, err
	}
	secret, err := s.Secrets.Secret(ctx, g.Secret)
	return TaxDevice{Address: g.Address, Serial: g.Serial, Branch: g.Branch, Secret: secret}, err
}

// document reads what is handed over. needed is false for a credit note over an order that nobody has paid: the tax
// authority has no invoice of it.
func (s Signing) document(ctx context.Context, doc billing.Signature) (d TaxDocument, needed bool, err error) {
	d.Signature = doc
	if err := s.parties(ctx, &d); err != nil {
		return d, false, err
	}
	row, err := billingviews.InvoicesQuery{Views: s.Views}.Get(ctx, doc.OrgID, doc.InvoiceID)
	switch {
	case err != nil:
		return d, false, err
	case row == nil:
		return d, false, fmt.Errorf("invoice %s is not shown yet", doc.InvoiceID)
	}
	if doc.Document == events.TaxInvoice {
		d.Taxes = row.Taxes
		for _, l := range row.Lines {
			d.Lines = append(d.Lines, events.InvoiceLine{
				Description: personal.Of(l.Description), Quantity: l.Quantity, Net: l.Net, Gross: l.Gross,
			})
		}
		return d, true, nil
	}
	of, _, err := bus.LoadUnchecked[billing.Signature](ctx, s.Bus, id.As[id.Signature](doc.InvoiceID))
	switch {
	case err != nil:
		return d, false, err
	case of.State == billing.SignatureQueued, of.State == billing.SignatureRefused:
		return d, false, ErrNotItsTurn
	}
	d.Original = of.ControlNumber
	d.part(row.InvoiceRow)
	return d, !row.Ordered && (d.Original != "" || doc.Document == events.TaxCreditNote), nil
}

// parties reads who sells and who buys. The seller's PIN is today's, so that a wrong one can be mended; its name is
// that of the issue.
func (s Signing) parties(ctx context.Context, d *TaxDocument) error {
	settings, err := usecases.BillingSettings(ctx, s.Bus, d.OrgID)
	if err != nil {
		return err
	}
	head, err := identityviews.LetterheadsQuery{Views: s.Views}.At(ctx, d.OrgID, d.IssuedAt)
	if err != nil {
		return err
	}
	d.Seller = TaxParty{PIN: settings.TaxPIN, Name: null.Or(head, identityviews.Letterhead{}).Name}
	buyer, err := subscribersviews.SubscribersQuery{Views: s.Views}.Get(ctx, d.OrgID, d.SubscriberID)
	if err != nil || buyer == nil {
		return err
	}
	d.Buyer = TaxParty{
		PIN: buyer.TaxPIN, Name: strings.TrimSpace(null.Zero(buyer.FirstName) + " " + null.Zero(buyer.LastName)),
	}
	return nil
}

// part makes the one line of a note over an invoice, whole or in part, with the same part of its taxes.
func (d *TaxDocument) part(of billingviews.InvoiceRow) {
	text, net := "Invoice "+of.Number+", in part", d.Total
	if d.Total == of.Total() {
		text = "Invoice " + of.Number + ", whole"
	}
	for _, t := range of.TaxesOf(d.Total) {
		d.Taxes = append(d.Taxes, t)
		net = net.Sub(t.Amount)
	}
	d.Lines = []events.InvoiceLine{{Description: personal.Of(text), Quantity: "1", Net: net, Gross: d.Total}}
}

// Net is the total without taxes.
func (d TaxDocument) Net() (net money.Amount) {
	net = d.Total
	for _, t := range d.Taxes {
		net = net.Sub(t.Amount)
	}
	return net
}
