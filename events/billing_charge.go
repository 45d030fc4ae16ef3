package events

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// maxInvoiceMinor is the limit of a line and of a total, in minor units, so that no sum overflows.
const maxInvoiceMinor = 10_000_000_000_000

// PricedLine is a line of an invoice before it is charged.
type PricedLine struct {
	Quantity  string // decimal number above zero
	UnitPrice money.Amount
}

// TaxedInvoice has the amounts of an invoice: its lines without their descriptions, the sum of each tax component, and
// the total.
type TaxedInvoice struct {
	Lines []InvoiceLine
	Taxes []TaxCharge
	Total money.Amount
}

// Charge calculates an invoice in a currency. Fails for a line that is out of range, which the error names, and for a
// total that is.
func (r TaxRule) Charge(in []PricedLine, c money.Currency) (TaxedInvoice, error) {
	rates, sum := effectiveRates(r)
	out := TaxedInvoice{Lines: make([]InvoiceLine, 0, len(in)), Taxes: taxCharges(r, c), Total: money.Of(0, c)}
	base := money.Of(0, c)
	for i, l := range in {
		line, err := chargeLine(l, r, rates, sum, c)
		if err != nil {
			return TaxedInvoice{}, fmt.Errorf("lines[%d].%w", i, err)
		}
		if l.UnitPrice.Negative() {
			line = takingOff(line, r, out.Taxes, base)
		}
		base = base.Add(baseOf(line, r))
		for k, t := range line.Taxes {
			out.Taxes[k].Amount = out.Taxes[k].Amount.Add(t.Amount)
		}
		out.Total = out.Total.Add(line.Gross)
		out.Lines = append(out.Lines, line)
	}
	if out.Total.Negative() || out.Total.Minor > maxInvoiceMinor {
		return TaxedInvoice{}, errors.New("lines must sum to at least zero and at most the limit")
	}
	return out, nil
}

// Gross is the total of an invoice with a line of each of these prices, at least one, taxes included. A total beyond
// all limits has no taxes.
func (r TaxRule) Gross(prices []money.Amount) money.Amount {
	net, lines := money.Of(0, prices[0].Currency), make([]PricedLine, len(prices))
	for i, price := range prices {
		net, lines[i] = net.Add(price), PricedLine{Quantity: "1", UnitPrice: price}
	}
	invoice, err := r.Charge(lines, net.Currency)
	if err != nil {
		return net
	}
	return invoice.Total
}

// TaxRule is the rule by which the lines were charged. Where it was not recorded, it is one under which they cost the
// same.
func (e InvoiceDrafted) TaxRule() TaxRule {
	if len(e.Tax.Components) > 0 || len(e.Taxes) == 0 {
		return e.Tax
	}
	for _, inclusive := range []bool{true, false} {
		for compound := range 1 << len(e.Taxes) {
			rule := TaxRule{Inclusive: inclusive}
			for i, t := range e.Taxes {
				rule.Components = append(rule.Components, TaxComponent{t.Name, t.BasisPoints, compound>>i&1 == 1})
			}
			if e.chargedBy(rule) {
				return rule
			}
		}
	}
	return TaxRule{}
}

// chargedBy reports whether a rule gives the invoice's own amounts.
func (e InvoiceDrafted) chargedBy(rule TaxRule) bool {
	lines := make([]PricedLine, len(e.Lines))
	for i, l := range e.Lines {
		lines[i] = PricedLine{Quantity: l.Quantity, UnitPrice: l.UnitPrice}
	}
	charged, err := rule.Charge(lines, e.Total.Currency)
	return err == nil && charged.Total == e.Total && slices.Equal(charged.Taxes, e.Taxes)
}

// takingOff bounds what a line takes off the taxes of the lines before it: each is rounded by itself, and several that
// take off all of a price would take a little more of its tax than there is.
func takingOff(
	line InvoiceLine, rule TaxRule, before []TaxCharge, base money.Amount,
) InvoiceLine {
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
func baseOf(line InvoiceLine, rule TaxRule) money.Amount {
	if rule.Inclusive {
		return line.Gross
	}
	return line.Net
}

// chargeLine calculates one line. Net and taxes always sum exactly to gross: inclusive prices fix the gross and the net
// is the difference, exclusive prices fix the net and the gross is the sum.
func chargeLine(
	l PricedLine, rule TaxRule, rates []*big.Rat, sum *big.Rat, c money.Currency,
) (InvoiceLine, error) {
	quantity, ok := new(big.Rat), false
	if len(l.Quantity) <= money.MaxDigits && strings.Trim(l.Quantity, "0123456789.") == "" { // no exponent either
		quantity, ok = quantity.SetString(l.Quantity)
	}
	if !ok || quantity.Sign() <= 0 {
		return InvoiceLine{}, errors.New("quantity must be above zero")
	}
	price := new(big.Rat).SetInt64(l.UnitPrice.Minor)
	base, ok := roundHalfUp(price.Mul(price, quantity))
	if !ok {
		return InvoiceLine{}, errors.New("unitPrice is too large for the quantity")
	}
	taxable := new(big.Rat).SetInt64(base)
	if rule.Inclusive {
		taxable.Quo(taxable, new(big.Rat).Add(big.NewRat(1, 1), sum))
	}
	taxes, taxed := taxCharges(rule, c), money.Of(0, c)
	for i, rate := range rates {
		minor, ok := roundHalfUp(new(big.Rat).Mul(taxable, rate))
		if !ok {
			return InvoiceLine{}, errors.New("tax is too large")
		}
		taxes[i].Amount = money.Of(minor, c)
		taxed = taxed.Add(taxes[i].Amount)
	}
	line := InvoiceLine{
		Quantity: l.Quantity, UnitPrice: l.UnitPrice, Net: money.Of(base, c), Taxes: taxes, Gross: money.Of(base, c),
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
func effectiveRates(rule TaxRule) ([]*big.Rat, *big.Rat) {
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
func taxCharges(rule TaxRule, c money.Currency) []TaxCharge {
	if len(rule.Components) == 0 {
		return nil
	}
	list := make([]TaxCharge, len(rule.Components))
	for i, t := range rule.Components {
		list[i] = TaxCharge{Name: t.Name, BasisPoints: t.BasisPoints, Amount: money.Of(0, c)}
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
