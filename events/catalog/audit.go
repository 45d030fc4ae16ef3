package catalog

import (
	"encoding/json"
	"fmt"
)

// auditUpcasters convert the records of refused writes. The first version stood for one refusal each.
func auditUpcasters() []Upcaster {
	return []Upcaster{{From: "audit.RequestRefused.v1", To: "audit.RequestRefused.v2", Up: countOne}}
}

// countOne adds a count of one.
func countOne(data json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read refusal: %w", err)
	}
	fields["count"] = json.RawMessage("1")
	return json.Marshal(fields)
}
