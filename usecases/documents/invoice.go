package documentscases

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// invoice is an invoice with what its document shows beside it.
type invoice struct {
	billingviews.InvoiceDetail
	frame
	numbers map[id.Receipt]string // of the receipts that pay it
	paybill Paybill
}

// Invoice makes the document of an invoice. What the organization was called, its tax PIN and its zone are those of the
// issue. One that the tax authority has to sign is given when it has. Fails: invoice_not_found, document_not_issued,
// document_not_signed.
func (d Documents) Invoice(ctx context.Context, org id.Organization, which id.Invoice) (File, error) {
	row, err := d.invoices().Get(ctx, org, which)
	switch {
	case err != nil:
		return File{}, err
	case row == nil:
		return File{}, commands.ErrNoInvoice()
	case row.Number == "":
		return File{}, errNotIssued()
	}
	i := invoice{InvoiceDetail: *row}
	issued := null.Or(row.IssuedAt, row.DraftedAt)
	if i.frame, err = d.frameAt(ctx, org, row.SubscriberID, issued); err != nil {
		return File{}, err
	}
	if !row.Ordered { // nothing is sold yet
		if i.frame.signature, err = d.signatureOf(ctx, org, id.As[id.Any](which), row.ToBeSigned); err != nil {
			return File{}, err
		}
	}
	i.frame.kind, i.frame.number = i.word(), row.Number
	if row.State == "voided" {
		i.frame.stamp = "VOIDED"
	}
	receipts := make([]id.Receipt, len(row.Allocations))
	for n, a := range row.Allocations {
		receipts[n] = a.ReceiptID
	}
	if i.numbers, err = d.receipts().Numbers(ctx, org, receipts); err != nil {
		return File{}, err
	}
	if row.DueMinor > 0 {
		if i.paybill, err = d.Paybill(ctx, org); err != nil {
			return File{}, err
		}
	}
	pdf, err := d.draw(ctx, i.frame, i.facts(), i.write)
	return File{Name: safeName(i.fileWord(), row.Number), PDF: pdf}, err
}

// word names the kind of the document.
func (i invoice) word() string {
	if i.Ordered {
		return "Order"
	}
	return "Invoice"
}

// fileWord is word in the name of the file.
func (i invoice) fileWord() string {
	if i.Ordered {
		return "order"
	}
	return "invoice"
}

// facts stand at the head.
func (i invoice) facts() [][2]string {
	facts := [][2]string{{"Issued", i.dayOf(i.IssuedAt)}}
	if i.State != "voided" {
		facts = append(facts, [2]string{"Due", dayText(i.DueOn)})
	}
	if i.PeriodFrom != nil && i.PeriodTo != nil {
		facts = append(facts, [2]string{"Period", i.span(*i.PeriodFrom, *i.PeriodTo)})
	}
	if i.Replaces != nil {
		facts = append(facts, [2]string{"In the place of", i.Replaces.Number})
	}
	if i.ReplacedBy != nil {
		facts = append(facts, [2]string{"Corrected by", i.ReplacedBy.Number})
	}
	return append(facts, [2]string{"Voided", i.dayOf(i.VoidedAt)}, [2]string{"Reason", i.Reason})
}

// write puts lines, sums and payments on the sheet.
func (i invoice) write(s *paper.Sheet) {
	if i.Ordered {
		s.Text("This is an order. Nobody owes it: what is ordered is given when it is paid whole.", paper.Style{})
		s.Space(10)
	}
	currency := " (" + string(i.Currency) + ")"
	s.Table([]paper.Column{
		{Title: "Description", Share: 40}, {Title: "Quantity", Share: 11, Right: true},
		{Title: "Unit price", Share: 16, Right: true}, {Title: "Tax", Share: 14, Right: true},
		{Title: "Amount" + currency, Share: 19, Right: true},
	}, func(yield func([]string) bool) {
		for _, l := range i.Lines {
			if !yield([]string{
				l.Description, l.Quantity, figure(l.UnitPrice), figure(l.Gross.Sub(l.Net)), figure(l.Gross),
			}) {
				return
			}
		}
	})
	s.Sums(i.sums())
	i.payments(s)
	i.howToPay(s)
	i.signed(s)
}

// totals are net, each tax, and total; the total alone where no tax is in it.
func totals(total money.Amount, taxes []events.TaxCharge) []paper.Sum {
	var out []paper.Sum
	if len(taxes) > 0 {
		net := total
		for _, t := range taxes {
			net = net.Sub(t.Amount)
		}
		out = append(out, paper.Sum{Name: "Net", Amount: amount(net)})
		for _, t := range taxes {
			out = append(out, paper.Sum{Name: taxName(t), Amount: amount(t.Amount)})
		}
	}
	return append(out, paper.Sum{Name: "Total", Amount: amount(total), Strong: true})
}

// sums are net, taxes, total, and what became of it. They are those of GET /invoices/:id.
func (i invoice) sums() []paper.Sum {
	out := totals(i.Total(), i.Taxes)
	if i.State == "voided" {
		return out
	}
	for _, part := range []struct {
		name string
		of   money.Amount
	}{{"Paid", i.Paid()}, {"Credited", i.Credited()}, {"Written off", i.WrittenOff()}} {
		if !part.of.IsZero() {
			out = append(out, paper.Sum{Name: part.name, Amount: amount(part.of.Neg())})
		}
	}
	return append(out, paper.Sum{Name: "Due", Amount: amount(i.Due()), Strong: true})
}

// taxName is a tax with its rate.
func taxName(t events.TaxCharge) string { return t.Name + " " + percent(t.BasisPoints) }

// payments lists the money that pays the invoice, and the credit notes on it.
func (i invoice) payments(s *paper.Sheet) {
	var rows [][]string
	for _, a := range i.Allocations {
		number := i.numbers[a.ReceiptID]
		if number == "" {
			number = "number not known yet"
		}
		rows = append(rows, []string{
			i.dayOf(&a.At), "Payment " + number, figure(money.Of(a.AmountMinor, i.Currency).Neg()),
		})
	}
	for _, n := range i.CreditNotes {
		if n.State == "issued" {
			rows = append(rows, []string{i.dayOf(n.IssuedAt), "Credit note " + n.Number, figure(n.Amount().Neg())})
		}
	}
	if len(rows) == 0 {
		return
	}
	s.Space(16)
	s.Table([]paper.Column{
		{Title: "Date", Share: 20}, {Title: "Payments and credit notes", Share: 60},
		{Title: "Amount (" + string(i.Currency) + ")", Share: 20, Right: true},
	}, slices.Values(rows))
}

// howToPay says where to pay what is due, and under which reference.
func (i invoice) howToPay(s *paper.Sheet) {
	if i.DueMinor <= 0 || i.paybill.Shortcode == "" {
		return
	}
	s.Space(16)
	s.Text("How to pay", paper.Style{Bold: true})
	s.Text(i.paybill.sentence(i.Number), paper.Style{})
}

// sentence says how money is paid under a reference.
func (p Paybill) sentence(reference string) string {
	text := "Pay to the paybill " + p.Shortcode + " with the account " + reference + "."
	if p.Sandbox {
		text += " This is a test number: no money moves there."
	}
	return text
}
