package catalog

import (
	"encoding/json"
	"fmt"
)

// subscribersUpcasters convert the first versions of events about the periods of subscriptions. They were recorded
// without the period's ordinal: whoever folds them finds it by the invoice, and a new invoice has the next one.
func subscribersUpcasters() []Upcaster {
	list := []Upcaster{
		{From: "subscribers.SubscriptionExtended.v1", To: "subscribers.SubscriptionExtended.v2", Up: withEnd},
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
