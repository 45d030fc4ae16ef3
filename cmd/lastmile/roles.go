package main

import (
	"fmt"
	"slices"
	"strings"
)

// Roles of a program (docs/rules/setup.md#roles-of-a-process). One process has all of them by default.
const (
	roleAPI         = "api"
	roleProjections = "projections"
	roleProcesses   = "processes"
	roleJobs        = "jobs"
	roleEventStore  = "eventstore"
)

// allRoles is what serve does without --roles.
var allRoles = roles{roleAPI, roleProjections, roleProcesses, roleJobs, roleEventStore}

// roles is what a program does.
type roles []string

// has tells whether a role is among them.
func (r roles) has(role string) bool { return slices.Contains(r, role) }

// check refuses unknown roles, and a program without a log.
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
	return nil
}

// all tells whether there is nothing that this program does not do.
func (r roles) all() bool {
	for _, role := range allRoles {
		if !r.has(role) {
			return false
		}
	}
	return true
}
