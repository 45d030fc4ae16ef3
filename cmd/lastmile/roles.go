package main

import (
	"fmt"
	"slices"
	"strings"
)

// Roles of a program (docs/rules/setup.md#roles-of-a-process). A program has all of them by default.
const (
	roleAPI         = "api"
	roleProjections = "projections"
	roleProcesses   = "processes"
	roleJobs        = "jobs"
	roleRadius      = "radius"
	roleEventStore  = "eventstore"
)

// allRoles has the roles of `serve` without --roles.
var allRoles = roles{roleAPI, roleProjections, roleProcesses, roleJobs, roleRadius, roleEventStore}

// roles lists the roles that one program has, in any order.
type roles []string

// has reports whether the program has a role.
func (r roles) has(role string) bool { return slices.Contains(r, role) }

// check refuses unknown roles, and a program that would have no log.
func (r roles) check(cfg Config) error {
	for _, role := range r {
		if !allRoles.has(role) {
			return fmt.Errorf("--roles: %q is unknown; there are %s", role, strings.Join(allRoles, ", "))
		}
	}
	if len(r) == 0 {
		return fmt.Errorf("--roles: name at least one of %s", strings.Join(allRoles, ", "))
	}
	if !r.has(roleEventStore) && cfg.EventStoreURL == "" {
		return fmt.Errorf("--roles without %s needs EVENTSTORE_URL", roleEventStore)
	}
	return checkStandby(cfg)
}

// all reports whether the program has every role that works on what is stored. RADIUS only reads.
func (r roles) all() bool {
	for _, role := range allRoles {
		if role != roleRadius && !r.has(role) {
			return false
		}
	}
	return true
}
