package billingviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// One invoice is signed at once, another one after a repair while its credit note waits, one is withdrawn, and one is
// refused, whose customer is forgotten.
func TestSignatures_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	of := func(n int, who id.Subscriber, document string) events.SignatureSubject {
		return events.SignatureSubject{
			SignatureID: id.As[id.Signature](invoiceID(n)), OrgID: acme, SubscriberID: who, Document: document,
			InvoiceID: invoiceID(n), Number: "ACME-000" + string(rune('0'+n)),
		}
	}
	note := of(2, amina, events.TaxCreditNote)
	note.SignatureID, note.Number = id.As[id.Signature](receiptID(1)), "ACME-CN-0001"
	queued := func(s events.SignatureSubject, minute int) events.SignatureQueued {
		return events.SignatureQueued{SignatureSubject: s, Total: kes(116000), IssuedAt: at(minute), At: at(minute)}
	}
	signed := func(s events.SignatureSubject, control string, minute int) events.DocumentSigned {
		return events.DocumentSigned{
			SignatureSubject: s, ControlNumber: control, Verification: "https://tax.example/" + control,
			SignedAt: at(minute), At: at(minute),
		}
	}
	refused := func(s events.SignatureSubject, minute int) events.SignatureRefused {
		return events.SignatureRefused{
			SignatureSubject: s, Code: "buyer_pin_invalid", Message: personal.Of("The PIN of Amina is not valid"),
			At: at(minute),
		}
	}
	one, two, three, four := of(1, amina, events.TaxInvoice), of(2, amina, events.TaxInvoice),
		of(3, amina, events.TaxInvoice), of(4, brian, events.TaxInvoice)
	s := projectiontest.NewStory(acme, began)
	for _, e := range []struct {
		stream string
		event  events.Event
	}{
		{"taxgateway-acme", events.TaxGatewayConfigured{
			OrgID: acme, On: true, Address: "https://gateway.example", Serial: "KRA-1", Branch: "00",
			SecretRef: id.Derive[id.Secret]("test", "one"), At: at(0),
		}},
		{"signature-1", queued(one, 1)}, {"signature-1", events.SigningBegan{SignatureSubject: one, At: at(1)}},
		{"signature-1", signed(one, "C1", 2)},
		{"signature-2", queued(two, 3)}, {"signature-2", events.SigningBegan{SignatureSubject: two, At: at(3)}},
		{"signature-2", refused(two, 4)}, {"signature-note", queued(note, 5)},
		{"signature-2", events.SignatureRetried{
			SignatureSubject: two, Round: 1, Reason: personal.Of("the PIN is mended"), At: at(6),
		}},
		{"signature-2", signed(two, "C2", 7)},
		{"signature-3", queued(three, 8)},
		{"signature-3", events.SignatureWithdrawn{SignatureSubject: three, At: at(9)}},
		{"signature-4", queued(four, 10)}, {"signature-4", refused(four, 11)},
		{"taxcontact-acme", events.TaxGatewayFailed{OrgID: acme, Code: "tax_gateway_unavailable", At: at(11)}},
		{"taxcontact-acme", events.TaxGatewayAnswered{OrgID: acme, At: at(12)}},
		{"taxcontact-acme", events.TaxGatewayFailed{OrgID: acme, Code: "tax_gateway_denied", At: at(13)}},
		{"subscriber-brian", events.SubscriberForgotten{SubscriberID: brian}},
		{"taxgateway-acme", events.TaxGatewayConfigured{
			OrgID: acme, Address: "https://gateway.example", Serial: "KRA-1", Branch: "00",
			SecretRef: id.Derive[id.Secret]("test", "two"), Messages: true, At: at(12),
		}},
	} {
		s.Add(e.stream, e.event)
	}
	projectiontest.Check(t, billingviews.Signatures{}, s)
}

func TestSignatureRow_IsLateAfterAnHour(t *testing.T) {
	t.Parallel()
	row := billingviews.SignatureRow{State: "queued", QueuedAt: began}
	for wait, late := range map[time.Duration]bool{0: false, 59 * time.Minute: false, time.Hour: true} {
		if got := row.Late(began.Add(wait)); got != late {
			t.Errorf("after %s late is %t", wait, got)
		}
	}
	row.State = "refused"
	if row.Late(began.AddDate(0, 0, 1)) {
		t.Error("a refused document is late")
	}
}
