package billing_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// now is the instant of all decisions in these tests.
var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// The customer of these tests and the organization.
var (
	org        = id.Derive[id.Organization]("test", "org")
	subscriber = id.Derive[id.Subscriber]("test", "subscriber")
)

// kes is an amount in Kenyan cents, the minor unit.
func kes(minor int64) money.Amount { return money.Of(minor, money.KES) }

// invoiceID is the same in every run for the same n.
func invoiceID(n int) id.Invoice { return id.Derive[id.Invoice]("test", fmt.Sprint("invoice", n)) }

// receiptID is the same in every run for the same n.
func receiptID(n int) id.Receipt { return id.Derive[id.Receipt]("test", fmt.Sprint("receipt", n)) }

// noteID is the same in every run for the same n.
func noteID(n int) id.Receipt { return id.Derive[id.Receipt]("test", fmt.Sprint("note", n)) }

// paymentID is the same in every run for the same n.
func paymentID(n int) id.Payment { return id.Derive[id.Payment]("test", fmt.Sprint("payment", n)) }

// number is the legal number of the n-th invoice.
func number(n int) string { return fmt.Sprintf("ACME-%04d", n) }

// dueOn is a day of March 2026.
func dueOn(day int) calendar.Date { return calendar.Date{Year: 2026, Month: time.March, Day: day} }

// subscription is the subscription of all invoices in these tests.
func subscription() id.Subscription { return id.Derive[id.Subscription]("test", "subscription") }

// draft makes an invoice of one line without tax, due on a day of March.
func draft(n int, minor int64, day int) commands.DraftInvoice {
	return commands.DraftInvoice{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(n), SubscriptionID: subscription(),
		Currency: money.KES, Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: kes(minor)}},
		Prefix: "ACME", DueOn: dueOn(day),
	}
}

// issue issues the n-th draft under its number.
func issue(n int) commands.IssueInvoice {
	return commands.IssueInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(n), Number: number(n)}
}

// credit puts the n-th receipt on the account, without a named invoice.
func credit(n int, minor int64) commands.CreditReceipt {
	return commands.CreditReceipt{
		SubscriberID: subscriber, OrgID: org, ReceiptID: receiptID(n), Number: fmt.Sprintf("R%d", n), Channel: "c2b",
		Amount: kes(minor), PaidAt: now,
	}
}

// withdraw takes the n-th receipt back.
func withdraw(n int) commands.WithdrawReceipt {
	return commands.WithdrawReceipt{SubscriberID: subscriber, ReceiptID: receiptID(n), Reason: "wrong customer"}
}

// accounts is the definition that the bus executes.
var accounts = billing.Accounts()

// scenario gives events, executes a command and compares the result.
type scenario = decidertest.Scenario[billing.Account, commands.AccountCommand, events.AccountEvent]

// ledger is an account under test, with the checks that these tests share.
type ledger struct {
	t *testing.T
	*scenario
}

// given is the account after commands that must all be accepted.
func given(t *testing.T, cs ...commands.AccountCommand) *ledger {
	t.Helper()
	l := &ledger{t, decidertest.For(t, accounts, now)}
	for _, c := range cs {
		l.do(c)
	}
	return l
}

// do executes a command that must be accepted, and returns its events. Each of them that has a field for the books must
// tell those after the append.
func (l *ledger) do(c commands.AccountCommand) []events.AccountEvent {
	l.t.Helper()
	made := l.When(c).ThenEvents()
	for _, e := range made {
		has := reflect.ValueOf(e).FieldByName("After").IsValid()
		if has && after(e) != l.State().Books() {
			l.t.Errorf("%s tells the books %+v, want %+v", e.EventType(), after(e), l.State().Books())
		}
	}
	return made
}

// closed continues in the next period, and checks that closing lost nothing.
func (l *ledger) closed() {
	l.t.Helper()
	l.SurvivesClosing(cmpopts.EquateEmpty())
	l.Given(billing.Accounts().Close(l.State()))
}

// bare is an event without the fields that other tests compare: the books after it and the id of the allocation.
func bare(e events.AccountEvent) events.AccountEvent {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	for _, name := range []string{"After", "AllocationID"} {
		if f := v.FieldByName(name); f.IsValid() {
			f.SetZero()
		}
	}
	return v.Interface().(events.AccountEvent)
}

// after are the books that an event tells of; zero for an event that changes no books.
func after(e events.AccountEvent) events.Books {
	if f := reflect.ValueOf(e).FieldByName("After"); f.IsValid() {
		return f.Interface().(events.Books)
	}
	return events.Books{}
}

// then executes a command and compares its events, without the books; none are wanted when want is empty.
func (l *ledger) then(c commands.AccountCommand, want ...events.AccountEvent) {
	l.t.Helper()
	var got []events.AccountEvent
	for _, e := range l.do(c) {
		got = append(got, bare(e))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		l.t.Errorf("%s (-want +got):\n%s", c.CommandName(), diff)
	}
}

// kinds executes a command and compares only the types of its events.
func (l *ledger) kinds(c commands.AccountCommand, want ...events.AccountEvent) {
	l.t.Helper()
	var names, wanted []string
	for _, e := range l.do(c) {
		names = append(names, e.EventType())
	}
	for _, e := range want {
		wanted = append(wanted, e.EventType())
	}
	if diff := cmp.Diff(wanted, names); diff != "" {
		l.t.Errorf("%s (-want +got):\n%s", c.CommandName(), diff)
	}
}

// fails executes a command that must be refused with this kind and code.
func (l *ledger) fails(c commands.AccountCommand, kind failure.Kind, code string) {
	l.t.Helper()
	made, err := billing.Accounts().Decide(l.State(), c, now)
	if failure.KindOf(err) != kind || failure.CodeOf(err) != code || made != nil {
		l.t.Errorf("%s gave %v, %v, want %s", c.CommandName(), made, err, code)
	}
}

// stands compares what is due and the credit, in minor units.
func (l *ledger) stands(due, credit int64) {
	l.t.Helper()
	if got := l.State().Due(); got != kes(due) {
		l.t.Errorf("due is %s, want %s", got, kes(due))
	}
	if got := l.State().Credit(); got != kes(credit) {
		l.t.Errorf("credit is %s, want %s", got, kes(credit))
	}
}
