package events_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestCharge_AQuantityThatIsHugeIsRefusedBeforeItIsANumber: an exponent of nine digits needs more memory than there is.
func TestCharge_AQuantityThatIsHugeIsRefusedBeforeItIsANumber(t *testing.T) {
	t.Parallel()
	for _, quantity := range []string{"1e999999999", strings.Repeat("9", 1_000_000), "1/3", "0x10", "-1", "", "0"} {
		lines := []events.PricedLine{{Quantity: quantity, UnitPrice: money.Major(1, money.KES)}}
		if _, err := (events.TaxRule{}).Charge(lines, money.KES); err == nil {
			t.Errorf("%.20q was taken", quantity)
		}
	}
	lines := []events.PricedLine{{Quantity: "1.5", UnitPrice: money.Major(1, money.KES)}}
	if got, err := (events.TaxRule{}).Charge(lines, money.KES); err != nil || got.Total.Minor != 150 {
		t.Errorf("an ordinary one: %v, %v", got.Total, err)
	}
}
