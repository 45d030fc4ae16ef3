package billing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The approval of these tests.
var (
	colleague = id.Derive[id.User]("test", "colleague")
	approval  = events.ApprovalSubject{
		ApprovalID: id.Derive[id.Approval]("test", "approval"), OrgID: isp, Kind: events.ActWriteOff,
		SubscriberID: id.Derive[id.Subscriber]("test", "owes"), Amount: money.Major(500, money.KES),
	}
	requested = events.ApprovalRequested{
		ApprovalSubject: approval, By: giver, PersonID: id.Derive[id.User]("test", "person"), Role: events.RoleAdmin,
		Reason: personal.Of("gone away"), ExpiresAt: actedAt.Add(commands.ApprovalKept), At: actedAt,
	}
	agreed = events.ApprovalGranted{ApprovalSubject: approval, By: colleague, Role: events.RoleAdmin, At: actedAt}
)

// approvalScenario is an example about one approval.
type approvalScenario = decidertest.Scenario[billing.Approval, commands.ApprovalCommand, events.ApprovalEvent]

// approvalAt begins examples at an instant.
func approvalAt(t *testing.T, now time.Time) func(list ...events.ApprovalEvent) *approvalScenario {
	return func(list ...events.ApprovalEvent) *approvalScenario {
		t.Helper()
		return decidertest.For(t, billing.Approvals(), now).Given(list...)
	}
}

func TestApproval_IsGrantedOnceByAnotherPerson(t *testing.T) {
	t.Parallel()
	grant := commands.GrantApproval{
		ApprovalID: approval.ApprovalID, By: colleague, Person: colleague, Role: events.RoleAdmin,
	}
	at := approvalAt(t, actedAt)
	at().When(grant).ThenFails("approval_not_found")
	at(requested).When(grant).Then(agreed)
	at(requested, agreed).When(grant).ThenFails("approval_decided")
	own := grant
	own.By, own.Person = giver, giver
	at(requested).When(own).ThenFails("approval_own")
	second := grant // another record of who asked
	second.Person = requested.PersonID
	at(requested).When(second).ThenFails("approval_own")
	seated := grant // by somebody, not long ago
	seated.Opened = actedAt.Add(time.Second - commands.SecondPersonAfter)
	at(requested).When(seated).ThenFails("approver_too_new")
	seated.Opened = actedAt.Add(-commands.SecondPersonAfter)
	at(requested).When(seated).Then(agreed)
	late := approvalAt(t, requested.ExpiresAt)
	late(requested).When(grant).ThenFails("approval_expired")
}

func TestApproval_EndsOnce(t *testing.T) {
	t.Parallel()
	of := approval.ApprovalID
	refuse := commands.RefuseApproval{ApprovalID: of, By: colleague, Person: colleague, Reason: "no"}
	withdraw := commands.WithdrawApproval{ApprovalID: of, By: giver, Person: giver}
	refused := events.ApprovalRefused{
		ApprovalSubject: approval, By: colleague, Reason: personal.Of("no"), At: actedAt,
	}
	withdrawn := events.ApprovalWithdrawn{ApprovalSubject: approval, By: giver, At: actedAt}
	at := approvalAt(t, actedAt)
	at(requested).When(refuse).Then(refused)
	at(requested).When(withdraw).Then(withdrawn)
	at(requested, withdrawn).When(refuse).ThenFails("approval_decided")
	at(requested, agreed).When(withdraw).ThenFails("approval_decided")
	refuse.By, refuse.Person = giver, giver
	at(requested).When(refuse).ThenFails("approval_own")
	withdraw.By, withdraw.Person = colleague, colleague
	at(requested).When(withdraw).ThenFails("approval_of_another")

	expire, finish := commands.ExpireApproval{ApprovalID: of}, commands.FinishApproval{ApprovalID: of}
	at(requested).When(expire).ThenNothing()
	late := approvalAt(t, requested.ExpiresAt)
	late(requested).When(expire).Then(events.ApprovalExpired{
		ApprovalSubject: approval, At: requested.ExpiresAt,
	})
	late(requested, refused).When(expire).ThenNothing()
	at(requested).When(finish).ThenNothing()
	done := events.ApprovalCarriedOut{ApprovalSubject: approval, At: actedAt}
	at(requested, agreed).When(finish).Then(done)
	finish.Code = "approval_outdated"
	at(requested, agreed, done).When(finish).ThenNothing()
	at(requested, agreed).When(finish).Then(events.ApprovalFailed{
		ApprovalSubject: approval, Code: "approval_outdated", At: actedAt,
	})
}

func TestApproval_ARequestUnderAKnownIDChangesNothing(t *testing.T) {
	t.Parallel()
	ask := commands.RequestApproval{
		Subject: approval, By: giver, Person: requested.PersonID, Role: events.RoleAdmin, Reason: "gone away",
	}
	at := approvalAt(t, actedAt)
	at().When(ask).Then(requested)
	ask.Subject.Amount = money.Major(900, money.KES)
	at(requested).When(ask).ThenNothing()
	approvalAt(t, actedAt.Add(time.Hour))(requested, agreed).When(ask).ThenNothing()
}
