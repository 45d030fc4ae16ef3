// Package network has the rules of routers (device), of their services (service), of the addresses that services hold
// (addressing) and of runs of writes to a router (run). Package routerplan decides what a router should have and which
// writes lead there.
package network

import "github.com/lastmile-isp/lastmile/internal/failure"

// errOvertaken refuses a change that was made from a state which another change has replaced meanwhile.
func errOvertaken() error {
	return failure.NewConflict("concurrent_change", "Somebody else changed this at the same time. Please try again.")
}
