package documentscases

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestCreditNoteDocument_HasALineForEachTax between the net and the total, and none without a tax.
func TestCreditNoteDocument_HasALineForEachTax(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(totals(money.Major(58, money.KES), []events.TaxCharge{
		{Name: "VAT", BasisPoints: 1600, Amount: money.Major(8, money.KES)},
	}))
	want := "[{Net KES 50.00 false} {VAT 16 % KES 8.00 false} {Total KES 58.00 true}]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(totals(money.Major(58, money.KES), nil)); got != "[{Total KES 58.00 true}]" {
		t.Errorf("without a tax %s", got)
	}
}
