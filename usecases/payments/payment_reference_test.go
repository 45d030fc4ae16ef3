package paymentscases_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// issue issues an invoice of Amina's with a number.
func (k *kit) issue(t *testing.T, number string) id.Invoice {
	t.Helper()
	invoice := id.New[id.Invoice]()
	k.run(t, commands.DraftInvoice{
		SubscriberID: k.amina, OrgID: k.org, InvoiceID: invoice, Currency: money.KES, Prefix: "ACME",
		Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: money.Major(5000, money.KES)}},
		DueOn: calendar.Date{Year: 2026, Month: time.March, Day: 9},
	})
	k.run(t, commands.IssueInvoice{SubscriberID: k.amina, InvoiceID: invoice, Number: number})
	return invoice
}

// reads begins an attempt and gives the text that the customer reads.
func (k *kit) reads(t *testing.T, amount usecases.Figure, invoice id.Invoice) string {
	t.Helper()
	in := k.want(amount)
	in.InvoiceID = invoice
	pending, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), in)
	if err != nil {
		t.Fatal(err)
	}
	return k.begun(t, pending.PaymentID)[0].AccountReference
}

func TestAccountReference_IsWhatTheCustomerKnows(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.prompts.Limit = 100
	amina, _, err := bus.LoadOwned[subscribers.Subscriber](t.Context(), k.Bus, k.org, k.amina)
	if err != nil {
		t.Fatal(err)
	}
	account := amina.AccountNumber
	short, long, longest := k.issue(t, "AC-0007"), k.issue(t, "ACME-10007"), k.issue(t, "ACMENT-123456")
	shaped := func(got, form string) {
		t.Helper()
		if !regexp.MustCompile("^"+form+"$").MatchString(got) || len(got) > 12 {
			t.Errorf("the customer reads %q, want %s", got, form)
		}
	}
	shaped(k.reads(t, "1", id.Invoice{}), account)
	shaped(k.reads(t, "2", short), "AC-0007")
	shaped(k.reads(t, "3", long), "ACME-10007")
	// Within 48 hours the same text would be that of two attempts.
	shaped(k.reads(t, "4", id.Invoice{}), account+"-[A-Z]{2,3}")
	shaped(k.reads(t, "5", short), "AC-0007-[A-Z]{2,3}")
	shaped(k.reads(t, "6", long), account+"-[A-Z]{2,3}") // never cut within digits
	shaped(k.reads(t, "7", longest), account+"-[A-Z]{2,3}")
	k.clock.Advance(48*time.Hour - time.Second)
	shaped(k.reads(t, "8", short), "AC-0007-[A-Z]{2,3}")
	k.clock.Advance(time.Second)
	shaped(k.reads(t, "9", short), "AC-0007")
	shaped(k.reads(t, "10", id.Invoice{}), account)
}

func TestAccountReference_OnAnotherShortcodeIsAnother(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	platform := k.reads(t, "1", id.Invoice{})
	k.proven(t, k.org, "600777")
	if direct := k.reads(t, "2", id.Invoice{}); direct != platform {
		t.Errorf("on the own shortcode the customer reads %q instead of %q", direct, platform)
	}
}

func TestAccountReference_OfManyPromptsStaysApart(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.prompts.Limit = 1000
	seen := map[string]bool{}
	for n := range 60 {
		reference := k.reads(t, usecases.Figure(strconv.Itoa(n+1)), id.Invoice{})
		if seen[reference] {
			t.Errorf("%q leads to two attempts", reference)
		}
		seen[reference] = true
	}
}
