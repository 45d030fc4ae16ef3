package documentscases

import (
	"cmp"
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// receipt is a receipt with what its document shows beside it.
type receipt struct {
	paymentsviews.ReceiptRow
	frame
	pays    []paymentsviews.AllocationRow
	backs   []paymentsviews.RefundRow // its refunds that were paid, and those that money waits for
	numbers map[id.Invoice]string     // of the invoices that it pays
	balance *money.Amount             // of the account after it and what became of it; nil = on none
}

// mostRefunds bounds the refunds of one receipt that its document lists.
const mostRefunds = 100

// errAbsorbed refuses a second document of the same money.
func errAbsorbed() error {
	return failure.NewConflict("receipt_without_document",
		"Another receipt stands for this money. Print that one: it is linked here.")
}

// channels name the ways of payment on a receipt.
var channels = map[string]string{
	"stk": "mobile money, by phone prompt", "c2b": "mobile money, at the paybill", "cash": "cash",
	"bill_manager": "bill manager",
}

// cashKinds name what was given by hand.
var cashKinds = map[string]string{
	"cash": "cash", "cheque": "cheque", "bank_transfer": "bank transfer", "card": "card", "other": "other means",
}

// Receipt makes the document of a receipt of an organization. What the organization was called is that of the day when
// the money was recorded. Fails: receipt_not_found, receipt_without_document.
func (d Documents) Receipt(ctx context.Context, org id.Organization, which id.Receipt) (File, error) {
	row, err := d.receipts().Get(ctx, org, which)
	switch {
	case err != nil:
		return File{}, err
	case row == nil:
		return File{}, commands.ErrNoReceipt()
	case row.State == "absorbed":
		return File{}, errAbsorbed()
	}
	r := receipt{ReceiptRow: *row}
	payer := row.SubscriberID
	if payer.IsZero() {
		payer = row.CreditedTo
	}
	if r.frame, err = d.frameAt(ctx, org, payer, row.RecordedAt); err != nil {
		return File{}, err
	}
	r.frame.kind, r.frame.number = "Receipt", row.ReceiptNumber
	if row.State == "reversed" {
		r.frame.stamp = "REVERSED"
	}
	if err := d.used(ctx, org, &r); err != nil {
		return File{}, err
	}
	pdf, err := d.draw(ctx, r.frame, r.facts(), r.write)
	return File{Name: safeName("receipt", cmp.Or(row.ReceiptNumber, row.ID.String())), PDF: pdf}, err
}

// used reads the invoices that a receipt pays, its refunds, and the balance after it. The line of the payment does not
// know yet that its money recovers a loss, and nothing of a refund: neither is credit any more.
func (d Documents) used(ctx context.Context, org id.Organization, r *receipt) error {
	pays, err := d.receipts().Allocations(ctx, org, []id.Receipt{r.ID})
	if err != nil {
		return err
	}
	r.pays = pays[r.ID]
	invoices := make([]id.Invoice, len(r.pays))
	for i, p := range r.pays {
		invoices[i] = p.InvoiceID
	}
	if r.numbers, err = d.invoices().Numbers(ctx, org, invoices); err != nil {
		return err
	}
	refunds, err := paymentsviews.RefundsQuery{Views: d.Views}.List(ctx, org,
		paymentsviews.RefundFilter{ReceiptID: r.ID}, paymentsviews.RefundKey{}, mostRefunds)
	if err != nil {
		return err
	}
	for _, b := range slices.Backward(refunds) {
		if b.State == "completed" || b.State != "failed" && b.Secured {
			r.backs = append(r.backs, b)
		}
	}
	if !r.OnAccount() {
		return nil
	}
	if r.balance, err = d.statements().BalanceAfter(ctx, org, r.SubscriberID, r.ID); r.balance == nil {
		return err
	}
	for _, p := range r.pays {
		if p.Loss {
			*r.balance = r.balance.Add(money.Of(p.AmountMinor, r.Currency))
		}
	}
	for _, b := range r.backs {
		*r.balance = r.balance.Add(money.Of(b.AmountMinor, r.Currency))
	}
	return nil
}

// facts stand at the head. Of money that was moved here from another account, who paid it and what was typed say whose
// it was, which is not for this customer.
func (r receipt) facts() [][2]string {
	if len(r.Moves) > 0 {
		r.PayerName, r.PayerPhone, r.BillRef = nil, nil, nil
	}
	payer := cmp.Or(null.Zero(r.PayerName), null.Zero(r.PayerPhone))
	if name, phone := null.Zero(r.PayerName), null.Zero(r.PayerPhone); name != "" && phone != "" {
		payer = name + ", " + phone
	}
	received, recorded, by := r.momentOf(r.PaidAt), "", channels[r.Channel]
	if day := dayText(r.ReceivedOn); day != "" && day != r.dayOf(&r.PaidAt) {
		received, recorded = day, received
	}
	if r.CashKind != "" {
		by = cashKinds[r.CashKind]
	}
	return [][2]string{
		{"Received", received}, {"Recorded", recorded}, {"By", by}, {"From", payer},
		{"Reference", null.Zero(r.BillRef)}, {"Paybill", r.Shortcode}, {"Reason", r.reason()},
	}
}

// reason says why a receipt was reversed. What it says about other receipts is for staff.
func (r receipt) reason() string {
	if r.State != "reversed" {
		return ""
	}
	return r.Reason
}

// write puts the amount and its use on the sheet.
func (r receipt) write(s *paper.Sheet) {
	if r.ReceiptNumber == "" {
		s.Text("The provider has not told the number of this payment yet.", paper.Style{})
		s.Space(10)
	}
	s.Text("Received: "+amount(r.Amount()), paper.Style{Size: 13, Bold: true})
	s.Space(14)
	rest := r.Amount()
	var rows [][]string
	for _, p := range r.pays {
		part := money.Of(p.AmountMinor, r.Currency)
		rest = rest.Sub(part)
		name := "Invoice "
		if p.Loss {
			name = "Written-off invoice "
		}
		rows = append(rows, []string{name + r.numbers[p.InvoiceID], figure(part)})
	}
	for _, b := range r.backs {
		part := money.Of(b.AmountMinor, r.Currency)
		rest = rest.Sub(part)
		rows = append(rows, []string{r.back(b), figure(part)})
	}
	if rest.Positive() {
		rows = append(rows, []string{r.unused(), figure(rest)})
	}
	s.Table([]paper.Column{
		{Title: "For", Share: 75}, {Title: "Amount (" + string(r.Currency) + ")", Share: 25, Right: true},
	}, slices.Values(rows))
	if r.balance != nil {
		name := balanceName(*r.balance)
		if len(r.backs) > 0 {
			name += " and its refund"
		}
		s.Sums([]paper.Sum{{Name: name, Amount: amount(positive(*r.balance))}})
	}
}

// back says when money went back to the payer, with the number of that payment.
func (r receipt) back(b paymentsviews.RefundRow) string {
	switch {
	case b.State != "completed":
		return "Set aside for a refund"
	case b.Reference == "":
		return "Refunded on " + r.dayOf(b.SettledAt)
	}
	return "Refunded on " + r.dayOf(b.SettledAt) + ", number " + b.Reference
}

// unused says where the money is that pays no invoice.
func (r receipt) unused() string {
	switch {
	case r.State == "reversed":
		return "Taken back"
	case r.OnAccount():
		return "Not used for an invoice"
	}
	return "Not on an account yet"
}

// balanceName says of which kind a balance after a payment is.
func balanceName(balance money.Amount) string {
	if balance.Negative() {
		return "Credit on the account after this payment"
	}
	return "Owed on the account after this payment"
}

// positive is an amount without its sign.
func positive(a money.Amount) money.Amount {
	if a.Negative() {
		return a.Neg()
	}
	return a
}
