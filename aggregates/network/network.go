// Package network has the rules of routers (device), of their services (service), of the addresses that services hold
// (addressing) and of runs of writes to a router (run). Package routerplan decides what a router should have and which
// writes lead there.
package network

import (
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// errOvertaken refuses a change that was made from a state which another change has replaced meanwhile.
func errOvertaken() error {
	return failure.NewConflict("concurrent_change", "Somebody else changed this at the same time. Please try again.")
}

// opening encodes a state for the last event of a period. The JSON is durable and uses the names of the state's fields.
func opening[S any](s S) []byte {
	body, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("network: write opening: %v", err)) // no field can fail to marshal
	}
	return body
}

// opened decodes the JSON of opening. It panics on anything else, because a wrong state would lead to wrong decisions.
func opened[S any](body []byte) S {
	var s S
	if err := json.Unmarshal(body, &s); err != nil {
		panic(fmt.Sprintf("network: read opening: %v", err))
	}
	return s
}
