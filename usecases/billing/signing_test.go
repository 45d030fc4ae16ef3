package billingcases_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// errLost is the failure of a call whose answer was lost.
var errLost = errors.New("the answer was lost")

// authority is a tax authority that signs each document once. It also stands between the steps of an attempt, where a
// program may be killed.
type authority struct {
	signed  map[id.Signature]billingcases.TaxOutcome
	handed  []billingcases.TaxDocument // each time
	asked   int
	by      billingcases.TaxDevice
	refuse  string // code; "" = it signs
	lose    bool   // the answers
	offline bool   // nothing arrives
	fault   string // code of a failure of the gateway itself; "" = there is none
}

// Submit signs, or refuses.
func (a *authority) Submit(
	_ context.Context, by billingcases.TaxDevice, d billingcases.TaxDocument,
) (billingcases.TaxOutcome, error) {
	a.by = by
	if a.fault != "" {
		return billingcases.TaxOutcome{}, failure.NewUnavailable(a.fault, "Not now.", 0, nil)
	}
	if a.offline {
		return billingcases.TaxOutcome{}, errLost
	}
	a.handed = append(a.handed, d)
	out, known := a.signed[d.SignatureID]
	switch {
	case known:
	case a.refuse != "":
		out = billingcases.TaxOutcome{RefusedCode: a.refuse, RefusedMessage: "Mend it"}
	default:
		out = billingcases.TaxOutcome{
			ControlNumber: fmt.Sprintf("C%d", len(a.signed)+1), Verification: "https://tax.example",
			SignedAt: d.IssuedAt,
		}
		a.signed[d.SignatureID] = out
	}
	if a.lose {
		return billingcases.TaxOutcome{}, errLost
	}
	return out, nil
}

// Find tells what was signed.
func (a *authority) Find(
	_ context.Context, _ billingcases.TaxDevice, which id.Signature,
) (billingcases.TaxOutcome, error) {
	a.asked++
	if a.fault != "" {
		return billingcases.TaxOutcome{}, failure.NewUnavailable(a.fault, "Not now.", 0, nil)
	}
	if a.offline || a.lose {
		return billingcases.TaxOutcome{}, errLost
	}
	return a.signed[which], nil
}

// taxKit is a kit with a tax authority and one issued invoice that is queued.
type taxKit struct {
	*kit
	*authority
	signing  billingcases.Signing
	gateways billingcases.TaxGateways
	invoice  id.Invoice
}

// newTaxKit makes the organization's settings and the queued invoice.
func newTaxKit(t *testing.T) *taxKit {
	t.Helper()
	k := &taxKit{
		kit:       newKit(t, billingviews.Invoices{}, subscribersviews.Subscribers{}, identityviews.Letterheads{}),
		authority: &authority{signed: map[id.Signature]billingcases.TaxOutcome{}},
	}
	bus.Register(k.Bus, billing.TaxGateways())
	bus.Register(k.Bus, billing.TaxContacts())
	bus.Register(k.Bus, billing.Signatures())
	views := k.Show(t)
	k.gateways = billingcases.TaxGateways{
		Bus: k.Bus, Secrets: coretest.OpenVault(t, vault.Config{DB: k.DB, Clock: clock.System()}).Secrets,
		Allows: func(address string, _ secrets.Text) error {
			if address == "http://inside" {
				return errors.New("must be a public address")
			}
			return nil
		},
	}
	k.signing = billingcases.Signing{Bus: k.Bus, Views: views, Secrets: k.gateways, Gateway: k.authority}
	k.pin(t, k.acme, "P051234567A")
	if _, err := k.gateways.Configure(t.Context(), coretest.Ask(k.acme), device("one")); err != nil {
		t.Fatal(err)
	}
	k.invoice = k.issued(t)
	k.queue(t, id.As[id.Signature](k.invoice), events.TaxInvoice, "ACME-0001")
	return k
}

// device are settings with a secret.
func device(secret secrets.Text) billingcases.TaxGatewayInput {
	return billingcases.TaxGatewayInput{
		On: true, Address: "https://gateway.example/", Serial: "KRA-1", Branch: "00", Secret: secret,
	}
}

// pin has documents name the organization by a tax number; "" takes it away.
func (k *taxKit) pin(t *testing.T, org id.Organization, pin string) {
	t.Helper()
	o := coretest.NewOrganization(org, "acme")
	o.Billing.TaxPIN = pin
	k.Run(t, coretest.Operator(org), commands.AdoptBillingSettings{OrgID: org, Billing: o.Billing})
}

// queue queues a document about the invoice, over all of it.
func (k *taxKit) queue(t *testing.T, which id.Signature, document, number string) {
	t.Helper()
	a := k.account(t)
	k.Run(t, coretest.Operator(k.acme), commands.QueueSignature{
		SignatureSubject: events.SignatureSubject{
			SignatureID: which, OrgID: k.acme, SubscriberID: k.amina, Document: document, InvoiceID: k.invoice,
			Number: number,
		}, Total: a.Invoices[k.invoice].Total, IssuedAt: k.clock.Now(),
	})
}

// attempt makes one attempt at a document. cut is the command before which the program is killed; "" = it lives.
func (k *taxKit) attempt(t *testing.T, which id.Signature, round int, cut string) error {
	t.Helper()
	head, err := k.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	job := commands.SignDocument{OrgID: k.acme, SignatureID: which, Round: round, Position: head}
	return k.signing.Sign(ctx, job, func(name string) commands.Meta {
		if name == cut {
			kill()
		}
		meta := coretest.Operator(k.acme)
		meta.CommandID = id.Derive[id.Command]("test", which.String(), fmt.Sprint(round), name)
		return meta
	})
}

// state is that of a document as the log has it.
func (k *taxKit) state(t *testing.T, which id.Signature) billing.Signature {
	t.Helper()
	s, _, err := bus.LoadUnchecked[billing.Signature](t.Context(), k.Bus, which)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recorded counts the signatures in the log of a document.
func (k *taxKit) recorded(t *testing.T, which id.Signature) (n int) {
	t.Helper()
	list, err := k.Store.Read(t.Context(), commands.SignatureCategory+"-"+which.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if _, signed := e.Event.(events.DocumentSigned); signed {
			n++
		}
	}
	return n
}

func TestSign_HandsTheWholeDocumentOver(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	which := id.As[id.Signature](k.invoice)
	if err := k.attempt(t, which, 0, ""); err != nil {
		t.Fatal(err)
	}
	s := k.state(t, which)
	if s.State != billing.SignatureSigned || s.ControlNumber != "C1" || k.recorded(t, which) != 1 {
		t.Fatalf("state %+v", s)
	}
	d := k.handed[0]
	if d.Seller.PIN != "P051234567A" || d.Seller.Name != "The acme" || d.Buyer.Name != "Somebody" ||
		d.Total.Minor != 174000 || d.Net().Minor != 150000 || len(d.Lines) != 1 || d.Lines[0].Gross.Minor != 174000 ||
		d.Lines[0].Description.Reveal() != "Router" || len(d.Taxes) != 1 || d.Taxes[0].Amount.Minor != 24000 {
		t.Errorf("document %+v", d)
	}
	want := billingcases.TaxDevice{Address: "https://gateway.example", Serial: "KRA-1", Branch: "00", Secret: "one"}
	if k.by != want {
		t.Errorf("device %+v", k.by)
	}
	if err := k.attempt(t, which, 0, ""); err != nil || len(k.handed) != 1 {
		t.Errorf("a signed document was handed over again: %d, %v", len(k.handed), err)
	}
}

// TestSign_OneSignatureWhereverItIsKilled: before each record of an attempt, with each answer lost, and twice at once.
func TestSign_OneSignatureWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	for name, upset := range map[string]func(t *testing.T, k *taxKit, which id.Signature){
		"before it leaves": func(t *testing.T, k *taxKit, which id.Signature) { _ = k.attempt(t, which, 0, "begin") },
		"before the record": func(t *testing.T, k *taxKit, which id.Signature) {
			_ = k.attempt(t, which, 0, "sign")
		},
		"twice before the record": func(t *testing.T, k *taxKit, which id.Signature) {
			_ = k.attempt(t, which, 0, "sign")
			_ = k.attempt(t, which, 0, "sign")
		},
		"lost answers": func(t *testing.T, k *taxKit, which id.Signature) {
			k.lose = true
			_ = k.attempt(t, which, 0, "")
			_ = k.attempt(t, which, 0, "")
			k.lose = false
		},
		"a gateway that is away": func(t *testing.T, k *taxKit, which id.Signature) {
			k.offline = true
			_ = k.attempt(t, which, 0, "")
			k.offline = false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTaxKit(t)
			which := id.As[id.Signature](k.invoice)
			upset(t, k, which)
			if s := k.state(t, which); s.State != billing.SignatureQueued {
				t.Fatalf("state %+v", s)
			}
			for range 2 {
				if err := k.attempt(t, which, 0, ""); err != nil {
					t.Fatal(err)
				}
			}
			if s := k.state(t, which); s.ControlNumber != "C1" || len(k.signed) != 1 || k.recorded(t, which) != 1 {
				t.Errorf("%+v, %d signed", s, len(k.signed))
			}
			if len(k.handed) > 1 {
				t.Errorf("handed over %d times, although it could be asked for", len(k.handed))
			}
		})
	}
}

func TestSign_ARefusedDocumentWaitsForARepair(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	which := id.As[id.Signature](k.invoice)
	k.refuse = "buyer_pin_invalid"
	for range 2 {
		if err := k.attempt(t, which, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	if s := k.state(t, which); s.State != billing.SignatureRefused || len(k.handed) != 1 {
		t.Fatalf("%+v, handed over %d times", s, len(k.handed))
	}
	details := coretest.NewSubscriber(k.amina, k.acme, 0).Details
	details.TaxPIN = personal.Of("A012345678Z")
	k.Run(t, coretest.Operator(k.acme), commands.CorrectSubscriberDetails{SubscriberID: k.amina, Details: details})
	k.Run(t, coretest.Operator(k.acme), commands.RetrySignature{SignatureID: which, Reason: "mended"})
	k.refuse = ""
	if err := k.attempt(t, which, 0, ""); err != nil || len(k.handed) != 1 {
		t.Fatalf("a job of the first round went on: %v", err)
	}
	if err := k.attempt(t, which, 1, ""); err != nil {
		t.Fatal(err)
	}
	if s := k.state(t, which); s.State != billing.SignatureSigned || k.handed[1].Buyer.PIN != "A012345678Z" {
		t.Errorf("%+v, %+v", s, k.handed[1].Buyer)
	}
}

// TestSign_AVoidedInvoiceIsNotHandedOver also when nobody has told its document of that.
func TestSign_AVoidedInvoiceIsNotHandedOver(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	which := id.As[id.Signature](k.invoice)
	k.Run(t, coretest.Operator(k.acme), commands.VoidInvoice{
		SubscriberID: k.amina, InvoiceID: k.invoice, Reason: "twice",
	})
	for range 2 {
		if err := k.attempt(t, which, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	if s := k.state(t, which); s.State != billing.SignatureWithdrawn || len(k.handed) > 0 {
		t.Errorf("%+v, handed over %d times", s, len(k.handed))
	}
}

// TestSign_AVoidedInvoiceThatTheGatewayMayHaveIsTakenBack: whether it arrived is found out first.
func TestSign_AVoidedInvoiceThatTheGatewayMayHaveIsTakenBack(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	which := id.As[id.Signature](k.invoice)
	k.lose = true
	_ = k.attempt(t, which, 0, "")
	k.lose = false
	k.Run(t, coretest.Operator(k.acme), commands.VoidInvoice{
		SubscriberID: k.amina, InvoiceID: k.invoice, Reason: "twice",
	})
	k.Run(t, coretest.Operator(k.acme), commands.VoidSignature{SignatureID: which})
	if err := k.attempt(t, which, 0, ""); err != nil {
		t.Fatal(err)
	}
	if s := k.state(t, which); s.State != billing.SignatureSigned || !s.Voided || len(k.handed) != 1 {
		t.Errorf("%+v, handed over %d times", s, len(k.handed))
	}
}

func TestSign_ADocumentThatWaitsTellsWhy(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	which := id.As[id.Signature](k.invoice)
	for _, step := range []struct {
		fault   string
		offline bool
		changes int // that the log has then
	}{
		{"tax_gateway_unavailable", false, 1}, {"tax_gateway_unavailable", false, 1}, {"", true, 1},
		{"tax_gateway_denied", false, 2}, {"", false, 3}, {"", false, 3},
	} {
		k.fault, k.offline = step.fault, step.offline
		if err := k.attempt(t, which, 0, ""); failure.CodeOf(err) != step.fault {
			t.Fatalf("%+v: %v", step, err)
		}
		contact, changes, err := bus.LoadOwned[billing.TaxContact](t.Context(), k.Bus, k.acme, k.acme)
		if err != nil || int(changes)+1 != step.changes {
			t.Fatalf("%+v: %+v after %d changes, %v", step, contact, changes+1, err)
		}
		if want := step.fault; !step.offline && contact.Code != want {
			t.Errorf("%+v: it tells %q", step, contact.Code)
		}
	}
}

func TestSign_ANoteNamesItsSignedInvoiceAndHasItsPartOfTheTax(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	note, err := k.notes.Draft(t.Context(), coretest.Ask(k.acme), billingcases.DraftCreditNoteInput{
		SubscriberID: k.amina, InvoiceID: k.invoice, Reason: "slow",
	})
	if err != nil {
		t.Fatal(err)
	}
	which := id.As[id.Signature](note)
	k.queue(t, which, events.TaxCreditNote, "ACME-CN-0001")
	if err := k.attempt(t, which, 0, ""); !errors.Is(err, billingcases.ErrNotItsTurn) || len(k.handed) > 0 {
		t.Fatalf("a note went before its invoice: %v", err)
	}
	for _, w := range []id.Signature{id.As[id.Signature](k.invoice), which} {
		if err := k.attempt(t, w, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	d := k.handed[1]
	if d.Original != "C1" || d.Total.Minor != 174000 || d.Taxes[0].Amount.Minor != 24000 || d.Net().Minor != 150000 ||
		d.Lines[0].Gross != d.Total || d.Lines[0].Net != d.Net() {
		t.Errorf("note %+v", d)
	}
}

func TestSign_OfAnotherOrganizationIsNotFound(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	job := commands.SignDocument{OrgID: k.other, SignatureID: id.As[id.Signature](k.invoice)}
	err := k.signing.Sign(t.Context(), job, func(string) commands.Meta { return coretest.Operator(k.other) })
	coretest.Refused(t, "another organization", errors.Unwrap(err), "signature_not_found")
	if len(k.handed) > 0 {
		t.Error("it was handed over")
	}
}

// secretsKept counts the secrets in the vault.
func (k *taxKit) secretsKept(t *testing.T) (n int) {
	t.Helper()
	sql := `select count(*) from ` + k.DB.Namespace.Schema("vault") + `.secrets`
	if err := k.DB.Owner.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTaxGateway_EachSecretHasAReferenceOfItsOwn(t *testing.T) {
	t.Parallel()
	k := newTaxKit(t)
	settings := func() billing.TaxGateway {
		g, _, err := bus.LoadUnchecked[billing.TaxGateway](t.Context(), k.Bus, k.acme)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	configure := func(in billingcases.TaxGatewayInput, code string) {
		t.Helper()
		_, err := k.gateways.Configure(t.Context(), coretest.Ask(k.acme), in)
		coretest.Refused(t, "configure", err, code)
	}
	first := settings()
	configure(device(secrets.Hidden), "")
	configure(device(""), "")
	configure(device("one"), "")
	if settings() != first || k.secretsKept(t) != 1 {
		t.Fatalf("the same secret has another reference: %+v", settings())
	}
	configure(device("two"), "")
	if got := settings(); got.Secret == first.Secret || k.secretsKept(t) != 2 { // jobs may still have the first one
		t.Errorf("%+v", got)
	}
	configure(billingcases.TaxGatewayInput{}, "")
	if got := settings(); got.On || got.Address != first.Address || got.Serial != first.Serial || got.Secret.IsZero() {
		t.Errorf("switched off: %+v", got)
	}
	inside := device("three")
	inside.Address = "http://inside"
	configure(inside, "invalid_input")
	k.pin(t, k.acme, "")
	configure(device("three"), "invalid_input")
	if got := settings(); got.On || k.secretsKept(t) != 2 {
		t.Errorf("a refused change left a secret: %+v, %d", got, k.secretsKept(t))
	}
}
