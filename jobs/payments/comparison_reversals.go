package paymentsjobs

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// readReversals finds the payments that the reversals of a statement send back. A reversal says so in its details, in
// the column that links another transaction, or is linked by the payment. Where these name different payments, none, or
// another amount, the payments that it may be about are doubtful: taking them in could take in money that was sent
// back. paid has the amounts of the file's payments by their numbers.
func (c *comparison) readReversals(s mobilemoney.Statement, paid map[string]money.Amount) {
	linkedBy := map[string][]string{} // payments by the transaction that they link
	for _, line := range c.payments {
		if line.Linked != "" {
			linkedBy[line.Linked] = append(linkedBy[line.Linked], line.ReceiptNumber)
		}
	}
	backOf := map[string]string{} // payments by the reversal that sends them back
	unnamed := map[movedSum]time.Time{}
	for _, line := range s.Lines {
		if line.Kind != mobilemoney.LineReversal || line.Withdrawn.IsZero() {
			continue
		}
		said := line.Names()
		names := slices.Clone(said)
		for _, number := range linkedBy[line.ReceiptNumber] {
			if !slices.Contains(said, number) {
				names = append(names, number)
			}
		}
		delete(linkedBy, line.ReceiptNumber)
		if number := c.readReversal(line, names, paid); number != "" {
			backOf[line.ReceiptNumber] = number
		}
		sum := movedSum{line.Party.Number, line.Withdrawn}
		if len(names) == 0 && sum.party != "" && line.CompletedAt.After(unnamed[sum]) {
			unnamed[sum] = line.CompletedAt
		}
	}
	for _, p := range c.payments { // the same sum to the payer, after the payment
		if back, is := unnamed[movedSum{p.Party.Number, p.PaidIn}]; is && !p.CompletedAt.After(back) {
			c.doubt(p.ReceiptNumber)
		}
	}
	c.readUndone(s, backOf)
}

// movedSum is an amount that one party paid or got.
type movedSum struct {
	party  string
	amount money.Amount
}

// readUndone finds reversals that bring money back which another reversal sent away, so that the payment may stand.
// backOf has the payments by the reversal that sends them back.
func (c *comparison) readUndone(s mobilemoney.Statement, backOf map[string]string) {
	undone := map[string]bool{}
	for _, line := range s.Lines {
		if line.Kind != mobilemoney.LineReversal || line.PaidIn.IsZero() {
			continue
		}
		c.others = append(c.others, line)
		for _, name := range line.Names() {
			if number := backOf[name]; number != "" {
				c.attend(line, paymentsviews.AttentionUndone)
				c.doubt(number)
				undone[number] = true
				delete(c.sentBack, number)
			}
		}
	}
	c.back = slices.DeleteFunc(c.back, func(b sentBack) bool { return undone[b.number] })
}

// readReversal reads one reversal that takes money out, with the payments that are named for it. It gives the one that
// it sends back; "" when a person has to find out.
func (c *comparison) readReversal(
	line mobilemoney.StatementLine, names []string, paid map[string]money.Amount,
) (number string) {
	switch {
	case len(names) == 0:
		c.attend(line, paymentsviews.AttentionUnnamed)
		return ""
	case len(names) > 1:
		c.attend(line, paymentsviews.AttentionContradicted)
		for _, name := range names {
			c.doubt(name)
		}
		return ""
	}
	if amount, has := paid[names[0]]; has && amount != line.Withdrawn {
		c.attend(line, paymentsviews.AttentionPart)
		c.doubt(names[0])
		return ""
	}
	if !c.sentBack[names[0]] {
		c.sentBack[names[0]] = true
		c.back = append(c.back, sentBack{line, names[0]})
	}
	return names[0]
}
