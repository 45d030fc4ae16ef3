package paymentsjobs

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// comparison is a statement beside the receipts, without I/O. The caller adds the receipts that each side may have, and
// what other statements have sent back.
type comparison struct {
	payments []mobilemoney.StatementLine // of customers, each receipt number once, in the order of the file
	// others are movements whose money came and is no customer's, or nobody can say, each number once.
	others []mobilemoney.StatementLine
	// back are the movements of the file that send a payment back, each payment once. It may be in another file.
	back     []sentBack
	sentBack map[string]bool // numbers of payments that this statement, or another one, has as reversed
	// doubtful are the numbers of payments that this statement or another one may send back, doubts those of this one.
	doubtful  map[string]bool
	doubts    []string
	unsure    map[string]string // why the file alone contradicts itself about a payment, by its number
	attention []paymentsviews.StatedAttention
	figures   events.ReconciliationFigures
	here      map[string]paymentsviews.TillReceipt // by number
}

// sentBack is a movement that sends a payment back, and the number of that payment.
type sentBack struct {
	mobilemoney.StatementLine
	number string
}

// newComparison takes the payments of customers out of a statement, and counts what else moved. A charge has the number
// of the payment that it is for.
func newComparison(s mobilemoney.Statement) comparison {
	c := comparison{
		sentBack: map[string]bool{}, doubtful: map[string]bool{}, unsure: map[string]string{},
		here: map[string]paymentsviews.TillReceipt{},
	}
	seen := map[string]money.Amount{}
	for _, line := range s.Lines {
		c.count(line)
		switch {
		case line.Kind == mobilemoney.LineReversal, line.Kind == mobilemoney.LineCharge,
			line.Kind == mobilemoney.LineFailed:
		case line.PaidIn.IsZero():
			if line.Kind == mobilemoney.LineUnknown {
				c.attend(line, paymentsviews.AttentionUnknown)
				c.doubt(line.Linked)
			}
		case line.Kind.OfCustomer():
			before, twice := seen[line.ReceiptNumber]
			if !twice {
				c.payments = append(c.payments, line)
			} else if before != line.PaidIn {
				c.unsure[line.ReceiptNumber] = paymentsviews.AttentionTwoAmounts
			}
			seen[line.ReceiptNumber] = line.PaidIn
		default:
			c.others = append(c.others, line)
		}
	}
	for _, line := range s.Lines {
		_, paid := seen[line.ReceiptNumber]
		if paid && !line.Withdrawn.IsZero() && line.Kind != mobilemoney.LineCharge &&
			line.Kind != mobilemoney.LineFailed {
			c.unsure[line.ReceiptNumber] = paymentsviews.AttentionMovedBack
		}
	}
	c.readReversals(s, seen)
	slices.SortFunc(c.figures.Kinds, func(a, b events.StatementSum) int {
		return slices.Index(paymentsviews.StatementKinds, a.Kind) - slices.Index(paymentsviews.StatementKinds, b.Kind)
	})
	return c
}

// count adds a movement to the figures.
func (c *comparison) count(line mobilemoney.StatementLine) {
	switch {
	case line.Kind == mobilemoney.LineReversal:
		c.figures.Reversals++
	case line.Kind == mobilemoney.LineCharge:
		c.figures.Charges++
	case line.Kind == mobilemoney.LineFailed:
		c.figures.Failed++
	case !line.Withdrawn.IsZero():
		c.figures.Withdrawals++
	}
	for i := range c.figures.Kinds {
		if sum := &c.figures.Kinds[i]; sum.Kind == string(line.Kind) {
			sum.Rows, sum.In, sum.Out = sum.Rows+1, sum.In.Add(line.PaidIn), sum.Out.Add(line.Withdrawn)
			return
		}
	}
	c.figures.Kinds = append(c.figures.Kinds, events.StatementSum{
		Kind: string(line.Kind), Rows: 1, In: line.PaidIn, Out: line.Withdrawn,
	})
}

// attend lists a movement for a person.
func (c *comparison) attend(line mobilemoney.StatementLine, why string) {
	c.attention = append(c.attention, attention(line, why))
}

// doubt marks a payment that may have been sent back; "" is none.
func (c *comparison) doubt(number string) {
	if number != "" && !c.doubtful[number] {
		c.doubtful[number] = true
		c.doubts = append(c.doubts, number)
	}
}

// numbers are those of all movements whose receipts are compared.
func (c comparison) numbers() []string {
	list := make([]string, 0, len(c.payments)+len(c.others)+len(c.back))
	for _, line := range c.payments {
		list = append(list, line.ReceiptNumber)
	}
	for _, line := range c.others {
		list = append(list, line.ReceiptNumber)
	}
	for _, line := range c.back {
		list = append(list, line.number)
	}
	return list
}

// left reports whether the money of a receipt has gone again, so that it and a statement that sends it back agree.
func left(r paymentsviews.TillReceipt) bool { return r.State == "reversed" || r.State == "refunded" }

// outcome compares. booked are the receipts of the statement's time; one that has gone again is not missed.
func (c comparison) outcome(
	booked []paymentsviews.TillReceipt,
) (paymentsviews.StatementOutcome, events.ReconciliationFigures) {
	out := paymentsviews.StatementOutcome{Attention: slices.Clone(c.attention), Doubtful: slices.Clone(c.doubts)}
	figures := c.figures
	figures.MissingHereAmount = money.Of(0, money.KES)
	stated := make(map[string]bool, len(c.payments))
	for _, line := range c.payments {
		stated[line.ReceiptNumber] = true
		if c.comparePayment(line, &out) {
			figures.Matched++
		}
	}
	for _, line := range c.others {
		if !stated[line.ReceiptNumber] && c.compareOther(line, &out) {
			figures.Matched++
		}
		stated[line.ReceiptNumber] = true
	}
	for _, line := range c.back {
		c.compareBack(line, stated, &out)
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
	for _, p := range out.MissingHere {
		figures.MissingHereAmount = figures.MissingHereAmount.Add(p.Amount)
	}
	figures.MissingHere, figures.MissingThere = len(out.MissingHere), len(out.MissingThere)
	figures.Different, figures.Attention = len(out.Different), len(out.Attention)
	return out, figures
}

// comparePayment compares a customer's payment with its receipt. It reports whether they agree.
func (c comparison) comparePayment(line mobilemoney.StatementLine, out *paymentsviews.StatementOutcome) (alike bool) {
	receipt, has := c.here[line.ReceiptNumber]
	back := c.sentBack[line.ReceiptNumber]
	why := c.unsure[line.ReceiptNumber]
	if why == "" && c.doubtful[line.ReceiptNumber] {
		why = paymentsviews.AttentionMaybeBack
	}
	switch {
	case why != "":
		asked := attention(line, why)
		asked.ReceiptID = receipt.ID
		out.Attention = append(out.Attention, asked)
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
		return true
	}
	return false
}

// compareOther compares a movement that is no customer's payment. Nothing of it is missing here; the provider may have
// told of what a business paid, and of a kind that the statement does not name. It reports whether both agree.
func (c comparison) compareOther(line mobilemoney.StatementLine, out *paymentsviews.StatementOutcome) (alike bool) {
	receipt, has := c.here[line.ReceiptNumber]
	may := line.Kind == mobilemoney.LineBusiness || line.Kind == mobilemoney.LineUnknown
	asked := attention(line, paymentsviews.AttentionNoPayment)
	asked.ReceiptID = receipt.ID
	switch {
	case has && may:
		return c.comparePayment(line, out)
	case has && left(receipt), !has && !may:
		return false
	case line.Kind == mobilemoney.LineBusiness:
		asked.Why = paymentsviews.AttentionBusiness
	case line.Kind == mobilemoney.LineUnknown:
		asked.Why = paymentsviews.AttentionUnknown
	}
	out.Attention = append(out.Attention, asked)
	return false
}

// compareBack compares a movement that sends a payment back with the receipt of a payment of another day.
func (c comparison) compareBack(line sentBack, stated map[string]bool, out *paymentsviews.StatementOutcome) {
	receipt, has := c.here[line.number]
	if !stated[line.number] && has && receipt.Amount() != line.Withdrawn {
		out.Attention = append(out.Attention, attention(line.StatementLine, paymentsviews.AttentionPart))
		out.Doubtful = append(out.Doubtful, line.number)
		return
	}
	out.SentBack = append(out.SentBack, line.number)
	if !stated[line.number] && has && !left(receipt) {
		out.Different = append(out.Different, strayed(line, receipt))
	}
	stated[line.number] = true // a file that sends a payment back does not miss it
}

// statedPayment is a payment of a statement as it is kept and shown.
func statedPayment(l mobilemoney.StatementLine) paymentsviews.StatedPayment {
	return paymentsviews.StatedPayment{
		Row: l.Row, ReceiptNumber: l.ReceiptNumber, PaidAt: l.CompletedAt, Amount: l.PaidIn, PayerPhone: l.Party.Number,
		PayerName: l.Party.Name, BillRef: l.AccountRef,
	}
}

// attention is a movement as it is kept and shown to whoever has to look at it.
func attention(l mobilemoney.StatementLine, why string) paymentsviews.StatedAttention {
	out := paymentsviews.StatedAttention{
		StatedPayment: statedPayment(l), Kind: string(l.Kind), Why: why, Details: l.Details, Names: l.Names(),
	}
	if l.PaidIn.IsZero() {
		out.Out, out.Amount = true, l.Withdrawn
	}
	return out
}

// strayed is a payment of another day that a statement sends back, while its receipt stands. The row is that of the
// movement; time and sum of the payment are those that are known here.
func strayed(l sentBack, r paymentsviews.TillReceipt) paymentsviews.StatedDifferent {
	return paymentsviews.StatedDifferent{
		StatedPayment: paymentsviews.StatedPayment{
			Row: l.Row, ReceiptNumber: l.number, PaidAt: r.PaidAt, Amount: r.Amount(),
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
