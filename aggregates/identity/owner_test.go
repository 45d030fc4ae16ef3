package identity_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// nobody is the owner of what belongs to the platform.
var nobody = id.Organization{}

func TestOrganization_BelongsToItself(t *testing.T) {
	t.Parallel()
	organization(t).Given(created()).BelongsTo(acme, "organization_not_found")
}

func TestUser_BelongsToTheOrganizationThatRegisteredIt(t *testing.T) {
	t.Parallel()
	user(t).Given(registered()...).BelongsTo(acme, "user_not_found")
	user(t).Given(olderUser()...).BelongsTo(acme, "user_not_found")
	user(t).Given(events.UserRegistered{UserID: ada, SuperAdmin: true}).BelongsTo(nobody, "user_not_found")
	// several organizations have a right to see such a user: each decision looks for the membership
	user(t).Given(olderUser()...).Given(invited()).BelongsTo(nobody, "user_not_found")
}

func TestSession_BelongsToTheOrganizationOfItsHost(t *testing.T) {
	t.Parallel()
	started := events.SessionStarted{SessionID: session, UserID: ada, OrgID: acme}
	signIn(t).Given(started).BelongsTo(acme, "session_not_found")
	started.OrgID = nobody
	signIn(t).Given(started).BelongsTo(nobody, "session_not_found")
}

func TestSession_ThatWasNeverStartedEndsForNobody(t *testing.T) {
	t.Parallel()
	signIn(t).When(commands.EndSession{SessionID: session, Reason: "logout"}).ThenFails("session_not_found")
}

func TestOrganization_ANewNameCanBeTakenBack(t *testing.T) {
	t.Parallel()
	renamed := events.OrganizationRenamed{OrgID: acme, Name: "Acme Networks"}
	s := organization(t).Given(created(), renamed)
	s.When(commands.RenameOrganization{OrgID: acme, Name: "Acme Networks"}).ThenNothing()
	s.When(commands.RenameOrganization{OrgID: acme, Name: "Acme"}).Then(events.OrganizationRenamed{
		OrgID: acme, Name: "Acme",
	})
}

func TestOrganization_EverySettingThatDiffersIsAdopted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*events.BillingSettings){
		"tax rate": func(b *events.BillingSettings) { b.Tax.Components[0].BasisPoints = 800 },
		"holidays": func(b *events.BillingSettings) { b.Holidays = []calendar.Date{{Year: 2026, Month: 12, Day: 25}} },
		"suspense": func(b *events.BillingSettings) { b.SuspenseDays = 5 },
		"zone":     func(b *events.BillingSettings) { b.Timezone = "Africa/Kampala" },
		"country":  func(b *events.BillingSettings) { b.Country = "UG" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := billing("ACME")
			change(&changed)
			adopt := commands.AdoptBillingSettings{OrgID: acme, Billing: changed}
			organization(t).Given(created()).When(adopt).
				Then(events.BillingSettingsAdopted{OrgID: acme, Billing: changed}).When(adopt).ThenNothing()
		})
	}
}

func TestOrganization_EvolveLeavesTheSeatsOfBeforeAlone(t *testing.T) {
	t.Parallel()
	evolve := identity.Organizations().Evolve
	one := evolve(evolve(identity.Organization{}, created()), events.AdministratorSeated{OrgID: acme, UserID: ada})
	seats := maps.Clone(one.Administrators)
	evolve(one, events.AdministratorSeated{OrgID: acme, UserID: boss})
	evolve(one, events.AdministratorReleased{OrgID: acme, UserID: ada, At: now})
	if diff := cmp.Diff(seats, one.Administrators); diff != "" {
		t.Errorf("the cached state changed (-before +after)\n%s", diff)
	}
}

func TestUser_RegistersUnderTheWholeName(t *testing.T) {
	t.Parallel()
	register := commands.RegisterUser{
		UserID: ada, Email: text("ada@acme.test"), Phone: text("+254700000001"), FirstName: text("Ada"),
		LastName: text("Byron"), OrgID: acme, Role: events.RoleAdmin,
	}
	want := registered()
	first, _ := want[0].(events.UserRegistered)
	granted, _ := want[2].(events.MembershipGranted)
	first.LastName, first.MustChangePassword, granted.LastName = text("Byron"), false, text("Byron")
	s := user(t).When(register).Then(first, want[1], granted)
	// the same details again are nothing new, so the state has them all
	last, firstName, phone := text("Byron"), text("Ada"), text("+254700000001")
	same := commands.CorrectUser{
		UserID: ada, OrgID: acme, By: ada, FirstName: &firstName, LastName: &last, Phone: &phone,
	}
	s.When(same).ThenNothing()
}

func TestUser_EachDetailIsCorrectedByItself(t *testing.T) {
	t.Parallel()
	last, phone := text("Byron"), text("+254700000009")
	corrected := events.UserDetailsCorrected{
		UserID: ada, Phone: text("+254700000001"), FirstName: text("Ada"), LastName: last, At: now,
	}
	s := user(t).Given(registered()...).When(commands.CorrectUser{UserID: ada, OrgID: acme, By: boss,
		LastName: &last}).Then(corrected)
	corrected.Phone = phone
	s.When(commands.CorrectUser{UserID: ada, OrgID: acme, By: boss, Phone: &phone}).Then(corrected)
	if m, _ := s.State().MemberAt(acme); !m.Phone.Equal(phone) || !m.LastName.Equal(last) {
		t.Errorf("the organization still knows %q at %q", m.LastName.Reveal(), m.Phone.Reveal())
	}
}

func TestUser_EachDetailOfAnInvitationIsCorrectedByItself(t *testing.T) {
	t.Parallel()
	last, phone := text("Byron"), text("+254700000009")
	s := user(t).Given(olderUser()...).Given(invited())
	s.When(commands.CorrectUser{UserID: ada, OrgID: other, By: boss, LastName: &last}).
		Then(events.MembershipDetailsCorrected{UserID: ada, OrgID: other, FirstName: text("Adele"), LastName: last})
	s.When(commands.CorrectUser{UserID: ada, OrgID: other, By: boss, Phone: &phone}).
		Then(events.MembershipDetailsCorrected{
			UserID: ada, OrgID: other, Phone: phone, FirstName: text("Adele"), LastName: last,
		})
}

func TestUser_OwnDetailsReachNoPendingInvitation(t *testing.T) {
	t.Parallel()
	phone := text("+254700000009")
	s := user(t).Given(olderUser()...).Given(invited())
	s.When(commands.CorrectUser{UserID: ada, OrgID: acme, By: ada, Phone: &phone}).
		Then(events.UserDetailsCorrected{UserID: ada, Phone: phone, FirstName: text("Ada")})
	members := s.State().Memberships
	if here, there := members[acme], members[other]; !here.Phone.Equal(phone) ||
		!there.FirstName.Equal(text("Adele")) || !there.Phone.Equal(text("")) {
		t.Errorf("here %+v, there %+v", here, there)
	}
}

func TestUser_AnInvitedProvenPersonIsNamedByTheOrganizationUntilTheyAccept(t *testing.T) {
	t.Parallel()
	name := text("Adah")
	rename := commands.CorrectUser{UserID: ada, OrgID: other, By: boss, FirstName: &name}
	s := user(t).Given(olderUser()...).Given(proven(), invited()).When(rename).
		Then(events.MembershipDetailsCorrected{UserID: ada, OrgID: other, FirstName: name})
	another := text("Adela")
	rename.FirstName = &another
	s.Given(events.MembershipAccepted{UserID: ada, OrgID: other}).When(rename).ThenFails("details_of_person")
}

func TestUser_AForgottenOneKeepsNothingButTheId(t *testing.T) {
	t.Parallel()
	user(t).Given(registered()...).Given(proven(), events.UserForgotten{UserID: ada}).
		ThenState(identity.User{ID: ada, Forgotten: true}).
		When(commands.RegisterUser{UserID: ada, Email: text("new@acme.test"), FirstName: text("A"), OrgID: acme,
			Role: events.RoleAdmin}).ThenFails("user_exists")
}

func TestUser_AnAdministratorOfThePlatformHoldsTheAddressEverywhere(t *testing.T) {
	t.Parallel()
	got := claimed(
		events.UserRegistered{UserID: ada, Email: text("root@p.test"), SuperAdmin: true},
		events.AddressKeptApart{UserID: ada},
	)
	if diff := cmp.Diff([]string{"login_email root@p.test email_taken"}, got); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
}
