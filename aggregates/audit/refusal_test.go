package audit_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The refused request of these tests, sent to an organization's host.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org     = id.Derive[id.Organization]("test", "org")
	request = id.Derive[id.Request]("test", "request")
	plan    = id.Derive[id.Plan]("test", "plan")
)

// note asks to record that three changes of a plan were denied.
func note() commands.NoteRefusal {
	return commands.NoteRefusal{
		RefusalID: request, OrgID: org, Method: "PATCH", Route: "/plans/:id", TargetID: id.Any(plan), Status: 403,
		Code: "role_missing", Count: 3,
	}
}

func TestRefusal_IsRecordedOnceWithAllThatTheAuditLogShows(t *testing.T) {
	t.Parallel()
	decidertest.For(t, audit.Refusals(), now).When(note()).Then(events.RequestRefused{
		RefusalID: request, OrgID: org, Method: "PATCH", Route: "/plans/:id", TargetID: id.Any(plan), Status: 403,
		Code: "role_missing", Count: 3, At: now,
	}).When(note()).ThenNothing()
}

func TestRefusal_BelongsToTheOrganizationOfItsHost(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, audit.Refusals(), now).When(note())
	s.ThenEvents()
	s.BelongsTo(org, "not_found")
	atRoot := note()
	atRoot.OrgID = id.Organization{}
	s = decidertest.For(t, audit.Refusals(), now).When(atRoot)
	s.ThenEvents()
	s.BelongsTo(id.Organization{}, "not_found").When(atRoot).ThenNothing()
}
