// Package network has the rules of routers (device), of the services on them (service), of who has which addresses
// (addressing) and of runs of writes to a router (run). What should stand on a router, and how it gets there, is in
// routerplan.
package network

import (
	"encoding/json"
	"fmt"
)

// opening writes a state for the last event of a period: durable JSON, whose field names are the states' own.
func opening[S any](s S) []byte {
	body, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("network: write opening: %v", err)) // no field can fail to marshal
	}
	return body
}

// opened reads what opening wrote. It panics on anything else: a state that is forgotten would be decided anew.
func opened[S any](body []byte) S {
	var s S
	if err := json.Unmarshal(body, &s); err != nil {
		panic(fmt.Sprintf("network: read opening: %v", err))
	}
	return s
}
