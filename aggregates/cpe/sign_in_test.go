package cpe_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// What happens to the sign-in of the CPE of these tests.
var (
	proven = events.CpeSignInProven{CpeID: box, OrgID: acme, At: now}
	ended  = events.CpeSignInEnded{CpeID: box, OrgID: acme, At: now}
)

// TestCpeSignIn_IsProvenByThePresentPasswordAlone: one that has become worth nothing proves nothing.
func TestCpeSignIn_IsProvenByThePresentPasswordAlone(t *testing.T) {
	t.Parallel()
	first, second := commands.ProveCpeSignIn{CpeID: box}, commands.ProveCpeSignIn{CpeID: box, SignIn: 1}
	device(t).When(first).ThenFails("cpe_not_found")
	device(t, identified).When(first).ThenNothing()
	device(t, identified, claimed).When(first).Then(proven)
	device(t, identified, claimed).When(second).ThenNothing()
	device(t, identified, claimed, proven).When(first).ThenNothing()
	for _, end := range []events.CpeEvent{ended, released} {
		device(t, identified, claimed, proven, end, claimed).When(first).ThenNothing()
		device(t, identified, claimed, proven, end, claimed).When(second).Then(proven)
	}
}

func TestCpeSignIn_EndsWhereItIsRequired(t *testing.T) {
	t.Parallel()
	end := commands.EndCpeSignIn{CpeID: box}
	device(t).When(end).ThenFails("cpe_not_found")
	device(t, identified).When(end).ThenFails("cpe_not_found")
	device(t, identified, claimed).When(end).ThenNothing()
	device(t, identified, claimed, proven).When(end).Then(ended).BelongsTo(acme, "cpe_not_found")
	device(t, identified, claimed, proven, ended).When(end).ThenNothing()
	device(t, identified, claimed, proven, released, claimed).When(end).ThenNothing()
}
