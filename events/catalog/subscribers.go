package catalog

import (
	"encoding/json"
	"fmt"
)

// subscribersUpcasters convert older versions of events about the periods of subscriptions. The first ones were
// recorded without the period's ordinal: whoever folds them finds it by the invoice, and a new invoice has the next
// one. Periods of before the third version do not keep the time of day of the anniversary.
func subscribersUpcasters() []Upcaster {
	list := []Upcaster{
		{From: "subscribers.SubscriptionExtended.v1", To: "subscribers.SubscriptionExtended.v2", Up: withEnd},
		{From: "subscribers.PeriodDue.v2", To: "subscribers.PeriodDue.v3", Up: unchanged},
	}
	for _, name := range []string{"PeriodDue", "PeriodWithdrawn", "PeriodCancelled", "SubscriptionResumed"} {
		list = append(list, Upcaster{
			From: "subscribers." + name + ".v1", To: "subscribers." + name + ".v2", Up: unchanged,
		})
	}
	return list
}

// withEnd adds the end of the extended period. In the first version it was always the new paidUntil.
func withEnd(data json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read fields: %w", err)
	}
	fields["to"] = fields["paidUntil"]
	return json.Marshal(fields)
}
