package subscribersviews

import (
	"encoding/json"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// extraAdded says of which kind something was put onto the next invoices, and how much it is.
func extraAdded(x events.Extra) Sentence {
	switch x.Kind {
	case events.AddOnExtra:
		return says("add_on_added", extraFacts(x))
	case events.DiscountExtra:
		return says("discount_added", extraFacts(x))
	}
	return says("charge_added", extraFacts(x))
}

// extraRemoved says the same of something that later invoices are without.
func extraRemoved(x events.Extra) Sentence {
	switch x.Kind {
	case events.AddOnExtra:
		return says("add_on_removed", extraFacts(x))
	case events.DiscountExtra:
		return says("discount_removed", extraFacts(x))
	}
	return says("charge_removed", extraFacts(x))
}

// extraFacts has what an extra is worth.
func extraFacts(x events.Extra) Facts {
	if x.BasisPoints > 0 {
		return Facts{Percent: json.Number(money.Percent(x.BasisPoints))}
	}
	return sum(x.Amount)
}
