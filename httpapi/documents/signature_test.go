package documentsapi_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// queue has a document about an invoice wait for its signature, as the process does.
func (k *documentsKit) queue(t *testing.T, which id.Any, invoice id.Invoice, document, number string) id.Signature {
	t.Helper()
	k.do(t, k.org, commands.QueueSignature{
		SignatureSubject: events.SignatureSubject{
			SignatureID: id.As[id.Signature](which), OrgID: k.org, SubscriberID: k.amina, Document: document,
			InvoiceID: invoice, Number: number,
		}, Total: money.Major(1740, money.KES), IssuedAt: k.clock.Now(),
	})
	return id.As[id.Signature](which)
}

// sign gives a document the control number.
func (k *documentsKit) sign(t *testing.T, which id.Signature, control string) {
	t.Helper()
	k.do(t, k.org, commands.RecordSignature{
		SignatureID: which, ControlNumber: control, Verification: "https://tax.example/verify?control=" + control,
		SignedAt: k.clock.Now(),
	})
}

func TestDocumentPDF_IsGivenOnlySignedAndHasItsControlNumber(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	made := k.invoice(t, "Router", 1160)
	k.post(t, "/invoices/"+made.ID.String()+"/credit-note", `{"amount": 100, "reason": "too slow"}`)
	note := k.read(t, made.ID).CreditNotes[0]
	for _, c := range []struct {
		which          id.Any
		path, document string
		control        string
	}{
		{id.As[id.Any](made.ID), "/invoices/" + made.ID.String() + "/pdf", events.TaxInvoice, "KRACU1"},
		{id.As[id.Any](note.ID), "/credit-notes/" + note.ID.String() + "/pdf", events.TaxCreditNote, "KRACU2"},
	} {
		unsigned := func(what string) {
			t.Helper()
			apitest.Sends(t, k.Kit, what, apitest.Request{Path: c.path, As: apitest.Support},
				apitest.Is(409, "document_not_signed"))
		}
		if k.document(t, c.path).Has("Signed by the tax authority") {
			t.Error("a document without a gateway is signed")
		}
		which := k.queue(t, c.which, made.ID, c.document, "N")
		unsigned("queued")
		k.do(t, k.org, commands.BeginSigning{SignatureID: which})
		k.do(t, k.org, commands.RefuseSignature{SignatureID: which, Code: "x", Message: "y"})
		unsigned("refused")
		k.sign(t, which, c.control)
		got := k.document(t, c.path)
		expects(t, got, []string{"Signed by the tax authority"}, []string{"Control number: " + c.control},
			[]string{"Signed: 3 March 2026"}, []string{"https://tax.example/verify?control=" + c.control})
	}
}

// The queue is held up for hours: what was issued while the gateway was on waits for its signature, however long ago
// that was and whatever became of the gateway, and what was issued before and after needs none.
func TestDocumentPDF_WaitsHoweverLongItsQueueIsHeldUp(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	turn := func(on bool) {
		t.Helper()
		k.do(t, k.org, commands.ConfigureTaxGateway{
			OrgID: k.org, On: on, Address: "https://gateway.example", Serial: "KRA-1", Branch: "00",
			SecretRef: id.Derive[id.Secret]("test", "device"),
		})
	}
	invoice := func() (which id.Invoice, path string) {
		t.Helper()
		which = k.invoice(t, "Router", 1160).ID
		return which, "/invoices/" + which.String() + "/pdf"
	}
	_, before := invoice()
	turn(true)
	made, between := invoice()
	k.post(t, "/invoices/"+made.String()+"/credit-note", `{"amount": 100, "reason": "too slow"}`)
	note := "/credit-notes/" + k.read(t, made).CreditNotes[0].ID.String() + "/pdf"
	turn(false)
	_, after := invoice()
	for range 3 {
		for _, path := range []string{between, note} {
			apitest.Sends(t, k.Kit, "not queued yet", apitest.Request{Path: path, As: apitest.Support},
				apitest.Is(409, "document_not_signed"))
		}
		for _, path := range []string{before, after} {
			k.document(t, path)
		}
		k.clock.Advance(time.Hour)
	}
	k.sign(t, k.queue(t, id.As[id.Any](made), made, events.TaxInvoice, "N"), "KRACU1")
	expects(t, k.document(t, between), []string{"Control number: KRACU1"})
}

func TestDocumentPDF_AVoidedOneThatNobodyHadNeedsNoSignature(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	made := k.invoice(t, "Router", 1160)
	which := k.queue(t, id.As[id.Any](made.ID), made.ID, events.TaxInvoice, made.Number)
	k.post(t, "/invoices/"+made.ID.String()+"/void", `{"reason": "twice"}`)
	k.do(t, k.org, commands.VoidSignature{SignatureID: which})
	if got := k.document(t, "/invoices/"+made.ID.String()+"/pdf"); got.Has("Signed by the tax authority") {
		t.Error("a withdrawn document is signed")
	}
}
