package commands_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// billingCommands has one valid example of each command.
func billingCommands() []commands.Command {
	at := time.Date(2026, 3, 1, 9, 0, 0, 123, time.UTC)
	org, who := id.New[id.Organization](), id.New[id.Subscriber]()
	amount := money.Of(150050, money.KES)
	return []commands.Command{
		commands.DraftInvoice{
			SubscriberID: who, OrgID: org, InvoiceID: id.New[id.Invoice](), SubscriptionID: id.New[id.Subscription](),
			PeriodFrom: at, PeriodTo: at.AddDate(0, 1, 0),
			Lines: []commands.LineInput{{Description: "Home", Quantity: "1.5", UnitPrice: amount}},
			Tax: events.TaxRule{
				Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600, Compound: true}},
			},
			Currency: money.KES, Prefix: "ACME", DueOn: calendar.Date{Year: 2026, Month: time.March, Day: 8},
		},
		commands.IssueInvoice{SubscriberID: who, InvoiceID: id.New[id.Invoice](), Number: "ACME-0001"},
		commands.VoidInvoice{
			SubscriberID: who, InvoiceID: id.New[id.Invoice](), Reason: "typo", Number: "ACME-0001", ReleaseMoney: true,
		},
		commands.DraftCreditNote{
			SubscriberID: who, CreditNoteID: id.New[id.Receipt](), InvoiceID: id.New[id.Invoice](), Amount: amount,
			Reason: "outage", Prefix: "ACME-CN",
		},
		commands.IssueCreditNote{SubscriberID: who, CreditNoteID: id.New[id.Receipt](), Number: "ACME-CN-0001"},
		commands.CreditReceipt{
			SubscriberID: who, OrgID: org, ReceiptID: id.New[id.Receipt](), InvoiceID: id.New[id.Invoice](),
			Number: "QGH1234567", Channel: "stk", Amount: amount, PaidAt: at, Move: 2,
		},
		commands.WithdrawReceipt{
			SubscriberID: who, ReceiptID: id.New[id.Receipt](), WithdrawalID: id.New[id.Withdrawal](), Amount: amount,
			Reason: "reversed",
		},
		commands.ReservePrompt{
			SubscriberID: who, OrgID: org, PaymentID: id.New[id.Payment](), InvoiceID: id.New[id.Invoice](),
			Amount: amount,
		},
		commands.ReleasePrompt{SubscriberID: who, PaymentID: id.New[id.Payment]()},
		commands.GrantNumbers{
			SeriesID: commands.SeriesOf(org, commands.InvoiceDocument, "ACME"), OrgID: org,
			Document: commands.InvoiceDocument, Prefix: "ACME", After: 41,
			Documents: []commands.NumberedDocument{{DocumentID: id.New[id.Any](), SubscriberID: who}},
		},
		commands.GrantNumber{
			SeriesID: commands.SeriesOf(org, commands.InvoiceDocument, "ACME"), OrgID: org,
			Document: commands.InvoiceDocument, DocumentID: id.New[id.Any](), SubscriberID: who, Prefix: "ACME",
		},
		commands.DraftPeriodInvoice{
			SubscriberID: who, OrgID: org, InvoiceID: id.New[id.Invoice](), SubscriptionID: id.New[id.Subscription](),
			PeriodFrom: at, PeriodTo: at.AddDate(0, 1, 0), DueAt: at, PlanName: "Home", Price: amount,
			Period: calendar.Month,
		},
		commands.SetCreditAside{
			SubscriberID: who, RefundID: id.New[id.Refund](), ReceiptID: id.New[id.Receipt](), Amount: amount,
			Reason: "moved",
		},
		commands.ReturnSetAside{SubscriberID: who, RefundID: id.New[id.Refund](), Reason: "declined"},
		commands.PayOutSetAside{SubscriberID: who, RefundID: id.New[id.Refund]()},
		commands.WriteOffDebt{SubscriberID: who, WriteOffID: id.New[id.Receipt](), Amount: amount, Reason: "gone"},
	}
}

// Process managers store their commands as JSON rows.
func TestBillingCommands_SurviveBeingStored(t *testing.T) {
	t.Parallel()
	for _, c := range billingCommands() {
		if err := c.Validate(); err != nil {
			t.Errorf("%s is not valid: %v", c.CommandName(), err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("store %s: %v", c.CommandName(), err)
		}
		back := reflect.New(reflect.TypeOf(c))
		if err := json.Unmarshal(text, back.Interface()); err != nil {
			t.Fatalf("read %s: %v", c.CommandName(), err)
		}
		if diff := cmp.Diff(c, back.Elem().Interface()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", c.CommandName(), diff)
		}
	}
}

func TestBillingCommands_EmptyOnesAreInvalid(t *testing.T) {
	t.Parallel()
	for _, c := range billingCommands() {
		empty, ok := reflect.Zero(reflect.TypeOf(c)).Interface().(commands.Command)
		if !ok || failure.KindOf(empty.Validate()) != failure.Invalid {
			t.Errorf("an empty %s gave %v", c.CommandName(), empty.Validate())
		}
	}
}

func TestGrantNumbers_ForeignSeriesIsInvalid(t *testing.T) {
	t.Parallel()
	for _, c := range billingCommands() {
		if g, ok := c.(commands.GrantNumbers); ok {
			g.OrgID = id.New[id.Organization]()
			if failure.KindOf(g.Validate()) != failure.Invalid {
				t.Error("a number of another organization's series could be granted")
			}
		}
	}
}

func TestBillingCommands_NegativeAmountsAndPartsWithoutAnIDAreInvalid(t *testing.T) {
	t.Parallel()
	minus := money.Of(-1, money.KES)
	for _, c := range billingCommands() {
		var wrong commands.Command
		switch c := c.(type) {
		case commands.WithdrawReceipt:
			c.WithdrawalID = id.Withdrawal{}
			if failure.KindOf(c.Validate()) != failure.Invalid {
				t.Error("a part could be withdrawn without an id")
			}
			c.Amount = minus
			wrong = c
		case commands.SetCreditAside:
			c.Amount = minus
			wrong = c
		case commands.WriteOffDebt:
			c.Amount = minus
			wrong = c
		default:
			continue
		}
		if failure.KindOf(wrong.Validate()) != failure.Invalid {
			t.Errorf("%s takes a negative amount", wrong.CommandName())
		}
	}
}
