package aggregates

import (
	"encoding/json"
	"fmt"
)

// Opening encodes a state for the last event of a period. The JSON is durable and uses the names of the state's fields.
func Opening[S any](s S) []byte {
	body, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("write opening of %T: %v", s, err)) // no field can fail to marshal
	}
	return body
}

// Opened decodes the JSON of Opening. It panics on anything else, because a wrong state would lead to wrong decisions.
func Opened[S any](body []byte) S {
	var s S
	if err := json.Unmarshal(body, &s); err != nil {
		panic(fmt.Sprintf("read opening of %T: %v", s, err))
	}
	return s
}
