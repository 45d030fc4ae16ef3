package billing

import (
	"fmt"
	"math/big"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// maxInvoiceMinor is the limit of a line and of a total, in minor units, so that no sum overflows.
const maxInvoiceMinor = 10_000_000_000_000

// charge calculates an invoice: the amounts of each line, the sum of each tax component, and the total.
func charge(
	in []commands.LineInput, rule events.TaxRule, c money.Currency,
) ([]events.InvoiceLine, []events.TaxCharge, money.Amount, error) {
	rates, sum := effectiveRates(rule)
	lines := make([]events.InvoiceLine, 0, len(in))
	taxes := taxCharges(rule, c)
	total, base := money.Of(0, c), money.Of(0, c)
	for i, l := range in {
		line, err := chargeLine(l, rule, rates, sum, c)
		if err == nil && l.UnitPrice.Negative() {
			line = takingOff(line, rule, taxes, base)
		}
		base = base.Add(baseOf(line, rule))
		if err != nil {
			return nil, nil, money.Amount{},
				failure.NewInvalid("invoice_out_of_range", fmt.Sprintf("lines[%d].%s", i, err))
		}
		for k, t := range line.Taxes {
			taxes[k].Amount = taxes[k].Amount.Add(t.Amount)
		}
		total = total.Add(line.Gross)
		lines = append(lines, line)
	}
	if total.Negative() || total.Minor > maxInvoiceMinor {
		return nil, nil, money.Amount{},
			failure.NewInvalid("invoice_out_of_range", "lines must sum to at least zero and at most the limit")
	}
	return lines, taxes, total, nil
}

// takingOff bounds what a line takes off the taxes of the lines before it: each is rounded by itself, and several that
// take off all of a price would take a little more of its tax than there is.
func takingOff(
	line events.InvoiceLine, rule events.TaxRule, before []events.TaxCharge, base money.Amount,
) events.InvoiceLine {
	if base.Add(baseOf(line, rule)).Negative() {
		return line
	}
	for i, t := range line.Taxes {
		over := before[i].Amount.Add(t.Amount)
		if !over.Negative() {
			continue
		}
		line.Taxes[i].Amount = t.Amount.Sub(over)
		if rule.Inclusive {
			line.Net = line.Net.Add(over)
		} else {
			line.Gross = line.Gross.Sub(over)
		}
	}
	return line
}

// baseOf is the amount of a line that its price and quantity fix: the gross with taxes in the price, else the net.
func baseOf(line events.InvoiceLine, rule events.TaxRule) money.Amount {
	if rule.Inclusive {
		return line.Gross
	}
	return line.Net
}

// chargeLine calculates one line. Net and taxes always sum exactly to gross: inclusive prices fix the gross and the net
// is the difference, exclusive prices fix the net and the gross is the sum.
func chargeLine(
	l commands.LineInput, rule events.TaxRule, rates []*big.Rat, sum *big.Rat, c money.Currency,
) (events.InvoiceLine, error) {
	quantity, ok := new(big.Rat).SetString(l.Quantity)
	if !ok || quantity.Sign() <= 0 {
		return events.InvoiceLine{}, fmt.Errorf("quantity must be above zero")
	}
	price := new(big.Rat).SetInt64(l.UnitPrice.Minor)
	base, ok := roundHalfUp(price.Mul(price, quantity))
	if !ok {
		return events.InvoiceLine{}, fmt.Errorf("unitPrice is too large for the quantity")
	}
	taxable := new(big.Rat).SetInt64(base)
	if rule.Inclusive {
		taxable.Quo(taxable, new(big.Rat).Add(big.NewRat(1, 1), sum))
	}
	taxes, taxed := taxCharges(rule, c), money.Of(0, c)
	for i, rate := range rates {
		minor, ok := roundHalfUp(new(big.Rat).Mul(taxable, rate))
		if !ok {
			return events.InvoiceLine{}, fmt.Errorf("tax is too large")
		}
		taxes[i].Amount = money.Of(minor, c)
		taxed = taxed.Add(taxes[i].Amount)
	}
	line := events.InvoiceLine{
		Description: personal.Of(l.Description), Quantity: l.Quantity, UnitPrice: l.UnitPrice, Net: money.Of(base, c),
		Taxes: taxes, Gross: money.Of(base, c), Once: l.Once,
	}
	if rule.Inclusive {
		line.Net = line.Gross.Sub(taxed)
	} else {
		line.Gross = line.Net.Add(taxed)
	}
	return line, nil
}

// effectiveRates returns each component's share of the net amount, and the sum of the shares. A compound component
// applies to the net plus the taxes before it.
func effectiveRates(rule events.TaxRule) ([]*big.Rat, *big.Rat) {
	rates, sum := make([]*big.Rat, len(rule.Components)), new(big.Rat)
	for i, t := range rule.Components {
		rate := big.NewRat(t.BasisPoints, 10_000)
		if t.Compound {
			rate.Mul(rate, new(big.Rat).Add(big.NewRat(1, 1), sum))
		}
		rates[i] = rate
		sum.Add(sum, rate)
	}
	return rates, sum
}

// taxCharges lists the components with zero amounts; nil when the rule has none.
func taxCharges(rule events.TaxRule, c money.Currency) []events.TaxCharge {
	if len(rule.Components) == 0 {
		return nil
	}
	list := make([]events.TaxCharge, len(rule.Components))
	for i, t := range rule.Components {
		list[i] = events.TaxCharge{Name: t.Name, BasisPoints: t.BasisPoints, Amount: money.Of(0, c)}
	}
	return list
}

// roundHalfUp is the only rounding rule of billing: to whole minor units, halves away from zero, once for each line
// amount and once for each tax component of a line. It is false above maxInvoiceMinor.
func roundHalfUp(r *big.Rat) (int64, bool) {
	n := new(big.Int).Abs(r.Num())
	n.Mul(n, big.NewInt(2)).Add(n, r.Denom())
	n.Quo(n, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
	if n.Cmp(big.NewInt(maxInvoiceMinor)) > 0 {
		return 0, false
	}
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n.Int64(), true
}
