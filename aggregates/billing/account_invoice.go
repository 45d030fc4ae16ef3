package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// decideDraftInvoice opens the account when this is the first event about the subscriber's money. A known invoice id
// gives no event.
func decideDraftInvoice(s Account, c commands.DraftInvoice, now time.Time) ([]events.AccountEvent, error) {
	if s.knows(c.InvoiceID) {
		return nil, nil
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Currency, now)
	if err != nil {
		return nil, err
	}
	drafted, err := draft(c, now)
	if err != nil {
		return nil, err
	}
	b.record(drafted)
	return b.events(), nil
}

// draft makes an invoice with its taxes and its total.
func draft(c commands.DraftInvoice, now time.Time) (events.InvoiceDrafted, error) {
	lines := make([]events.PricedLine, len(c.Lines))
	for i, l := range c.Lines {
		lines[i] = events.PricedLine{Quantity: l.Quantity, UnitPrice: l.UnitPrice}
	}
	charged, err := c.Tax.Charge(lines, c.Currency)
	if err != nil {
		return events.InvoiceDrafted{}, failure.NewInvalid("invoice_out_of_range", err.Error())
	}
	for i, l := range c.Lines {
		charged.Lines[i].Description, charged.Lines[i].Once = personal.Of(l.Description), l.Once
	}
	return events.InvoiceDrafted{
		SubscriberID: c.SubscriberID, OrgID: c.OrgID, InvoiceID: c.InvoiceID, SubscriptionID: c.SubscriptionID,
		SoldTo: c.SoldTo, RunID: c.RunID, Order: c.Order,
		PeriodFrom: c.PeriodFrom, PeriodTo: c.PeriodTo, Lines: charged.Lines, Taxes: charged.Taxes,
		Tax: c.Tax, Total: charged.Total, DueOn: c.DueOn, Prefix: c.Prefix, DraftedAt: now,
	}, nil
}

// decideIssueInvoice never refuses a granted number, since a series has no gaps: when the draft is voided or missing,
// or the invoice has a number already, the number becomes a voided document.
func decideIssueInvoice(s Account, c commands.IssueInvoice, now time.Time) ([]events.AccountEvent, error) {
	inv, found := s.invoice(c.InvoiceID)
	switch {
	case !s.Exists():
		return nil, commands.ErrNoAccount()
	case isArchived(s, c.InvoiceID):
		return nil, nil
	case !found:
		return voidNumber(s, c.InvoiceID, c.Number, "voided before it was issued", now), nil
	case inv.Number == c.Number:
		return nil, nil
	case inv.Seq > 0:
		return voidStray(s, c.InvoiceID, c.Number, now), nil
	}
	b := booking{s: s, now: now}
	b.record(events.InvoiceIssued{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, InvoiceID: c.InvoiceID, SubscriptionID: inv.SubscriptionID,
		SoldTo: inv.SoldTo, Order: inv.Order, RunID: inv.RunID, Number: c.Number, Total: inv.Total, DueOn: inv.DueOn,
		IssuedAt: now,
	})
	b.settle(c.InvoiceID)
	if b.s.Invoices[c.InvoiceID].Order { // the credit may be for what comes before it
		return append(b.events(), decideTellCredit(b.s, commands.TellCredit{}, now)...), nil
	}
	b.spend(c.InvoiceID, id.Receipt{})
	return b.events(), nil
}

// voidNumber records a voided document for a number whose draft is gone. A repeated call gives no event.
func voidNumber(s Account, invoice id.Invoice, number, reason string, now time.Time) []events.AccountEvent {
	switch s.Voided[invoice] {
	case number:
		return nil
	case "":
		b := booking{s: s, now: now}
		b.record(events.InvoiceVoided{
			SubscriberID: s.SubscriberID, InvoiceID: invoice, Number: number, Total: money.Of(0, s.Currency),
			Reason: personal.Of(reason), At: now,
		})
		return b.events()
	}
	return voidStray(s, invoice, number, now)
}

// strayReason is the reason on the document of a number that was granted to a document with another number.
const strayReason = "the document has another number"

// voidStray records a voided document for the second number of an invoice. A repeated call gives no event.
func voidStray(s Account, invoice id.Invoice, number string, now time.Time) []events.AccountEvent {
	stray := id.Derive[id.Invoice]("stray", invoice.String(), number)
	if s.Voided[stray] == number || isArchived(s, stray) {
		return nil
	}
	b := booking{s: s, now: now}
	b.record(events.InvoiceVoided{
		SubscriberID: s.SubscriberID, InvoiceID: stray, StrayOf: invoice, Number: number,
		Total: money.Of(0, s.Currency), Reason: personal.Of(strayReason), At: now,
	})
	return b.events()
}

// decideVoidInvoice voids on a request (Number is empty), or records a granted number whose issue was refused (Number
// is set). Of a reissued invoice whose money is released, the corrected one is voided: its credit note gives the wrong
// one back.
func decideVoidInvoice(s Account, c commands.VoidInvoice, now time.Time) ([]events.AccountEvent, error) {
	if c.ReleaseMoney {
		c.InvoiceID = s.InPlaceOf(c.InvoiceID)
	}
	inv, found := s.invoice(c.InvoiceID)
	_, voided := s.Voided[c.InvoiceID]
	switch {
	case !s.Exists():
		return nil, commands.ErrNoInvoice()
	case isArchived(s, c.InvoiceID):
		return nil, invoiceArchived()
	case !found && c.Number != "":
		return voidNumber(s, c.InvoiceID, c.Number, c.Reason, now), nil
	case voided, !found && s.Closed:
		return nil, nil
	case !found:
		return nil, commands.ErrNoInvoice()
	case inv.Seq > 0 && c.Number != "" && c.Number == inv.Number:
		return nil, nil // it was issued after all
	case inv.Seq > 0 && c.Number != "":
		return voidStray(s, c.InvoiceID, c.Number, now), nil
	}
	if c.ReleaseMoney && (inv.Noted.Positive() || inv.WrittenOff.Positive()) {
		return giveBackRest(s, c, now)
	}
	if err := s.mayVoid(c); err != nil {
		return nil, err
	}
	number := inv.Number
	if inv.Seq == 0 {
		number = c.Number
	}
	b := booking{s: s, now: now}
	b.makeRoom(c.InvoiceID, inv.Total)
	b.record(events.InvoiceVoided{
		SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, SubscriptionID: inv.SubscriptionID, Number: number,
		Total: inv.Total, WasIssued: inv.Seq > 0, Reason: personal.Of(c.Reason), At: now,
	})
	if len(b.touched) > 0 {
		b.spend(id.Invoice{}, id.Receipt{})
		b.tellCredit()
	}
	return b.events(), nil
}

// giveBackRest drafts a credit note over all that no credit note nor write-off covers, so that its money becomes
// credit, and ends recoveries on what was written off. Without such a rest, and when all was done before, it gives no
// event.
func giveBackRest(s Account, c commands.VoidInvoice, now time.Time) ([]events.AccountEvent, error) {
	b := booking{s: s, now: now}
	b.waiveRecovery(c.InvoiceID)
	if inv, _ := b.s.invoice(c.InvoiceID); !inv.Total.Sub(inv.Noted).Sub(inv.WrittenOff).Positive() {
		return b.events(), nil
	}
	drafted, err := decideDraftCreditNote(b.s, commands.DraftCreditNote{
		SubscriberID: c.SubscriberID, CreditNoteID: id.Derive[id.Receipt]("rest", c.InvoiceID.String()),
		InvoiceID: c.InvoiceID, Reason: c.Reason, Prefix: c.NotePrefix,
	}, now)
	return append(b.events(), drafted...), err
}

// mayVoid refuses to void an invoice with a credit note or a write-off, and one with money unless that is released. The
// money of receipts that are archived cannot be found any more.
func (s Account) mayVoid(c commands.VoidInvoice) error {
	inv, _ := s.invoice(c.InvoiceID)
	found := money.Of(0, s.Currency)
	for _, receipt := range s.payers(toInvoice(c.InvoiceID)) {
		found = found.Add(s.Receipts[receipt].to(toInvoice(c.InvoiceID)).Amount)
	}
	switch {
	case inv.Noted.Positive():
		return hasCreditNote()
	case inv.WrittenOff.Positive():
		return partWrittenOff()
	case c.ReleaseMoney && inv.Due.Add(found) != inv.Total:
		return invoiceArchived()
	case c.ReleaseMoney:
		return nil
	case inv.Seq > 0 && inv.Due.IsZero():
		return failure.NewConflict("invoice_paid", "The invoice is paid. Make a credit note instead.")
	case inv.Due != inv.Total:
		return failure.NewConflict("invoice_has_payments",
			"Money was paid on the invoice. Make a credit note instead.")
	}
	return nil
}

// decideDraftCreditNote reserves the amount, so that the credit notes of an invoice never exceed its total. An amount
// of zero means all that is left.
func decideDraftCreditNote(s Account, c commands.DraftCreditNote, now time.Time) ([]events.AccountEvent, error) {
	inv, found := s.invoice(c.InvoiceID)
	_, voided := s.Voided[c.InvoiceID]
	_, drafted := s.Notes[c.CreditNoteID]
	_, known := s.Receipts[c.CreditNoteID]
	known = known || isArchived(s, c.CreditNoteID)
	switch {
	case isArchived(s, c.InvoiceID) && !known:
		return nil, invoiceArchived()
	case voided && !known:
		return nil, invoiceVoided()
	case !found && !known:
		return nil, commands.ErrNoInvoice()
	case drafted || known:
		return nil, nil
	case inv.Seq == 0:
		return nil, invoiceNotIssued()
	case !c.Amount.IsZero() && c.Amount.Currency != s.Currency:
		return nil, commands.ErrCurrencyMismatch(s.Currency)
	}
	left := inv.Total.Sub(inv.Noted).Sub(inv.WrittenOff)
	amount := c.Amount
	if amount.IsZero() {
		amount = left
	}
	if !left.Positive() {
		return nil, givenBack()
	}
	if amount.Cmp(left) > 0 {
		return nil, failure.NewConflict("credit_note_too_large", "Only %s of the invoice can still be given back.",
			left.String())
	}
	return []events.AccountEvent{events.CreditNoteDrafted{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, CreditNoteID: c.CreditNoteID, InvoiceID: c.InvoiceID,
		Amount: amount, Reason: personal.Of(c.Reason), Prefix: c.Prefix, DraftedAt: now,
	}}, nil
}

// DaysShare is the amount that some of the days of an invoiced period would give back: their share of the total without
// charges, rounded half up, and at most the rest of the invoice. It is nothing for an invoice that the account does not
// have (any more). Of a reissued one it is the share of the corrected one.
func (s Account) DaysShare(invoice id.Invoice, days, of int) money.Amount {
	inv, found := s.invoice(s.InPlaceOf(invoice))
	if !found {
		return money.Of(0, s.Currency)
	}
	left := inv.Total.Sub(inv.Noted).Sub(inv.WrittenOff)
	return inv.Total.Sub(inv.Once).MulDivRounded(int64(days), int64(of)).Min(left)
}

// Creditable reports whether days that were given on an invoice, and have no credit note yet, may still get one. A
// credit that keeps its period never takes the smallest amount.
func (s Account) Creditable(invoice id.Invoice) bool {
	in := s.InPlaceOf(invoice)
	inv, found := s.invoice(in)
	if _, voided := s.Voided[in]; voided || isArchived(s, in) || !found {
		return !voided && !isArchived(s, in) && !s.Closed
	}
	return inv.Total.Sub(inv.Noted).Sub(inv.WrittenOff).Minor > 1
}

// GivenBack reports whether an invoice, or the one in its place, was voided, or credit notes are over all of it.
func (s Account) GivenBack(invoice id.Invoice) bool {
	in := s.InPlaceOf(invoice)
	if _, voided := s.Voided[in]; voided {
		return true
	}
	inv, found := s.invoice(in)
	return found && inv.Noted.Cmp(inv.Total) >= 0
}

// Share is the amount that a credit would give back. One that keeps its period leaves at least the smallest amount of
// the invoice: a note over all of it would take the period back.
func (s Account) Share(c events.DaysCredit) money.Amount {
	share := s.DaysShare(c.InvoiceID, c.Days, c.Of)
	inv, found := s.invoice(s.InPlaceOf(c.InvoiceID))
	if !found {
		return share
	}
	left := inv.Total.Sub(inv.Noted).Sub(inv.WrittenOff)
	switch {
	case !c.Amount.IsZero():
		share = c.Amount.Min(left)
	case !c.NetOf.IsZero():
		share = inv.Total.MulDivRounded(c.Net.Minor, c.NetOf.Minor).Min(left)
	}
	if c.KeepsPeriod && share.Cmp(left) >= 0 {
		share.Minor = max(0, left.Minor-1)
	}
	return share
}

// decideCreditDays drafts a credit note over the share of some days. Where the rest of the invoice is smaller, or
// nothing, since it was given back or written off already, it takes that. The days of a reissued invoice are given back
// by the corrected one: nothing of the wrong one is left. On a closed account there is nobody to give them to.
func decideCreditDays(s Account, c commands.CreditDays, now time.Time) ([]events.AccountEvent, error) {
	c.InvoiceID = s.InPlaceOf(c.InvoiceID)
	inv, found := s.invoice(c.InvoiceID)
	_, voided := s.Voided[c.InvoiceID]
	share := s.Share(c.DaysCredit)
	if voided || found && inv.Seq > 0 && !share.Positive() || s.Closed {
		return nil, nil
	}
	return decideDraftCreditNote(s, commands.DraftCreditNote{
		SubscriberID: c.SubscriberID, CreditNoteID: c.CreditNoteID, InvoiceID: c.InvoiceID, Amount: share,
		Reason: c.Reason, Prefix: c.Prefix,
	}, now)
}

// invoiceNotIssued refuses a draft: its number comes in a moment.
func invoiceNotIssued() error {
	return failure.NewConflict("invoice_not_issued",
		"The invoice is not issued yet. Try again in a moment, or void it when it should not be issued at all.")
}

// decideIssueCreditNote pays the note's own invoice with the note, in the place of receipts where needed: their money
// becomes credit. So the end is the same whether the invoice was paid before the note, after it, or not at all. A note
// that moves money to a corrected invoice waits for that: a draft takes no money, and other debts would have it first.
func decideIssueCreditNote(s Account, c commands.IssueCreditNote, now time.Time) ([]events.AccountEvent, error) {
	note, drafted := s.Notes[c.CreditNoteID]
	issued, known := s.Receipts[c.CreditNoteID]
	switch {
	case !s.Exists():
		return nil, commands.ErrNoAccount()
	case isArchived(s, c.CreditNoteID), known && issued.Number == c.Number:
		return nil, nil
	case !drafted:
		return voidNoteNumber(s, c, now), nil
	}
	if corrected, found := s.invoice(s.successor(note.InvoiceID)); found && corrected.Seq == 0 {
		return nil, invoiceNotIssued()
	}
	b := booking{s: s, now: now}
	b.record(events.CreditNoteIssued{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, CreditNoteID: c.CreditNoteID, InvoiceID: note.InvoiceID,
		Number: c.Number, Order: s.Invoices[note.InvoiceID].Order, Amount: note.Amount, Reason: note.Reason,
		IssuedAt: now,
	})
	b.makeRoom(note.InvoiceID, note.Amount)
	if amount := note.Amount.Min(b.s.Invoices[note.InvoiceID].Due); amount.Positive() {
		b.allocate(note.InvoiceID, c.CreditNoteID, amount, false)
	}
	b.settle(note.InvoiceID)
	b.spend(b.s.successor(note.InvoiceID), c.CreditNoteID)
	b.tellCredit()
	return b.events(), nil
}

// voidNoteNumber records a voided document for a number that has no drafted credit note. A repeated call gives no
// event.
func voidNoteNumber(s Account, c commands.IssueCreditNote, now time.Time) []events.AccountEvent {
	stray := id.Derive[id.Receipt]("stray", c.CreditNoteID.String(), c.Number)
	if s.Voided[id.As[id.Invoice](stray)] == c.Number || isArchived(s, stray) {
		return nil
	}
	reason := "there is no such draft"
	if _, known := s.Receipts[c.CreditNoteID]; known {
		reason = strayReason
	}
	b := booking{s: s, now: now}
	b.record(events.CreditNoteVoided{
		SubscriberID: s.SubscriberID, CreditNoteID: stray, StrayOf: c.CreditNoteID, Number: c.Number, Reason: reason,
		At: now,
	})
	return b.events()
}

// hasCreditNote refuses an invoice of which a part was given back.
func hasCreditNote() error {
	return failure.NewConflict("invoice_has_credit_note",
		"A credit note was made for the invoice. Give the rest of it back by another credit note.")
}

// partWrittenOff refuses an invoice of which a part was given up.
func partWrittenOff() error {
	return failure.NewConflict("invoice_written_off",
		"A part of the invoice was written off. Give the rest of it back by a credit note.")
}

// invoiceVoided refuses to correct an invoice that is voided.
func invoiceVoided() error {
	return failure.NewConflict("invoice_voided", "The invoice was voided. Nothing of it can be given back.")
}

// givenBack refuses to correct an invoice of which nothing is left.
func givenBack() error {
	return failure.NewConflict("invoice_given_back",
		"The invoice was given back or written off whole. Nothing of it is left.")
}

// invoiceArchived refuses a change to a settled invoice of which the account keeps only the id.
func invoiceArchived() error {
	return failure.NewConflict("invoice_archived", "The invoice is paid and too old to change.")
}
