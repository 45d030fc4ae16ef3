package approvals_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/approvals"
)

// The ids of these tests.
var (
	now = time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	of  = events.ApprovalSubject{
		ApprovalID: id.Derive[id.Approval]("test", "act"), OrgID: id.Derive[id.Organization]("test", "acme"),
	}
	asked = events.ApprovalRequested{ApprovalSubject: of, ExpiresAt: now.Add(commands.ApprovalKept)}
)

func TestApprovals_WhatIsGrantedIsCarriedOutByAJob(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, approvals.Process(), now)
	s.When(asked).Then(processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "over", At: asked.ExpiresAt}},
	})
	s.When(events.ApprovalGranted{ApprovalSubject: of}).Then(processmanagers.Output{
		Jobs: []commands.Job{commands.CarryOutApproval{OrgID: of.OrgID, ApprovalID: of.ApprovalID}},
	})
}

func TestApprovals_WhatEndsOtherwiseIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	for _, end := range []events.Event{
		events.ApprovalRefused{ApprovalSubject: of}, events.ApprovalWithdrawn{ApprovalSubject: of},
		events.ApprovalExpired{ApprovalSubject: of},
	} {
		s := processtest.For(t, approvals.Process(), now)
		s.When(asked).Output()
		s.When(end).Then(processmanagers.Output{})
	}
	processtest.CheckKeys(t, approvals.Process(), of.ApprovalID.String(), asked,
		events.ApprovalGranted{ApprovalSubject: of}, events.ApprovalRefused{ApprovalSubject: of},
		events.ApprovalWithdrawn{ApprovalSubject: of}, events.ApprovalExpired{ApprovalSubject: of})
}
