package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
)

// Fields has the names of the top-level fields of the body, as they are written there.
func (c *Call) Fields() []string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(c.body, &fields) // Decode refuses a body that is not an object
	return slices.Sorted(maps.Keys(fields))
}

// Nulls has the names of the top-level fields that the body gives as null. In a PATCH, null removes the value (RFC
// 7396), and is refused for a field that must have one; Decode treats null like an absent field.
func (c *Call) Nulls() map[string]bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(c.body, &fields) // Decode refuses a body that is not an object
	out := map[string]bool{}
	for name, value := range fields {
		if string(value) == "null" {
			out[name] = true
		}
	}
	return out
}

// Emptied is a field of a patch: nil when it is absent, the zero value when it is given as null.
func Emptied[T any](given *T, null bool) *T {
	if null {
		return new(T)
	}
	return given
}
