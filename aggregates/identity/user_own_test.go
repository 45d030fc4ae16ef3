package identity_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The second factors of these tests.
var (
	device  = id.Derive[id.SecondFactor]("test", "device")
	another = id.Derive[id.SecondFactor]("test", "another device")
)

// ofAcme is Ada's record at Acme, unproven.
func ofAcme(t *testing.T) *userScenario {
	return user(t).Given(
		events.UserRegistered{
			UserID: ada, Email: text("ada@acme.test"), Phone: text("+254700000001"), RegisteredAt: now,
		},
		events.AddressKeptApart{UserID: ada, OrgID: acme},
		events.MembershipGranted{UserID: ada, OrgID: acme, Role: events.RoleSupport, At: now},
	)
}

// claimsOf folds events and lists the claims of the user, by kind.
func claimsOf(list ...events.UserEvent) map[string]string {
	s, found := identity.User{}, map[string]string{}
	for _, e := range list {
		s = identity.Users().Evolve(s, e)
	}
	for _, c := range identity.Users().Claims(s) {
		found[c.Kind] = c.Value
	}
	return found
}

func TestUser_SecondFactorIsEnrolledOnceAndRemoved(t *testing.T) {
	t.Parallel()
	enrol := commands.EnrolSecondFactor{UserID: ada, FactorID: device}
	enrolled := events.SecondFactorEnrolled{UserID: ada, FactorID: device, At: now}
	use := commands.UseRecoveryCode{UserID: ada, FactorID: device, Left: 9}
	remove := commands.RemoveSecondFactor{UserID: ada}
	removed := events.SecondFactorRemoved{UserID: ada, FactorID: device, At: now}
	user(t).When(enrol).ThenFails("user_not_found")
	ofAcme(t).When(enrol).Then(enrolled)
	ofAcme(t).When(use).ThenFails("second_factor_missing")
	ofAcme(t).When(commands.UseRecoveryCode{UserID: ada}).ThenFails("second_factor_missing")
	ofAcme(t).When(remove).ThenFails("second_factor_missing")
	s := ofAcme(t).Given(enrolled)
	s.When(enrol).ThenNothing()
	s.When(commands.EnrolSecondFactor{UserID: ada, FactorID: another}).ThenFails("second_factor_enrolled")
	s.When(use).Then(events.RecoveryCodeUsed{UserID: ada, FactorID: device, Left: 9, At: now})
	s.When(commands.UseRecoveryCode{UserID: ada, FactorID: another}).ThenFails("second_factor_missing")
	s.When(remove).Then(removed)
	ofAcme(t).Given(enrolled, removed).When(remove).ThenFails("second_factor_missing")
	ofAcme(t).Given(enrolled, removed).When(commands.EnrolSecondFactor{UserID: ada, FactorID: another}).
		Then(events.SecondFactorEnrolled{UserID: ada, FactorID: another, At: now})
}

func TestUser_ALostSecondFactorIsRemovedWhereItGuardsOneOrganizationAlone(t *testing.T) {
	t.Parallel()
	enrolled := events.SecondFactorEnrolled{UserID: ada, FactorID: device, At: now}
	lost := commands.RemoveLostSecondFactor{UserID: ada, OrgID: acme, By: boss, Reason: "stolen"}
	gone := events.SecondFactorRemoved{
		UserID: ada, FactorID: device, OrgID: acme, Reason: text("stolen"), At: now,
	}
	ofAcme(t).When(lost).ThenFails("second_factor_missing")
	ofAcme(t).Given(enrolled).When(lost).Then(gone)
	ofAcme(t).Given(enrolled, events.AddressProven{UserID: ada, PersonID: boss, At: now}).When(lost).Then(gone)
	own := lost
	own.By = ada
	ofAcme(t).Given(enrolled).When(own).ThenFails("own_second_factor")
	elsewhere := lost
	elsewhere.OrgID = other
	ofAcme(t).Given(enrolled).When(elsewhere).ThenFails("user_not_found")
	elsewhere.OrgID = id.Organization{}
	ofAcme(t).Given(enrolled).When(elsewhere).ThenFails("user_not_found")
	both := events.MembershipGranted{UserID: ada, OrgID: other, Role: events.RoleSupport, At: now}
	ofAcme(t).Given(both, enrolled).When(lost).ThenFails("second_factor_of_person")
	platform := user(t).Given(events.UserRegistered{UserID: ada, Email: text("a@b.test"), SuperAdmin: true}, enrolled)
	platform.When(lost).ThenFails("user_not_found")
	byOperator := commands.RemoveLostSecondFactor{UserID: ada, Reason: "stolen"}
	platform.When(byOperator).Then(events.SecondFactorRemoved{
		UserID: ada, FactorID: device, Reason: text("stolen"), At: now,
	})
	byOperator.Reason = " "
	if byOperator.Validate() == nil {
		t.Error("no reason is asked for")
	}
}

func TestUser_AddressesAreChangedWithTheirClaims(t *testing.T) {
	t.Parallel()
	email := commands.ChangeLoginEmail{UserID: ada, Email: text("ada@new.test")}
	phone := commands.ChangeLoginPhone{UserID: ada, Phone: text("+254700000002")}
	changed := events.LoginEmailChanged{UserID: ada, Email: text("ada@new.test"), At: now}
	unproven := events.LoginPhoneChanged{UserID: ada, Phone: text("+254700000002"), At: now}
	proven := unproven
	proven.Proven = true
	proof := events.AddressProven{UserID: ada, PersonID: ada, At: now}
	ofAcme(t).When(email).Then(changed)
	ofAcme(t).Given(changed).When(email).ThenNothing()
	ofAcme(t).When(phone).Then(unproven)
	ofAcme(t).Given(unproven).When(phone).ThenNothing()
	ofAcme(t).Given(unproven, proof).When(phone).Then(proven) // it is chosen again, and opens the user from then on
	ofAcme(t).Given(proof, proven).When(phone).ThenNothing()
	// a person changes the own phone by codes alone
	number := text("+254700000003")
	correct := commands.CorrectUser{UserID: ada, OrgID: acme, By: ada, Phone: &number}
	ofAcme(t).Given(proof).When(correct).ThenFails("phone_by_code")
	name := text("Adah")
	ofAcme(t).Given(proof).When(commands.CorrectUser{UserID: ada, OrgID: acme, By: ada, FirstName: &name}).
		Then(events.UserDetailsCorrected{UserID: ada, Phone: text("+254700000001"), FirstName: name})

	registered := events.UserRegistered{UserID: ada, Email: text("ada@acme.test"), RegisteredAt: now}
	apart := events.AddressKeptApart{UserID: ada, OrgID: acme}
	member := events.MembershipGranted{UserID: ada, OrgID: acme, Role: events.RoleSupport, At: now}
	for _, c := range []struct {
		name string
		list []events.UserEvent
		want map[string]string
	}{
		{"unproven", []events.UserEvent{registered, apart, member, changed, unproven},
			map[string]string{"organization_email": acme.String() + " ada@new.test"}},
		{"proven", []events.UserEvent{registered, apart, member, proof, changed, proven}, map[string]string{
			"organization_email": acme.String() + " ada@new.test", "login_email": "ada@new.test",
			"login_phone": "+254700000002",
		}},
		{"typed again by somebody", []events.UserEvent{
			registered, apart, member, proof, proven, events.UserDetailsCorrected{UserID: ada, Phone: number},
		}, map[string]string{"organization_email": acme.String() + " ada@acme.test", "login_email": "ada@acme.test"}},
		{"of another person", []events.UserEvent{
			registered, apart, member, events.AddressProven{UserID: ada, PersonID: boss, At: now}, proven,
		}, map[string]string{"organization_email": acme.String() + " ada@acme.test"}},
	} {
		got := claimsOf(c.list...)
		if len(got) != len(c.want) {
			t.Errorf("%s: claims %v, want %v", c.name, got, c.want)
		}
		for kind, value := range c.want {
			if got[kind] != value {
				t.Errorf("%s: %s is %q, want %q", c.name, kind, got[kind], value)
			}
		}
	}
}

func TestOrganization_RequiresASecondFactorOrNot(t *testing.T) {
	t.Parallel()
	require := commands.RequireSecondFactor{OrgID: acme, Required: true}
	optional := commands.RequireSecondFactor{OrgID: acme}
	required, free := events.SecondFactorRequired{OrgID: acme}, events.SecondFactorMadeOptional{OrgID: acme}
	organization(t).When(require).ThenFails("organization_not_found")
	organization(t).Given(created()).When(optional).ThenNothing()
	organization(t).Given(created()).When(require).Then(required)
	organization(t).Given(created(), required).When(require).ThenNothing()
	organization(t).Given(created(), required).When(optional).Then(free)
	organization(t).Given(created(), required, free).When(require).Then(required)
}
