package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The document of these tests, what happens to it, and the commands.
var (
	signature = id.As[id.Signature](invoiceID(1))
	taxed     = events.SignatureSubject{
		SignatureID: signature, OrgID: org, SubscriberID: subscriber, Document: events.TaxInvoice,
		InvoiceID: invoiceID(1), Number: number(1),
	}
	cancellationID = id.Derive[id.Signature]("cancellation", signature.String())

	queues  = commands.QueueSignature{SignatureSubject: taxed, Total: kes(116000), IssuedAt: now, Messages: true}
	signs   = commands.RecordSignature{SignatureID: signature, ControlNumber: "C1", Verification: "v", SignedAt: now}
	refuses = commands.RefuseSignature{SignatureID: signature, Code: "pin", Message: "no such PIN"}
	retries = commands.RetrySignature{SignatureID: signature, Reason: "the PIN is mended"}
	voids   = commands.VoidSignature{SignatureID: signature}
	begin   = commands.BeginSigning{SignatureID: signature}

	waits = events.SignatureQueued{
		SignatureSubject: taxed, Total: kes(116000), IssuedAt: now, Messages: true, At: now,
	}
	leaves   = events.SigningBegan{SignatureSubject: taxed, At: now}
	isSigned = events.DocumentSigned{
		SignatureSubject: taxed, ControlNumber: "C1", Verification: "v", SignedAt: now, Messages: true, At: now,
	}
	isRefused = events.SignatureRefused{
		SignatureSubject: taxed, Code: "pin", Message: personal.Of("no such PIN"), At: now,
	}
	again = events.SignatureRetried{
		SignatureSubject: taxed, Round: 1, Reason: personal.Of("the PIN is mended"), At: now,
	}
	withdrawn = events.SignatureWithdrawn{SignatureSubject: taxed, At: now}
	takenBack = events.CancellationDue{
		SignatureSubject: taxed, CancellationID: cancellationID, Total: kes(116000), At: now,
	}
)

// aSignature begins an example of one document.
func aSignature(
	t *testing.T, list ...events.SignatureEvent,
) *decidertest.Scenario[billing.Signature, commands.SignatureCommand, events.SignatureEvent] {
	t.Helper()
	return decidertest.For(t, billing.Signatures(), now).Given(list...)
}

func TestSignature_ADocumentHasOneForEver(t *testing.T) {
	t.Parallel()
	aSignature(t).When(queues).Then(waits)
	aSignature(t, waits).When(queues).ThenNothing()
	aSignature(t, waits).When(begin).Then(leaves)
	aSignature(t, waits, leaves).When(begin).ThenNothing() // two workers at once
	aSignature(t, waits, leaves).When(signs).Then(isSigned)
	other := signs
	other.ControlNumber = "C2"
	for _, c := range []commands.SignatureCommand{signs, other, refuses, voidedBefore()} {
		aSignature(t, waits, leaves, isSigned).When(c).ThenNothing()
	}
	aSignature(t, waits, leaves, isSigned).When(begin).ThenFails("signature_over")
	aSignature(t, waits, leaves, isSigned).When(retries).ThenFails("signature_not_refused")
}

// voidedBefore withdraws, which says nothing about a signed document.
func voidedBefore() commands.SignatureCommand {
	return commands.WithdrawSignature{SignatureID: signature}
}

func TestSignature_ARefusedOneIsTriedAgainByAPersonAlone(t *testing.T) {
	t.Parallel()
	aSignature(t, waits, leaves).When(refuses).Then(isRefused)
	refused := []events.SignatureEvent{waits, leaves, isRefused}
	aSignature(t, refused...).When(refuses).ThenNothing()
	aSignature(t, refused...).When(begin).ThenFails("signature_over")
	aSignature(t, refused...).When(retries).Then(again)
	retried := append(refused, again)
	aSignature(t, retried...).When(retries).ThenFails("signature_not_refused")
	aSignature(t, retried...).When(begin).ThenFails("signature_over") // a job of the first round
	aSignature(t, retried...).When(refuses).ThenNothing()             // its late answer
	second := begin
	second.Round = 1
	aSignature(t, retried...).When(second).Then(events.SigningBegan{SignatureSubject: taxed, Round: 1, At: now})
	aSignature(t, retried...).When(signs).Then(isSigned) // a signature counts whenever it is told
	aSignature(t, refused...).When(signs).Then(isSigned)
	aSignature(t, waits).When(retries).ThenFails("signature_not_refused")
}

func TestSignature_AVoidedInvoiceIsWithdrawnOrTakenBack(t *testing.T) {
	t.Parallel()
	aSignature(t).When(voids).ThenNothing() // the gateway was off
	aSignature(t, waits).When(voids).Then(withdrawn)
	aSignature(t, waits, leaves, isRefused).When(voids).Then(withdrawn)
	aSignature(t, waits, leaves).When(voids).Then(takenBack) // the gateway may have it
	aSignature(t, waits, leaves, isSigned).When(voids).Then(takenBack)
	for _, list := range [][]events.SignatureEvent{
		{waits, withdrawn}, {waits, leaves, takenBack}, {waits, leaves, isSigned, takenBack},
	} {
		aSignature(t, list...).When(voids).ThenNothing()
	}
	aSignature(t, waits, withdrawn).When(begin).ThenFails("signature_over")
	aSignature(t, waits, leaves, takenBack).When(refuses).Then(isRefused, withdrawn)
	untold := isSigned
	untold.Messages = false
	aSignature(t, waits, leaves, takenBack).When(signs).Then(untold)
	aSignature(t, waits, leaves, isRefused, withdrawn).When(signs).Then(untold, takenBack) // an answer of long ago
}

func TestSignature_OfNobodyIsNotFound(t *testing.T) {
	t.Parallel()
	for _, c := range []commands.SignatureCommand{begin, signs, refuses, retries, voidedBefore()} {
		aSignature(t).When(c).ThenFails("signature_not_found")
	}
	if got := billing.Signatures().Owner(aSignature(t, waits).State()); got != org {
		t.Errorf("belongs to %v", got)
	}
	for _, c := range []interface{ Validate() error }{
		commands.QueueSignature{}, commands.RecordSignature{}, commands.RefuseSignature{}, commands.RetrySignature{},
		commands.RetrySignature{Reason: "  "},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestTaxGateway_IsOffUntilItHasEverything(t *testing.T) {
	t.Parallel()
	secret := id.Derive[id.Secret]("test", "secret")
	on := commands.ConfigureTaxGateway{
		OrgID: org, On: true, Address: "https://gateway.example", Serial: "KRA-1", Branch: "00", SecretRef: secret,
		Messages: true,
	}
	turnedOn := events.TaxGatewayConfigured{
		OrgID: org, On: true, Address: "https://gateway.example", Serial: "KRA-1", Branch: "00", SecretRef: secret,
		Messages: true, At: now,
	}
	s := decidertest.For(t, billing.TaxGateways(), now).When(on)
	s.Then(turnedOn)
	if got := s.State(); !got.On || billing.TaxGateways().Owner(got) != org {
		t.Errorf("state %+v", got)
	}
	decidertest.For(t, billing.TaxGateways(), now).Given(turnedOn).When(on).ThenNothing()
	off := on
	off.On = false
	turnedOff := turnedOn
	turnedOff.On = false
	decidertest.For(t, billing.TaxGateways(), now).Given(turnedOn).When(off).Then(turnedOff)
	if on.Validate() != nil || off.Validate() != nil || (commands.ConfigureTaxGateway{OrgID: org}).Validate() != nil {
		t.Error("sound settings are refused")
	}
	for name, change := range map[string]func(c *commands.ConfigureTaxGateway){
		"no organization": func(c *commands.ConfigureTaxGateway) { c.OrgID = id.Organization{} },
		"no address":      func(c *commands.ConfigureTaxGateway) { c.Address = "" },
		"no serial":       func(c *commands.ConfigureTaxGateway) { c.Serial = "" },
		"no branch":       func(c *commands.ConfigureTaxGateway) { c.Branch = "" },
		"no secret":       func(c *commands.ConfigureTaxGateway) { c.SecretRef = id.Secret{} },
		"a broken serial": func(c *commands.ConfigureTaxGateway) { c.Serial = "a\nb" },
	} {
		wrong := on
		change(&wrong)
		if wrong.Validate() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// An order is an invoice from its payment on, which says so once.
func TestOrder_ThatIsPaidSaysThatItIsAnInvoiceNow(t *testing.T) {
	t.Parallel()
	order := draft(1, 116000, 10)
	order.Order = true
	l := given(t, order, issue(1))
	paying := credit(1, 116000)
	paying.InvoiceID = invoiceID(1)
	want := events.OrderTaken{Number: number(1), Total: kes(116000)}
	if got, _ := paidOf(l.do(paying)); !cmp.Equal(got.Ordered, want) {
		t.Errorf("the order is %+v, want %+v", got.Ordered, want)
	}
	plain := given(t, draft(2, 116000, 10), issue(2))
	if got, _ := paidOf(plain.do(credit(1, 116000))); !cmp.Equal(got.Ordered, events.OrderTaken{}) {
		t.Errorf("an invoice is an order: %+v", got.Ordered)
	}
}

// What was given back of an order before its payment is told with it: its notes were no documents before.
func TestOrder_ThatIsPaidTellsItsCreditNotes(t *testing.T) {
	t.Parallel()
	order := draft(1, 116000, 10)
	order.Order = true
	l := given(t, order, issue(1), note(1, 1, 16000))
	issued := l.do(issueNote(1))
	if e, _ := issued[0].(events.CreditNoteIssued); !e.Order {
		t.Errorf("a note over an order is %+v", e)
	}
	l.closed()
	paying := credit(1, 100000)
	paying.InvoiceID = invoiceID(1)
	want := events.OrderTaken{Number: number(1), Total: kes(116000), Notes: []events.OrderNote{
		{CreditNoteID: noteID(1), Number: "ACME-CN-0001", Amount: kes(16000)},
	}}
	if got, _ := paidOf(l.do(paying)); !cmp.Equal(got.Ordered, want) {
		t.Errorf("the order is %+v, want %+v", got.Ordered, want)
	}
	l.do(note(2, 1, 100))
	issued = l.do(commands.IssueCreditNote{SubscriberID: subscriber, CreditNoteID: noteID(2), Number: "ACME-CN-0002"})
	if e, _ := issued[0].(events.CreditNoteIssued); e.Order {
		t.Errorf("a note over a paid order is %+v", e)
	}
}
