package billingcases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

func TestDraftCreditNote_GivesAPartOrTheRestBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := billingcases.DraftCreditNoteInput{
		SubscriberID: k.amina, InvoiceID: k.issued(t), Amount: new(usecases.Figure("500")), Reason: "outage",
	}
	part, err := k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Amount = nil
	asked := coretest.Keyed(k.acme)
	rest, err := k.notes.Draft(t.Context(), asked, in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.notes.Draft(t.Context(), asked, in); err != nil || again != rest {
		t.Errorf("a repeat made %v after %v, %v", again, rest, err)
	}
	notes := k.account(t).Notes
	if len(notes) != 2 || notes[part].Amount != money.Major(500, money.KES) ||
		notes[rest].Amount != money.Major(1240, money.KES) {
		t.Errorf("notes %+v", notes)
	}
	list := k.log(t)
	last := list[len(list)-1]
	made, ok := last.Event.(events.CreditNoteDrafted)
	if !ok || made.Prefix != "ACME-CN" || made.Reason.Reveal() != "outage" || last.Meta.Why() != "outage" {
		t.Errorf("drafted %+v because of %q", last.Event, last.Meta.Why())
	}
	_, err = k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "nothing is left", err, "invoice_given_back")
}

func TestDraftCreditNote_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	draft, err := k.invoices.Draft(t.Context(), coretest.Ask(k.acme), k.router())
	if err != nil {
		t.Fatal(err)
	}
	invoice := k.issued(t)
	try := func(org id.Organization, edit func(*billingcases.DraftCreditNoteInput)) error {
		in := billingcases.DraftCreditNoteInput{SubscriberID: k.amina, InvoiceID: invoice, Reason: "outage"}
		edit(&in)
		_, err := k.notes.Draft(t.Context(), coretest.Ask(org), in)
		return err
	}
	of := func(f usecases.Figure) func(*billingcases.DraftCreditNoteInput) {
		return func(in *billingcases.DraftCreditNoteInput) { in.Amount = &f }
	}
	for _, f := range []usecases.Figure{"0", "-1", "1.001", "x"} {
		coretest.Faulty(t, string(f), try(k.acme, of(f)), "amount")
	}
	coretest.Refused(t, "more than the invoice", try(k.acme, of("1740.01")), "credit_note_too_large")
	coretest.Faulty(t, "no reason", try(k.acme, func(in *billingcases.DraftCreditNoteInput) {
		in.Reason = ""
	}), "reason")
	coretest.Refused(t, "another organization", try(k.other, of("1")), "invoice_not_found")
	coretest.Refused(t, "no account", try(k.acme, func(in *billingcases.DraftCreditNoteInput) {
		in.SubscriberID = id.New[id.Subscriber]()
	}), "invoice_not_found")
	coretest.Refused(t, "no invoice", try(k.acme, func(in *billingcases.DraftCreditNoteInput) {
		in.InvoiceID = id.New[id.Invoice]()
	}), "invoice_not_found")
	coretest.Refused(t, "a draft", try(k.acme, func(in *billingcases.DraftCreditNoteInput) {
		in.InvoiceID = draft
	}), "invoice_not_issued")
}

func TestDraftCreditNote_TwoAtOnceNeverGiveBackTooMuch(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := billingcases.DraftCreditNoteInput{
		SubscriberID: k.amina, InvoiceID: k.issued(t), Amount: new(usecases.Figure("1000")), Reason: "outage",
	}
	made := 0
	for _, err := range coretest.AtOnce(3, func(int) error {
		_, err := k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
		return err
	}) {
		if err == nil {
			made++
			continue
		}
		coretest.Refused(t, "the others", err, "credit_note_too_large")
	}
	if made != 1 || len(k.account(t).Notes) != 1 {
		t.Errorf("%d notes of 1,000 on an invoice of 1,740", made)
	}
}

func TestDraftCreditNote_OverAnArchivedPeriodIsRefusedAndAPartOfItIsNot(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	c := k.period(calendar.Month, time.Time{}, time.Time{})
	c.SubscriptionID = k.Archived(t, k.acme, k.amina)
	k.draftOf(t, c)
	k.Run(t, coretest.Ask(k.acme).Meta, commands.IssueInvoice{
		SubscriberID: k.amina, InvoiceID: c.InvoiceID, Number: "ACME-0001",
	})
	in := billingcases.DraftCreditNoteInput{SubscriberID: k.amina, InvoiceID: c.InvoiceID, Reason: "outage"}
	_, err := k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "the whole", err, "period_archived")
	in.Amount = new(usecases.Figure("1500"))
	_, err = k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "the same as an amount", err, "period_archived")
	if notes := k.account(t).Notes; len(notes) != 0 {
		t.Errorf("the refused notes left %+v", notes)
	}
	in.Amount = new(usecases.Figure("500"))
	_, err = k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "a part", err, "")
	in.Amount = new(usecases.Figure("1000"))
	_, err = k.notes.Draft(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "the rest", err, "period_archived")
}
