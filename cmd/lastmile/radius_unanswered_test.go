package main

import (
	"log/slog"
	"strings"
	"testing"
)

// TestRadius_AProgramWithoutAnAddressForItsRoleSaysSo: routers get no answer then, and nothing else would tell.
func TestRadius_AProgramWithoutAnAddressForItsRoleSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		roles roles
		warns int
	}{
		"all roles":        {allRoles, 1},
		"radius alone":     {roles{roleRadius}, 1},
		"all roles but it": {roles{roleAPI, roleProjections, roleProcesses, roleJobs, roleEventStore}, 0},
	} {
		var log logBuffer
		a := &App{roles: c.roles, logger: slog.New(slog.NewTextHandler(&log, nil))}
		p := &radiusParts{}
		if err := a.newServer(t.Context(), p); err != nil || p.server != nil {
			t.Errorf("%s: %v, %v", name, p.server, err)
		}
		if text := log.String(); strings.Count(text, "level=WARN") != c.warns || strings.Count(text, "\n") != c.warns {
			t.Errorf("%s: the log says %q", name, text)
		}
	}
}
