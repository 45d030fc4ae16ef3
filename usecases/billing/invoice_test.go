package billingcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

func TestDraftInvoice_FollowsTheOrganizationsSettings(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, days := range []int{0, 7, usecases.MaxDaysAhead} {
		in := k.router()
		if days != 7 { // the default
			in.DueOn = today.AddDays(days)
		}
		invoice, err := k.invoices.Draft(t.Context(), coretest.Ask(k.acme), in)
		if err != nil {
			t.Fatalf("due in %d days: %v", days, err)
		}
		drafted := k.account(t).Invoices[invoice]
		if drafted.Total != money.Major(1740, money.KES) || drafted.DueOn != today.AddDays(days) || drafted.Seq != 0 {
			t.Errorf("due in %d days: %+v", days, drafted)
		}
	}
	list := k.log(t)
	made, ok := list[len(list)-1].Event.(events.InvoiceDrafted)
	if !ok || made.Prefix != "ACME" || made.OrgID != k.acme || made.Lines[0].Description.Reveal() != "Router" ||
		made.Taxes[0].Amount != money.Major(240, money.KES) {
		t.Errorf("drafted %+v", list[len(list)-1].Event)
	}
}

func TestDraftInvoice_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	try := func(org id.Organization, edit func(*billingcases.DraftInvoiceInput)) error {
		in := k.router()
		edit(&in)
		_, err := k.invoices.Draft(t.Context(), coretest.Ask(org), in)
		return err
	}
	line := func(quantity string, price usecases.Figure) func(*billingcases.DraftInvoiceInput) {
		return func(in *billingcases.DraftInvoiceInput) {
			in.Lines = append(in.Lines, billingcases.LineInput{Description: "x", Quantity: quantity, UnitPrice: price})
		}
	}
	due := func(d calendar.Date) func(*billingcases.DraftInvoiceInput) {
		return func(in *billingcases.DraftInvoiceInput) { in.DueOn = d }
	}
	same := func(*billingcases.DraftInvoiceInput) {}
	coretest.Refused(t, "another organization", try(k.other, same), "subscriber_not_found")
	coretest.Refused(t, "nobody", try(k.acme, func(in *billingcases.DraftInvoiceInput) {
		in.SubscriberID = id.New[id.Subscriber]()
	}), "subscriber_not_found")
	coretest.Faulty(t, "yesterday", try(k.acme, due(today.AddDays(-1))), "dueDate")
	coretest.Faulty(t, "far ahead", try(k.acme, due(today.AddDays(usecases.MaxDaysAhead+1))), "dueDate")
	coretest.Faulty(t, "decimals", try(k.acme, line("1", "1.001")), "lines[1].unitPrice")
	coretest.Faulty(t, "no amount", try(k.acme, line("1", "1e3")), "lines[1].unitPrice")
	coretest.Faulty(t, "quantity", try(k.acme, line("-1", "1")), "lines[1].quantity")
	coretest.Faulty(t, "no lines", try(k.acme, func(in *billingcases.DraftInvoiceInput) { in.Lines = nil }), "lines")
	if list := k.log(t); len(list) != 0 {
		t.Errorf("a refusal left %d events", len(list))
	}
}

func TestDraftInvoice_ARepeatAndTwoAtOnceMakeOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := coretest.Keyed(k.acme)
	made := make([]id.Invoice, 4)
	for _, err := range coretest.AtOnce(3, func(n int) (err error) {
		made[n], err = k.invoices.Draft(t.Context(), asked, k.router())
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if made[3], err = k.invoices.Draft(t.Context(), asked, k.router()); err != nil {
		t.Fatal(err)
	}
	for _, invoice := range made {
		if invoice != made[0] {
			t.Errorf("made %v", made)
		}
	}
	if n := len(k.account(t).Invoices); n != 1 {
		t.Errorf("%d invoices", n)
	}
	_, err = k.invoices.Draft(t.Context(), coretest.Ask(k.acme), k.router())
	if err != nil || len(k.account(t).Invoices) != 2 {
		t.Errorf("another request: %v", err)
	}
}
