package paymentsjobs

import (
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// comparison is a statement beside the receipts, without I/O. The caller adds the receipts that each side may have, and
// what other statements have sent back.
type comparison struct {
	payments []mobilemoney.StatementLine // each receipt number once, in the order of the file
	// back are the movements of the file that send a payment back, each payment once. It may be in another file.
	back     []mobilemoney.StatementLine
	sentBack map[string]bool // numbers of payments that this statement, or another one, has as reversed
	figures  events.ReconciliationFigures
	here     map[string]paymentsviews.TillReceipt // by number
}

// newComparison takes the payments of customers out of a statement, and counts what else moved. A charge has the number
// of the payment that it is for.
func newComparison(s mobilemoney.Statement) comparison {
	c := comparison{sentBack: map[string]bool{}, here: map[string]paymentsviews.TillReceipt{}}
	seen := map[string]bool{}
	for _, line := range s.Lines {
		switch line.Kind {
		case mobilemoney.LinePayment:
			if !seen[line.ReceiptNumber] {
				c.payments = append(c.payments, line)
			}
			seen[line.ReceiptNumber] = true
		case mobilemoney.LineReversal:
			c.figures.Reversals++
			if number := line.Reverses(); number != "" && !c.sentBack[number] {
				c.back, c.sentBack[number] = append(c.back, line), true
			}
		case mobilemoney.LineWithdrawal:
			c.figures.Withdrawals++
		case mobilemoney.LineCharge:
			c.figures.Charges++
		case mobilemoney.LineFailed:
			c.figures.Failed++
		}
	}
	return c
}

// numbers are those of all payments that the file is about.
func (c comparison) numbers() []string {
	list := make([]string, 0, len(c.payments)+len(c.back))
	for _, line := range c.payments {
		list = append(list, line.ReceiptNumber)
	}
	for _, line := range c.back {
		list = append(list, line.Reverses())
	}
	return list
}

// left reports whether the money of a receipt has gone again, so that it and a statement that sends it back agree.
func left(r paymentsviews.TillReceipt) bool { return r.State == "reversed" || r.State == "refunded" }

// outcome compares. booked are the receipts of the statement's time; one that has gone again is not missed.
func (c comparison) outcome(
	booked []paymentsviews.TillReceipt,
) (paymentsviews.StatementOutcome, events.ReconciliationFigures) {
	out := paymentsviews.StatementOutcome{}
	figures := c.figures
	stated := make(map[string]bool, len(c.payments))
	for _, line := range c.payments {
		stated[line.ReceiptNumber] = true
		receipt, has := c.here[line.ReceiptNumber]
		back := c.sentBack[line.ReceiptNumber]
		switch {
		case !has && back: // it came and went before anybody here saw it
		case !has:
			out.MissingHere = append(out.MissingHere, statedPayment(line))
		case receipt.Amount() != line.PaidIn:
			out.Different = append(out.Different, different(line, receipt, paymentsviews.StatedAmount))
		case back && !left(receipt):
			out.Different = append(out.Different, different(line, receipt, paymentsviews.StatedReversed))
		case !back && receipt.State == "reversed": // the money is at the provider, and on no account
			out.Different = append(out.Different, different(line, receipt, paymentsviews.StatedReversedHere))
		default: // also what was refunded without the provider: no row has to send that back
			figures.Matched++
		}
	}
	for _, line := range c.back {
		number := line.Reverses()
		out.SentBack = append(out.SentBack, number)
		if stated[number] {
			continue
		}
		stated[number] = true // a file that sends a payment back does not miss it
		if receipt, has := c.here[number]; has && !left(receipt) {
			out.Different = append(out.Different, strayed(line, receipt))
		}
	}
	told := map[string]bool{}
	for _, r := range booked {
		if number := strings.ToUpper(r.Number); !stated[number] && !told[number] && !left(r) {
			told[number] = true
			out.MissingThere = append(out.MissingThere, paymentsviews.BookedPayment{
				ReceiptID: r.ID, ReceiptNumber: r.Number, PaidAt: r.PaidAt, Amount: r.Amount(), OrgID: r.OrgID,
			})
		}
	}
	figures.MissingHere, figures.MissingThere = len(out.MissingHere), len(out.MissingThere)
	figures.Different = len(out.Different)
	return out, figures
}

// statedPayment is a payment of a statement as it is kept and shown.
func statedPayment(l mobilemoney.StatementLine) paymentsviews.StatedPayment {
	return paymentsviews.StatedPayment{
		Row: l.Row, ReceiptNumber: l.ReceiptNumber, PaidAt: l.CompletedAt, Amount: l.PaidIn, PayerPhone: l.Party.Number,
		PayerName: l.Party.Name, BillRef: l.AccountRef,
	}
}

// strayed is a payment of another day that a statement sends back, while its receipt stands. The row is that of the
// movement; time and sum of the payment are those that are known here.
func strayed(l mobilemoney.StatementLine, r paymentsviews.TillReceipt) paymentsviews.StatedDifferent {
	return paymentsviews.StatedDifferent{
		StatedPayment: paymentsviews.StatedPayment{
			Row: l.Row, ReceiptNumber: l.Reverses(), PaidAt: r.PaidAt, Amount: r.Amount(),
			PayerPhone: l.Party.Number, PayerName: l.Party.Name,
		},
		ReceiptID: r.ID, Here: r.Amount(), Why: paymentsviews.StatedReversed,
	}
}

// different is a payment about which both sides disagree.
func different(
	l mobilemoney.StatementLine, r paymentsviews.TillReceipt, why string,
) paymentsviews.StatedDifferent {
	return paymentsviews.StatedDifferent{
		StatedPayment: statedPayment(l), ReceiptID: r.ID, Here: r.Amount(), Why: why,
	}
}
