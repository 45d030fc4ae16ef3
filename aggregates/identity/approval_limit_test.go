package identity_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

func TestApprovalLimit_ToRaiseItTakesASecondAdministrator(t *testing.T) {
	t.Parallel()
	org := id.Derive[id.Organization]("test", "limited")
	created := events.OrganizationCreated{OrgID: org, Billing: events.BillingSettings{Currency: money.KES}}
	seated := func(name string) events.OrganizationEvent {
		return events.AdministratorSeated{OrgID: org, UserID: id.Derive[id.User]("test", name)}
	}
	kes := func(major int64) *money.Amount { return new(money.Major(major, money.KES)) }
	set := func(limit *money.Amount) commands.SetApprovalLimit {
		return commands.SetApprovalLimit{OrgID: org, Limit: limit}
	}
	was := func(major int64) events.ApprovalLimitSet {
		return events.ApprovalLimitSet{OrgID: org, Limit: *kes(major)}
	}
	after := func(list ...events.OrganizationEvent) *decidertest.Scenario[
		identity.Organization, commands.OrganizationCommand, events.OrganizationEvent,
	] {
		return decidertest.For(t, identity.Organizations(), now).Given(append(
			[]events.OrganizationEvent{created, seated("one")}, list...)...)
	}
	after().When(set(kes(100))).Then(was(100))
	after().When(set(nil)).ThenNothing()
	after().When(set(new(money.Major(1, "USD")))).ThenFails("currency_mismatch")
	after(was(100)).When(set(kes(200))).Then(was(200))
	after(was(100)).When(set(nil)).Then(events.ApprovalLimitRemoved{OrgID: org})

	after(seated("two")).When(set(kes(100))).Then(was(100))
	after(seated("two"), was(100)).When(set(kes(0))).Then(was(0))
	after(seated("two"), was(100)).When(set(kes(100))).ThenNothing()
	after(seated("two"), was(100)).When(set(kes(101))).ThenFails("second_person_needed")
	after(seated("two"), was(100)).When(set(nil)).ThenFails("second_person_needed")

	left := func(ago time.Duration) events.OrganizationEvent {
		return events.AdministratorReleased{OrgID: org, UserID: id.Derive[id.User]("test", "two"), At: now.Add(-ago)}
	}
	after(seated("two"), was(100), left(commands.SecondPersonAfter-1)).When(set(nil)).ThenFails("second_person_needed")
	after(seated("two"), was(100), left(commands.SecondPersonAfter)).When(set(kes(101))).Then(was(101))

	approved := commands.SetApprovalLimit{OrgID: org, Limit: kes(500), Approved: true, Before: *kes(100)}
	after(seated("two"), was(100)).When(approved).Then(was(500))
	after(seated("two"), was(100), was(50)).When(approved).ThenFails("approval_outdated")
	removed := events.ApprovalLimitRemoved{OrgID: org}
	after(seated("two"), was(100), removed).When(approved).ThenFails("approval_outdated")
}
