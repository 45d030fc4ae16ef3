package billingviews_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// TestCreditNote_HasTheSamePartOfEachTax: the whole has all of it, and no part has more than its share by a half unit.
func TestCreditNote_HasTheSamePartOfEachTax(t *testing.T) {
	t.Parallel()
	invoice := billingviews.InvoiceRow{
		TotalMinor: 11800, Currency: money.KES,
		Taxes: []events.TaxCharge{
			{Name: "VAT", BasisPoints: 1600, Amount: kes(1600)}, {Name: "Levy", BasisPoints: 200, Amount: kes(200)},
		},
	}
	for part, want := range map[int64][2]int64{
		11800: {1600, 200}, 5900: {800, 100}, 1: {0, 0}, 4: {1, 0}, 3333: {452, 56}, 0: {0, 0},
	} {
		taxes := invoice.TaxesOf(kes(part))
		got := [2]int64{taxes[0].Amount.Minor, taxes[1].Amount.Minor}
		if diff := cmp.Diff(want, got); diff != "" || taxes[0].Name != "VAT" || taxes[1].BasisPoints != 200 {
			t.Errorf("of %d (-want +got)\n%s", part, diff)
		}
	}
	if invoice.Taxes[0].Amount != kes(1600) {
		t.Error("the invoice's own taxes were changed")
	}
	if got := (billingviews.InvoiceRow{Currency: money.KES}).TaxesOf(kes(0)); len(got) != 0 {
		t.Errorf("an invoice without taxes: %v", got)
	}
}
