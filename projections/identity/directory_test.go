package identityviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// told returns a directory to which events were applied.
func told(list ...events.Event) *identityviews.Directory {
	d := identityviews.NewDirectory()
	for _, e := range list {
		d.Apply(events.Envelope{Event: e})
	}
	return d
}

// bearer is the content of a token: a user in an organization by a session.
type bearer struct {
	user    id.User
	org     id.Organization
	session id.Session
}

// stands checks the role of a bearer; "" means no rights.
func stands(t *testing.T, d *identityviews.Directory, b bearer, role events.Role) {
	t.Helper()
	got, known := d.Standing(b.user, b.org, b.session)
	if got.Role != role || known != (role != "") {
		t.Errorf("standing %+v %v, want %q", got, known, role)
	}
}

func TestDirectory_HandlesWhatItApplies(t *testing.T) {
	t.Parallel()
	handled := map[string]bool{}
	for _, name := range identityviews.NewDirectory().Handles() {
		handled[name] = true
	}
	for _, e := range []events.Event{
		events.UserForgotten{}, events.SessionEnded{}, events.MembershipAccepted{}, events.OrganizationSuspended{},
		events.PasswordChanged{},
	} {
		if !handled[e.EventType()] {
			t.Errorf("%s is not asked for", e.EventType())
		}
	}
}

func TestDirectory_TenantsBySlug(t *testing.T) {
	t.Parallel()
	d := told(organizations()...)
	for slug, want := range map[string]identityviews.Tenant{
		"acme": {ID: acme, Slug: "acme", Name: "Acme Networks"}, "other": {
			ID: other, Slug: "other", Name: "Other", Suspended: true,
		},
	} {
		if got, found := d.BySlug(slug); !found || got != want {
			t.Errorf("%s: %+v", slug, got)
		}
	}
	if _, found := d.BySlug("nobody"); found {
		t.Error("an unknown slug is found")
	}
}

func TestDirectory_RoleDisabledAndEnabledAtOnce(t *testing.T) {
	t.Parallel()
	var session id.Session
	life := adas()
	stands(t, told(), bearer{ada, acme, session}, "")
	stands(t, told(life[:1]...), bearer{ada, acme, session}, "")
	d := told(life[:3]...)
	stands(t, d, bearer{ada, acme, session}, events.RoleAdmin)
	stands(t, d, bearer{ada, other, session}, "")
	stands(t, d, bearer{ada, id.Organization{}, session}, "")
	if s, _ := d.Standing(ada, acme, session); !s.MustChangePassword {
		t.Error("the temporary password is good for ever")
	}
	d = told(life[:4]...)
	if s, _ := d.Standing(ada, acme, session); s.MustChangePassword {
		t.Error("the password was changed")
	}
	stands(t, told(life[:5]...), bearer{ada, acme, session}, "")
	stands(t, told(life[:6]...), bearer{ada, acme, session}, events.RoleAdmin)
	stands(t, told(life[:7]...), bearer{ada, acme, session}, events.RoleSupport)
	if s, _ := told(life...).Standing(ada, acme, session); !s.MustChangePassword {
		t.Error("a password that was given in place of a lost one is good for ever")
	}
}

func TestDirectory_AnOlderMembershipOpensWithProofAndAcceptanceAlone(t *testing.T) {
	t.Parallel()
	var session id.Session
	proven := events.AddressProven{UserID: olga, PersonID: olga}
	accepted := events.MembershipAccepted{UserID: olga, OrgID: acme}
	d := told(olgas()...) // added to Acme, disabled and enabled there, but not accepted
	stands(t, d, bearer{olga, acme, session}, "")
	stands(t, d, bearer{olga, other, session}, "") // until the upgrade, which can fail for one user alone
	d.Apply(events.Envelope{Event: events.AddressKeptApart{UserID: olga, OrgID: other}})
	stands(t, d, bearer{olga, acme, session}, "")
	stands(t, d, bearer{olga, other, session}, events.RoleAdmin)
	d.Apply(events.Envelope{Event: accepted}) // by a sign-in, as it was possible before
	stands(t, d, bearer{olga, acme, session}, "")
	d.Apply(events.Envelope{Event: proven})
	stands(t, d, bearer{olga, acme, session}, events.RoleSupport)
	d = told(append(olgas(), events.AddressKeptApart{UserID: olga, OrgID: other}, proven)...)
	stands(t, d, bearer{olga, acme, session}, "")
}

func TestDirectory_AProofEndsTheTemporaryPassword(t *testing.T) {
	t.Parallel()
	newer := newerOlgas()
	for n, must := range map[int]bool{3: true, 4: false} {
		if s, known := told(newer[:n]...).Standing(olga2, acme, id.Session{}); !known || s.MustChangePassword != must {
			t.Errorf("after %d events: %+v, %v", n, s, known)
		}
	}
}

func TestDirectory_ListsWhatOlderVersionsRecorded(t *testing.T) {
	t.Parallel()
	orgs := organizations()
	d := told(append(append(orgs[:2:2], adas()[:3]...), olgas()...)...)
	users, seats := d.Unsettled()
	if len(users) != 1 || users[0] != olga {
		t.Errorf("users %v", users)
	}
	got := map[identityviews.Seat]bool{}
	for _, s := range seats {
		got[s] = true
	}
	if len(got) != 2 || !got[identityviews.Seat{OrgID: acme, UserID: ada}] ||
		!got[identityviews.Seat{OrgID: other, UserID: olga}] {
		t.Errorf("seats %v", seats)
	}
	for _, e := range []events.Event{
		events.AddressKeptApart{UserID: olga, OrgID: other}, events.AdministratorSeated{OrgID: acme, UserID: ada},
		events.AdministratorSeated{OrgID: other, UserID: olga}, events.UserRegistered{UserID: gone, SuperAdmin: true},
	} {
		d.Apply(events.Envelope{Event: e})
	}
	if users, seats := d.Unsettled(); len(users)+len(seats) != 0 {
		t.Errorf("left: %v, %v", users, seats)
	}
}

func TestDirectory_ASuperAdminStandsEverywhere(t *testing.T) {
	t.Parallel()
	d := told(events.UserRegistered{UserID: ada, SuperAdmin: true})
	for _, org := range []id.Organization{acme, other, {}} {
		stands(t, d, bearer{ada, org, id.Session{}}, events.RoleSuperAdmin)
	}
	d.Apply(events.Envelope{Event: events.UserForgotten{UserID: ada}})
	stands(t, d, bearer{ada, acme, id.Session{}}, "")
}

func TestDirectory_AnEndedSessionIsOverWhileItsTokensLive(t *testing.T) {
	t.Parallel()
	d := told(adas()[:3]...)
	session, later := id.Derive[id.Session]("test", "1"), id.Derive[id.Session]("test", "2")
	stands(t, d, bearer{ada, acme, session}, events.RoleAdmin)
	d.Apply(events.Envelope{Event: events.SessionEnded{SessionID: session, UserID: ada, At: began}})
	stands(t, d, bearer{ada, acme, session}, "")
	stands(t, d, bearer{ada, acme, later}, events.RoleAdmin)
	d.Apply(events.Envelope{Event: events.SessionEnded{SessionID: later, UserID: ada, At: began.Add(16 * time.Minute)}})
	stands(t, d, bearer{ada, acme, session}, "") // its last access token can still be valid
	d.Apply(events.Envelope{Event: events.SessionEnded{SessionID: later, UserID: ada, At: began.Add(time.Hour)}})
	stands(t, d, bearer{ada, acme, later}, "")
}

func TestDirectory_ACustomerSeesTheOwnSubscribersAsLongAsThereIsOne(t *testing.T) {
	t.Parallel()
	list := customers()
	d := told(list[:5]...)
	at := func() (identityviews.Standing, bool) { return d.Standing(wanja, acme, id.Session{}) }
	before, _ := at()
	if diff := cmp.Diff([]id.Subscriber{house, shop}, before.Own); diff != "" {
		t.Errorf("own (-want +got)\n%s", diff)
	}
	d.Apply(events.Envelope{Event: list[5]})
	if now, _ := at(); !slices.Equal(now.Own, []id.Subscriber{shop}) || len(before.Own) != 2 {
		t.Errorf("after the end of one: %v, and of before %v", now.Own, before.Own)
	}
	d.Apply(events.Envelope{Event: events.PortalAccessEnded{UserID: wanja, OrgID: acme, SubscriberID: shop}})
	stands(t, d, bearer{user: wanja, org: acme}, "")
	d.Apply(events.Envelope{Event: events.PortalAccessGiven{UserID: wanja, OrgID: acme, SubscriberID: shop}})
	stands(t, d, bearer{user: wanja, org: acme}, events.RoleSubscriber)
	d.Apply(events.Envelope{Event: events.MembershipRoleAssigned{UserID: wanja, OrgID: acme, Role: events.RoleSupport}})
	if now, _ := at(); now.Own != nil {
		t.Errorf("staff have %v of their own", now.Own)
	}
	if _, known := d.Standing(wanja, other, id.Session{}); known {
		t.Error("the customer enters another organization")
	}
}

// TestDirectory_StaffNeedsASecondFactorWhereItIsRequired: administrators and support, not subscribers.
func TestDirectory_StaffNeedsASecondFactorWhereItIsRequired(t *testing.T) {
	t.Parallel()
	d, device := staffed(), id.New[id.SecondFactor]()
	for _, step := range []struct {
		after         events.Event
		required, has bool
	}{
		{events.PasswordChanged{UserID: ada}, false, false},
		{events.SecondFactorRequired{OrgID: other}, false, false},
		{events.SecondFactorRequired{OrgID: acme}, true, false},
		{events.SecondFactorEnrolled{UserID: ada, FactorID: device}, true, true},
		{events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleSupport}, true, true},
		{events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleSubscriber}, false, true},
		{events.SecondFactorRemoved{UserID: ada}, false, false},
		{events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleAdmin}, true, false},
		{events.SecondFactorMadeOptional{OrgID: acme}, false, false},
	} {
		d.Apply(events.Envelope{Event: step.after})
		got, known := d.Standing(ada, acme, id.Session{})
		if !known || got.FactorRequired != step.required || got.SecondFactor.IsZero() == step.has {
			t.Errorf("after %T: %+v", step.after, got)
		}
	}
	d.Apply(events.Envelope{Event: events.SecondFactorRequired{OrgID: acme}})
	d.Apply(events.Envelope{Event: events.SecondFactorEnrolled{UserID: olga, FactorID: device}})
	if got, _ := d.Standing(olga, id.Organization{}, id.Session{}); got.FactorRequired || got.SecondFactor != device {
		t.Errorf("the platform's administrator: %+v", got)
	}
}
