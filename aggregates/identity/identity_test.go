package identity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// People and organizations of these tests: Ada is a user of Acme, Boss acts for it.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	acme    = id.Derive[id.Organization]("test", "acme")
	other   = id.Derive[id.Organization]("test", "other")
	ada     = id.Derive[id.User]("test", "ada")
	boss    = id.Derive[id.User]("test", "boss")
	session = id.Derive[id.Session]("test", "session")
	text    = personal.Of
)

// Scenarios of the three aggregates, with short names.
type (
	orgScenario = decidertest.Scenario[
		identity.Organization, commands.OrganizationCommand, events.OrganizationEvent,
	]
	userScenario    = decidertest.Scenario[identity.User, commands.UserCommand, events.UserEvent]
	sessionScenario = decidertest.Scenario[identity.Session, commands.SessionCommand, events.SessionEvent]
)

// organization begins a scenario about an organization.
func organization(t *testing.T) *orgScenario {
	return decidertest.For(t, identity.Organizations(), now)
}

// user begins a scenario about a user.
func user(t *testing.T) *userScenario {
	return decidertest.For(t, identity.Users(), now)
}

// signIn begins a scenario about a session.
func signIn(t *testing.T) *sessionScenario {
	return decidertest.For(t, identity.Sessions(), now)
}

// billing is a complete set of settings: Kenya, shillings, VAT of 16 % included in prices.
func billing(prefix string) events.BillingSettings {
	return events.BillingSettings{Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: prefix,
		Tax: events.TaxRule{Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}}}
}

// created is the first event of Acme, a tenant with the prefix "ACME".
func created() events.OrganizationEvent {
	return events.OrganizationCreated{OrgID: acme, Slug: "acme", Name: "Acme", Billing: billing("ACME"), CreatedAt: now}
}

func TestOrganization_CreatedOnceAndChangedOnlyByADifference(t *testing.T) {
	t.Parallel()
	create := commands.CreateOrganization{OrgID: acme, Slug: "acme", Name: "Acme", Billing: billing("ACME")}
	organization(t).When(create).Then(created())
	organization(t).Given(created()).When(create).ThenFails("organization_exists")
	organization(t).When(commands.RenameOrganization{OrgID: acme, Name: "X"}).ThenFails("organization_not_found")
	organization(t).Given(created()).When(commands.RenameOrganization{OrgID: acme, Name: "Acme"}).ThenNothing()
	organization(t).Given(created()).When(commands.RenameOrganization{OrgID: acme,
		Name: "X"}).Then(events.OrganizationRenamed{OrgID: acme, Name: "X"})
	suspend := commands.SuspendOrganization{OrgID: acme, Reason: "unpaid"}
	s := organization(t).Given(created()).When(suspend).Then(events.OrganizationSuspended{
		OrgID: acme, Reason: "unpaid",
	})
	s.When(suspend).ThenNothing()
	resume := commands.ResumeOrganization{OrgID: acme, Reason: "paid"}
	s.When(resume).Then(events.OrganizationResumed{OrgID: acme, Reason: "paid"})
	s.When(resume).ThenNothing()
}

func TestOrganization_SettingsKeepTheCurrency(t *testing.T) {
	t.Parallel()
	adopt := func(edit func(*events.BillingSettings)) commands.AdoptBillingSettings {
		b := billing("ACME")
		edit(&b)
		return commands.AdoptBillingSettings{OrgID: acme, Billing: b}
	}
	same := adopt(func(b *events.BillingSettings) { b.Holidays = []calendar.Date{} })
	organization(t).Given(created()).When(same).ThenNothing()
	organization(t).Given(created()).When(adopt(func(b *events.BillingSettings) {
		b.Currency = "UGX"
	})).ThenFails("currency_fixed")
	taxed := adopt(func(b *events.BillingSettings) { b.Tax.Inclusive = false })
	organization(t).Given(created()).When(taxed).Then(events.BillingSettingsAdopted{
		OrgID: acme, Billing: taxed.Billing,
	})
}

func TestOrganization_ClaimsEveryPrefixThatItEverHad(t *testing.T) {
	t.Parallel()
	if got := identity.Organizations().Claims(identity.Organization{}); got != nil {
		t.Errorf("nobody claims %v", got)
	}
	s := identity.Organizations().Evolve(identity.Organization{}, created())
	for _, prefix := range []string{"NET", "ACME", "NET"} {
		s = identity.Organizations().Evolve(s, events.BillingSettingsAdopted{OrgID: acme, Billing: billing(prefix)})
	}
	var values []string
	for _, c := range identity.Organizations().Claims(s) {
		values = append(values, c.Kind+" "+c.Value)
	}
	if diff := cmp.Diff([]string{"slug acme", "invoice_prefix ACME", "invoice_prefix NET"}, values); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
}

// registered is Ada as a user of Acme only.
func registered() []events.UserEvent {
	return []events.UserEvent{
		events.UserRegistered{
			UserID: ada, Email: text("ada@acme.test"), Phone: text("+254700000001"), FirstName: text("Ada"),
			MustChangePassword: true, RegisteredAt: now,
		},
		events.MembershipGranted{
			UserID: ada, OrgID: acme, Role: events.RoleAdmin, Email: text("ada@acme.test"),
			Phone: text("+254700000001"), FirstName: text("Ada"), At: now,
		},
	}
}

// invited adds a pending membership of Other, which calls Ada by another name.
func invited() events.UserEvent {
	return events.MembershipGranted{
		UserID: ada, OrgID: other, Role: events.RoleSupport, Pending: true, Email: text("ada@acme.test"),
		FirstName: text("Adele"), At: now,
	}
}

func TestUser_RegisteredWithAMembershipThatNeedsNoAcceptance(t *testing.T) {
	t.Parallel()
	register := commands.RegisterUser{
		UserID: ada, Email: text("ada@acme.test"), Phone: text("+254700000001"), FirstName: text("Ada"),
		MustChangePassword: true, OrgID: acme, Role: events.RoleAdmin,
	}
	user(t).When(register).Then(registered()...)
	user(t).Given(registered()...).When(register).ThenFails("user_exists")
	user(t).When(commands.RegisterUser{UserID: ada, Email: text("root@p.test"), FirstName: text("R"),
		SuperAdmin: true}).
		Then(events.UserRegistered{
			UserID: ada, Email: text("root@p.test"), FirstName: text("R"), SuperAdmin: true, RegisteredAt: now,
		})
}

func TestUser_AMembershipOfAKnownPersonWaitsForTheirYes(t *testing.T) {
	t.Parallel()
	grant := commands.GrantMembership{UserID: ada, OrgID: other, Role: events.RoleSupport, FirstName: text("Adele")}
	accept := commands.AcceptMembership{UserID: ada, OrgID: other}
	user(t).When(grant).ThenFails("user_not_found")
	s := user(t).Given(registered()...).When(accept).ThenFails("user_not_found")
	s.When(grant).Then(invited())
	s.When(grant).ThenFails("already_member")
	s.When(commands.DisableMember{UserID: ada, OrgID: other, By: boss,
		Reason: "x"}).Then(events.MembershipDisabled{UserID: ada, OrgID: other, Reason: "x"})
	s.When(accept).ThenFails("user_not_found")
	s.When(commands.EnableMember{UserID: ada, OrgID: other}).Then(events.MembershipEnabled{UserID: ada, OrgID: other})
	s.When(accept).Then(events.MembershipAccepted{UserID: ada, OrgID: other})
	s.When(accept).ThenNothing()
}

func TestUser_DetailsOfASharedPersonAreTheirOwn(t *testing.T) {
	t.Parallel()
	name, role := text("Adah"), events.RoleAdmin
	rename := func(org id.Organization, by id.User) commands.CorrectUser {
		return commands.CorrectUser{UserID: ada, OrgID: org, By: by, FirstName: &name}
	}
	corrected := events.UserDetailsCorrected{UserID: ada, Phone: text("+254700000001"), FirstName: name}
	user(t).Given(registered()...).When(rename(other, boss)).ThenFails("user_not_found")
	s := user(t).Given(registered()...).When(rename(acme, boss)).Then(corrected)
	s.When(rename(acme, boss)).ThenNothing()
	user(t).Given(registered()...).Given(invited()).When(rename(acme, boss)).ThenFails("details_of_shared_user")
	user(t).Given(registered()...).Given(invited()).When(rename(acme, ada)).Then(corrected)
	// While the membership is pending, only the name that Other uses changes. The answer is the same as for any
	// correction.
	s = user(t).Given(registered()...).Given(invited()).When(rename(other, boss)).
		Then(events.MembershipDetailsCorrected{UserID: ada, OrgID: other, FirstName: name})
	s.When(rename(other, boss)).ThenNothing()
	s.When(commands.CorrectUser{UserID: ada, OrgID: other, By: boss,
		Role: &role}).Then(events.MembershipRoleAssigned{UserID: ada, OrgID: other, Role: role})
	s.Given(events.MembershipAccepted{UserID: ada, OrgID: other}).When(rename(other,
		boss)).ThenFails("details_of_shared_user")
}

func TestUser_NobodyRaisesOrDisablesThemselves(t *testing.T) {
	t.Parallel()
	role := events.RoleSupport
	user(t).Given(registered()...).When(commands.CorrectUser{UserID: ada, OrgID: acme, By: ada,
		Role: &role}).ThenFails("own_role")
	user(t).Given(registered()...).When(commands.DisableMember{UserID: ada, OrgID: acme, By: ada,
		Reason: "x"}).ThenFails("own_account")
	disable := commands.DisableMember{UserID: ada, OrgID: acme, By: boss, Reason: "left"}
	s := user(t).Given(registered()...).When(disable).Then(events.MembershipDisabled{
		UserID: ada, OrgID: acme, Reason: "left",
	})
	s.When(disable).ThenNothing()
	s.When(commands.DisableMember{UserID: ada, OrgID: other, By: boss, Reason: "x"}).ThenFails("user_not_found")
	s.When(commands.EnableMember{UserID: ada, OrgID: other}).ThenFails("user_not_found")
	s.When(commands.RecordPasswordChange{UserID: ada}).Then(events.PasswordChanged{UserID: ada, At: now})
}

func TestUser_AForgottenOneIsGoneAndGivesTheAddressBack(t *testing.T) {
	t.Parallel()
	s := identity.User{}
	for _, e := range registered() {
		s = identity.Users().Evolve(s, e)
	}
	if claims := identity.Users().Claims(s); len(claims) != 1 || claims[0].Value != "ada@acme.test" {
		t.Errorf("claims %v", claims)
	}
	s = identity.Users().Evolve(s, events.UserForgotten{UserID: ada})
	if claims := identity.Users().Claims(s); claims != nil {
		t.Errorf("claims %v", claims)
	}
	user(t).Given(registered()...).Given(events.UserForgotten{UserID: ada}).When(commands.EnableMember{UserID: ada,
		OrgID: acme}).ThenFails("user_not_found")
}

func TestUser_EvolveLeavesTheStateBeforeAlone(t *testing.T) {
	t.Parallel()
	before := identity.User{}
	for _, e := range registered() {
		before = identity.Users().Evolve(before, e)
	}
	identity.Users().Evolve(before, invited())
	identity.Users().Evolve(before, events.MembershipDisabled{UserID: ada, OrgID: acme})
	if len(before.Memberships) != 1 || before.Memberships[acme].Disabled {
		t.Errorf("the cached state changed: %+v", before.Memberships)
	}
}

func TestSession_EndsOnceForItsUserAlone(t *testing.T) {
	t.Parallel()
	start := commands.StartSession{
		SessionID: session, UserID: ada, OrgID: acme, Role: events.RoleAdmin, Method: "password",
	}
	end := commands.EndSession{SessionID: session, UserID: ada, Reason: "logout"}
	signIn(t).When(end).ThenFails("session_not_found")
	s := signIn(t).When(start).Then(events.SessionStarted{
		SessionID: session, UserID: ada, OrgID: acme, Role: events.RoleAdmin, Method: "password", At: now,
	})
	s.When(start).ThenFails("session_exists")
	s.When(commands.EndSession{SessionID: session, UserID: boss, Reason: "logout"}).ThenFails("session_not_found")
	s.When(end).Then(events.SessionEnded{SessionID: session, UserID: ada, OrgID: acme, Reason: "logout", At: now})
	s.When(end).ThenNothing()
}
