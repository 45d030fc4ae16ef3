package identity_test

import (
	"strings"
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

func TestOrganization_ALogoIsChosenAndRemovedOnce(t *testing.T) {
	t.Parallel()
	digest, another := strings.Repeat("0a", 32), strings.Repeat("0b", 32)
	one, none := commands.ChooseLogo{OrgID: acme, Digest: digest}, commands.RemoveLogo{OrgID: acme}
	chosen := events.OrganizationLogoChosen{OrgID: acme, Digest: digest}
	removed := events.OrganizationLogoRemoved{OrgID: acme}
	organization(t).When(one).ThenFails("organization_not_found")
	organization(t).Given(created()).When(one).Then(chosen)
	organization(t).Given(created(), chosen).When(one).ThenNothing()
	organization(t).Given(created(), chosen).When(commands.ChooseLogo{OrgID: acme, Digest: another}).
		Then(events.OrganizationLogoChosen{OrgID: acme, Digest: another})
	organization(t).Given(created(), chosen).When(none).Then(removed)
	organization(t).Given(created(), chosen, removed).When(none).ThenNothing()
	organization(t).Given(created(), chosen, removed).When(one).Then(chosen)
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

func TestOrganization_TheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	seat := func(u id.User) commands.SeatAdministrator {
		return commands.SeatAdministrator{OrgID: acme, UserID: u}
	}
	leave := func(u id.User) commands.ReleaseAdministrator {
		return commands.ReleaseAdministrator{OrgID: acme, UserID: u}
	}
	organization(t).When(seat(ada)).ThenFails("organization_not_found")
	s := organization(t).Given(created()).When(leave(ada)).ThenNothing() // nobody is counted yet
	s.When(seat(ada)).Then(events.AdministratorSeated{OrgID: acme, UserID: ada})
	s.When(seat(ada)).ThenNothing()
	s.When(leave(ada)).ThenFails("last_administrator")
	s.When(seat(boss)).Then(events.AdministratorSeated{OrgID: acme, UserID: boss})
	s.When(leave(ada)).Then(events.AdministratorReleased{OrgID: acme, UserID: ada, At: now})
	s.When(leave(ada)).ThenNothing()
	s.When(leave(boss)).ThenFails("last_administrator")
}

// registered is Ada as a user of Acme only.
func registered() []events.UserEvent {
	older := olderUser()
	return []events.UserEvent{older[0], events.AddressKeptApart{UserID: ada, OrgID: acme}, older[1]}
}

// olderUser is Ada as a user of before records were kept apart.
func olderUser() []events.UserEvent {
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

// invited adds a pending membership of Other, which calls Ada by another name. It was possible before records were kept
// apart.
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

// proven is Ada's proof of her address.
func proven() events.UserEvent { return events.AddressProven{UserID: ada, PersonID: ada, At: now} }

// folded is the state after events.
func folded(list ...events.UserEvent) identity.User {
	s := identity.User{}
	for _, e := range list {
		s = identity.Users().Evolve(s, e)
	}
	return s
}

// claimed lists the claims of a user after events, each with its kind, its value and the code of its failure.
func claimed(list ...events.UserEvent) (values []string) {
	for _, c := range identity.Users().Claims(folded(list...)) {
		values = append(values, c.Kind+" "+c.Value+" "+c.Code)
	}
	return values
}

func TestUser_AnUnprovenAddressIsUniqueInItsOrganizationOnly(t *testing.T) {
	t.Parallel()
	here := "organization_email " + acme.String() + " ada@acme.test already_member"
	platform := "login_email ada@acme.test email_taken"
	joined := events.AddressProven{UserID: ada, PersonID: boss, At: now}
	for name, c := range map[string]struct{ got, want []string }{
		"unproven":              {claimed(registered()...), []string{here}},
		"stands for the person": {claimed(append(registered(), proven())...), []string{here, platform}},
		"joined to a person":    {claimed(append(registered(), joined)...), []string{here}},
		"of an older version":   {claimed(olderUser()...), []string{platform}},
		"for the platform": {
			claimed(events.UserRegistered{UserID: ada, Email: text("ada@acme.test"), SuperAdmin: true}),
			[]string{platform},
		},
		"proven, then forgotten": {claimed(append(registered(), proven(), events.UserForgotten{UserID: ada})...), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestUser_OlderOnesAreBroughtToTheirOrganizationOnce(t *testing.T) {
	t.Parallel()
	keep := commands.KeepAddressApart{UserID: ada}
	user(t).When(keep).ThenFails("user_not_found")
	s := user(t).Given(olderUser()...).Given(invited()).When(keep).Then(events.AddressKeptApart{
		UserID: ada, OrgID: acme,
	})
	s.When(keep).ThenNothing()
	user(t).Given(registered()...).When(keep).ThenNothing()
	user(t).Given(events.UserRegistered{UserID: ada, SuperAdmin: true}).When(keep).ThenNothing()
}

func TestProveAddress_JoinsAUserToOnePersonForGood(t *testing.T) {
	t.Parallel()
	own, joined := commands.ProveAddress{UserID: ada, PersonID: ada}, commands.ProveAddress{UserID: ada, PersonID: boss}
	user(t).When(own).ThenFails("user_not_found")
	s := user(t).Given(registered()...).When(own).Then(proven())
	s.When(own).ThenNothing()
	s.When(joined).ThenFails("other_person")
	s = user(t).Given(registered()...).When(joined).Then(events.AddressProven{UserID: ada, PersonID: boss, At: now})
	s.When(own).ThenFails("other_person")
	user(t).Given(olderUser()...).When(own).Then(events.AddressKeptApart{UserID: ada, OrgID: acme}, proven())
	user(t).Given(events.UserRegistered{UserID: ada, SuperAdmin: true}).When(own).ThenFails("platform_user")
	user(t).Given(registered()...).Given(events.UserForgotten{UserID: ada}).When(own).ThenFails("user_not_found")
	if folded(registered()...).PasswordOf() != ada || folded(append(registered(),
		events.AddressProven{UserID: ada, PersonID: boss})...).PasswordOf() != boss {
		t.Error("the password is not the person's")
	}
}

func TestUser_OtherMembershipsCountAfterTheProofOnly(t *testing.T) {
	t.Parallel()
	accepted := events.MembershipAccepted{UserID: ada, OrgID: other}
	before := folded(append(olderUser(), invited(), accepted)...)
	if _, here := before.MemberAt(acme); !here {
		t.Error("the registering organization lost its user")
	}
	if _, there := before.MemberAt(other); there {
		t.Error("a seat in another organization without a proof")
	}
	after := folded(append(olderUser(), invited(), accepted, proven())...)
	if m, there := after.MemberAt(other); !there || m.Role != events.RoleSupport {
		t.Errorf("after the proof: %v, %+v", there, m)
	}
	if _, anywhere := after.MemberAt(id.New[id.Organization]()); anywhere {
		t.Error("a proof gives a seat everywhere")
	}
}

func TestUser_APendingMembershipIsAcceptedByAProvenPersonOnly(t *testing.T) {
	t.Parallel()
	accept := commands.AcceptMembership{UserID: ada, OrgID: other}
	s := user(t).Given(olderUser()...).When(accept).ThenFails("user_not_found")
	s = s.Given(invited()).When(accept).ThenFails("user_not_found")
	s = s.Given(events.AddressKeptApart{UserID: ada, OrgID: acme}, proven())
	s.When(commands.DisableMember{UserID: ada, OrgID: other, By: boss,
		Reason: "x"}).Then(events.MembershipDisabled{UserID: ada, OrgID: other, Reason: personal.Of("x")})
	s.When(accept).ThenFails("user_not_found")
	s.When(commands.EnableMember{UserID: ada, OrgID: other}).Then(
		events.MembershipEnabled{UserID: ada, OrgID: other, At: now},
	)
	s.When(accept).Then(events.MembershipAccepted{UserID: ada, OrgID: other})
	s.When(accept).ThenNothing()
}

func TestUser_DetailsOfAProvenPersonAreTheirOwn(t *testing.T) {
	t.Parallel()
	name := text("Adah")
	rename := func(org id.Organization, by id.User) commands.CorrectUser {
		return commands.CorrectUser{UserID: ada, OrgID: org, By: by, FirstName: &name}
	}
	own := events.UserDetailsCorrected{UserID: ada, Phone: text("+254700000001"), FirstName: name}
	corrected := own
	corrected.At = now // by somebody else
	user(t).Given(registered()...).When(rename(other, boss)).ThenFails("user_not_found")
	s := user(t).Given(registered()...).When(rename(acme, boss)).Then(corrected)
	s.When(rename(acme, boss)).ThenNothing()
	user(t).Given(registered()...).Given(proven()).When(rename(acme, boss)).ThenFails("details_of_person")
	user(t).Given(registered()...).Given(proven()).When(rename(acme, ada)).Then(own)
}

func TestUser_OneOrganizationNeverChangesTheViewOfAnother(t *testing.T) {
	t.Parallel()
	name, role := text("Adah"), events.RoleAdmin
	rename := func(org id.Organization) commands.CorrectUser {
		return commands.CorrectUser{UserID: ada, OrgID: org, By: boss, FirstName: &name}
	}
	accepted := events.MembershipAccepted{UserID: ada, OrgID: other}
	s := user(t).Given(olderUser()...).Given(invited()).When(rename(other)).
		Then(events.MembershipDetailsCorrected{UserID: ada, OrgID: other, FirstName: name})
	s.When(rename(other)).ThenNothing()
	s.When(commands.CorrectUser{UserID: ada, OrgID: other, By: boss,
		Role: &role}).Then(events.MembershipRoleAssigned{UserID: ada, OrgID: other, Role: role, At: now})
	user(t).Given(olderUser()...).Given(invited(), accepted).When(rename(other)).
		Then(events.MembershipDetailsCorrected{UserID: ada, OrgID: other, FirstName: name})
	user(t).Given(olderUser()...).Given(invited(), accepted).When(rename(acme)).
		Then(events.MembershipDetailsCorrected{UserID: ada, OrgID: acme, Phone: text("+254700000001"), FirstName: name})
}

func TestUser_ANewRoleCounts(t *testing.T) {
	t.Parallel()
	s := folded(append(registered(),
		events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleSupport, At: now})...)
	if m, _ := s.MemberAt(acme); m.Role != events.RoleSupport {
		t.Errorf("the role is still %s", m.Role)
	}
	role := events.RoleSupport
	assign := commands.CorrectUser{UserID: ada, OrgID: acme, By: boss, Role: &role}
	user(t).Given(registered()...).When(assign).Then(events.MembershipRoleAssigned{
		UserID: ada, OrgID: acme, Role: role, At: now,
	}).When(assign).ThenNothing()
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
		UserID: ada, OrgID: acme, Reason: personal.Of("left"),
	})
	s.When(disable).ThenNothing()
	s.When(commands.DisableMember{UserID: ada, OrgID: other, By: boss, Reason: "x"}).ThenFails("user_not_found")
	s.When(commands.EnableMember{UserID: ada, OrgID: other}).ThenFails("user_not_found")
	s.When(commands.RecordPasswordChange{UserID: ada}).Then(events.PasswordChanged{UserID: ada, At: now})
}

func TestUser_OnlyAPasswordOfTheOrganizationAloneIsReplaced(t *testing.T) {
	t.Parallel()
	give := commands.GiveTemporaryPassword{UserID: ada, OrgID: acme, By: boss}
	given := events.TemporaryPasswordGiven{UserID: ada, OrgID: acme, At: now}
	s := user(t).Given(registered()...).When(give).Then(given)
	s.When(give).Then(given)
	s.When(commands.GiveTemporaryPassword{UserID: ada, OrgID: acme, By: ada}).ThenFails("own_password")
	s.When(commands.GiveTemporaryPassword{UserID: ada, OrgID: other, By: boss}).ThenFails("user_not_found")
	proven := events.AddressProven{UserID: ada, PersonID: ada, At: now}
	user(t).Given(registered()...).Given(proven).When(give).ThenFails("password_of_person")
}

func TestUser_AnExpiredPasswordProvesNothing(t *testing.T) {
	t.Parallel()
	given := func(age time.Duration) events.TemporaryPasswordGiven {
		return events.TemporaryPasswordGiven{UserID: ada, OrgID: acme, At: now.Add(-age)}
	}
	record := commands.RecordPasswordChange{UserID: ada}
	own := events.PasswordChanged{UserID: ada, At: now}
	ttl := events.TemporaryPasswordTTL
	user(t).Given(registered()...).Given(given(ttl - time.Second)).When(record).Then(own)
	user(t).Given(registered()...).Given(given(ttl)).When(record).ThenFails("temporary_password_expired")
	user(t).Given(registered()...).Given(given(ttl), own).When(record).Then(own)
}

func TestUser_AForgottenOneIsGoneAndGivesTheAddressBack(t *testing.T) {
	t.Parallel()
	if got := claimed(append(registered(), events.UserForgotten{UserID: ada})...); got != nil {
		t.Errorf("claims %v", got)
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
