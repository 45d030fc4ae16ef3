package httpapi

import (
	"encoding/json"
)

// Nulls names the fields that a body gives as null: in a PATCH that takes the value away (RFC 7396), where Decode sees
// no difference to a field that is not given.
func (c *Call) Nulls() map[string]bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(c.body, &fields) // Decode has told what is wrong with it
	out := map[string]bool{}
	for name, value := range fields {
		if string(value) == "null" {
			out[name] = true
		}
	}
	return out
}

// Emptied is the text of a patch, an empty one when the field is given as null.
func Emptied(text *string, null bool) *string {
	if null {
		return new(string)
	}
	return text
}
