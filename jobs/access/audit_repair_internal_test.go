package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestRepair_EachReasonHasItsCode: of looks that could not compare, and of repairs that were tried.
func TestRepair_EachReasonHasItsCode(t *testing.T) {
	t.Parallel()
	words := failure.New(failure.Refused, "router_refused", "not enough permissions (9)")
	for _, tc := range []struct {
		err        error
		code, part string
	}{
		{seen{unseen: UnseenReports}.blind(), "access_reports_waiting", "Try again"},
		{seen{unseen: UnseenLogins}.blind(), "access_directory_behind", "Try again"},
		{seen{unseen: UnseenEvents}.blind(), "access_events_unreadable", "Waiting does not help"},
		{seen{unseen: UnseenRefuses, fault: words}.blind(), "router_not_readable", "permissions (9). Check"},
		{seen{unseen: UnseenRouter}.blind(), "device_unreachable", "Try again later"},
		{seen{unseen: UnseenRouter, fault: errors.New("x")}.blind(), "device_unreachable", "Try again later"},
		{seen{unseen: UnseenRouter, fault: commands.ErrNoDevice()}.blind(), "device_not_found", ""},
		{notRepaired(errIncomplete), "access_events_unreadable", ""},
		{notRepaired(fmt.Errorf("%w: %w", errRefused, words)), "repair_refused", ": not enough permissions (9). Check"},
		{
			notRepaired(fmt.Errorf("%w: %w", errRefused, routeros.ErrUnreachable(0, nil))), "repair_refused",
			"by RADIUS, and its own interface does not answer.",
		},
		{notRepaired(words), "repair_refused", "not enough permissions (9)."},
		{notRepaired(fmt.Errorf("%w: %w", errUnreachable, words)), "repair_refused", "not enough permissions (9)."},
		{notRepaired(fmt.Errorf("%w: x", errUnreachable)), "device_unreachable", ""},
		{notRepaired(context.DeadlineExceeded), "device_unreachable", ""},
		{notRepaired(failure.New(failure.Refused, "router_refused", "")), "repair_refused", "it gives no reason."},
	} {
		if code := failure.CodeOf(tc.err); code != tc.code || !strings.Contains(tc.err.Error(), tc.part) {
			t.Errorf("%s: %v, want %s with %q", code, tc.err, tc.code, tc.part)
		}
	}
}
