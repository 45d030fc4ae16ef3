package messagingcases_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// queuedInvoice makes an issued invoice of no subscription whose signature is queued, and a job to tell of it.
func (k *kit) queuedInvoice(t *testing.T) id.Signature {
	t.Helper()
	bus.Register(k.Bus, billing.Signatures())
	org, invoice := k.args.OrgID, id.New[id.Invoice]()
	due := calendar.Date{Year: 2026, Month: 3, Day: 11}
	k.Run(t, coretest.Operator(org), commands.DraftInvoice{
		SubscriberID: k.args.SubscriberID, OrgID: org, InvoiceID: invoice, Currency: money.KES, DueOn: due,
		Prefix: "ACME",
		Lines:  []commands.LineInput{{Description: "Router", Quantity: "1", UnitPrice: money.Major(1160, money.KES)}},
	})
	k.Run(t, coretest.Operator(org), commands.IssueInvoice{
		SubscriberID: k.args.SubscriberID, InvoiceID: invoice, Number: "ACME-0001",
	})
	which := id.As[id.Signature](invoice)
	k.Run(t, coretest.Operator(org), commands.QueueSignature{SignatureSubject: events.SignatureSubject{
		SignatureID: which, OrgID: org, SubscriberID: k.args.SubscriberID, Document: events.TaxInvoice,
		InvoiceID: invoice, Number: "ACME-0001",
	}, Total: money.Major(1160, money.KES), IssuedAt: noon, Messages: true})
	k.args = commands.SendMessage{
		OrgID: org, SubscriberID: k.args.SubscriberID, InvoiceID: invoice, Template: events.NoticeInvoice, At: noon,
		Until: k.args.Until,
	}
	return which
}

func TestSend_ASignedInvoiceIsToldOnceWithItsControlNumber(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	which := k.queuedInvoice(t)
	k.Run(t, coretest.Operator(k.args.OrgID), commands.RecordSignature{
		SignatureID: which, ControlNumber: "KRACU1", Verification: "https://tax.example/KRACU1", SignedAt: noon,
	})
	for _, job := range []string{"one", "one", "other"} {
		again, err := k.send(t, job)
		must(t, again, err)
	}
	if len(k.sent) != 1 || k.state(t) != "sent" || k.sent[0].Text !=
		"The acme: invoice ACME-0001 of KES 1160.00 for account 10000016. Tax control number KRACU1." {
		t.Errorf("%s, sent %+v", k.state(t), k.sent)
	}
}

// TestSend_AnInvoiceThatIsNotSignedIsToldToNobody: nor is one that was voided meanwhile.
func TestSend_AnInvoiceThatIsNotSignedIsToldToNobody(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(k *kit, which id.Signature) commands.Command{
		"refused": func(_ *kit, which id.Signature) commands.Command {
			return commands.RefuseSignature{SignatureID: which, Code: "x", Message: "y"}
		},
		"voided": func(k *kit, which id.Signature) commands.Command {
			k.Run(t, coretest.Operator(k.args.OrgID), commands.RecordSignature{
				SignatureID: which, ControlNumber: "C", Verification: "v", SignedAt: noon,
			})
			return commands.VoidInvoice{
				SubscriberID: k.args.SubscriberID, InvoiceID: k.args.InvoiceID, Reason: "twice",
			}
		},
	} {
		k := newKit(t, phone())
		which := k.queuedInvoice(t)
		k.Run(t, coretest.Operator(k.args.OrgID), change(k, which))
		again, err := k.send(t, "one")
		must(t, again, err)
		if got := k.state(t); len(k.sent) > 0 || !strings.HasPrefix(got, "dropped") {
			t.Errorf("%s: %s, sent %+v", name, got, k.sent)
		}
	}
}
