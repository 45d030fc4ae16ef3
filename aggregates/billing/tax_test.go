package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// drafted is the draft of an invoice with these lines under a tax rule.
func drafted(
	t interface{ Fatalf(string, ...any) }, rule events.TaxRule, lines ...commands.LineInput,
) events.InvoiceDrafted {
	c := draft(1, 0, 10)
	c.Lines, c.Tax = lines, rule
	if err := c.Validate(); err != nil {
		t.Fatalf("validate: %v", err)
	}
	made, err := billing.Accounts().Decide(billing.Account{}, c, now)
	if err != nil {
		t.Fatalf("draft: %v", err)
	}
	e, ok := made[len(made)-1].(events.InvoiceDrafted)
	if !ok {
		t.Fatalf("last event is %T", made[len(made)-1])
	}
	return e
}

// line is one charge; the quantity is a decimal, the price in minor units.
func line(quantity string, price int64) commands.LineInput {
	return commands.LineInput{Description: "Home", Quantity: quantity, UnitPrice: kes(price)}
}

// exclusive is a rule whose taxes are added to the price.
func exclusive(taxes ...events.TaxComponent) events.TaxRule { return events.TaxRule{Components: taxes} }

// inclusive is a rule whose taxes are part of the price.
func inclusive(taxes ...events.TaxComponent) events.TaxRule {
	return events.TaxRule{Inclusive: true, Components: taxes}
}

func TestTax_Amounts(t *testing.T) {
	t.Parallel()
	vat := events.TaxComponent{Name: "VAT", BasisPoints: 1600}
	excise := events.TaxComponent{Name: "Excise", BasisPoints: 1500}
	half := events.TaxComponent{Name: "T", BasisPoints: 5000}
	onTop := events.TaxComponent{Name: "VAT", BasisPoints: 1600, Compound: true}
	for name, c := range map[string]struct {
		rule       events.TaxRule
		line       commands.LineInput
		net, gross int64
		taxes      []int64
	}{
		"none":                    {events.TaxRule{}, line("1", 1000), 1000, 1000, nil},
		"inclusive":               {inclusive(vat), line("1", 116000), 100000, 116000, []int64{16000}},
		"exclusive":               {exclusive(vat), line("1", 100000), 100000, 116000, []int64{16000}},
		"exclusive, half up":      {exclusive(half), line("1", 1), 1, 2, []int64{1}},
		"side by side":            {exclusive(excise, vat), line("1", 10000), 10000, 13100, []int64{1500, 1600}},
		"compound":                {exclusive(excise, onTop), line("1", 10000), 10000, 13340, []int64{1500, 1840}},
		"compound, first":         {exclusive(onTop, excise), line("1", 10000), 10000, 13100, []int64{1600, 1500}},
		"compound, inclusive":     {inclusive(excise, onTop), line("1", 13340), 10000, 13340, []int64{1500, 1840}},
		"quantity is exact":       {events.TaxRule{}, line("0.1", 30), 3, 3, nil},
		"quantity rounds half up": {events.TaxRule{}, line("2.5", 1), 3, 3, nil},
		"thirds":                  {inclusive(vat), line("0.333333", 1000), 287, 333, []int64{46}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := drafted(t, c.rule, c.line)
			var taxes []int64
			for _, x := range e.Lines[0].Taxes {
				taxes = append(taxes, x.Amount.Minor)
			}
			if diff := cmp.Diff(c.taxes, taxes); diff != "" {
				t.Errorf("taxes (-want +got):\n%s", diff)
			}
			if e.Lines[0].Net != kes(c.net) || e.Lines[0].Gross != kes(c.gross) || e.Total != kes(c.gross) {
				t.Errorf("net %s, gross %s, total %s", e.Lines[0].Net, e.Lines[0].Gross, e.Total)
			}
		})
	}
}

func TestTax_DiscountLineLowersTotalAndTax(t *testing.T) {
	t.Parallel()
	rule := events.TaxRule{Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}}
	e := drafted(t, rule, line("1", 100000), line("1", -50000))
	if e.Total != kes(58000) || e.Taxes[0].Amount != kes(8000) {
		t.Errorf("total %s, tax %s", e.Total, e.Taxes[0].Amount)
	}
}

func TestDraftInvoice_EachLineTellsWhatItsDocumentShows(t *testing.T) {
	t.Parallel()
	vat := events.TaxComponent{Name: "VAT", BasisPoints: 1600}
	got := drafted(t, exclusive(vat), line("2.5", 1000))
	charge := []events.TaxCharge{{Name: "VAT", BasisPoints: 1600, Amount: kes(400)}}
	want := []events.InvoiceLine{{
		Description: personal.Of("Home"), Quantity: "2.5", UnitPrice: kes(1000), Net: kes(2500), Taxes: charge,
		Gross: kes(2900),
	}}
	if diff := cmp.Diff(want, got.Lines); diff != "" {
		t.Errorf("lines (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(charge, got.Taxes); diff != "" {
		t.Errorf("taxes (-want +got)\n%s", diff)
	}
}

func TestDraftInvoice_OutOfRangeIsRefused(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]commands.LineInput{
		"less than nothing": {line("1", 100), line("1", -101)},
		"zero quantity":     {line("0.000", 100)},
		"too much":          {line("999999999", 999_999_999_999)},
		"too much together": {line("1", 600_000_000_000_000), line("1", 600_000_000_000_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := draft(1, 0, 10)
			c.Lines = lines
			given(t).fails(c, failure.Invalid, "invoice_out_of_range")
		})
	}
}

func TestDraftInvoice_FormFaultsAreAllNamed(t *testing.T) {
	t.Parallel()
	for _, quantity := range []string{
		"", "-1", "1e3", "1.", ".5", "1,5", "1234567890", "0.1234567", " 1", "0x1", "01",
	} {
		c := draft(1, 100, 10)
		c.Lines = []commands.LineInput{line(quantity, 100)}
		if failure.CodeOf(c.Validate()) != "invalid_input" {
			t.Errorf("quantity %q was accepted", quantity)
		}
	}
	c := commands.DraftInvoice{Lines: []commands.LineInput{{}}}
	if err := c.Validate(); failure.KindOf(err) != failure.Invalid {
		t.Errorf("an empty command gave %v", err)
	}
}

// TestTax_AnInvoiceTellsItsRule: whoever knows an invoice knows what another one costs.
func TestTax_AnInvoiceTellsItsRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := drawnRule(t)
		prices := func(name string) (list []money.Amount) {
			for range rapid.IntRange(1, 4).Draw(t, name) {
				list = append(list, kes(rapid.Int64Range(100_00, 10_000_00).Draw(t, "price")))
			}
			return append(list, kes(-rapid.Int64Range(1, 100_00).Draw(t, "discount")))
		}
		var lines []commands.LineInput
		for _, price := range prices("lines") {
			lines = append(lines, line("1", price.Minor))
		}
		made, others := drafted(t, rule, lines...), prices("others")
		if got, want := made.TaxRule().Gross(others), rule.Gross(others); got != want {
			t.Fatalf("%v cost %s under %+v, and %s by the invoice", others, want, rule, got)
		}
		made.Tax = events.TaxRule{} // recorded before the rule was
		var own []money.Amount
		for _, l := range lines {
			own = append(own, l.UnitPrice)
		}
		if got := made.TaxRule().Gross(own); got != made.Total {
			t.Fatalf("%v cost %s under %+v, and %s by the invoice without it", own, made.Total, rule, got)
		}
	})
}

// drawnRule is a rule with up to three taxes.
func drawnRule(t *rapid.T) events.TaxRule {
	rule := events.TaxRule{Inclusive: rapid.Bool().Draw(t, "inclusive")}
	for range rapid.IntRange(0, 3).Draw(t, "components") {
		rule.Components = append(rule.Components, events.TaxComponent{
			Name: "T", BasisPoints: rapid.Int64Range(0, 10_000).Draw(t, "rate"),
			Compound: rapid.Bool().Draw(t, "compound"),
		})
	}
	return rule
}

func TestTax_NetAndTaxesAlwaysSumToGross(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := drawnRule(t)
		var lines []commands.LineInput
		for range rapid.IntRange(1, 5).Draw(t, "lines") {
			lines = append(lines, line(rapid.StringMatching(`[1-9][0-9]{0,3}(\.[0-9]{1,6})?`).Draw(t, "quantity"),
				rapid.Int64Range(0, 10_000_000).Draw(t, "price")))
		}
		e := drafted(t, rule, lines...)
		total, taxes := money.Of(0, money.KES), make([]money.Amount, len(rule.Components))
		for _, l := range e.Lines {
			sum := l.Net
			for i, x := range l.Taxes {
				sum, taxes[i] = sum.Add(x.Amount), taxes[i].Add(x.Amount)
			}
			if sum != l.Gross {
				t.Fatalf("net and taxes are %s, gross %s", sum, l.Gross)
			}
			total = total.Add(l.Gross)
		}
		for i, x := range e.Taxes {
			if x.Amount.Cmp(taxes[i]) != 0 {
				t.Fatalf("tax %d is %s, its lines sum to %s", i, x.Amount, taxes[i])
			}
		}
		if total != e.Total {
			t.Fatalf("total is %s, the lines sum to %s", e.Total, total)
		}
	})
}
