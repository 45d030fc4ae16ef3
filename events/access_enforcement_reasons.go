package events

import (
	"maps"
	"slices"
)

// The reasons of changes of sessions that no entitlement gives. They are part of the API.
const (
	EnforcedWrongMAC     = "wrong_mac"      // the device is no longer one of those that may be used
	EnforcedChanged      = "changed"        // username, password, address or pool is another one
	EnforcedOperator     = "operator"       // a person ended the session
	EnforcedSessionLimit = "session_limit"  // there were more than the plan allows, and this one had to make way
	EnforcedDevice       = "device_removed" // the router is no longer one of ours
	EnforcedService      = "service"        // its service was removed from the router, or made anew
	EnforcedRate         = "rate"           // another speed, by the hours of the plan or another cap
	EnforcedAuditor      = "auditor"        // a person repaired the session
)

// enforced are these reasons as people say them, behind a colon.
var enforced = map[string]string{
	EnforcedWrongMAC:     "its device is none of those that may be used",
	EnforcedChanged:      "the login or the address is another one",
	EnforcedOperator:     "a person wanted it",
	EnforcedSessionLimit: "there were more sessions than the plan has",
	EnforcedDevice:       "its router was removed",
	EnforcedService:      "its service was removed or made anew",
	EnforcedRate:         "the plan or the hour gives another speed",
	EnforcedAuditor:      "a person had a difference at the router repaired",
}

// EnforcedWords gives a reason as people say it, behind a colon; "" for one that an entitlement gives.
func EnforcedWords(reason string) string { return enforced[reason] }

// EnforcedReasons lists these reasons, sorted.
func EnforcedReasons() []string { return slices.Sorted(maps.Keys(enforced)) }
