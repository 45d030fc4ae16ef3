package billingcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
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
	part, err := k.notes.Draft(t.Context(), ask(k.acme), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Amount = nil
	asked := keyed(k.acme)
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
	if !ok || made.Prefix != "ACME-CN" || made.Reason != "outage" || last.Meta.Reason != "outage" {
		t.Errorf("drafted %+v because of %q", last.Event, last.Meta.Reason)
	}
	_, err = k.notes.Draft(t.Context(), ask(k.acme), in)
	refused(t, "nothing is left", "credit_note_too_large", err)
}

func TestDraftCreditNote_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	draft, err := k.invoices.Draft(t.Context(), ask(k.acme), k.router())
	if err != nil {
		t.Fatal(err)
	}
	invoice := k.issued(t)
	try := func(asked usecases.Asked, edit func(*billingcases.DraftCreditNoteInput)) error {
		in := billingcases.DraftCreditNoteInput{SubscriberID: k.amina, InvoiceID: invoice, Reason: "outage"}
		edit(&in)
		_, err := k.notes.Draft(t.Context(), asked, in)
		return err
	}
	of := func(f usecases.Figure) func(*billingcases.DraftCreditNoteInput) {
		return func(in *billingcases.DraftCreditNoteInput) { in.Amount = &f }
	}
	for _, f := range []usecases.Figure{"0", "-1", "1.001", "x"} {
		faulty(t, string(f), try(ask(k.acme), of(f)), "amount")
	}
	refused(t, "more than the invoice", "credit_note_too_large", try(ask(k.acme), of("1740.01")))
	faulty(t, "no reason", try(ask(k.acme), func(in *billingcases.DraftCreditNoteInput) { in.Reason = "" }), "reason")
	refused(t, "another organization", "invoice_not_found", try(ask(k.other), of("1")))
	refused(t, "no account", "invoice_not_found", try(ask(k.acme), func(in *billingcases.DraftCreditNoteInput) {
		in.SubscriberID = id.New[id.Subscriber]()
	}))
	refused(t, "no invoice", "invoice_not_found", try(ask(k.acme), func(in *billingcases.DraftCreditNoteInput) {
		in.InvoiceID = id.New[id.Invoice]()
	}))
	refused(t, "a draft", "invoice_not_issued", try(ask(k.acme), func(in *billingcases.DraftCreditNoteInput) {
		in.InvoiceID = draft
	}))
}

func TestDraftCreditNote_TwoAtOnceNeverGiveBackTooMuch(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := billingcases.DraftCreditNoteInput{
		SubscriberID: k.amina, InvoiceID: k.issued(t), Amount: new(usecases.Figure("1000")), Reason: "outage",
	}
	made := 0
	for _, err := range together(3, func(int) error {
		_, err := k.notes.Draft(t.Context(), ask(k.acme), in)
		return err
	}) {
		if err == nil {
			made++
			continue
		}
		refused(t, "the others", "credit_note_too_large", err)
	}
	if made != 1 || len(k.account(t).Notes) != 1 {
		t.Errorf("%d notes of 1,000 on an invoice of 1,740", made)
	}
}
